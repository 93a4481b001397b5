//! The folder names of PARTITIONED BY: `column=value`, in an encoding that all readers understand.
//!
//! A value has the encoding that DataFusion and object stores use; Hive, Spark and DuckDB can also
//! decode it. No other encoding is possible, because DataFusion searches for `WHERE c = '*'` only
//! in the folder `c=%2A`. Column names have no common encoding: some readers decode them and others
//! do not, and a reader silently skips the rows in a folder whose column it does not recognize.
//! Therefore, a column whose name would have to be encoded is refused.

use crate::base::error::{Error, Result};
use crate::base::quoting::quote;
use crate::method::hierarchy::{is_binary, plain_type};
use arrow::datatypes::DataType;
use datafusion::dataframe::DataFrame;
use datafusion::functions::core::expr_fn::nullif;
use datafusion::logical_expr::cast;
use datafusion::object_store::path::PathPart;
use datafusion::prelude::{Expr, lit};

/// The folder name for NULL.
pub const NULL_FOLDER: &str = "__HIVE_DEFAULT_PARTITION__";

/// The maximum number of bytes of a name in a file system.
const LONGEST: usize = 255;

/// Checks that a column with this name and type can be used for PARTITIONED BY. Fails with
/// `ErrorKind::Usage` if it cannot.
pub(crate) fn check_column(column: &str, data_type: &DataType) -> Result<()> {
    let values = plain_type(data_type);
    if is_binary(values) || values.is_nested() {
        return Err(Error::usage(format!(
            "PARTITIONED BY {column:?}: a folder name is text, but values of type {values} have no text; partition by \
            another column"
        )));
    }
    let as_it_is = PathPart::from(column).as_ref() == column && !column.contains('=');
    if as_it_is && !column.is_empty() && !column.starts_with(['.', '_']) {
        return Ok(());
    }
    Err(Error::usage(format!(
        "PARTITIONED BY {column:?}: readers of folders spell this name in different ways; give the column a name that \
        begins with a letter and has only ASCII letters, digits, - and _: (SELECT {} AS ..., ...)",
        quote(column)
    )))
}

/// Returns the folder name for rows in which `column` has this value. `None` is NULL. Fails with
/// `ErrorKind::Data` for a value that cannot be a folder name.
pub(crate) fn name(column: &str, value: Option<&str>) -> Result<String> {
    let refused = |why: String| Err(Error::data(format!("PARTITIONED BY {column:?}: {why}")));
    let value = match value {
        None => NULL_FOLDER,
        Some(NULL_FOLDER) => return refused(format!("a value is {NULL_FOLDER}, which means NULL as a folder name")),
        // The whole segment is encoded at once, because a value `.` would be encoded differently by
        // itself.
        Some(value) => value,
    };
    let name = PathPart::from(format!("{column}={value}"));
    match name.as_ref() {
        name if name.len() <= LONGEST => Ok(name.to_string()),
        _ => refused(format!(
            "a value is too long for a folder name, which has at most {LONGEST} bytes; partition by a shorter column"
        )),
    }
}

/// Replaces the folder name for NULL with NULL in the columns `folders`.
pub fn with_nulls(rows: DataFrame, folders: &[String]) -> Result<DataFrame> {
    if folders.is_empty() {
        return Ok(rows);
    }
    let columns = rows.schema().iter().map(|(table, field)| {
        let column = Expr::from((table, field));
        match folders.contains(field.name()) {
            true => nullif(cast(column, DataType::Utf8), lit(NULL_FOLDER)).alias(field.name()),
            false => column,
        }
    });
    let columns: Vec<Expr> = columns.collect();
    Ok(rows.select(columns)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::datasource::listing::ListingTableUrl;
    use datafusion::datasource::listing::helpers::parse_partitions_for_path;
    use datafusion::object_store::path::Path;

    #[test]
    fn names_that_are_not_spelled_alike_everywhere_are_refused() {
        for plain in ["sex", "native-country", "a b", "Age_2", "x.y", "it's", "a+b", "a:b"] {
            assert!(check_column(plain, &DataType::Utf8).is_ok(), "{plain}");
        }
        for encoded in [
            "", "ä", "50%", "a/b", "x=y", "a*", "a?", "[a]", "a\nb", ".", "..", ".a", "_a", "a~", "a\"b",
        ] {
            assert_eq!(
                check_column(encoded, &DataType::Utf8).unwrap_err().exit_code(),
                1,
                "{encoded}"
            );
        }
    }

    #[test]
    fn values_are_spelled_as_an_object_store_spells_them() {
        for (value, spelled) in [
            ("f", "c=f"),
            ("20-29", "c=20-29"),
            ("a b", "c=a b"),
            ("*", "c=%2A"),
            ("[20, 29]", "c=%5B20, 29%5D"),
            (">=90", "c=%3E=90"),
            ("a=b", "c=a=b"),
            ("a/b", "c=a%2Fb"),
            ("50%", "c=50%25"),
            ("ä", "c=%C3%A4"),
            ("a\nb", "c=a%0Ab"),
            ("10:30", "c=10:30"),
            (".", "c=."),
            ("..", "c=.."),
            ("", "c="),
        ] {
            assert_eq!(name("c", Some(value)).unwrap(), spelled);
        }
        assert_eq!(name("c", None).unwrap(), "c=__HIVE_DEFAULT_PARTITION__");
    }

    #[test]
    fn values_are_read_as_they_were() {
        let root = ListingTableUrl::parse("file:///table/").unwrap();
        for value in ["a=b", "=", ">=90", "50%", "%3D", "a/b", "ä", " ", ".", ""] {
            let folder = name("c", Some(value)).unwrap();
            let file = Path::parse(format!("table/{folder}/part-0.parquet")).unwrap();
            let read = parse_partitions_for_path(&root, &file, ["c"]).unwrap();
            assert_eq!(read, [value], "{folder}");
        }
    }

    #[test]
    fn a_value_that_cannot_be_a_folder_is_refused_and_not_told() {
        assert!(name("c", Some(&"a".repeat(253))).is_ok());
        for value in ["secret".repeat(50), "ä".repeat(43), NULL_FOLDER.into()] {
            let refused = name("c", Some(&value)).unwrap_err();
            assert_eq!(refused.exit_code(), 1);
            assert!(!refused.to_string().contains("secret"), "{refused}");
        }
    }
}
