//! The SQL parser. It consists of a cursor over the tokens of a script and of the clauses that
//! statements share, and passes queries and other statements to DataFusion's parser.
//!
//! This module does not contain the statements. They are in [`crate::language::session`], and pass
//! their keywords to this module. Everything that is parsed can be printed as SQL that parses to
//! the same value. No new words are reserved: a word is a keyword only where the grammar expects
//! one.

mod binding;
pub mod clause;
pub(crate) mod cursor;
mod delegate;
mod depth;
mod dialect;
mod expectation;
mod frames;
mod hidden;
mod hint;
pub(crate) mod name;
pub(crate) mod path_options;
pub(crate) mod paths;
mod redact;
mod script;
mod unheard;
mod unnamed;
pub(crate) mod variable;
mod versioned;
pub(crate) mod visit;
pub(crate) mod words;

pub use depth::ROOM;
pub use expectation::Expectation;
pub(crate) use hint::{hyphenated, nearest};
pub use name::TableName;

pub(crate) use frames::state_frames;
pub(crate) use hidden::Hidden;
pub(crate) use script::Script;
pub(crate) use versioned::with_versions;

use crate::base::error::Result;
use binding::Binding;
use cursor::Cursor;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};
use depth::Depth;
use expectation::Expectations;
use std::sync::Arc;
use variable::Variables;
use words::Words;

/// A statement that was parsed.
pub(crate) struct Parsed<T> {
    pub(crate) statement: T,
    /// The values in the statement that come from the environment, and must not be shown.
    pub(crate) hidden: Hidden,
    /// Whether the statement is so deep that it must run on threads with a stack of [`ROOM`] bytes.
    pub(crate) is_deep: bool,
}

/// Replaces the variables in the statement `tokens` of a script by their values, and parses the
/// statement with `read`. A deep statement is parsed on a thread with a larger stack.
pub(crate) fn read<T: Send>(
    script: &Script,
    tokens: &[TokenWithSpan],
    variables: &Variables,
    read: impl FnOnce(Cursor) -> Result<T> + Send,
) -> Result<Parsed<T>> {
    let binding = Binding::of(tokens, variables)?;
    let hidden = binding.hidden();
    let depth = Depth::of(binding.tokens.iter().map(|t| &t.token));
    let read = depth.read(|| read(Cursor::new(script, &binding)));
    Ok(Parsed {
        statement: read.map_err(|e| hidden.in_message(e))?,
        hidden,
        is_deep: !depth.is_shallow(),
    })
}

/// Returns the tokens that `read` expects after the last statement of `text`; empty if the text
/// ends inside a string or a comment, or if the statement is too deep for the stack of the caller.
pub(crate) fn expected(
    text: &str,
    words: Arc<Words>,
    variables: &Variables,
    read: impl Fn(Cursor),
) -> Vec<Expectation> {
    let Ok(mut script) = Script::new(text, words) else {
        return vec![];
    };
    script.expectations = Expectations::recording();
    if let Ok(binding) = Binding::of(script.last_statement(), variables)
        && Depth::of(binding.tokens.iter().map(|t| &t.token)).is_shallow()
    {
        read(Cursor::new(&script, &binding));
    }
    script.expectations.into_all()
}

/// Returns true if a line editor can submit `text`, because it is empty or ends with a `;` that is
/// not in a string or a comment. Also returns true for a text with an error that no further line
/// can correct, so that the error is shown.
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
