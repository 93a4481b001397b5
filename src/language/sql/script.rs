//! A script: its text and its tokens, which are split into statements.

use super::expectation::Expectations;
use super::words::Words;
use crate::base::error::{Error, Position, Result};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer};
use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;

/// A text with its tokens, which do not include whitespace and comments.
pub(crate) struct Script {
    text: String,
    words: Arc<Words>,
    tokens: Vec<TokenWithSpan>,
    /// For the start of each line, and for every [`STRIDE`]th character in a long line: the line,
    /// the column and the byte offset.
    places: Vec<(u64, u64, usize)>,
    /// The expectations that a parser records at the end of its tokens.
    pub(super) expectations: Expectations,
}

/// The maximum number of characters that must be counted to find a position.
const STRIDE: u64 = 256;

impl Script {
    pub(crate) fn new(text: &str, words: Arc<Words>) -> Result<Self> {
        let mut tokens = Tokenizer::new(&GenericDialect {}, text)
            .tokenize_with_location()
            .map_err(|e| at(e.location, untold(&e.message)))?;
        tokens.retain(|t| !matches!(t.token, Token::Whitespace(_)));
        let mut places = vec![(1, 1, 0)];
        let (mut line, mut column) = (1, 1);
        for (at, c) in text.char_indices() {
            (line, column) = match c {
                '\n' => (line + 1, 1),
                _ => (line, column + 1),
            };
            if column % STRIDE == 1 {
                places.push((line, column, at + c.len_utf8()));
            }
        }
        Ok(Self {
            text: text.to_string(),
            words,
            tokens,
            places,
            expectations: Expectations::default(),
        })
    }

    /// Returns the words of the language.
    pub(super) fn words(&self) -> &Words {
        &self.words
    }

    /// Returns the tokens of each statement that is not empty.
    pub(crate) fn statements(&self) -> impl Iterator<Item = &[TokenWithSpan]> {
        self.places_of_statements().map(|place| &self.tokens[place])
    }

    /// Returns the token range of each statement that is not empty, for [`Self::tokens_at`].
    pub(crate) fn places_of_statements(&self) -> impl Iterator<Item = Range<usize>> {
        let mut end = 0;
        let places = self.tokens.split(|t| t.token == Token::SemiColon).map(move |tokens| {
            let start = end;
            end = start + tokens.len() + 1;
            start..start + tokens.len()
        });
        places.filter(|place| !place.is_empty())
    }

    /// Returns the tokens in the range of one statement.
    pub(crate) fn tokens_at(&self, place: Range<usize>) -> &[TokenWithSpan] {
        &self.tokens[place]
    }

    /// Returns the tokens after the last `;`.
    pub(super) fn last_statement(&self) -> &[TokenWithSpan] {
        let last = self.tokens.rsplit(|t| t.token == Token::SemiColon).next();
        last.unwrap_or_default()
    }

    fn offset(&self, at: Location) -> usize {
        let (byte, ahead) = self.near(at);
        let rest = &self.text[byte..];
        byte + rest.char_indices().nth(ahead).map_or(rest.len(), |(i, _)| i)
    }

    /// Returns the byte offset of the last known position before `at`, and the number of characters
    /// from this position to `at`.
    fn near(&self, at: Location) -> (usize, usize) {
        let after = self
            .places
            .partition_point(|(line, column, _)| (*line, *column) <= (at.line, at.column));
        let (_, column, byte) = self.places.get(after.saturating_sub(1)).copied().unwrap_or((1, 1, 0));
        (byte, at.column.saturating_sub(column) as usize)
    }
}

/// Returns the text from the first to the last of `tokens`, including comments between them. The
/// texts in `replaced` replace the text at their spans.
pub(super) fn spliced<'t>(
    script: &Script,
    tokens: &[TokenWithSpan],
    replaced: impl Iterator<Item = (Span, &'t str)>,
) -> String {
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
        return String::new();
    };
    let (mut at, end) = (script.offset(first.span.start), script.offset(last.span.end));
    let mut text = String::new();
    for (span, with) in replaced {
        let (from, to) = (script.offset(span.start), script.offset(span.end));
        if (at..end).contains(&from) {
            text.extend([&script.text[at..from], " ", with, " "]);
            at = to;
        }
    }
    text += &script.text[at..end];
    text.trim().to_string()
}

/// Describes, for an error, why a text cannot be split into tokens. The most common reason is an
/// unclosed quote.
fn untold(message: &str) -> String {
    match message {
        "Unterminated string literal" => "this ' is not closed: the text goes on to the end".into(),
        _ if message.starts_with("Expected close delimiter '\"'") => {
            "this \" is not closed: the name goes on to the end".into()
        }
        other => other.to_string(),
    }
}

/// Returns a usage error that begins with the position `at`.
pub(super) fn at(at: Location, message: impl Display) -> Error {
    let Location { line, column } = at;
    Error::usage(format!("{}: {message}", place(at))).with_detail(Position { line, column })
}

/// Formats a position for an error message.
pub(super) fn place(at: Location) -> String {
    format!("line {}, column {}", at.line, at.column)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Tests that only a few characters are counted to find the position of a token, whatever
        /// precedes the token, so that a script is parsed in linear time.
        #[test]
        fn the_place_of_a_token_is_found_by_counting_few_characters(
            statements in prop::collection::vec("(SELECT|é) ?[a-z]{1,4}(, 'ä\n{0,2}[a-z]{0,300}')?", 1..40),
            end in prop::sample::select(vec![";", ";\n", ";;  ", "; -- ;\n"]),
        ) {
            let text = statements.join(end);
            let script = Script::new(&text, Arc::default()).unwrap();
            prop_assert_eq!(script.statements().count(), statements.len());
            for (tokens, written) in script.statements().zip(&statements) {
                prop_assert_eq!(&spliced(&script, tokens, std::iter::empty()), written);
                for token in tokens {
                    prop_assert!(script.near(token.span.start).1 < STRIDE as usize);
                }
            }
        }
    }
}
