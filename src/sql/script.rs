//! A script: its text and its tokens, split into statements.

use super::words::Words;
use crate::error::{Error, Result};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};

/// A text and its tokens, without whitespace and comments.
pub(crate) struct Script<'a> {
    text: &'a str,
    words: &'a Words,
    tokens: Vec<TokenWithSpan>,
    /// Line, column and byte offset of the start of each line, and of every [`STRIDE`]th character of a long line.
    places: Vec<(u64, u64, usize)>,
}

/// The largest number of characters that are counted to find a position.
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

    /// Returns the words of the language.
    pub(super) fn words(&self) -> &'a Words {
        self.words
    }

    /// Returns the tokens of each non-empty statement.
    pub(crate) fn statements(&self) -> impl Iterator<Item = &[TokenWithSpan]> {
        self.tokens
            .split(|t| t.token == Token::SemiColon)
            .filter(|tokens| !tokens.is_empty())
    }

    /// Returns the text from the first to the last of `tokens`, including the comments between them.
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

/// Formats a position for an error.
pub(super) fn place(at: Location) -> String {
    format!("line {}, column {}", at.line, at.column)
}
