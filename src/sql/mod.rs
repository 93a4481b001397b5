//! The language: DataFusion's SQL, and the statements of anonsql around it.
//!
//! [`parse`] reads a script. What an entry of [`statement::STATEMENTS`] claims becomes an AST of this crate; everything
//! else goes to DataFusion's parser unchanged. An AST prints back as the SQL that makes it. New words are not reserved:
//! a word is a keyword only where the grammar waits for one.

pub mod ast;
mod clause;
mod cursor;
mod depth;
mod dialect;
mod name;
mod redact;
#[cfg(test)]
mod roundtrip;
pub mod statement;

pub use ast::Statement;
pub use depth::{ROOM, is_deep};
pub use name::{TableName, ident, literal_text};

use crate::error::Result;
use cursor::{Cursor, Script};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};
use depth::Depth;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// All statements of a script, separated by `;`.
pub fn parse(sql: &str) -> Result<Vec<Statement>> {
    parse_each(sql)?.into_iter().collect()
}

/// Each statement of a script with its own outcome, so that a runner can carry out what stands before the first error.
pub fn parse_each(sql: &str) -> Result<Vec<Result<Statement>>> {
    let script = Script::new(sql)?;
    let read = |tokens: &[TokenWithSpan]| {
        let depth = Depth::of(tokens.iter().map(|t| &t.token));
        depth.read(|| statement::read(Cursor::new(&script, tokens)))
    };
    Ok(script.statements().map(read).collect())
}

/// Whether a line editor can hand `text` over: it ends with `;` outside strings and comments, or holds nothing at all.
/// Text that no further line can mend is complete too, so that its error is shown.
pub fn is_complete(text: &str) -> bool {
    match Tokenizer::new(&GenericDialect {}, text).tokenize() {
        Ok(tokens) => tokens
            .iter()
            .rfind(|t| !matches!(t, Token::Whitespace(_)))
            .is_none_or(|t| matches!(t, Token::SemiColon)),
        Err(e) => !(e.message.contains("Unterminated") || e.message.contains("EOF")),
    }
}

/// Every keyword of the statements of this crate, in upper case: for completion and highlighting. It is read off the
/// syntax texts that help shows, and the parser asserts (in debug builds) that it knows no other.
pub fn keywords() -> &'static BTreeSet<&'static str> {
    static KEYWORDS: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
        let clauses = clause::ALL.iter().map(|c| c.syntax);
        let texts = statement::STATEMENTS
            .iter()
            .flat_map(|s| [s.syntax].into_iter().chain(s.starts.iter().copied()));
        clauses
            .chain(texts)
            .flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '\''))
            .filter(|w| w.len() > 1 && w.chars().all(|c| c.is_ascii_uppercase()))
            .collect()
    });
    &KEYWORDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completeness_looks_through_strings_and_comments() {
        for text in ["", "  ", "SELECT 1;", "SELECT ';' ; -- end", "SELECT 1; /* ; */"] {
            assert!(is_complete(text), "{text}");
        }
        for text in ["SELECT 1", "SELECT ';", "SELECT 1 -- ;", "SELECT 1 /* ;", "SELECT \"a;"] {
            assert!(!is_complete(text), "{text}");
        }
    }

    #[test]
    fn plain_sql_is_left_alone() {
        let all = parse("SELECT level, front FROM t; ; EXPLAIN SELECT 1; SHOW TABLES").unwrap();
        assert_eq!(all.len(), 3);
        assert!(all.iter().all(|s| matches!(s, Statement::DataFusion(..))));
        assert_eq!(all[0].to_string(), "SELECT level, front FROM t");
    }

    #[test]
    fn what_stands_before_an_error_can_run() {
        let each = parse_each("SELECT 1; ANONYMIZE; SELECT 2").unwrap();
        assert_eq!(each.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
    }
}
