//! Finds the tables, files and queries that a statement reads, because the statement can use the
//! names of their columns.

use super::lex::{Piece, PieceClass, pieces};

/// A source that a statement reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatementSource {
    /// A table, or a path in quotes.
    Named(String),
    /// The text of a query in parentheses.
    Query(String),
}

/// The keywords after which the name of a source may follow.
const READERS: &[&str] = &[
    "FROM",
    "JOIN",
    "ANONYMIZE",
    "VERIFY",
    "OF",
    "FOR",
    "INTO",
    "POPULATION",
    "AGAINST",
];

/// Returns the sources of a statement, in the order of their first occurrence.
pub fn sources(statement: &str) -> Vec<StatementSource> {
    let all: Vec<Piece> = pieces(statement)
        .into_iter()
        .filter(|p| p.class != PieceClass::Comment && !statement[p.range.clone()].trim().is_empty())
        .collect();
    let text = |piece: &Piece| &statement[piece.range.clone()];
    let mut found = vec![];
    for (i, piece) in all.iter().enumerate().skip(1) {
        let before = text(&all[i - 1]);
        if !READERS.iter().any(|r| r.eq_ignore_ascii_case(before)) || piece.open {
            continue;
        }
        let source = match (piece.class, text(piece)) {
            (PieceClass::Word, word) => {
                // A name can have several parts, which are separated by dots.
                let parts = all[i + 1..].chunks_exact(2).take_while(|two| text(&two[0]) == ".");
                let more: String = parts.flatten().map(text).collect();
                Some(StatementSource::Named(format!(
                    "{}{}",
                    word.to_lowercase(),
                    more.to_lowercase()
                )))
            }
            (PieceClass::Quoted, name) => Some(StatementSource::Named(name.trim_matches('"').replace("\"\"", "\""))),
            (PieceClass::Text, path) => {
                let inner = path.strip_prefix('\'').and_then(|p| p.strip_suffix('\''));
                inner.map(|p| StatementSource::Named(p.replace("''", "'")))
            }
            (_, "(") => closing(statement, &all, i).map(|end| {
                let query = &statement[piece.range.end..all[end].range.start];
                StatementSource::Query(query.trim().to_string())
            }),
            _ => None,
        };
        found.extend(source.filter(|s| !found.contains(s)));
    }
    found
}

/// Returns the index of the `)` that closes the `(` at index `open`; `None` if it is not closed.
/// Both are indices into `all`, which contains the pieces of `statement`.
pub fn closing(statement: &str, all: &[Piece], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (i, piece) in all.iter().enumerate().skip(open) {
        match &statement[piece.range.clone()] {
            "(" => depth += 1,
            ")" if depth <= 1 => return Some(i),
            ")" => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_paths_and_queries_are_found() {
        let named = |name: &str| StatementSource::Named(name.into());
        assert_eq!(sources("SELECT a FROM 'it''s.parquet'"), [named("it's.parquet")]);
        assert_eq!(
            sources("SELECT FROM People p JOIN \"Zip Codes\""),
            [named("people"), named("Zip Codes")]
        );
        assert_eq!(sources("select a from A.b.c where"), [named("a.b.c")]);
        assert_eq!(
            sources("ANONYMIZE (SELECT f(a) AS b FROM t) QUASI"),
            [StatementSource::Query("SELECT f(a) AS b FROM t".into()), named("t")]
        );
        assert_eq!(sources("SELECT a FROM 'open"), []);
        assert_eq!(sources("RISK OF x"), [named("x")]);
    }
}
