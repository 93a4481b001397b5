//! DataFusion's own statements: all statements that do not match an entry of `STATEMENTS`.

use super::entry::{Run, Statement};
use super::wrapped::output::{check_folder, written};
use super::{answered, wrapped};
use crate::base::error::{Error, Result};
use crate::base::location::{expanded, is_url};
use crate::base::pool::blocking;
use crate::base::spill::keep_files_unnamed;
use crate::base::store::{Stores, is_pattern};
use crate::data::source::{SOURCE, Types, check_arrow_files, reading};
use crate::language::session::advice::check_variables;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::language::session::sources::matched;
use crate::language::session::sources::released::release_at;
use crate::language::sql::cursor::Cursor;
use crate::language::sql::nearest;
use crate::release::recount::answer_rightly;
use datafusion::dataframe::DataFrame;
use datafusion::logical_expr::{CreateExternalTable, CreateView, DdlStatement, LogicalPlan};
use datafusion::sql::parser::Statement as DfStatement;
use datafusion::sql::sqlparser::ast;
use futures::future::BoxFuture;
use std::fmt;
use url::Url;

/// A statement of DataFusion, with its source text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plain {
    statement: DfStatement,
    text: String,
    /// The text as the user wrote it, with the names of variables instead of their values.
    written: String,
    /// The keywords that the user probably meant, for the error if DataFusion rejects the
    /// statement: SHOW MODELS for `SHOW MODEL`.
    meant: Option<&'static str>,
}

/// Parses the statement with DataFusion's parser. If DataFusion rejects it, tries to parse it as a
/// statement that contains an anonsql statement in place of a query.
pub(super) fn read(c: &Cursor) -> Result<Statement> {
    let refused = match c.datafusion(c.tokens()) {
        Ok(statement) => {
            let (statement, select) = c.selecting(statement)?;
            return Ok(Statement::new(Plain {
                statement,
                text: format!("{select}{}", c.text(0..c.tokens().len())),
                written: format!("{select}{}", c.written()),
                meant: c.looks_at("SHOW").then(|| nearest_start(c)).flatten(),
            }));
        }
        Err(e) => e,
    };
    // For `RISK adult`, the first word begins an anonsql statement, and a later keyword is missing.
    for start in &c.words().starts {
        let first = start.split(' ').next().unwrap_or(start);
        if c.looks_at(first) && !matches!(first, "CREATE" | "DROP" | "SHOW" | "DESCRIBE" | "DESC" | "EXPLAIN") {
            c.clone().need(start)?;
        }
    }
    if let Some(answered) = answered::read(c)? {
        return Ok(answered);
    }
    wrapped::read(c)?.ok_or(refused)
}

