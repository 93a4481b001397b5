//! A script: its text and its tokens, cut into statements.

use super::words::Words;
use crate::error::{Error, Result};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};

/// A text and its tokens, without blanks and comments.
pub(crate) struct Script<'a> {
    text: &'a str,
    words: &'a Words,
    tokens: Vec<TokenWithSpan>,
    /// The byte at which each line begins, and each [`STRIDE`] characters of a long line with the number of the character.
    places: Vec<(u64, u64, usize)>,
}

/// So many characters are counted at most to find a place.
const STRIDE: u64 = 256;

impl<'a> Script<'a> {
    pub(crate) fn new(text: &'a str, words: &'a Words) -> Result<Self> {
        let mut tokens = Tokenizer::new(&GenericDialect {}, text)
            .tokenize_with_location()
            .map_err(|e| Error::usage(format!("{}: {}", place(e.location), e.message)))?;
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
            text,
            words,
            tokens,
            places,
        })
    }

    /// The words of its language.
    pub(super) fn words(&self) -> &'a Words {
        self.words
    }

    /// The tokens of each statement that is not empty.
    pub(crate) fn statements(&self) -> impl Iterator<Item = &[TokenWithSpan]> {
        self.tokens
            .split(|t| t.token == Token::SemiColon)
            .filter(|tokens| !tokens.is_empty())
    }

    /// The text from the first to the last of `tokens`, comments between them included.
    pub(crate) fn text(&self, tokens: &[TokenWithSpan]) -> String {
        match (tokens.first(), tokens.last()) {
            (Some(a), Some(b)) => self.text[self.offset(a.span.start)..self.offset(b.span.end)].to_string(),
            _ => String::new(),
        }
    }

    fn offset(&self, at: Location) -> usize {
        let after = self
            .places
            .partition_point(|(line, column, _)| (*line, *column) <= (at.line, at.column));
        let (_, column, byte) = self.places.get(after.saturating_sub(1)).copied().unwrap_or((1, 1, 0));
        let rest = &self.text[byte..];
        let ahead = at.column.saturating_sub(column) as usize;
        byte + rest.char_indices().nth(ahead).map_or(rest.len(), |(i, _)| i)
    }
}

/// Where something is, for an error.
pub(super) fn place(at: Location) -> String {
    format!("line {}, column {}", at.line, at.column)
}
