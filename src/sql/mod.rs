//! The SQL parser: a cursor over the tokens of a script and the clauses that statements share, around DataFusion's
//! parser.
//!
//! This module knows no statement: statements are in [`crate::session`], and pass their words to this module.
//! Everything that is parsed prints back as SQL that parses to the same value. New words are not reserved: a word is a
//! keyword only where the grammar expects one.

pub mod clause;
pub(crate) mod cursor;
mod depth;
mod dialect;
pub(crate) mod name;
mod redact;
mod script;
pub(crate) mod words;

pub use depth::{ROOM, is_deep};
pub use name::TableName;

use crate::error::Result;
use cursor::Cursor;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};
use depth::Depth;
use script::Script;
use words::Words;

/// Parses each statement of a script with `read`, on a thread with a larger stack if the statement is deep.
pub(crate) fn read_each<T: Send>(
    sql: &str,
    words: &Words,
    read: impl Fn(Cursor) -> Result<T> + Sync,
) -> Result<Vec<Result<T>>> {
    let script = Script::new(sql, words)?;
    let one = |tokens: &[TokenWithSpan]| {
        let depth = Depth::of(tokens.iter().map(|t| &t.token));
        depth.read(|| read(Cursor::new(&script, tokens)))
    };
    Ok(script.statements().map(one).collect())
}

/// Returns true if a line editor can submit `text`: it ends with `;` outside strings and comments, or is empty. Text
/// with an error that no further line can fix is complete too, so that its error is shown.
pub fn is_complete(text: &str) -> bool {
    match Tokenizer::new(&GenericDialect {}, text).tokenize() {
        Ok(tokens) => tokens
            .iter()
            .rfind(|t| !matches!(t, Token::Whitespace(_)))
            .is_none_or(|t| matches!(t, Token::SemiColon)),
        Err(e) => !(e.message.contains("Unterminated") || e.message.contains("EOF")),
    }
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
}