/// Returns the first keywords of a statement that are most similar to the text at `c`; `None` if no
/// keywords are similar.
fn nearest_start(c: &Cursor) -> Option<&'static str> {
    let of_datafusion = ["SHOW TABLES", "SHOW COLUMNS FROM", "SHOW FUNCTIONS", "SHOW ALL"];
    nearest(
        &c.written(),
        of_datafusion.into_iter().chain(c.words().starts.iter().copied()),
    )
}

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Plain {
    /// Returns the statement with its paths expanded, such as paths that begin with `~` or `$HOME`;
    /// `None` if this changes nothing.
    fn located(&self) -> Result<Option<DfStatement>> {
        let mut statement = self.statement.clone();
        let paths: Vec<&mut String> = match &mut statement {
            DfStatement::CreateExternalTable(table) => table.locations.iter_mut().collect(),
            DfStatement::CopyTo(copy) => vec![&mut copy.target],
            _ => return Ok(None),
        };
        let mut is_another = false;
        for path in paths {
            let whole = expanded(path)?.into_owned();
            is_another |= whole != *path;
            *path = whole;
        }
        Ok(is_another.then_some(statement))
    }

    /// Returns the statement in which the prefix of a release in an object store is replaced by the
    /// files of the current release, because a listing of the prefix would also contain the files
    /// of replaced and killed runs. A pattern is replaced by the files that it matches now.
    async fn released(&self, located: Option<DfStatement>, context: &AnonContext) -> Result<Option<DfStatement>> {
        let DfStatement::CreateExternalTable(table) = located.as_ref().unwrap_or(&self.statement) else {
            return Ok(located);
        };
        let (mut table, mut is_another) = (table.clone(), located.is_some());
        let mut locations = vec![];
        for location in std::mem::take(&mut table.locations) {
            if is_pattern(&location) {
                is_another = true;
                locations.extend(matched(&context.session.state(), &location).await?);
                continue;
            }
            let release = match is_url(&location) {
                true => release_at(&context.session.state(), &location).await?,
                false => None,
            };
            is_another |= release.is_some();
            match release {
                Some(release) => locations.extend(release.locations()?),
                None => locations.push(location),
            }
        }
        table.locations = locations;
        Ok(is_another.then_some(DfStatement::CreateExternalTable(table)))
    }

    /// Plans a statement, and executes it unless it is a query. The statement is `located`, or this
    /// statement if `located` is `None`.
    async fn executed(&self, located: Option<DfStatement>, is_query: bool, context: &AnonContext) -> Result<DataFrame> {
        let executed = async {
            let statement = match located {
                Some(statement) => statement,
                None => context.parsed(&self.text)?,
            };
            let hides = context.hides(&statement);
            let plan = context.planned(statement).await?;
            context.executed(self.as_written(plan, hides), hides).await
        };
        let refused = match executed.await {
            // At this point, SET or RESET has already been executed.
            Ok(_) if answer_rightly(context.session.state_ref().write().config_mut()) => {
                return Err(Error::usage(
                    "with datafusion.optimizer.enable_leaf_expression_pushdown or enable_aggregate_dynamic_filter_pushdown, \
                     DataFusion 55.2 gives wrong answers to some queries; both stay off",
                ));
            }
            Ok(rows) => return Ok(rows),
            Err(refused) => refused,
        };
        if let Some(unknown) = context.unknown(&refused, &self.written).await? {
            return Err(unknown);
        }
        Err(match is_query {
            true => Error::from(refused),
            false => Error::from_statement(refused, &self.written),
        })
    }

    /// Opens the object stores of the URLs that the statement reads or writes.
    fn open_stores(&self, context: &AnonContext) -> Result<()> {
        let paths: &[String] = match &self.statement {
            DfStatement::CreateExternalTable(table) => &table.locations,
            DfStatement::CopyTo(copy) => std::slice::from_ref(&copy.target),
            _ => &[],
        };
        for path in paths.iter().filter(|path| is_url(path)) {
            if let Ok(url) = Url::parse(path) {
                Stores::open(&context.session.state(), &url)?;
            }
        }
        Ok(())
    }

    /// Returns the plan with the definition of an external table replaced by the statement as the
    /// user wrote it. The definition of a view is replaced only if `hides` is true: the statement
    /// then contains a value from the environment, or reads a table whose definition contains such
    /// a value.
    fn as_written(&self, plan: LogicalPlan, hides: bool) -> LogicalPlan {
        match plan {
            LogicalPlan::Ddl(DdlStatement::CreateExternalTable(table)) => {
                let types = match table.schema.fields().is_empty() {
                    true => Types::OfFormat,
                    false => Types::Given,
                };
                LogicalPlan::Ddl(DdlStatement::CreateExternalTable(Box::new(CreateExternalTable {
                    definition: types.definition(&self.written),
                    ..*table
                })))
            }
            LogicalPlan::Ddl(DdlStatement::CreateView(view)) if hides => {
                LogicalPlan::Ddl(DdlStatement::CreateView(CreateView {
                    definition: Some(self.written.clone()),
                    ..view
                }))
            }
            other => other,
        }
    }
}

impl Run for Plain {
    fn kind(&self) -> &'static str {
        "sql"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let is_query =
                matches!(&self.statement, DfStatement::Statement(s) if matches!(**s, ast::Statement::Query(_)));
            let located = self.located()?;
            self.open_stores(context)?;
            let located = self.released(located, context).await?;
            if let DfStatement::CreateExternalTable(table) = located.as_ref().unwrap_or(&self.statement)
                && table.file_type.eq_ignore_ascii_case("arrow")
            {
                table.locations.iter().try_for_each(|l| check_arrow_files(l))?;
            }
            let executed = self.executed(located, is_query, context);
            let rows = reading(SOURCE, executed).await.map_err(|e| match self.meant {
                Some(meant) => e.advised(format_args!("did you mean {meant}?")),
                None => e,
            })?;
            if is_query {
                check_variables(rows.logical_plan())?;
            }
            keep_files_unnamed(&context.session)?;
            if context.settings().dry_run
                && let Some(output) = written(rows.logical_plan())?
            {
                return Answer::done(format!("dry run: nothing was written to {output}"));
            }
            if let LogicalPlan::Copy(copy) = rows.logical_plan() {
                let target = copy.output_url.clone();
                blocking("looking at the output", move || check_folder(&target)).await?;
            }
            let writes = matches!(rows.logical_plan(), LogicalPlan::Copy(_) | LogicalPlan::Dml(_));
            let answer = Answer::query(rows).await?.noted(writes);
            Ok(match &self.statement {
                DfStatement::Statement(s) if matches!(**s, ast::Statement::ShowVariable { .. }) => {
                    answer.hiding_in_texts(context.seen())
                }
                _ => answer,
            })
        })
    }
}
