//! Colours the typed text.

use super::lex::{Class, pieces};
use crate::session;

const KEYWORD: &str = "\x1b[1;34m";
const TEXT: &str = "\x1b[32m";
const NUMBER: &str = "\x1b[36m";
const COMMENT: &str = "\x1b[2m";
const RESET: &str = "\x1b[0m";

/// The most common keywords of DataFusion; those of anonsql come from its syntax texts.
const COMMON: &[&str] = &[
    "ALL",
    "AND",
    "ANY",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "CASE",
    "CAST",
    "COPY",
    "CREATE",
    "CROSS",
    "DATE",
    "DELETE",
    "DESC",
    "DESCRIBE",
    "DISTINCT",
    "DROP",
    "ELSE",
    "END",
    "EXCEPT",
    "EXISTS",
    "EXPLAIN",
    "EXTERNAL",
    "FALSE",
    "FROM",
    "FULL",
    "GROUP",
    "HAVING",
    "IF",
    "IN",
    "INNER",
    "INSERT",
    "INTERSECT",
    "INTERVAL",
    "INTO",
    "IS",
    "JOIN",
    "LEFT",
    "LIKE",
    "LIMIT",
    "LOCATION",
    "NOT",
    "NULL",
    "OFFSET",
    "ON",
    "OPTIONS",
    "OR",
    "ORDER",
    "OUTER",
    "OVER",
    "PARTITION",
    "RIGHT",
    "SELECT",
    "SET",
    "SHOW",
    "STORED",
    "TABLE",
    "TABLES",
    "THEN",
    "TIMESTAMP",
    "TO",
    "TRUE",
    "UNION",
    "USING",
    "VALUES",
    "VIEW",
    "WHEN",
    "WHERE",
    "WITH",
];

/// Returns every keyword that is coloured and completed, in upper case.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    let common = COMMON.iter().copied().filter(|w| !session::keywords().contains(w));
    session::keywords().iter().copied().chain(common)
}

fn is_keyword(word: &str) -> bool {
    let upper = word.to_ascii_uppercase();
    COMMON.contains(&upper.as_str()) || session::keywords().contains(upper.as_str())
}

/// Returns the text with colours; its visible characters are unchanged.
pub fn coloured(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for piece in pieces(text) {
        let part = &text[piece.range];
        let colour = match piece.class {
            Class::Word if is_keyword(part) => KEYWORD,
            Class::Text => TEXT,
            Class::Number => NUMBER,
            Class::Comment => COMMENT,
            Class::Word | Class::Quoted | Class::Other => {
                out.push_str(part);
                continue;
            }
        };
        out.extend([colour, part, RESET]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_change_no_sign() {
        let text = "ANONYMIZE t -- people\n satisfying k_anonymity(5) 'x";
        let shown = coloured(text);
        assert_eq!(console::strip_ansi_codes(&shown), text);
        for wanted in [
            "\x1b[1;34mANONYMIZE\x1b[0m t",
            "\x1b[1;34msatisfying",
            "\x1b[36m5",
            "\x1b[32m'x",
            "\x1b[2m-- people",
        ] {
            assert!(shown.contains(wanted), "{shown:?}");
        }
        assert_eq!(coloured("people.level_of"), "people.level_of");
    }
}
