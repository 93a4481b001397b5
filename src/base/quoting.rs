//! Quotes names and strings in SQL, so that they parse to the same names and strings.

use std::fmt::{self, Display};

/// Words that [`ident`] quotes, although they would parse as names without quotes.
///
/// This list does not change. Printed statements are stored in manifests, whose bytes must not
/// change when a word is added to the language. A new word need not be added here, because the
/// grammar expects a keyword only where no name is allowed.
const RESERVED: &[&str] = &[
    "against",
    "analyze",
    "and",
    "anonymize",
    "as",
    "at",
    "bottom",
    "bounds",
    "by",
    "check",
    "class",
    "code",
    "compare",
    "create",
    "csv",
    "desc",
    "describe",
    "drop",
    "dropped",
    "entity",
    "epsilon",
    "error",
    "exists",
    "explain",
    "for",
    "from",
    "front",
    "hash",
    "hierarchies",
    "hierarchy",
    "identifiers",
    "if",
    "intervals",
    "keep",
    "lattice",
    "levels",
    "manifest",
    "mask",
    "matrix",
    "max",
    "min",
    "minimizing",
    "most",
    "node",
    "not",
    "nulls",
    "of",
    "on",
    "optimizing",
    "options",
    "or",
    "origin",
    "overwrite",
    "pareto",
    "parquet",
    "partitioned",
    "percent",
    "population",
    "prefix",
    "quantiles",
    "quasi",
    "randomized",
    "replace",
    "report",
    "risk",
    "roles",
    "rows",
    "satisfying",
    "search",
    "secret",
    "sensitive",
    "show",
    "starred",
    "stored",
    "suggest",
    "suppress",
    "suppressed",
    "suppressing",
    "suppression",
    "to",
    "top",
    "truncate",
    "unmapped",
    "using",
    "value",
    "values",
    "verify",
    "weight",
    "with",
    "within",
];

/// Returns a name in double quotes.
pub fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns a text in single quotes.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Returns a name as people write it. It is put in double quotes only if it would otherwise be
/// folded to lower case, or could be confused with a keyword.
pub fn ident(name: &str) -> impl Display + '_ {
    fmt::from_fn(
        move |f| match is_plain(name) && RESERVED.binary_search(&name).is_err() {
            true => f.write_str(name),
            false => f.write_str(&quote(name)),
        },
    )
}

/// Returns true if a name needs no quotes, because folding to lower case does not change it.
pub fn is_plain(name: &str) -> bool {
    let is_first = |c: char| c.is_ascii_lowercase() || c == '_';
    name.starts_with(is_first) && name.chars().all(|c| is_first(c) || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_inside_are_doubled() {
        assert_eq!(quote("a\"b"), "\"a\"\"b\"");
        assert_eq!(literal("it's"), "'it''s'");
    }

    #[test]
    fn a_name_is_quoted_only_where_it_must_be() {
        for plain in ["age", "_x1", "name", "level"] {
            assert_eq!(ident(plain).to_string(), plain);
        }
        for other in ["Age", "1x", "", "a b", "é", "class", "risk", "within", "against"] {
            assert_eq!(ident(other).to_string(), format!("\"{other}\""));
        }
    }

    #[test]
    fn reserved_words_can_be_searched() {
        assert!(RESERVED.is_sorted());
        assert!(RESERVED.iter().all(|word| is_plain(word)));
    }
}
