//! The types and the NULL of partition columns. The values of these columns are encoded in folder
//! names, `column=value`, as in Hive, Spark and DuckDB.
//!
//! The table over the files has text columns for the folder names, and [`typed`] casts them to
//! their types. A condition on such a column then depends on folder names alone, so files in other
//! folders are not read.
//!
//! **Interpretation.** DuckDB interprets `month=01` as the number 1. Here, a text is interpreted as
//! a number only if the number prints as the same text, as in CSV: `zip=01067` would otherwise lose
//! its first digit. OPTIONS (hive_types 'month BIGINT') overrides this rule.

use crate::base::error::{Error, Result};
use crate::data::source::csv::is_kept_by_cast;
use arrow::array::{Array, ArrayRef, StringArray};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::DataType;
use datafusion::dataframe::DataFrame;
use datafusion::logical_expr::cast;
use datafusion::prelude::Expr;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A partition column, whose values are encoded in folder names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FolderColumn {
    pub(super) name: String,
    /// The distinct values in the folder names, without NULL.
    pub(super) values: BTreeSet<String>,
}

/// The types that a statement gives to partition columns.
#[derive(Debug, Clone)]
pub(super) struct HiveTypes {
    /// The types, by column name.
    pub(super) stated: BTreeMap<String, DataType>,
    /// Whether the types of all other partition columns are inferred, as numbers, dates or texts.
    pub(super) are_inferred: bool,
}

impl HiveTypes {
    /// Returns true if the type of any of these columns is inferred from folder names.
    pub(super) fn looks_at(&self, columns: &[FolderColumn]) -> bool {
        self.are_inferred && columns.iter().any(|column| !self.stated.contains_key(&column.name))
    }

    /// Fails with `ErrorKind::Usage` if the statement gives a type to a column that is not a
    /// partition column.
    pub(super) fn check(&self, columns: &[FolderColumn]) -> Result<()> {
        let known = || columns.iter().map(|c| c.name.as_str());
        match self
            .stated
            .keys()
            .find(|name| known().all(|known| known != name.as_str()))
        {
            Some(name) => Err(Error::unknown("column of folder names", name, known())),
            None => Ok(()),
        }
    }

    /// Returns the type of a column. Fails with `ErrorKind::Data` if the values of the column
    /// cannot be cast to the type that the statement gives.
    fn of(&self, column: &FolderColumn) -> Result<DataType> {
        let parses = |data_type: &DataType| -> Result<usize> {
            let texts: ArrayRef = Arc::new(column.values.iter().map(Some).collect::<StringArray>());
            let lax = CastOptions {
                safe: true,
                ..CastOptions::default()
            };
            let found = cast_with_options(&texts, data_type, &lax)?;
            Ok(found.len() - found.null_count())
        };
        if let Some(stated) = self.stated.get(&column.name) {
            let unlike = column.values.len() - parses(stated)?;
            let changed = column.values.iter().filter(|value| !is_kept_by_cast(value, stated));
            return match unlike.max(changed.count()) {
                0 => Ok(stated.clone()),
                n => Err(Error::data(format!(
                    "hive_types gives the type {stated} to column {}, and {n} of its {} folder names are not of that \
                     type",
                    column.name,
                    column.values.len()
                ))),
            };
        }
        let all = |data_type: &DataType, is_plain: fn(&str) -> bool| -> Result<bool> {
            Ok(column.values.iter().all(|value| is_plain(value)) && parses(data_type)? == column.values.len())
        };
        Ok(match () {
            () if !self.are_inferred || column.values.is_empty() => DataType::Utf8,
            () if all(&DataType::Int64, is_plain_number)? => DataType::Int64,
            () if all(&DataType::Date32, is_plain_date)? => DataType::Date32,
            () => DataType::Utf8,
        })
    }
}

/// Returns true if a text is a whole number without leading zeros or a plus sign.
fn is_plain_number(text: &str) -> bool {
    text.parse::<i64>().is_ok_and(|number| number.to_string() == text)
}

/// Returns true if a text has the form of a date: `2024-06-30`.
fn is_plain_date(text: &str) -> bool {
    let digits = |c: &u8| c.is_ascii_digit();
    match text.as_bytes() {
        [year @ .., b'-', m1, m2, b'-', d1, d2] => year.len() == 4 && year.iter().chain([m1, m2, d1, d2]).all(digits),
        _ => false,
    }
}

