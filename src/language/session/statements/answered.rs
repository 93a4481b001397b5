//! Statements that contain an anonsql statement in place of a query: `CREATE TABLE r AS RISK OF
//! ...`, `COPY (COMPARE ANONYMIZE ...) TO ...`, `INSERT INTO r RISK OF ...` and `SELECT ... FROM
//! (VERIFY ...)`. Each inner statement runs first. Its result rows are registered as a temporary
//! table, whose name replaces the inner statement when the outer statement runs.
//!
//! A failed check in an inner VERIFY makes the outer statement fail as well, but only after the
//! outer statement has read the rows of the VERIFY.

use super::STATEMENTS;
use super::entry::{Entry, Run, Statement};
use crate::base::error::{Error, Result};
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::language::session::sources::depends::ANSWERED;
use crate::language::sql::cursor::Cursor;
use arrow::record_batch::RecordBatch;
use datafusion::catalog::TableProvider;
use datafusion::datasource::MemTable;
use datafusion::sql::parser::Statement as DfStatement;
use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};
use futures::TryStreamExt;
use futures::future::BoxFuture;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A DataFusion statement with inner statements in place of queries.
#[derive(Debug, PartialEq)]
struct Answered {
    /// Each inner statement, with the text before it.
    answers: Vec<(String, Statement)>,
    /// The text after the last inner statement.
    after: String,
}

impl Answered {
    /// Returns the text of the outer statement, with `queries` in place of the inner statements.
    fn with_queries(&self, queries: impl Iterator<Item = String>) -> String {
        let mut text = String::new();
        for ((before, _), query) in self.answers.iter().zip(queries) {
            text += before;
            text += if before.ends_with('(') { "" } else { " " };
            text += &query;
        }
        text + &self.after
    }
}

impl fmt::Display for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_queries(self.answers.iter().map(|(_, answer)| answer.to_string())))
    }
}

/// Parses a statement that contains an inner statement in place of a query; returns `None` if there
/// is no inner statement.
pub(super) fn read(c: &Cursor) -> Result<Option<Statement>> {
    let tokens = c.tokens();
    let stand_in = Tokenizer::new(&GenericDialect {}, "SELECT 1")
        .tokenize()
        .unwrap_or_default();
    let (mut answers, mut outer, mut at) = (vec![], vec![], 0);
    while let Some(place) = next(c, at) {
        let place = place?;
        let inner = c.within(place.clone());
        let Some(answer) = answer(&inner)? else {
            return Err(inner.expected("a statement that answers rows", []));
        };
        outer.extend_from_slice(&tokens[at..place.start]);
        outer.extend(stand_in.iter().map(|token| TokenWithSpan {
            token: token.clone(),
            span: tokens[place.start].span,
        }));
        answers.push((c.text(at..place.start), answer));
        at = place.end;
    }
    if answers.is_empty() {
        return Ok(None);
    }
    outer.extend_from_slice(&tokens[at..]);
    // The outer text must be a statement that accepts queries in the positions of the inner
    // statements.
    if let DfStatement::Statement(statement) = c.datafusion(&outer)?
        && matches!(*statement, ast::Statement::CreateView { .. })
    {
        return Err(c.error(
            "a view cannot compute the answer again when it is read; keep the answer in a table: CREATE TABLE r AS \
             RISK OF ...",
        ));
    }
    Ok(Some(Statement::new(Answered {
        answers,
        after: c.text(at..tokens.len()),
    })))
}

/// Returns the token range of the next inner statement at or after `from`. An inner statement in
/// parentheses extends to the closing parenthesis. After AS in a CREATE, and in an INSERT, it
/// extends to the end of the text. Returns `None` if there is no inner statement before the first
/// ANONYMIZE, because all text after ANONYMIZE belongs to the ANONYMIZE statement.
fn next(c: &Cursor, from: usize) -> Option<Result<Range<usize>>> {
    let tokens = c.tokens();
    let follows = |at: usize, words: &[&str]| {
        let before = c.within(at - 1..at).word_at(0);
        before.is_some_and(|before| words.contains(&before.as_str()))
    };
    let first = c.word_at(0);
    let begins_with = |word: &str| first.as_deref() == Some(word);
    let (is_create, is_insert) = (begins_with("CREATE"), begins_with("INSERT"));
    for at in from.max(1)..tokens.len() {
        let here = c.within(at..tokens.len());
        if here.looks_at("ANONYMIZE") {
            return None;
        }
        let is_enclosed = tokens[at - 1].token == Token::LParen;
        let is_rest =
            (is_create && follows(at, &["AS"])) || (is_insert && !follows(at, &["INTO", "SELECT", "FROM", "WHERE"]));
        let is_start = |start: &&str| here.looks_at(start.trim_end_matches(" *"));
        let mut starts = answers().flat_map(|entry| entry.starts);
        if !(is_enclosed || is_rest) || !starts.any(is_start) {
            continue;
        }
        return match (is_enclosed, c.closing(at - 1)) {
            (false, _) => Some(Ok(at..tokens.len())),
            // A single word in parentheses is a column name.
            (true, Some(end)) if end == at + 1 => continue,
            (true, Some(end)) => Some(Ok(at..end)),
            (true, None) => Some(Err(c.within(at - 1..tokens.len()).error("this \"(\" is not closed"))),
        };
    }
    None
}

/// Returns the statements that are allowed in place of a query.
fn answers() -> impl Iterator<Item = &'static Entry> {
    STATEMENTS.iter().filter(|entry| entry.answers)
}

