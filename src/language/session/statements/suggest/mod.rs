//! `SUGGEST ROLES FOR`: proposes a role for each column, with the reason, and a script that
//! releases the table. The proposed release is tried on a sample of the rows.

mod draft;
mod needed;
mod place;
mod row;
mod script;
mod spec;
mod survey;
mod trial;

use super::entry::{Entry, Run, Statement};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::pool::blocking;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::language::session::sources::repeatable::check_repeatable;
use crate::language::sql::clause::source;
use crate::language::sql::cursor::Cursor;
use crate::method::suggest::{Proposal, ProposedRole, propose};
use arrow::array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use draft::{Draft, is_diverse};
use futures::future::BoxFuture;
use needed::Needed;
use row::{Row, WARNING};
pub(super) use spec::{ScriptFile, SuggestRoles};
use std::sync::Arc;
use survey::TableSurvey;
use trial::Outcome;

pub(super) const ENTRY: Entry = Entry {
    name: "SUGGEST ROLES",
    starts: &["SUGGEST ROLES FOR"],
    summary: "proposes a role for every column with its reason, and a script that releases the table",
    syntax: "SUGGEST ROLES FOR { table | 'path' [OPTIONS (...)] | ( query ) } [TO 'release.sql' [OVERWRITE]]",
    example: "SUGGEST ROLES FOR people TO 'release.sql'",
    answers: true,
    read: |c, _| read(c).map(Statement::new),
};

fn read(c: &mut Cursor) -> Result<SuggestRoles> {
    let source = source::read(c)?;
    let script = match c.take("TO") {
        false => None,
        true => Some(ScriptFile {
            path: c.string("a path in quotes")?,
            overwrite: c.take("OVERWRITE"),
        }),
    };
    Ok(SuggestRoles { source, script })
}

impl Run for SuggestRoles {
    fn kind(&self) -> &'static str {
        "suggest roles"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            if let Some(file) = self.script.clone() {
                blocking("looking for the script", move || file.check()).await?;
            }
            let source = context.source(&self.source).await?;
            let repeatable = check_repeatable(&source.name, &source.rows);
            let survey = TableSurvey::of(source, context.observer.as_ref()).await?;
            let proposals: Vec<Proposal> = survey.facts.iter().map(propose).collect();
            let needed = Needed::by(context, &self.source).await?;
            let mut draft = Draft::of(context, &self.source, &needed, &survey, &proposals);
            let outcome = match repeatable {
                Ok(()) => trial::choose(context, &survey, &mut draft).await,
                Err(refused) => Err(Error::infeasible(refused.message())),
            };
            let outcome = match outcome {
                // If nothing can be released, the proposed roles are still useful.
                Err(e) if self.script.is_none() && e.kind() == ErrorKind::Infeasible => Err(e.to_string()),
                outcome => Ok(outcome?),
            };
            let mut rows = columns(&survey, &proposals, &draft, outcome.as_ref().ok());
            match &outcome {
                Err(why) => rows.push(Row::of("statement", why.clone())),
                Ok(outcome) => {
                    let columns = rows.len();
                    rows.push(Row {
                        loss: Some(outcome.trial.loss),
                        statement: Some(format!("{};", draft.anonymize)),
                        ..Row::of("statement", format!("{WARNING}; {}", outcome.told(survey.rows)))
                    });
                    rows.push(Row {
                        statement: Some(format!("{};", draft.verify())),
                        ..Row::of("check", "counts the written release again".into())
                    });
                    if let Some(file) = self.script.clone() {
                        let told = outcome.told(survey.rows);
                        let text = script::written(self, &draft, &needed, &rows[..columns], &told);
                        let path = &file.path;
                        if context.settings().dry_run {
                            rows.push(Row::of("script", format!("dry run: nothing was written to {path}")));
                        } else {
                            rows.push(Row::of("script", script::told(path, &needed)));
                            blocking("writing the script", move || file.write(&text)).await?;
                        }
                    }
                }
            }
            answer(&rows)
        })
    }
}

/// Returns one result row for each column of the table.
fn columns(survey: &TableSurvey, proposals: &[Proposal], draft: &Draft, outcome: Option<&Outcome>) -> Vec<Row> {
    let mut losses = outcome.into_iter().flat_map(|o| o.trial.columns.iter().copied());
    let facts = survey.facts.iter().zip(proposals).zip(&draft.hierarchies);
    let row = facts.map(|((facts, proposal), hierarchy)| {
        let mut reason = proposal.reason.clone();
        if proposal.role == ProposedRole::Sensitive && facts.distinct > 1 && !is_diverse(facts) {
            reason += "; most rows are alike, so classes need not differ in it (l_diversity)";
        }
        if let Some(mask) = &proposal.mask {
            reason += &format!("; a mask keeps a part of it: {mask}");
        }
        let mut row = Row::of(proposal.role.name(), reason);
        row.column = Some(facts.name.clone());
        if let Some(hierarchy) = hierarchy {
            row.loss = losses.next();
            match hierarchy.is_there {
                true if proposal.levels.is_some() => {
                    row.reason +=
                        "; its hierarchy already exists: check that its level 1 reveals no more than Safe Harbor \
                         allows";
                }
                true => row.reason += "; its hierarchy already exists",
                false => row.statement = Some(hierarchy.statement.clone()),
            }
        }
        row
    });
    row.collect()
}

fn answer(rows: &[Row]) -> Result<Answer> {
    let texts = |of: fn(&Row) -> Option<&str>| Arc::new(rows.iter().map(of).collect::<StringArray>()) as ArrayRef;
    // Losses are rounded to four decimals, which are enough to compare releases.
    let losses = rows.iter().map(|r| r.loss.map(|loss| (loss * 1e4).round() / 1e4));
    Answer::of(RecordBatch::try_from_iter_with_nullable([
        ("column", texts(|r| r.column.as_deref()), true),
        ("role", texts(|r| Some(r.role)), false),
        ("reason", texts(|r| Some(&r.reason)), false),
        ("loss", Arc::new(losses.collect::<Float64Array>()), true),
        ("statement", texts(|r| r.statement.as_deref()), true),
    ])?)
}
