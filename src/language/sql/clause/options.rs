//! `OPTIONS (key value, ...)` and `WITH (option = value, ...)`.

use crate::base::catalogue::Value;
use crate::base::error::Result;
use crate::base::quoting::{ident, is_plain, literal};
use crate::language::sql::cursor::Cursor;
use crate::language::sql::name::{list, value};
use datafusion::sql::sqlparser::tokenizer::Token;
use std::fmt;

/// Parses the parenthesized list in `OPTIONS (key value, ...)`.
pub(crate) fn read(c: &mut Cursor) -> Result<Vec<(String, Value)>> {
    let mut all: Vec<(String, Value)> = vec![];
    c.list("key value", |c| {
        let before = c.clone();
        let key = if c.looks_at_string() {
            c.string("an option")?
        } else {
            let mut key = c.name("an option")?;
            while c.take_token(&Token::Period) {
                key = format!("{key}.{}", c.name("an option")?);
            }
            key
        };
        let value = c.value("a value")?;
        once(&before, &mut all, key, value)
    })?;
    Ok(all)
}

/// Adds an option. Fails if an option with the same key was already added.
fn once(at: &Cursor, all: &mut Vec<(String, Value)>, key: String, value: Value) -> Result<()> {
    if all.iter().any(|(k, _)| *k == key) {
        return Err(at.error(format_args!("option {key} is given twice")));
    }
    all.push((key, value));
    Ok(())
}

/// Parses the parenthesized list in `WITH (option = value, ...)`.
pub(crate) fn read_with(c: &mut Cursor) -> Result<Vec<(String, Value)>> {
    let mut all = vec![];
    c.list("option = value", |c| {
        let before = c.clone();
        let key = c.name("an option")?;
        c.need_token(&Token::Eq, &format!("\"=\" and a value: {key} = 42"))?;
        let (start, at) = (c.position(), c.clone());
        let value = c.value("a value")?;
        if let Some(text) = c.cut(start) {
            return Err(at.expected_so("a value", Some(format!("write {}", literal(&text)))));
        }
        once(&before, &mut all, key, value)
    })?;
    Ok(all)
}

/// Prints `WITH (a = 1)` after `gap`, or nothing if there are no options.
pub(crate) fn written_with<'a>(options: &'a [(String, Value)], gap: &'a str) -> impl fmt::Display + 'a {
    fmt::from_fn(move |f| {
        if options.is_empty() {
            return Ok(());
        }
        let option = |(k, v): &(String, Value), f: &mut fmt::Formatter<'_>| write!(f, "{} = {}", ident(k), value(v));
        write!(f, "{gap}WITH ({})", list(options, option))
    })
}

/// Prints `OPTIONS (key value, ...)` after `gap`, or nothing if there are no options.
pub(crate) fn written<'a>(options: &'a [(String, Value)], gap: &'a str) -> impl fmt::Display + 'a {
    fmt::from_fn(move |f| match options {
        [] => Ok(()),
        _ => write!(f, "{gap}OPTIONS {}", pairs(options)),
    })
}

/// Prints `(key value, ...)`.
pub(super) fn pairs(options: &[(String, Value)]) -> impl fmt::Display + '_ {
    let option = |(k, v): &(String, Value), f: &mut fmt::Formatter<'_>| {
        if k.split('.').all(is_plain) {
            f.write_str(k)?
        } else {
            write!(f, "{}", literal(k))?
        }
        write!(f, " {}", value(v))
    };
    fmt::from_fn(move |f| write!(f, "({})", list(options, option)))
}
