//! Adds colours to the typed text.

use super::lex::{PieceClass, pieces};
use crate::language::session;

const KEYWORD: &str = "\x1b[1;34m";
const TEXT: &str = "\x1b[32m";
const NUMBER: &str = "\x1b[36m";
const COMMENT: &str = "\x1b[2m";
const RESET: &str = "\x1b[0m";

/// The most common keywords of DataFusion. The keywords of anonsql are taken from the syntax texts
/// of its statements.
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

fn is_keyword(word: &str) -> bool {
    let upper = word.to_ascii_uppercase();
    COMMON.contains(&upper.as_str()) || session::keywords().contains(upper.as_str())
}

/// Adds colours to a line without changing its visible characters. `before` contains the lines of
/// the statement before this line.
pub fn coloured(before: &str, line: &str) -> String {
    let text = format!("{before}{line}");
    let mut out = String::with_capacity(line.len() * 2);
    for piece in pieces(&text).into_iter().filter(|p| p.range.end > before.len()) {
        let part = &text[piece.range.start.max(before.len())..piece.range.end];
        let colour = match piece.class {
            PieceClass::Word if is_keyword(part) => KEYWORD,
            PieceClass::Text => TEXT,
            PieceClass::Number => NUMBER,
            PieceClass::Comment => COMMENT,
            PieceClass::Word | PieceClass::Quoted | PieceClass::Other => {
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
        let shown = coloured("", text);
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
        assert_eq!(coloured("", "people.level_of"), "people.level_of");
    }

    #[test]
    fn a_string_goes_on_in_the_next_line() {
        assert_eq!(coloured("SELECT 'a\n", "b', 1"), "\x1b[32mb'\x1b[0m, \x1b[36m1\x1b[0m");
    }
}
