//! Types that a statement gives to the columns of a path: `OPTIONS (types 'zip TEXT, age INT')`.

use crate::base::error::{Error, Result};
use arrow::datatypes::{DataType, TimeUnit};
use std::collections::BTreeMap;

/// The types that a statement can name, each with its keywords.
const TYPES: &[(&[&str], DataType)] = &[
    (&["BIGINT", "INT8", "LONG"], DataType::Int64),
    (&["INTEGER", "INT", "INT4"], DataType::Int32),
    (&["SMALLINT", "INT2"], DataType::Int16),
    (&["DOUBLE", "FLOAT8"], DataType::Float64),
    (&["BOOLEAN", "BOOL"], DataType::Boolean),
    (&["DATE"], DataType::Date32),
    (
        &["TIMESTAMP", "DATETIME"],
        DataType::Timestamp(TimeUnit::Microsecond, None),
    ),
    (&["VARCHAR", "TEXT", "STRING"], DataType::Utf8),
];

/// Parses a list of columns with types, `year BIGINT, day DATE`, which is the value of the option
/// called `option`.
pub(super) fn types(option: &str, text: &str) -> Result<BTreeMap<String, DataType>> {
    let mut stated = BTreeMap::new();
    for one in parts(text, |c| c == ',') {
        let words = parts(one.trim(), char::is_whitespace);
        let (Some(word), true) = (words.last(), words.len() > 1) else {
            return Err(Error::usage(format!(
                "{option} of OPTIONS gives each column a type: {option} 'year BIGINT, day DATE'"
            )));
        };
        let called = word.to_ascii_uppercase();
        let known = TYPES.iter().find(|(words, _)| words.contains(&called.as_str()));
        let Some((_, data_type)) = known else {
            let known = TYPES.iter().filter_map(|(words, _)| words.first().copied());
            return Err(Error::unknown(&format!("type of {option}"), &called, known));
        };
        let name = one.trim().strip_suffix(word).unwrap_or(one);
        let name = name.trim().trim_matches('"');
        if stated.insert(name.to_string(), data_type.clone()).is_some() {
            return Err(Error::usage(format!("{option} of OPTIONS gives {name} two types")));
        }
    }
    Ok(stated)
}

/// Splits a text at the characters for which `divides` returns true, except within parentheses:
/// `DECIMAL(5, 2)` is not split.
fn parts(text: &str, divides: impl Fn(char) -> bool) -> Vec<&str> {
    let mut depth = 0;
    let outside = |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth <= 0 && divides(c)
    };
    text.split(outside).collect()
}
