//! A cursor over the tokens of one statement. Its errors contain its line and column.

use super::binding::{Binding, Substitution, bound_at};
use super::expectation::Expectation;
use super::hint::{END, ErrorPlace, NEXT_ITEM, describe};
use super::name::TableName;
use super::script::{self, Script, spliced};
use super::variable::Literal;
use super::words::Words;
use crate::base::catalogue::{Argument, Call, Value};
use crate::base::error::{Error, Result};
use crate::method::hierarchy::Kind;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan};

/// A position among the tokens of one statement.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    script: &'a Script,
    bound: &'a [Substitution],
    pub(super) tokens: &'a [TokenWithSpan],
    pub(super) at: usize,
    /// Whether the statement continues after the last token in `tokens`.
    goes_on: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(script: &'a Script, binding: &'a Binding<'_>) -> Self {
        Self {
            script,
            bound: &binding.bound,
            tokens: &binding.tokens,
            at: 0,
            goes_on: false,
        }
    }

    /// Returns the words of the language.
    pub(crate) fn words(&self) -> &'a Words {
        self.script.words()
    }

    /// Returns the kinds of hierarchies that CREATE HIERARCHY accepts.
    pub(crate) fn kinds(&self) -> &'a [Kind] {
        &self.words().kinds
    }

    fn peek(&self) -> Option<&'a TokenWithSpan> {
        self.tokens.get(self.at)
    }

    pub(crate) fn at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// Returns the number of tokens before the cursor.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Moves to the token at `position`.
    pub(crate) fn skip_to(&mut self, position: usize) {
        self.at = position;
    }

    pub(crate) fn tokens(&self) -> &'a [TokenWithSpan] {
        self.tokens
    }

    /// Returns a cursor over a part of the same statement. It starts at token `range.start`, and
    /// its tokens end before `range.end`.
    pub(crate) fn within(&self, range: std::ops::Range<usize>) -> Cursor<'a> {
        Cursor {
            tokens: &self.tokens[..range.end],
            at: range.start,
            goes_on: self.goes_on || range.end < self.tokens.len(),
            ..self.clone()
        }
    }

    /// Returns the text of the tokens in `range`, with the values of variables.
    pub(crate) fn text(&self, range: std::ops::Range<usize>) -> String {
        let values: Vec<String> = self.bound.iter().map(|b| b.value.to_string()).collect();
        let values = self
            .bound
            .iter()
            .zip(&values)
            .map(|(b, value)| (b.span, value.as_str()));
        spliced(self.script, &self.tokens[range], values)
    }

    /// Returns the text of the whole statement as the user wrote it, without the values of
    /// variables.
    pub(crate) fn written(&self) -> String {
        spliced(self.script, self.tokens, std::iter::empty())
    }

    /// Returns the replacement at the cursor; `None` if the token at the cursor is not a replaced
    /// variable.
    fn bound(&self) -> Option<&'a Substitution> {
        bound_at(self.bound, self.peek()?.span.start)
    }

    /// Moves past `getenv('NAME')`, and returns the name; `None` if the cursor is not at a
    /// `getenv`. The value is not used.
    pub(crate) fn environment(&mut self) -> Option<String> {
        let name = self.bound()?.environment.clone()?;
        self.at += 1;
        Some(name)
    }

    /// Returns the unquoted word that is `ahead` tokens after the cursor, in upper case.
    pub(crate) fn word_at(&self, ahead: usize) -> Option<String> {
        match &self.tokens.get(self.at + ahead)?.token {
            Token::Word(w) if w.quote_style.is_none() => Some(w.value.to_ascii_uppercase()),
            _ => None,
        }
    }

    pub(crate) fn looks_at(&self, words: &str) -> bool {
        let missing = words
            .split(' ')
            .enumerate()
            .find(|(i, w)| self.word_at(*i).as_deref() != Some(*w));
        if let Some((i, _)) = missing
            && self.at + i == self.tokens.len()
        {
            self.offer(words.splitn(i + 1, ' ').last().unwrap_or(words));
        }
        missing.is_none()
    }

    /// Records the keywords `words` as a possible continuation after the last token.
    pub(crate) fn offer(&self, words: &str) {
        if !self.goes_on {
            let record = || Expectation::Keywords(words.to_string());
            self.script.expectations.record(record);
        }
    }

    /// Records an expectation if the cursor is at the end of the statement.
    fn want(&self, expectation: impl FnOnce() -> Expectation) {
        if self.at_end() && !self.goes_on {
            self.script.expectations.record(expectation);
        }
    }

    /// Moves past the keywords `words` and returns true if they are the next tokens; returns false
    /// otherwise.
    pub(crate) fn take(&mut self, words: &str) -> bool {
        #[cfg(any(test, debug_assertions))]
        assert!(
            words
                .split(' ')
                .all(|w| w.len() == 1 || self.words().keywords.contains(w)),
            "{words} is in no syntax text"
        );
        let found = self.looks_at(words);
        if found {
            self.at += words.split(' ').count();
        }
        found
    }

    /// Moves past the keywords `words`. Fails if they are not the next tokens.
    pub(crate) fn need(&mut self, words: &str) -> Result<()> {
        for word in words.split(' ') {
            if !self.take(word) {
                return Err(self.expected(words, [word]));
            }
        }
        Ok(())
    }

    pub(crate) fn take_token(&mut self, token: &Token) -> bool {
        self.want(|| Expectation::Symbol(token.to_string()));
        let found = self.peek().is_some_and(|t| t.token == *token);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn looks_at_token(&self, token: &Token) -> bool {
        self.want(|| Expectation::Symbol(token.to_string()));
        self.peek().is_some_and(|t| t.token == *token)
    }

    pub(crate) fn need_token(&mut self, token: &Token, what: &str) -> Result<()> {
        if self.take_token(token) {
            Ok(())
        } else {
            Err(self.expected(what, []))
        }
    }

    /// Returns a usage error with the line and column of the cursor before the message.
    pub(crate) fn error(&self, message: impl std::fmt::Display) -> Error {
        let at = match (self.peek(), self.tokens.last()) {
            (Some(t), _) => t.span.start,
            (None, Some(t)) => t.span.end,
            (None, None) => Location::new(1, 1),
        };
        script::at(at, message)
    }

    /// Returns the error for a cursor position at which `what` was expected. The error may contain
    /// a hint: the word in `words` that is nearest to the found word, or the correction of a common
    /// mistake.
    pub(crate) fn expected<'w>(&self, what: &str, words: impl IntoIterator<Item = &'w str>) -> Error {
        if let Some(bound) = self.bound() {
            let (kind, written) = (bound.value.kind(), &bound.written);
            return self.error(format_args!(
                "expected {what}, found the {kind} of {written}, which is a value and not a name or a keyword"
            ));
        }
        let words: Vec<&str> = words.into_iter().collect();
        words
            .iter()
            .for_each(|word| self.want(|| Expectation::Keywords(word.to_string())));
        self.expected_so(what, self.here().hint(what, words))
    }

    /// Returns the error for a cursor position at which `what` was expected, with the given advice.
    pub(crate) fn expected_so(&self, what: &str, advice: Option<String>) -> Error {
        let advice = advice.map_or(String::new(), |advice| format!("; {advice}"));
        self.error(format_args!("expected {what}, found {}{advice}", describe(self.peek())))
    }

    fn here(&self) -> ErrorPlace<'a> {
        ErrorPlace {
            script: self.script,
            tokens: self.tokens,
            at: self.at,
        }
    }

    /// Returns the text from the token `from` up to the next space, if this text continues beyond
    /// the cursor, such as a path without quotes; `None` if there is a space before the cursor, or
    /// if `from` is not before the cursor.
    pub(crate) fn cut(&self, from: usize) -> Option<String> {
        self.here().cut(from)
    }

    /// Returns a hint that shows the quotes for an unquoted path or text at the cursor; `None` for
    /// other tokens.
    pub(crate) fn unquoted(&self) -> Option<String> {
        self.here().unquoted()
    }

    pub(crate) fn end(&self) -> Result<()> {
        if self.at_end() {
            Ok(())
        } else {
            Err(self.expected(END, []))
        }
    }

    /// Parses a name, which is converted to lower case unless it is quoted. The error calls the
    /// name `what`.
    pub(crate) fn name(&mut self, what: &str) -> Result<String> {
        match self.bound() {
            Some(_) => Err(self.expected(what, [])),
            None => self.word(what),
        }
    }

    /// Parses a word like [`Cursor::name`], but also accepts the value of a variable.
    fn word(&mut self, what: &str) -> Result<String> {
        self.want(|| Expectation::Name(what.to_string()));
        match self.peek().map(|t| &t.token) {
            // A CSV file may have a column without a name, which SQL writes as "".
            Some(Token::Word(w)) if w.quote_style.is_some() || !w.value.is_empty() => {
                self.at += 1;
                Ok(if w.quote_style.is_some() {
                    w.value.clone()
                } else {
                    w.value.to_ascii_lowercase()
                })
            }
            _ if self.looks_at_string() => {
                let advice = "write a name without quotes or in double quotes; single quotes are for texts";
                Err(self.expected_so(what, Some(advice.into())))
            }
            _ => Err(self.expected(what, [])),
        }
    }

    /// Parses a string in quotes. Also accepts a number that is the value of a variable, because a
    /// folder may be called `2024`.
    pub(crate) fn string(&mut self, what: &str) -> Result<String> {
        self.want(|| Expectation::Text);
        let text = match (self.peek().map(|t| &t.token), self.bound().map(|b| &b.value)) {
            (Some(Token::SingleQuotedString(s) | Token::EscapedStringLiteral(s)), _) => s,
            (_, Some(Literal::Number(digits))) => digits,
            _ => {
                return Err(match self.unquoted() {
                    Some(advice) => self.expected_so(what, Some(advice)),
                    None => self.expected(what, []),
                });
            }
        };
        self.at += 1;
        Ok(text.clone())
    }

    pub(crate) fn looks_at_string(&self) -> bool {
        self.want(|| Expectation::Text);
        matches!(
            self.peek().map(|t| &t.token),
            Some(Token::SingleQuotedString(_) | Token::EscapedStringLiteral(_))
        )
    }

    /// Parses an unsigned number, and returns its digits as written.
    pub(crate) fn digits(&mut self, what: &str) -> Result<String> {
        match self.peek().map(|t| &t.token) {
            Some(Token::Number(n, false)) if !n.starts_with('-') => {
                self.at += 1;
                Ok(n.clone())
            }
            _ => Err(self.expected(what, [])),
        }
    }

    /// Parses a whole number of at least 0.
    pub(crate) fn whole<T: std::str::FromStr>(&mut self, what: &str) -> Result<T> {
        let before = self.clone();
        self.digits(what)?.parse().map_err(|_| before.expected(what, []))
    }

    /// Parses a number, which may have a minus sign.
    pub(crate) fn number(&mut self, what: &str) -> Result<Value> {
        let before = self.clone();
        let digits = match self.bound().map(|b| &b.value) {
            Some(Literal::Number(digits)) => {
                self.at += 1;
                digits.clone()
            }
            _ if self.take_token(&Token::Minus) => format!("-{}", self.digits(what)?),
            _ => self.digits(what)?,
        };
        if let Ok(v) = digits.parse::<i64>() {
            return Ok(Value::Integer(v));
        }
        // As a float, a whole number that does not fit into 64 bits would silently lose digits.
        match digits.parse::<f64>() {
            Ok(v) if v.is_finite() && digits.contains(['.', 'e', 'E']) => Ok(Value::Real(v)),
            _ => Err(before.expected(&format!("{what} that fits 64 bits"), [])),
        }
    }

    /// Parses a finite number of at least 0 as a float.
    pub(crate) fn real(&mut self, what: &str) -> Result<f64> {
        let before = self.clone();
        match self.number(what)? {
            Value::Integer(v) if v >= 0 => Ok(v as f64),
            Value::Real(v) if v >= 0.0 => Ok(v),
            _ => Err(before.expected(what, [])),
        }
    }

    /// Parses a literal or a word.
    pub(crate) fn value(&mut self, what: &str) -> Result<Value> {
        if self.looks_at_string() {
            return self.string(what).map(Value::Text);
        }
        for (word, value) in [("TRUE", true), ("FALSE", false)] {
            if self.word_at(0).as_deref() == Some(word) {
                self.at += 1;
                return Ok(Value::Boolean(value));
            }
        }
        if matches!(self.peek().map(|t| &t.token), Some(Token::Word(_))) {
            return self.word(what).map(Value::Word);
        }
        let number = self.number(what)?;
        let (Value::Integer(over), true) = (&number, self.looks_at_token(&Token::Div)) else {
            return Ok(number);
        };
        self.at += 1;
        let before = self.clone();
        let under = match self.number("a whole number above 0")? {
            Value::Integer(under) => u32::try_from(under).ok().filter(|under| *under > 0),
            _ => None,
        };
        match (u32::try_from(*over), under) {
            (Ok(over), Some(under)) => Ok(Value::Fraction(over, under)),
            _ => Err(before.error("a fraction has two whole numbers, the second above 0, as in 1/11")),
        }
    }

    /// Parses `( item, item, ... )` with at least one item.
    pub(crate) fn list<T>(&mut self, what: &str, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.need_token(&Token::LParen, &format!("({what}, ...)"))?;
        let mut items = vec![item(self)?];
        while self.take_token(&Token::Comma) {
            items.push(item(self)?);
        }
        self.need_token(&Token::RParen, NEXT_ITEM)?;
        Ok(items)
    }

    pub(crate) fn columns(&mut self) -> Result<Vec<String>> {
        self.list("column", |c| c.name("a column"))
    }

    /// Parses `( column )`.
    pub(crate) fn column(&mut self) -> Result<String> {
        self.need_token(&Token::LParen, "(column)")?;
        let column = self.name("a column")?;
        self.need_token(&Token::RParen, "\")\" (one column)")?;
        Ok(column)
    }

    /// Parses `name`, `name(1, word)` or `name (option => value)`.
    pub(crate) fn call(&mut self, what: &str) -> Result<Call> {
        let mut call = Call::bare(self.name(what)?);
        if !self.looks_at_token(&Token::LParen) {
            return Ok(call);
        }
        let mut empty = self.clone();
        if empty.take_token(&Token::LParen) && empty.take_token(&Token::RParen) {
            *self = empty;
            return Ok(call);
        }
        call.args = self.list("argument", |c| {
            let mut named = c.clone();
            if let Ok(name) = named.name("")
                && named.take_token(&Token::RArrow)
            {
                *c = named;
                return Ok(Argument {
                    name: Some(name),
                    value: c.value("a value")?,
                });
            }
            Ok(Argument {
                name: None,
                value: c.value("an argument")?,
            })
        })?;
        Ok(call)
    }

    /// Returns the text from the `(` at the cursor to the `)` that closes it; `None` if the next
    /// token is not `(`.
    pub(crate) fn in_parens(&self) -> Option<String> {
        let close = self.looks_at_token(&Token::LParen).then(|| self.closing(self.at))??;
        Some(self.text(self.at..close + 1))
    }

    pub(crate) fn parts(&mut self, what: &str) -> Result<Vec<String>> {
        let mut parts = vec![self.name(what)?];
        while self.take_token(&Token::Period) {
            parts.push(self.name(what)?);
        }
        Ok(parts)
    }

    pub(crate) fn table(&mut self) -> Result<TableName> {
        let before = self.clone();
        let parts = self.parts("a table")?;
        if parts.len() > 3 {
            Err(before.error("a table's name has at most three parts"))
        } else {
            Ok(TableName(parts))
        }
    }

    /// Returns the index of the `)` that closes the `(` at index `open`.
    pub(crate) fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0usize;
        for (i, t) in self.tokens.iter().enumerate().skip(open) {
            match t.token {
                Token::LParen => depth += 1,
                Token::RParen if depth <= 1 => return Some(i),
                Token::RParen => depth -= 1,
                _ => {}
            }
        }
        None
    }
}
