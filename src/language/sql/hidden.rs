//! Values that must not be shown, because a statement took them from the environment.

use super::script::{Script, spliced};
use super::words::Words;
use crate::base::error::Error;
use crate::base::plain::Secrets;
use datafusion::sql::sqlparser::tokenizer::{Span, Token};
use std::sync::Arc;

/// The minimum length of a hidden value, in characters. A shorter value is not treated as a secret,
/// because it may occur as a part of any word.
const LEAST: usize = 4;

/// The values that a statement takes from the environment. In printed statements and messages, each
/// value is replaced by its original text, such as `getenv('NAME')`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Hidden {
    /// Each value with its original text.
    values: Secrets,
}

impl Hidden {
    /// Creates the hidden values from pairs of a value and its original text. Values that are
    /// shorter than [`LEAST`] are not hidden.
    pub(super) fn new(values: impl Iterator<Item = (String, String)>) -> Self {
        let values = values.filter(|(value, _)| value.chars().count() >= LEAST).collect();
        Self {
            values: Secrets::new(values),
        }
    }

    /// Returns true if there is nothing to hide.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the union of two sets of hidden values.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let mut values: Vec<_> = self.values.iter().chain(other.values.iter()).cloned().collect();
        values.sort();
        values.dedup();
        Self {
            values: Secrets::new(values),
        }
    }

    /// Returns the values, each with the text that replaces it.
    pub(crate) fn secrets(&self) -> &Secrets {
        &self.values
    }

    /// Returns a printed statement in which every literal that is a hidden value is replaced by the
    /// original text of the value.
    pub(crate) fn in_statement(&self, sql: String) -> String {
        if self.is_empty() {
            return sql;
        }
        let Ok(script) = Script::new(&sql, Arc::new(Words::default())) else {
            return self.values.hidden_in(&sql);
        };
        let tokens: Vec<_> = script.statements().flatten().cloned().collect();
        let written = |token: &Token| match token {
            Token::SingleQuotedString(text) | Token::EscapedStringLiteral(text) | Token::Number(text, _) => {
                let found = self
                    .values
                    .iter()
                    .find(|(value, _)| value.trim_start_matches('-') == text || value == text);
                found.map(|(_, written)| written.as_str())
            }
            _ => None,
        };
        let replaced: Vec<(Span, &str)> = tokens
            .iter()
            .filter_map(|t| Some((t.span, written(&t.token)?)))
            .collect();
        spliced(&script, &tokens, replaced.into_iter())
    }

    /// Returns an error in whose message verbatim occurrences of hidden values are replaced by
    /// their original texts.
    pub(super) fn in_message(&self, error: Error) -> Error {
        match self.is_empty() {
            true => error,
            false => Error::new(error.kind(), self.values.hidden_in(error.message())),
        }
    }

    /// Returns an error in whose message hidden values are replaced by their original texts. If
    /// another crate wrote the message, all values are removed from it, because it can contain a
    /// value that a function computed from a hidden value.
    pub(crate) fn in_error(&self, error: Error) -> Error {
        if self.is_empty() {
            return error;
        }
        self.in_message(error.without_foreign_values())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(value: &str) -> Hidden {
        Hidden::new([(value.to_string(), "getenv('S')".to_string())].into_iter())
    }

    #[test]
    fn a_statement_has_what_was_written() {
        for (value, sql, wanted) in [
            (
                "it's me",
                "SELECT 'it''s me', 'not it''s me'",
                "SELECT  getenv('S') , 'not it''s me'",
            ),
            (
                "12345",
                "SELECT 12345, 123456, '12345'",
                "SELECT  getenv('S') , 123456,  getenv('S')",
            ),
            ("abc", "SELECT 'abc'", "SELECT 'abc'"),
        ] {
            assert_eq!(hidden(value).in_statement(sql.into()), wanted);
        }
    }

    #[test]
    fn a_message_has_it_too() {
        for said in ["no file pass'word", "no file \"pass'word\"", "Utf8('pass''word')"] {
            let error = hidden("pass'word").in_error(Error::usage(said));
            assert!(!error.message().contains("word"), "{error}");
        }
        let error = hidden("a\"\nb").in_error(Error::usage(format!("no {:?}", "a\"\nb")));
        assert_eq!(error.message(), "no \"getenv('S')\"");
    }
}
