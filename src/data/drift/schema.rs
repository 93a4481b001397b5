//! The columns of a source, compared with the columns from which an earlier release was made.

use super::found::{Drift, DriftKind};
use serde::{Deserialize, Serialize};

/// A column of the table from which a release was made.
///
/// ```
/// let read: anonsql::manifest::SourceColumn = serde_json::from_str(r#"{"column": "age", "type": "Int64"}"#)?;
/// assert_eq!(read.data_type, "Int64");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SourceColumn {
    /// The name of the column.
    #[serde(rename = "column")]
    pub name: String,
    /// The Arrow type of the column's values, without dictionaries and views.
    #[serde(rename = "type")]
    pub data_type: String,
}

impl SourceColumn {
    /// Creates a column; `data_type` is the name of an Arrow type.
    pub(crate) fn new(name: &str, data_type: String) -> Self {
        Self {
            name: name.into(),
            data_type,
        }
    }
}

/// The kind of difference between the columns of the source and the columns of the earlier source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaChange {
    /// The columns existed only in the earlier source.
    Gone,
    /// The columns are new in the source.
    Come,
    /// The values of the columns have another type.
    Type,
}

/// Returns the changes from the columns `before` to the columns `now`, as triples: the kind of
/// change, whether `is_used` returns true for the columns, and a drift that names the columns. The
/// changes of columns for which `is_used` returns true come first.
pub fn changes(
    before: &[SourceColumn],
    now: &[SourceColumn],
    is_used: impl Fn(&str) -> bool,
) -> Vec<(SchemaChange, bool, Drift)> {
    let lacks = |columns: &[SourceColumn], name: &str| columns.iter().all(|c| c.name != name);
    let gone = before.iter().filter(|c| lacks(now, &c.name));
    let come = now.iter().filter(|c| lacks(before, &c.name));
    let typed = now.iter().filter_map(|c| {
        let was = before.iter().find(|b| b.name == c.name)?;
        (was.data_type != c.data_type).then(|| (c, format!("{} is {} and was {}", c.name, c.data_type, was.data_type)))
    });
    let plain = |c: &SourceColumn| (c.name.clone(), c.name.clone());
    let all: [(SchemaChange, Vec<(String, String)>); 3] = [
        (SchemaChange::Gone, gone.map(plain).collect()),
        (SchemaChange::Come, come.map(plain).collect()),
        (
            SchemaChange::Type,
            typed.map(|(c, text)| (c.name.clone(), text)).collect(),
        ),
    ];
    let mut found = vec![];
    for used in [true, false] {
        for (change, columns) in &all {
            let named = columns.iter().filter(|(name, _)| is_used(name) == used);
            let (names, texts): (Vec<String>, Vec<String>) = named.cloned().unzip();
            if names.is_empty() {
                continue;
            }
            let (noun, is) = match names.len() {
                1 => ("column", "is"),
                _ => ("columns", "are"),
            };
            let texts = texts.join(", ");
            let text = match change {
                SchemaChange::Gone => format!("{noun} {texts} {is} gone"),
                SchemaChange::Come => format!("{noun} {texts} {is} new"),
                SchemaChange::Type => format!("{noun} {texts}"),
            };
            found.push((*change, used, Drift::new(DriftKind::Schema, names, text)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(all: &[(&str, &str)]) -> Vec<SourceColumn> {
        let column = |(name, data_type): &(&str, &str)| SourceColumn::new(name, (*data_type).into());
        all.iter().map(column).collect()
    }

    #[test]
    fn the_order_of_columns_is_no_change() {
        let before = columns(&[("age", "Int64"), ("zip", "Utf8")]);
        let now = columns(&[("zip", "Utf8"), ("age", "Int64")]);
        assert!(changes(&before, &now, |_| true).is_empty());
    }

    #[test]
    fn every_change_is_named_with_its_columns_and_types() {
        let before = columns(&[("age", "Int64"), ("zip", "Utf8"), ("a", "Utf8"), ("b", "Utf8")]);
        let now = columns(&[("age", "Utf8"), ("zip", "Utf8"), ("c", "Date32")]);
        let found = changes(&before, &now, |name| name == "age");
        let texts: Vec<(SchemaChange, bool, &str)> = found.iter().map(|(c, u, d)| (*c, *u, d.text.as_str())).collect();
        assert_eq!(
            texts,
            [
                (SchemaChange::Type, true, "column age is Utf8 and was Int64"),
                (SchemaChange::Gone, false, "columns a, b are gone"),
                (SchemaChange::Come, false, "column c is new"),
            ]
        );
        assert_eq!(found[1].2.columns, ["a", "b"]);
    }
}
