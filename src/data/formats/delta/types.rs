//! The types of a Delta table: how values of other types are stored, and which columns cannot be
//! stored.

use crate::base::error::{Error, Result};
use crate::method::hierarchy::plain_type;
use arrow::datatypes::{DataType, FieldRef, TimeUnit};
use std::sync::Arc;

/// The characters that are not allowed in column names of a table without column mapping.
const UNNAMED: [char; 11] = [' ', ',', ';', '{', '}', '(', ')', '\n', '\t', '\r', '='];

/// Returns the type with which a table stores values of `data_type`.
pub(super) fn stored(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Dictionary(_, values) => stored(values),
        DataType::UInt8 => DataType::Int16,
        DataType::UInt16 => DataType::Int32,
        DataType::UInt32 => DataType::Int64,
        DataType::UInt64 => DataType::Decimal128(20, 0),
        DataType::Float16 => DataType::Float32,
        DataType::Decimal32(p, s) | DataType::Decimal64(p, s) => DataType::Decimal128(*p, *s),
        DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => DataType::Binary,
        DataType::Date64 => DataType::Timestamp(TimeUnit::Microsecond, None),
        DataType::Timestamp(_, zone) => {
            // A time with a zone is an instant, and is stored in UTC.
            DataType::Timestamp(TimeUnit::Microsecond, zone.as_ref().map(|_| "UTC".into()))
        }
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(stored_field).collect()),
        DataType::List(item) | DataType::LargeList(item) => DataType::List(stored_field(item)),
        DataType::Map(entries, sorted) => DataType::Map(stored_field(entries), *sorted),
        other => other.clone(),
    }
}

fn stored_field(field: &FieldRef) -> FieldRef {
    Arc::new(field.as_ref().clone().with_data_type(stored(field.data_type())))
}

/// Checks that a table can have a column with this name and type and, if `is_partition` is true, be
/// partitioned by it. Fails with `ErrorKind::Usage` if not.
pub(super) fn check_column(name: &str, data_type: &DataType, is_partition: bool) -> Result<()> {
    if name.is_empty() || name.contains(UNNAMED) {
        return Err(Error::usage(format!(
            "column {name:?}: a Delta table cannot have a column of this name; a name must not be empty or contain \
             blanks or any of , ; {{ }} ( ) =; write another name, (SELECT ... AS name, ...)"
        )));
    }
    let plain = plain_type(data_type);
    if !is_stored(&stored(plain)) {
        return Err(Error::usage(format!(
            "column {name:?}: a Delta table cannot store values of type {plain}; CAST it to text or to a number in \
             the source"
        )));
    }
    let names_folders = plain.is_integer()
        || plain.is_decimal()
        || matches!(
            plain,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Date32 | DataType::Boolean
        );
    if is_partition && !names_folders {
        return Err(Error::usage(format!(
            "PARTITIONED BY {name:?}: Delta tools write values of type {plain} differently in folder names; CAST it to \
             text, or partition by another column"
        )));
    }
    Ok(())
}

fn is_stored(data_type: &DataType) -> bool {
    match data_type {
        DataType::Boolean
        | DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::Float32
        | DataType::Float64
        | DataType::Utf8
        | DataType::Binary
        | DataType::Date32
        | DataType::Timestamp(..) => true,
        DataType::Decimal128(_, scale) => *scale >= 0,
        DataType::Struct(fields) => fields.iter().all(|field| is_stored(field.data_type())),
        DataType::List(item) => is_stored(item.data_type()),
        DataType::Map(entries, _) => is_stored(entries.data_type()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::Field;

    #[test]
    fn a_type_is_stored_in_one_that_holds_its_values() {
        let list = |item| DataType::List(Arc::new(Field::new_list_field(item, true)));
        for (own, expected) in [
            (DataType::UInt32, DataType::Int64),
            (DataType::UInt64, DataType::Decimal128(20, 0)),
            (DataType::Utf8View, DataType::Utf8),
            (
                DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::LargeUtf8)),
                DataType::Utf8,
            ),
            (
                DataType::Timestamp(TimeUnit::Second, Some("+01:00".into())),
                DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            ),
            (list(DataType::UInt8), list(DataType::Int16)),
        ] {
            assert_eq!(stored(&own), expected);
            assert!(check_column("a", &own, false).is_ok());
        }
    }

    #[test]
    fn what_no_table_holds_is_refused() {
        for own in [
            DataType::Null,
            DataType::Time32(TimeUnit::Second),
            DataType::Duration(TimeUnit::Second),
            DataType::Decimal256(50, 2),
            DataType::Decimal128(5, -2),
        ] {
            assert_eq!(check_column("a", &own, false).unwrap_err().exit_code(), 1, "{own}");
        }
        assert!(check_column("a b", &DataType::Int64, false).is_err());
        assert!(check_column("a", &DataType::Float64, false).is_ok());
        assert!(check_column("a", &DataType::Float64, true).is_err());
        assert!(check_column("a", &DataType::Timestamp(TimeUnit::Second, None), true).is_err());
        assert!(check_column("a", &DataType::Date32, true).is_ok());
    }
}
