//! Predicts the next words of a DataFusion statement from the words before the cursor.

/// The words that may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Next {
    /// The keywords that may come next.
    pub keywords: &'static [&'static str],
    /// The kind of names that may come next; `None` if no name may come next.
    pub names: Option<Names>,
}

/// A kind of name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// A table.
    Tables,
    /// A column or a function.
    Columns,
}

/// The first words of DataFusion statements.
const STARTS: &[&str] = &[
    "SELECT",
    "WITH",
    "CREATE",
    "DROP",
    "INSERT INTO",
    "COPY",
    "EXPLAIN",
    "SHOW",
    "DESCRIBE",
    "SET",
];

/// The words that may come directly after certain words. Each entry consists of the preceding
/// words and what may follow them.
const AFTER: &[(&[&str], Next)] = &[
    (&["SELECT"], columns(&["DISTINCT", "CASE"])),
    (&["DISTINCT", "BY", "CASE", "WHEN", "THEN", "ELSE"], columns(&[])),
    (&["WHERE", "AND", "OR", "HAVING", "ON"], columns(&["NOT", "EXISTS"])),
    (&["NOT"], columns(&["NULL", "IN", "LIKE", "BETWEEN", "EXISTS"])),
    (&["FROM", "JOIN", "INTO", "UPDATE", "DESCRIBE", "VIEW"], tables(&[])),
    (&["TABLE"], tables(&["IF NOT EXISTS", "IF EXISTS"])),
    (&["COPY"], tables(&[])),
    (&["IS"], words(&["NULL", "NOT NULL", "TRUE", "FALSE"])),
    (&["GROUP", "ORDER", "PARTITION"], words(&["BY"])),
    (&["LEFT", "RIGHT", "FULL", "INNER", "CROSS"], words(&["JOIN"])),
    (&["UNION"], words(&["ALL", "SELECT"])),
    (&["CREATE"], words(&["TABLE", "VIEW", "EXTERNAL TABLE", "OR REPLACE"])),
    (&["REPLACE"], words(&["TABLE", "VIEW"])),
    (&["EXTERNAL"], words(&["TABLE"])),
    (&["DROP"], words(&["TABLE", "VIEW"])),
    (&["INSERT"], words(&["INTO"])),
    (&["STORED"], words(&["AS"])),
    (&["SHOW"], words(&["TABLES", "COLUMNS FROM", "ALL"])),
    (&["EXPLAIN"], words(&["ANALYZE", "SELECT"])),
    (&["ANALYZE", "ALL", "EXISTS"], words(&["SELECT"])),
    (&["LIMIT", "OFFSET", "LOCATION"], words(&[])),
];

/// The words that may come after a complete name, value or bracket. Each entry consists of words
/// that begin a clause, and of what may follow within this clause.
const WITHIN: &[(&[&str], Next)] = &[
    (&["SELECT"], words(&["FROM", "AS"])),
    (
        &["FROM"],
        words(&[
            "WHERE",
            "JOIN",
            "LEFT JOIN",
            "GROUP BY",
            "ORDER BY",
            "LIMIT",
            "UNION ALL",
        ]),
    ),
    (&["JOIN"], words(&["ON", "USING"])),
    (
        &["WHERE", "ON", "HAVING"],
        words(&[
            "AND",
            "OR",
            "IN",
            "LIKE",
            "BETWEEN",
            "IS NULL",
            "IS NOT NULL",
            "GROUP BY",
            "ORDER BY",
            "LIMIT",
        ]),
    ),
    (&["GROUP"], words(&["HAVING", "ORDER BY", "LIMIT"])),
    (
        &["ORDER"],
        words(&["ASC", "DESC", "NULLS FIRST", "NULLS LAST", "LIMIT"]),
    ),
    (&["LIMIT"], words(&["OFFSET"])),
    (&["INTO"], words(&["SELECT", "VALUES"])),
    (
        &["EXTERNAL"],
        words(&["STORED AS", "LOCATION", "OPTIONS", "PARTITIONED BY", "WITH ORDER"]),
    ),
    (&["TABLE", "VIEW"], words(&["AS"])),
    (&["COPY"], words(&["TO", "STORED AS", "PARTITIONED BY", "OPTIONS"])),
    (&["CASE"], words(&["WHEN", "THEN", "ELSE", "END"])),
];

