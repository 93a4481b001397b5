//! Parses a script into statements.

use super::entry::{self, Statement};
use super::{STATEMENTS, plain};
use crate::base::error::Result;
#[cfg(any(test, feature = "internal-api"))]
use crate::language::sql::Script;
use crate::language::sql::cursor::Cursor;
use crate::language::sql::variable::Variables;
use crate::language::sql::words::Words;
use crate::language::sql::{self, Expectation};
use crate::method::hierarchy::{KINDS, Kind};
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

static WORDS: LazyLock<Arc<Words>> = LazyLock::new(|| words(KINDS));

/// Returns the words of the language. CREATE HIERARCHY accepts the given kinds of hierarchies.
pub(in crate::language::session) fn words(kinds: &[Kind]) -> Arc<Words> {
    Arc::new(entry::words(STATEMENTS, kinds))
}

/// Parses all statements of a script, which are separated by `;`.
#[cfg(any(test, feature = "internal-api"))]
pub fn parse(sql: &str) -> Result<Vec<Statement>> {
    parse_each(sql)?.into_iter().collect()
}

/// Parses each statement of a script, without variables. Each statement has its own parse result.
#[cfg(any(test, feature = "internal-api"))]
pub fn parse_each(text: &str) -> Result<Vec<Result<Statement>>> {
    let script = Script::new(text, Arc::clone(&WORDS))?;
    let one = |tokens: &_| sql::read(&script, tokens, &Variables::default(), |c| read(&c)).map(Statement::of);
    Ok(script.statements().map(one).collect())
}

/// Returns the possible continuations at the end of the last statement in `text`. CREATE HIERARCHY
/// accepts the given kinds of hierarchies. DataFusion's own statements are not covered.
pub(in crate::language::session) fn expected(text: &str, kinds: &[Kind], variables: &Variables) -> Vec<Expectation> {
    // The first parser that recognizes the first words of the statement determines the
    // continuations. Only the expectations that it records are needed, so its result is dropped.
    sql::expected(text, words(kinds), variables, |c| drop(read(&c)))
}

/// Returns every keyword of the built-in statements in upper case, for completion and highlighting.
/// The keywords are taken from the syntax texts of help. In debug builds, the parser asserts that
/// it uses no other keywords.
pub fn keywords() -> &'static BTreeSet<&'static str> {
    &WORDS.keywords
}

/// Parses one statement: an entry of [`STATEMENTS`], or otherwise a DataFusion statement.
pub(in crate::language::session) fn read(c: &Cursor) -> Result<Statement> {
    for entry in STATEMENTS {
        if let Some(statement) = entry.read_at(c)? {
            return Ok(statement);
        }
    }
    plain::read(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::session::statements::plain::Plain;

    #[test]
    fn every_example_parses_and_prints_back() {
        for entry in STATEMENTS {
            let statement = parse(entry.example)
                .unwrap_or_else(|e| panic!("{}: {e}", entry.name))
                .remove(0);
            assert!(statement.get::<Plain>().is_none(), "{}", entry.name);
            assert_eq!(parse(&statement.to_string()).unwrap(), [statement], "{}", entry.name);
        }
    }

    #[test]
    fn a_cut_statement_is_an_error_not_a_panic() {
        for entry in STATEMENTS {
            for (end, _) in entry.example.char_indices().filter(|(_, c)| *c == ' ') {
                let _ = parse(&entry.example[..end]);
            }
        }
    }

    #[test]
    fn plain_sql_is_left_alone() {
        let all = parse("SELECT level, front FROM t; ; EXPLAIN SELECT 1; SHOW TABLES").unwrap();
        assert_eq!(all.len(), 3);
        assert!(all.iter().all(|s| s.get::<Plain>().is_some()));
        assert_eq!(all[0].to_string(), "SELECT level, front FROM t");
    }

    #[test]
    fn what_stands_before_an_error_can_run() {
        let each = parse_each("SELECT 1; ANONYMIZE; SELECT 2").unwrap();
        assert_eq!(each.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
    }
}
