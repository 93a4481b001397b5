//! The types in which file formats store values, and the lossless conversion to these types.

use crate::base::error::{Error, Result};
use crate::release::job::Format;
use arrow::array::{Array, ArrayRef};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, FieldRef, TimeUnit};
use std::sync::Arc;

/// Returns the type in which the file format stores values of this type. Parquet has no seconds,
/// and a date with milliseconds is stored as a timestamp.
pub(in crate::release::engine) fn stored(data_type: &DataType, format: Format) -> DataType {
    match (format, data_type) {
        (Format::Table(table), own) => table.stored(own),
        (Format::Parquet, DataType::Timestamp(TimeUnit::Second, zone)) => {
            DataType::Timestamp(TimeUnit::Millisecond, zone.clone())
        }
        (Format::Parquet, DataType::Time32(TimeUnit::Second)) => DataType::Time32(TimeUnit::Millisecond),
        (Format::Parquet, DataType::Date64) => DataType::Timestamp(TimeUnit::Millisecond, None),
        (_, own) => within(own, |part| stored(part, format)),
    }
}

/// Returns a type with microseconds in place of nanoseconds. Fewer readers support nanoseconds.
pub(super) fn in_microseconds(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => DataType::Timestamp(TimeUnit::Microsecond, zone.clone()),
        DataType::Dictionary(key, values) if has_nanoseconds(values) => {
            DataType::Dictionary(key.clone(), Box::new(in_microseconds(values)))
        }
        own => within(own, in_microseconds),
    }
}

/// Returns a nested type in which `change` was applied to the types of its parts. Any other type is
/// returned unchanged.
fn within(data_type: &DataType, change: impl Fn(&DataType) -> DataType) -> DataType {
    let changed = |field: &FieldRef| -> FieldRef {
        let data_type = change(field.data_type());
        Arc::new(field.as_ref().clone().with_data_type(data_type))
    };
    match data_type {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(changed).collect()),
        DataType::List(item) => DataType::List(changed(item)),
        DataType::LargeList(item) => DataType::LargeList(changed(item)),
        DataType::FixedSizeList(item, n) => DataType::FixedSizeList(changed(item), *n),
        DataType::Map(entries, sorted) => DataType::Map(changed(entries), *sorted),
        other => other.clone(),
    }
}

/// Returns the same values in another type. Fails if a value does not fit that type.
pub(super) fn exactly(values: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    if values.data_type() == data_type {
        return Ok(Arc::clone(values));
    }
    let options = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    let stored = cast_with_options(values, data_type, &options)?;
    if has_nanoseconds(values.data_type())
        && cast_with_options(&stored, values.data_type(), &options)?.as_ref() != values.as_ref()
    {
        return Err(Error::data(
            "a time has nanoseconds, and its column is stored in microseconds; round it in the source: arrow_cast(time, \
             'Timestamp(µs)')",
        ));
    }
    Ok(stored)
}

/// Returns true if the type has times in nanoseconds.
pub(super) fn has_nanoseconds(data_type: &DataType) -> bool {
    match data_type {
        DataType::Timestamp(unit, _) => *unit == TimeUnit::Nanosecond,
        DataType::Struct(fields) => fields.iter().any(|field| has_nanoseconds(field.data_type())),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => has_nanoseconds(item.data_type()),
        DataType::Dictionary(_, values) => has_nanoseconds(values),
        _ => false,
    }
}
