//! Reading SQL: a cursor over the tokens of a script, and the clauses that statements share, around DataFusion's parser.
//!
//! Nothing here knows a statement: those are in [`crate::session`], and hand over their words. What is read prints back as
//! the SQL that makes it. New words are not reserved: a word is a keyword only where the grammar waits for one.

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

/// What `read` makes of each statement of a script, with room for those that go deep.
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