/// The file formats, which follow `STORED AS`.
const FORMATS: Next = words(&["PARQUET", "CSV", "JSON", "AVRO", "ARROW"]);

const fn words(keywords: &'static [&'static str]) -> Next {
    Next { keywords, names: None }
}

const fn columns(keywords: &'static [&'static str]) -> Next {
    Next {
        keywords,
        names: Some(Names::Columns),
    }
}

const fn tables(keywords: &'static [&'static str]) -> Next {
    Next {
        keywords,
        names: Some(Names::Tables),
    }
}

/// Returns the words that may follow the words and symbols in `before`.
pub fn next(before: &[&str]) -> Next {
    let upper: Vec<String> = before.iter().map(|w| w.to_ascii_uppercase()).collect();
    let Some(last) = upper.last() else {
        return words(STARTS);
    };
    let found = |table: &[(&[&str], Next)], word: &str| table.iter().find(|(w, _)| w.contains(&word)).map(|(_, n)| *n);
    if last == "AS" && upper.iter().rev().nth(1).is_some_and(|w| w == "STORED") {
        return FORMATS;
    }
    if last == "AS" && matches!(upper[0].as_str(), "CREATE") {
        return words(&["SELECT", "VALUES", "ANONYMIZE"]);
    }
    if let Some(next) = found(AFTER, last) {
        return next;
    }
    let begins = |w: &String| found(WITHIN, w);
    // After a comma, another item of the clause follows. After an operator or an opening bracket,
    // an expression follows.
    match last.as_str() {
        "," => match upper.iter().rev().find(|w| begins(w).is_some()).map(String::as_str) {
            Some("FROM") => tables(&[]),
            _ => columns(&[]),
        },
        "(" => columns(&["SELECT"]),
        "=" | "<" | ">" | "<=" | ">=" | "<>" | "!=" | "+" | "-" | "/" | "%" | "||" => columns(&[]),
        _ => upper.iter().rev().find_map(begins).unwrap_or(words(&[])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str) -> Next {
        next(&text.split(' ').filter(|w| !w.is_empty()).collect::<Vec<_>>())
    }

    #[test]
    fn the_words_before_decide() {
        assert_eq!(after("").keywords, STARTS);
        assert_eq!(after("select").names, Some(Names::Columns));
        assert_eq!(after("SELECT a FROM").names, Some(Names::Tables));
        assert!(after("SELECT a FROM t").keywords.contains(&"WHERE"));
        assert!(after("SELECT a FROM t WHERE x").keywords.contains(&"AND"));
        assert_eq!(after("SELECT a FROM t WHERE x =").names, Some(Names::Columns));
        assert_eq!(after("SELECT a ,").names, Some(Names::Columns));
        assert_eq!(after("SELECT a FROM t ,").names, Some(Names::Tables));
        assert_eq!(after("SELECT a FROM t ORDER").keywords, ["BY"]);
        assert_eq!(after("CREATE EXTERNAL TABLE t STORED AS"), FORMATS);
        assert_eq!(after("SELECT a FROM t LIMIT").keywords, [""; 0]);
    }

    #[test]
    fn a_list_is_short_and_names_nothing_twice() {
        for next in AFTER
            .iter()
            .chain(WITHIN)
            .map(|(_, n)| n)
            .chain([&FORMATS, &words(STARTS)])
        {
            assert!(next.keywords.len() <= 10, "{next:?}");
            for (i, word) in next.keywords.iter().enumerate() {
                assert!(!next.keywords[..i].contains(word), "{word}");
            }
        }
    }
}
