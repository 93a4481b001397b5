//! Statements that contain an ANONYMIZE in place of a query: `CREATE TABLE t AS ANONYMIZE ...`,
//! `COPY (ANONYMIZE ...) TO ...`, and `INSERT INTO t ANONYMIZE ...`. The outer statement runs as a
//! DataFusion statement that reads the released rows from a temporary table.

pub(super) mod output;

use super::anonymize::spec::{self, AnonymizeSpec};
use super::anonymize::summary::{DRY_RUN, summary};
use super::entry::{Run, Statement};
use crate::base::error::{Error, Result};
use crate::base::pool::blocking;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::language::sql::clause::list as clause;
use crate::language::sql::cursor::Cursor;
use crate::release::engine::{self, ReleasedRows};
use crate::release::job::Purpose;
use crate::release::staging::{StagedReport, or_removed};
use datafusion::catalog::TableProvider;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};
use futures::TryStreamExt;
use futures::future::BoxFuture;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A statement with an ANONYMIZE in place of a query. When it runs, a query replaces the ANONYMIZE
/// between the two texts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wrapped {
    /// The text before the ANONYMIZE, such as `CREATE TABLE t AS` or `COPY (`.
    pub(super) before: String,
    /// The request without a target.
    pub(super) anonymize: AnonymizeSpec,
    /// The text after the ANONYMIZE, such as `) TO 'file.parquet'`.
    pub(super) after: String,
}

impl Wrapped {
    /// Returns the outer statement with `query` in place of the ANONYMIZE.
    fn with_query(&self, query: &str) -> String {
        let left = if self.before.ends_with('(') { "" } else { " " };
        let right = if self.after.is_empty() || self.after.starts_with(')') {
            ""
        } else {
            " "
        };
        format!("{}{left}{query}{right}{}", self.before, self.after)
    }
}

impl fmt::Display for Wrapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_query(&self.anonymize.to_string()))
    }
}

/// Parses a statement that contains an ANONYMIZE in place of a query; returns `None` if there is no
/// ANONYMIZE.
pub(super) fn read(c: &Cursor) -> Result<Option<Statement>> {
    let tokens = c.tokens();
    let is_anonymize = |t: &TokenWithSpan| matches!(&t.token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case("ANONYMIZE"));
    let Some(at) = tokens.iter().position(is_anonymize).filter(|at| *at > 0) else {
        return Ok(None);
    };
    let enclosed = tokens[at - 1].token == Token::LParen;
    let end = if enclosed {
        c.closing(at - 1)
    } else {
        Some(tokens.len())
    };
    let Some(end) = end else {
        return Err(c.within(at - 1..tokens.len()).error("this \"(\" is not closed"));
    };
    let mut inner = c.within(at + 1..end);
    let (anonymize, clauses) = spec::read(
        &mut inner,
        "ANONYMIZE inside another statement",
        &[clause::REPORT],
        true,
    )?;
    spec::single(&inner, &clauses)?;
    // The text around the ANONYMIZE must be a statement that accepts a query in this position.
    let mut outer = tokens[..at].to_vec();
    let stand_in = Tokenizer::new(&GenericDialect {}, "SELECT 1")
        .tokenize()
        .unwrap_or_default();
    outer.extend(stand_in.into_iter().map(|token| TokenWithSpan {
        token,
        span: tokens[at].span,
    }));
    outer.extend_from_slice(&tokens[end..]);
    c.datafusion(&outer)?;
    Ok(Some(Statement::new(Wrapped {
        before: c.text(0..at),
        anonymize,
        after: c.text(end..tokens.len()),
    })))
}

impl Run for Wrapped {
    fn kind(&self) -> &'static str {
        "query of anonymize"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let job = Arc::new(context.bind(&self.anonymize, Purpose::Release).await?);
            if context.settings().dry_run
                && let Some(output) = output::named(&context.session, &self.with_query("SELECT 1")).await?
            {
                let release = engine::foresee(&job, &context.observer).await?;
                return summary(Some(&output), DRY_RUN, release.as_ref());
            }
            let ReleasedRows { release, table, report } = engine::release_rows(&job, &context.observer).await?;
            let name = format!("__anonsql_release_{}", context.releases.fetch_add(1, Ordering::Relaxed));
            let table = Arc::new(table);
            context
                .session
                .register_table(name.as_str(), Arc::clone(&table) as Arc<dyn TableProvider>)?;
            let statement = self.with_query(&format!("SELECT * FROM {name}"));
            let done = async {
                let frame = context.frame(&statement).await;
                let frame = frame.map_err(|e| Error::from_statement(e, ""))?;
                table
                    .check_told_apart(output::cannot_tell_apart(frame.logical_plan())?)
                    .await?;
                let writes = matches!(frame.logical_plan(), LogicalPlan::Copy(_) | LogicalPlan::Dml(_));
                let (frame, stage) = blocking("staging the output", move || output::staged(frame)).await?;
                let schema = Arc::new(frame.schema().as_arrow().clone());
                let batches = async {
                    let rows = frame.execute_stream().await?;
                    rows.try_collect::<Vec<_>>().await.map_err(Error::from_data)
                };
                let (stage, batches) = or_removed(stage, batches.await).await?;
                let publish = move || stage.map_or(Ok(()), |stage| stage.publish_output(true));
                blocking("putting the output in its place", publish).await?;
                Ok::<_, Error>((schema, batches, writes))
            }
            .await;
            context.session.deregister_table(name.as_str())?;
            let (schema, batches, writes) = done?;
            let publish = move || report.map_or(Ok(()), StagedReport::publish);
            blocking("publishing the report", publish).await?;
            context.observer.released(&release, None);
            Ok(Answer::batches(schema, batches)?.noted(writes))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::session::statements::parse::parse;

    const INNER: &str = "ANONYMIZE t QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)";

    #[test]
    fn it_stands_where_a_query_can() {
        for (before, after) in [
            ("CREATE TABLE x AS ", ""),
            ("CREATE OR REPLACE TABLE x AS ", ""),
            ("COPY (", ") TO 'x.parquet' STORED AS PARQUET"),
            ("INSERT INTO x ", ""),
            ("SELECT count(*) FROM (", ") AS a"),
        ] {
            let sql = format!("{before}{INNER}{after}");
            let all = parse(&sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
            assert_eq!(all.len(), 1, "{all:?}");
            let w = all[0].get::<Wrapped>().unwrap();
            assert_eq!(w.with_query("SELECT 1"), format!("{before}SELECT 1{after}"));
            assert_eq!(all[0].to_string(), sql);
        }
    }

    #[test]
    fn it_has_no_target() {
        let e = parse("CREATE TABLE x AS ANONYMIZE t TO 'y' QUASI IDENTIFIERS (a) SATISFYING k_anonymity(2)");
        assert_eq!(
            e.unwrap_err().to_string(),
            "line 1, column 31: ANONYMIZE inside another statement takes no TO clause"
        );
    }

    #[test]
    fn a_column_may_be_called_anonymize() {
        let all = parse("SELECT (anonymize) FROM t").unwrap();
        assert!(all[0].get::<Wrapped>().is_none());
    }
}