/// Returns the rows with the texts of partition columns cast to the types of these columns.
pub(super) fn typed(rows: DataFrame, columns: &[FolderColumn], types: &HiveTypes) -> Result<DataFrame> {
    types.check(columns)?;
    if columns.is_empty() {
        return Ok(rows);
    }
    let mut of_columns = BTreeMap::new();
    for column in columns {
        of_columns.insert(column.name.as_str(), types.of(column)?);
    }
    let values = rows.schema().iter().map(|(table, field)| {
        let column = Expr::from((table, field));
        let Some(data_type) = of_columns.get(field.name().as_str()) else {
            return column;
        };
        let value = match data_type {
            DataType::Utf8 => return column,
            data_type => cast(column, data_type.clone()),
        };
        value.alias_qualified(table.cloned(), field.name())
    });
    let values: Vec<Expr> = values.collect();
    Ok(rows.select(values)?)
}

/// Returns the names of the partition columns under a local folder, outermost first. At each level,
/// only the first partition folder is examined.
pub(super) fn partition_columns(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return vec![];
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(|p| p.is_dir()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
        // Readers skip folders whose names begin with `.` or `_`.
        let name = name.as_deref().filter(|n| !n.starts_with(['.', '_']));
        if let Some((column, _)) = name.and_then(|n| n.split_once('=')) {
            let mut found = vec![column.to_string()];
            found.extend(partition_columns(&path));
            return found;
        }
    }
    vec![]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::session::sources::stated;

    fn column(values: &[&str]) -> FolderColumn {
        FolderColumn {
            name: "c".into(),
            values: values.iter().map(|v| (*v).to_string()).collect(),
        }
    }

    fn inferred() -> HiveTypes {
        HiveTypes {
            stated: BTreeMap::new(),
            are_inferred: true,
        }
    }

    #[test]
    fn numbers_and_dates_are_recognised_if_nothing_is_lost() {
        let all: [(&[&str], DataType); 12] = [
            (&["2023", "2024"], DataType::Int64),
            (&["-1", "0"], DataType::Int64),
            (&["01", "12"], DataType::Utf8),
            (&["1", "+2"], DataType::Utf8),
            (&["9223372036854775808"], DataType::Utf8),
            (&["2024-02-29", "2024-03-01"], DataType::Date32),
            (&["2023-02-29"], DataType::Utf8),
            (&["2024-02-29", "2024"], DataType::Utf8),
            (&["24-02-29"], DataType::Utf8),
            (&["a", "1"], DataType::Utf8),
            (&[""], DataType::Utf8),
            (&[], DataType::Utf8),
        ];
        for (values, expected) in all {
            assert_eq!(inferred().of(&column(values)).unwrap(), expected, "{values:?}");
        }
        let none = HiveTypes {
            are_inferred: false,
            ..inferred()
        };
        assert_eq!(none.of(&column(&["2024"])).unwrap(), DataType::Utf8);
    }

    #[test]
    fn stated_types_are_checked_without_telling_values() {
        let types = |text: &str| HiveTypes {
            stated: stated::types("hive_types", text).unwrap(),
            are_inferred: true,
        };
        assert_eq!(types("c int").of(&column(&["01", "12"])).unwrap(), DataType::Int32);
        assert_eq!(types("c VARCHAR").of(&column(&["2024"])).unwrap(), DataType::Utf8);
        let refused = types("c date")
            .of(&column(&["secret", "2024-01-01"]))
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains("1 of its 2 folder names") && !refused.contains("secret"),
            "{refused}"
        );
        let unknown = types("d date").check(&[column(&[])]).unwrap_err().to_string();
        assert!(unknown.contains("column of folder names \"d\""), "{unknown}");
        for (wrong, said) in [
            ("c", "gives each column a type"),
            ("c DATUM", "did you mean \"DATE\""),
            ("c INT, c DATE", "two types"),
        ] {
            let e = stated::types("hive_types", wrong).unwrap_err().to_string();
            assert!(e.contains(said), "{e}");
        }
    }
}
