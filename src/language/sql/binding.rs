//! Replaces `$name` and `getenv('NAME')` in a statement by their values, token by token, before the
//! statement is parsed.
//!
//! Each occurrence becomes exactly one token that contains the value, so a value can never become
//! SQL, whatever it contains. The token keeps the position of the original text, so that errors
//! refer to this position.

use super::hidden::Hidden;
use super::script::{self, place};
use super::variable::{Literal, Variables};
use crate::base::error::{Error, Result};
use datafusion::sql::sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan};
use std::borrow::Cow;

/// A replacement in a statement: a value and the original text that it replaces.
#[derive(Debug)]
pub(crate) struct Substitution {
    /// The span of the original text.
    pub(super) span: Span,
    /// The original text: `$name` or `getenv('NAME')`.
    pub(super) written: String,
    /// The value that replaces the text.
    pub(super) value: Literal,
    /// The environment variable that `getenv` names; `None` for `$name`.
    pub(super) environment: Option<String>,
    hidden: bool,
}

/// The tokens of a statement, in which values replace variables.
#[derive(Debug)]
pub(crate) struct Binding<'t> {
    pub(super) tokens: Cow<'t, [TokenWithSpan]>,
    /// The replacements, in the order of their positions.
    pub(super) bound: Vec<Substitution>,
}

impl<'t> Binding<'t> {
    /// Binds the variables of a statement. Fails with a usage error if a variable or an environment
    /// variable does not exist. Numbered placeholders such as `$1` belong to PREPARE, and are kept.
    pub(super) fn of(tokens: &'t [TokenWithSpan], variables: &Variables) -> Result<Self> {
        // If the statement has no variable, its tokens are not copied, because a statement may
        // contain a hierarchy with a million values.
        let Some(first) = (0..tokens.len()).find(|at| length(&tokens[*at..]).is_some()) else {
            return Ok(Self {
                tokens: tokens.into(),
                bound: vec![],
            });
        };
        let (mut with_values, mut bound) = (tokens[..first].to_vec(), vec![]);
        let mut rest = &tokens[first..];
        while let [token, after @ ..] = rest {
            let Some(length) = length(rest) else {
                with_values.push(token.clone());
                rest = after;
                continue;
            };
            let value = match variable(&token.token) {
                Some(name) => named(name, token, variables)?,
                None => environment(rest, variables)?,
            };
            let is_path = with_values.last().is_some_and(|before| takes_path(&before.token));
            with_values.push(TokenWithSpan {
                token: value.value.token(is_path),
                span: value.span,
            });
            bound.push(value);
            rest = &rest[length..];
        }
        Ok(Self {
            tokens: with_values.into(),
            bound,
        })
    }

    /// Returns the values that come from the environment.
    pub(super) fn hidden(&self) -> Hidden {
        let hidden = self.bound.iter().filter(|b| b.hidden);
        Hidden::new(hidden.map(|b| (b.value.characters().to_string(), b.written.clone())))
    }
}

/// Returns the replacement that begins at the position `at`; `None` if there is none.
pub(super) fn bound_at(bound: &[Substitution], at: Location) -> Option<&Substitution> {
    let place = |b: &Substitution| (b.span.start.line, b.span.start.column);
    let found = bound.binary_search_by_key(&(at.line, at.column), place);
    Some(&bound[found.ok()?])
}

/// Returns the number of tokens at the start of `tokens` that a value replaces; `None` if the
/// tokens begin with neither `$name` nor `getenv(`.
fn length(tokens: &[TokenWithSpan]) -> Option<usize> {
    match tokens {
        [first, ..] if variable(&first.token).is_some() => Some(1),
        [first, open, ..] if is_getenv(&first.token) && open.token == Token::LParen => Some(4),
        _ => None,
    }
}

/// Returns the variable name in a token such as `$name`; `None` for other tokens and for numbered
/// placeholders.
fn variable(token: &Token) -> Option<&str> {
    let Token::Placeholder(written) = token else {
        return None;
    };
    let name = written.strip_prefix('$')?;
    name.starts_with(|c: char| !c.is_ascii_digit()).then_some(name)
}

fn named(name: &str, token: &TokenWithSpan, variables: &Variables) -> Result<Substitution> {
    let at = |e: Error| script::at(token.span.start, e.message());
    let variable = variables.get(&name.to_lowercase()).map_err(at)?;
    Ok(Substitution {
        span: token.span,
        written: format!("${name}"),
        value: variable.value.clone(),
        environment: None,
        hidden: variable.hidden,
    })
}

fn is_getenv(token: &Token) -> bool {
    matches!(token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case("getenv"))
}

/// Evaluates `getenv('NAME')` at the beginning of `tokens`.
fn environment(tokens: &[TokenWithSpan], variables: &Variables) -> Result<Substitution> {
    let at = place(tokens[0].span.start);
    let (name, end) = match tokens {
        [_, _, name, close, ..] if close.token == Token::RParen => match &name.token {
            Token::SingleQuotedString(text) => (text, close.span.end),
            _ => return Err(misuse(&at)),
        },
        _ => return Err(misuse(&at)),
    };
    let bound = |value: Literal, hidden: bool| Substitution {
        span: Span::new(tokens[0].span.start, end),
        written: format!("getenv({})", crate::base::quoting::literal(name)),
        value,
        environment: Some(name.clone()),
        hidden,
    };
    if variables.only_read {
        return Ok(bound(Literal::read(""), false));
    }
    if !variables.environment {
        return Err(Error::usage(format!(
            "{at}: getenv reads the environment of the command, and not of a program that embeds anonsql; set a variable"
        )));
    }
    // An invalid name would cause a panic in the standard library.
    let is_name = !name.is_empty() && !name.contains(['=', '\0']);
    let value = is_name.then(|| std::env::var_os(name)).flatten();
    let value = value.ok_or_else(|| {
        Error::usage(format!(
            "{at}: the environment has no variable {name:?}; set it before the command starts"
        ))
    })?;
    let value = value
        .into_string()
        .map_err(|_| Error::usage(format!("{at}: the environment variable {name:?} is not valid UTF-8")))?;
    Ok(bound(Literal::read(&value), true))
}

fn misuse(at: &str) -> Error {
    Error::usage(format!(
        "{at}: getenv takes the name of an environment variable in quotes: getenv('NAME')"
    ))
}

/// Returns true for a keyword after which a table name, and therefore a path, may follow.
fn takes_path(token: &Token) -> bool {
    let words = ["FROM", "JOIN", "DESCRIBE", "DESC"];
    matches!(token, Token::Word(w) if w.quote_style.is_none() && words.iter().any(|x| w.value.eq_ignore_ascii_case(x)))
}
