//! `FROM delta.'path' VERSION AS OF n` and `FROM 'path' OPTIONS (...)` in queries: the version of a
//! table in a lake, and the options with which a file is read.
//!
//! DataFusion's parser does not have these clauses in its dialect, and would interpret VERSION as
//! an alias. Therefore, the version is appended to the table name, as in `delta.'path@vn'`, before
//! a query is parsed. Options are appended to the name in the same way.

use super::path_options::optioned;
use crate::base::quoting::literal;
use crate::data::formats::FORMATS;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};
use std::borrow::Cow;

/// A table with a version or with options: the indices of its first and its last token, and the
/// table name that replaces these tokens.
struct Versioned {
    first: usize,
    last: usize,
    name: String,
}

/// Returns the tokens of a query in which versions and options are part of the table names.
/// `tokens` contains no whitespace.
pub(super) fn tokens_with_versions(tokens: &[TokenWithSpan]) -> Vec<TokenWithSpan> {
    let (mut all, mut from) = (vec![], 0);
    for found in versioned(tokens) {
        all.extend_from_slice(&tokens[from..found.first]);
        all.push(TokenWithSpan {
            token: Token::SingleQuotedString(found.name),
            span: tokens[found.first].span,
        });
        from = found.last + 1;
    }
    all.extend_from_slice(&tokens[from..]);
    all
}

/// Returns the text of a query in which versions and options are part of the table names.
pub(crate) fn with_versions(query: &str) -> Cow<'_, str> {
    let Ok(mut tokens) = Tokenizer::new(&GenericDialect {}, query).tokenize_with_location() else {
        return Cow::Borrowed(query);
    };
    tokens.retain(|token| !matches!(token.token, Token::Whitespace(_)));
    let (mut text, mut from) = (String::new(), 0);
    for found in versioned(&tokens) {
        let (start, end) = (tokens[found.first].span.start, tokens[found.last].span.end);
        let (Some(start), Some(end)) = (offset(query, start), offset(query, end)) else {
            return Cow::Borrowed(query);
        };
        text += &query[from..start];
        text += &literal(&found.name);
        from = end;
    }
    match from {
        0 => Cow::Borrowed(query),
        _ => Cow::Owned(text + &query[from..]),
    }
}

/// Returns the byte offset of a position in a text.
fn offset(text: &str, at: Location) -> Option<usize> {
    let line = usize::try_from(at.line).ok()?.checked_sub(1)?;
    let column = usize::try_from(at.column).ok()?.checked_sub(1)?;
    let start = match line {
        0 => 0,
        _ => text.match_indices('\n').nth(line - 1)?.0 + 1,
    };
    let inside = text[start..].char_indices().map(|(i, _)| i).nth(column);
    inside.map_or(Some(text.len()), |i| Some(start + i))
}

fn versioned(tokens: &[TokenWithSpan]) -> Vec<Versioned> {
    let (mut found, mut at) = (vec![], 0);
    while at < tokens.len() {
        match at_start(&tokens[at..]) {
            Some(name) => {
                found.push(Versioned {
                    first: at + 2,
                    last: at + 6,
                    name,
                });
                at += 7;
            }
            None => match optioned(tokens, at) {
                Some((last, name)) => {
                    found.push(Versioned { first: at, last, name });
                    at = last + 1;
                }
                None => at += 1,
            },
        }
    }
    found
}

/// Returns the name of the table at the beginning of `tokens`, with its version; `None` if it has
/// no version.
fn at_start(tokens: &[TokenWithSpan]) -> Option<String> {
    let [schema, period, path, kind, word_as, word_of, version, ..] = tokens else {
        return None;
    };
    let is = |token: &TokenWithSpan, text: &str| matches!(&token.token, Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(text));
    let is_lake = FORMATS.iter().any(|format| is(schema, format.word));
    if !(is_lake && period.token == Token::Period && is(word_as, "AS") && is(word_of, "OF")) {
        return None;
    }
    match (&path.token, &version.token) {
        (Token::SingleQuotedString(path), Token::Number(number, false)) if is(kind, "VERSION") => {
            Some(format!("{path}@v{number}"))
        }
        (Token::SingleQuotedString(path), Token::SingleQuotedString(time)) if is(kind, "TIMESTAMP") => {
            Some(format!("{path}@{time}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_goes_into_the_name() {
        for (query, expected) in [
            ("SELECT 1", "SELECT 1"),
            ("SELECT * FROM delta.'a' VERSION AS OF 3", "SELECT * FROM delta.'a@v3'"),
            (
                "SELECT * FROM ducklake.'a#b' VERSION AS OF 3",
                "SELECT * FROM ducklake.'a#b@v3'",
            ),
            (
                "SELECT 'ü'\nFROM delta . 'it''s'\n version as of 12 AS t, DELTA.'b' TIMESTAMP AS OF '2026-01-31' u",
                "SELECT 'ü'\nFROM delta . 'it''s@v12' AS t, DELTA.'b@2026-01-31' u",
            ),
            (
                "SELECT a AS of FROM delta.'a' version",
                "SELECT a AS of FROM delta.'a' version",
            ),
            (
                "SELECT * FROM \"delta\".'a' VERSION AS OF 3",
                "SELECT * FROM \"delta\".'a' VERSION AS OF 3",
            ),
            (
                "SELECT * FROM 'a.csv' OPTIONS (trim true, 'format.null_value' 'it''s', delimiter ';') AS t JOIN 'b' options(types text)",
                "SELECT * FROM 'a.csv OPTIONS (trim true, ''format.null_value'' ''it''''s'', delimiter '';'')' AS t JOIN 'b OPTIONS (types text)'",
            ),
            (
                "COPY t TO 'a.csv' OPTIONS ('format.delimiter' ';')",
                "COPY t TO 'a.csv' OPTIONS ('format.delimiter' ';')",
            ),
            (
                "SELECT 'a' OPTIONS FROM 'b' OPTIONS",
                "SELECT 'a' OPTIONS FROM 'b' OPTIONS",
            ),
            (
                "SELECT 'delta.''a'' VERSION AS OF 3'",
                "SELECT 'delta.''a'' VERSION AS OF 3'",
            ),
        ] {
            assert_eq!(with_versions(query), expected);
            let tokens = |text: &str| {
                let mut tokens = Tokenizer::new(&GenericDialect {}, text)
                    .tokenize_with_location()
                    .unwrap();
                tokens.retain(|token| !matches!(token.token, Token::Whitespace(_)));
                tokens
            };
            let bare = |tokens: Vec<TokenWithSpan>| tokens.into_iter().map(|t| t.token).collect::<Vec<_>>();
            assert_eq!(bare(tokens_with_versions(&tokens(query))), bare(tokens(expected)));
        }
    }
}
