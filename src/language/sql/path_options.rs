//! `FROM 'path' OPTIONS (...)`: the options with which a query reads a file.
//!
//! DataFusion's parser does not have this clause. Therefore, the options are appended to the table
//! name, as in `'path OPTIONS (...)'`, and are separated from the path again when a table is
//! created for this name.

use super::clause::options;
use super::script::Script;
use super::variable::Variables;
use super::words::Words;
use crate::base::catalogue::Value;
use crate::base::error::{Error, Result};
use crate::base::quoting::literal;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use std::sync::Arc;

/// The keywords after which a path may follow in a statement of DataFusion. A path may also follow
/// a comma.
const BEFORE: &[&str] = &["FROM", "JOIN", "DESCRIBE", "DESC", "TABLE"];

/// The text between a path and its options.
const BETWEEN: &str = " OPTIONS (";

/// A path and its options.
pub(crate) type PathWithOptions = (String, Vec<(String, Value)>);

/// Returns the index of the last token in the options that follow the path at token `at`, and a
/// table name that contains both the path and its options; `None` if the path has no options.
pub(super) fn optioned(tokens: &[TokenWithSpan], at: usize) -> Option<(usize, String)> {
    let before = &tokens.get(at.checked_sub(1)?)?.token;
    let is_word = |token: &Token, words: &[&str]| matches!(token, Token::Word(word) if word.quote_style.is_none() && words.iter().any(|w| word.value.eq_ignore_ascii_case(w)));
    let [path, word, open, ..] = &tokens[at..] else {
        return None;
    };
    let Token::SingleQuotedString(path) = &path.token else {
        return None;
    };
    let may_stand = *before == Token::Comma || is_word(before, BEFORE);
    if !(may_stand && is_word(&word.token, &["OPTIONS"]) && open.token == Token::LParen) {
        return None;
    }
    // The values of options contain no parentheses.
    let length = tokens[at + 3..].iter().position(|t| t.token == Token::RParen)?;
    let inside: Vec<String> = tokens[at + 3..at + 3 + length]
        .iter()
        .map(|t| match &t.token {
            Token::SingleQuotedString(text) => literal(text),
            other => other.to_string(),
        })
        .collect();
    let inside = inside.join(" ").replace(" , ", ", ").replace(" . ", ".");
    Some((at + 3 + length, format!("{path}{BETWEEN}{inside})")))
}

/// Returns the name under which a path with these options is registered as a table.
pub(crate) fn named(path: String, given: &[(String, Value)]) -> String {
    match given {
        [] => path,
        _ => format!("{path}{}", options::written(given, " ")),
    }
}

/// Splits a table name into the path and its options; `None` if the name has no options.
pub(crate) fn divided(name: &str) -> Result<Option<PathWithOptions>> {
    let Some((path, inside)) = name.strip_suffix(')').and_then(|name| name.split_once(BETWEEN)) else {
        return Ok(None);
    };
    let script = Script::new(&format!("({inside})"), Arc::new(Words::default()))?;
    let Some(tokens) = script.statements().next() else {
        return Err(Error::internal("options without tokens"));
    };
    let read = super::read(&script, tokens, &Variables::default(), |mut c| options::read(&mut c));
    let read = read.map_err(|e| e.context("OPTIONS"))?;
    Ok(Some((path.to_string(), read.statement)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_options_is_taken_apart_as_it_was_put_together() {
        let given = vec![
            ("trim".to_string(), Value::Boolean(true)),
            ("format.delimiter".to_string(), Value::Text(";".into())),
            ("null_value".to_string(), Value::Text("it's (not) OPTIONS (x)".into())),
        ];
        let name = named("a b.csv".into(), &given);
        assert_eq!(divided(&name).unwrap(), Some(("a b.csv".into(), given)));
        assert_eq!(named("a.csv".into(), &[]), "a.csv");
        assert_eq!(divided("a.csv").unwrap(), None);
        assert!(divided("a.csv OPTIONS (delimiter)").is_err());
    }
}
