//! The text form of values in a release.
//!
//! The text of a time with a time zone ends with the offset of the zone in hours and minutes. Some
//! zones, such as Europe/Berlin before 1893 and Africa/Monrovia before 1972, had offsets with
//! seconds. If such an offset were rounded, the text would denote another instant. Therefore a time
//! with such an offset is written in UTC, and every other time in its own zone. The text of a value
//! depends only on the value and its type, not on other values in the column. Every parser gets the
//! same instant from the text.

use super::plain_type::plain_type;
use crate::base::error::Result;
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::kernels::cmp::distinct;
use arrow::compute::kernels::zip::zip;
use arrow::compute::{DatePart, cast, date_part};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use std::sync::Arc;

/// Returns true if values of this type are times with a time zone.
pub(crate) fn has_zone(data_type: &DataType) -> bool {
    matches!(plain_type(data_type), DataType::Timestamp(_, Some(_)))
}

/// Returns each value as text. Parsing this text gives the same value.
pub(crate) fn texts(values: &ArrayRef) -> Result<StringArray> {
    let plain = plain_type(values.data_type());
    let DataType::Timestamp(unit, Some(_)) = plain else {
        return Ok(cast(values, &DataType::Utf8)?.as_string::<i32>().clone());
    };
    let own = cast(values, plain)?;
    let utc = cast(&own, &DataType::Timestamp(*unit, Some("UTC".into())))?;
    let text = |times: &ArrayRef| cast(times, &DataType::Utf8);
    // The local time and UTC have the same second if and only if the offset is a whole number of
    // minutes.
    let second = |times: &ArrayRef| date_part(times.as_ref(), DatePart::Second);
    let has_seconds = distinct(&second(&own)?, &second(&utc)?)?;
    let written = match has_seconds.true_count() {
        0 => text(&own)?,
        _ => zip(&has_seconds, &text(&utc)?, &text(&own)?)?,
    };
    Ok(written.as_string::<i32>().clone())
}

/// Returns the rows, with every time with a time zone replaced by its text. Such rows are needed
/// for writers that round offsets to minutes.
pub(crate) fn with_times_as_texts(rows: &RecordBatch) -> Result<RecordBatch> {
    let schema = rows.schema();
    if !schema.fields().iter().any(|field| has_zone(field.data_type())) {
        return Ok(rows.clone());
    }
    let columns = rows.columns().iter().map(|column| {
        Ok(match has_zone(column.data_type()) {
            true => Arc::new(texts(column)?) as ArrayRef,
            false => Arc::clone(column),
        })
    });
    let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    Ok(RecordBatch::try_new_with_options(as_texts(&schema), columns, &options)?)
}

/// Returns the schema, with text as the type of every time with a time zone.
fn as_texts(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| match has_zone(field.data_type()) {
        true => Field::new(field.name(), DataType::Utf8, field.is_nullable()),
        false => field.as_ref().clone(),
    });
    Arc::new(Schema::new(fields.collect::<Vec<Field>>()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{DictionaryArray, Int32Array, TimestampSecondArray};

    #[test]
    fn an_offset_with_seconds_is_written_in_utc() {
        // 1960-05-01T08:00:00Z, and 2020-01-01T00:00:00Z.
        let times = |zone: &str| {
            let times = TimestampSecondArray::from(vec![Some(-305_136_000), None, Some(1_577_836_800)]);
            Arc::new(times.with_timezone(zone)) as ArrayRef
        };
        for (zone, expected) in [
            (
                "Africa/Monrovia",
                [Some("1960-05-01T08:00:00Z"), None, Some("2020-01-01T00:00:00Z")],
            ),
            (
                "Europe/Berlin",
                [
                    Some("1960-05-01T09:00:00+01:00"),
                    None,
                    Some("2020-01-01T01:00:00+01:00"),
                ],
            ),
            (
                "-03:30",
                [
                    Some("1960-05-01T04:30:00-03:30"),
                    None,
                    Some("2019-12-31T20:30:00-03:30"),
                ],
            ),
        ] {
            let times = times(zone);
            let written = texts(&times).unwrap();
            assert_eq!(written, StringArray::from(expected.to_vec()), "{zone}");
            let read = cast(&written, times.data_type()).unwrap();
            assert_eq!(&read, &times, "{zone}");
            let keys = Int32Array::from(vec![Some(2), None, Some(0)]);
            let coded: ArrayRef = Arc::new(DictionaryArray::new(keys, times));
            let written = texts(&coded).unwrap();
            assert_eq!(
                written,
                StringArray::from(vec![expected[2], None, expected[0]]),
                "{zone}"
            );
        }
    }
}