/// Parses the inner statement at the cursor.
fn answer(inner: &Cursor) -> Result<Option<Statement>> {
    for entry in answers() {
        if let Some(statement) = entry.read_at(inner)? {
            return Ok(Some(statement));
        }
    }
    Ok(None)
}

impl Run for Answered {
    fn kind(&self) -> &'static str {
        "query of an answer"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let (mut names, mut failed) = (vec![], vec![]);
            let answered = async {
                for (_, answer) in &self.answers {
                    let answer = answer.run_within(context).await?;
                    failed.extend(answer.failed.iter().cloned());
                    let number = context.releases.fetch_add(1, Ordering::Relaxed);
                    let name = format!("__anonsql_answer_{number}");
                    context
                        .session
                        .register_table(name.as_str(), kept(context, answer).await?)?;
                    names.push(name);
                }
                let text = self.with_queries(names.iter().map(|name| format!("SELECT * FROM {name}")));
                outer(context, &text)?.run_within(context).await
            };
            let answered = answered.await;
            for name in &names {
                context.session.deregister_table(name.as_str())?;
            }
            let mut answer = answered?;
            answer.failed.extend(failed);
            Ok(answer)
        })
    }
}

/// Parses the outer statement, in which queries have replaced the inner statements.
fn outer(context: &AnonContext, text: &str) -> Result<Statement> {
    let outer = context.script(text)?.next();
    outer.ok_or_else(|| Error::internal("an answer without a statement around it"))?
}

/// Collects result rows into a table in memory, and records that each of them may depend on all
/// rows of the tables that the statement read.
async fn kept(context: &AnonContext, answer: Answer) -> Result<Arc<dyn TableProvider>> {
    let schema = Arc::clone(&answer.schema);
    let rows: Vec<RecordBatch> = answer.rows.try_collect().await.map_err(Error::from)?;
    let table: Arc<dyn TableProvider> = Arc::new(MemTable::try_new(schema, vec![rows])?);
    context.made.add(&table, ANSWERED);
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::ErrorKind;
    use crate::language::session::statements::parse::parse;
    use crate::language::session::statements::plain::Plain;

    const INNER: [&str; 4] = [
        "RISK OF t QUASI IDENTIFIERS (age) PER ROW",
        "VERIFY t QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)",
        "COMPARE ANONYMIZE t QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2) SEARCH USING (flash)",
        "DESCRIBE HIERARCHY age",
    ];

    #[test]
    fn an_answer_stands_where_a_query_can() {
        for inner in INNER {
            for (before, after) in [
                ("CREATE TABLE x AS ", ""),
                ("CREATE TABLE x AS (", ")"),
                ("COPY (", ") TO 'x.parquet' STORED AS PARQUET"),
                ("INSERT INTO x ", ""),
                ("SELECT count(*) FROM (", ") AS a"),
                ("WITH r AS (", ") SELECT * FROM r"),
                ("SELECT 1 WHERE 2 IN (", ")"),
            ] {
                let sql = format!("{before}{inner}{after}");
                let all = parse(&sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
                let found = all[0].get::<Answered>().unwrap_or_else(|| panic!("{sql}"));
                assert_eq!(found.answers.len(), 1, "{sql}");
                assert_eq!(all[0].to_string(), sql);
                assert_eq!(parse(&all[0].to_string()).unwrap(), all);
            }
        }
    }

    #[test]
    fn several_stand_in_one_statement() {
        let [risk, verify, ..] = INNER;
        let sql = format!("SELECT * FROM ({risk}) AS a CROSS JOIN ({verify}) AS b");
        let all = parse(&sql).unwrap();
        assert_eq!(all[0].get::<Answered>().unwrap().answers.len(), 2);
        assert_eq!(all[0].to_string(), sql);
    }

    #[tokio::test]
    async fn a_check_that_does_not_hold_fails_the_statement_around_it() {
        let anon = AnonContext::new(Default::default());
        anon.sql("CREATE TABLE t AS VALUES (1), (1), (2)").await.unwrap();
        let verify = |k: u32| format!("(VERIFY t QUASI IDENTIFIERS (column1) SATISFYING k_anonymity({k}))");
        for (around, k, holds) in [
            ("SELECT * FROM", 1, true),
            ("SELECT * FROM", 2, false),
            ("CREATE TABLE x AS", 2, false),
        ] {
            let found = anon.sql(&format!("{around} {}", verify(k))).await;
            let kind = found.map(|_| ()).map_err(|e| e.kind());
            assert_eq!(
                kind,
                if holds { Ok(()) } else { Err(ErrorKind::Verification) },
                "{around} {k}"
            );
        }
        // At this point, the table contains the rows, and the session contains no temporary table.
        assert_eq!(anon.sql("SELECT * FROM x WHERE NOT ok").await.unwrap()[0].num_rows(), 1);
        let all = anon
            .session()
            .catalog("datafusion")
            .unwrap()
            .schema("public")
            .unwrap()
            .table_names();
        assert!(all.iter().all(|name| !name.starts_with("__anonsql")), "{all:?}");
    }

    #[test]
    fn a_column_may_have_the_name_of_a_statement() {
        let all = parse("SELECT (verify) FROM t").unwrap();
        assert!(all[0].get::<Plain>().is_some());
        let broken = parse("SELECT (verify) FROM t WHERE").unwrap_err();
        assert!(!broken.message().contains("VERIFY"), "{broken}");
        for sql in [
            "CREATE TABLE x AS ANONYMIZE t QUASI IDENTIFIERS (verify USING age) SATISFYING k_anonymity(2)",
            "INSERT INTO verify ANONYMIZE t QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)",
        ] {
            assert!(parse(sql).unwrap()[0].get::<Answered>().is_none(), "{sql}");
        }
    }
}
