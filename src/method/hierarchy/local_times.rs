//! The local calendar times of dates and timestamps.

use crate::base::error::{Error, Result};
use arrow::array::timezone::Tz;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{
    ArrowTimestampType, DataType, Date64Type, Int64Type, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow::temporal_conversions::{as_datetime, as_datetime_with_timezone};
use chrono::NaiveDateTime;

/// Returns the time zone with this name. Fails if the name is unknown.
pub(super) fn time_zone(name: &str) -> Result<Tz> {
    name.parse()
        .map_err(|_| Error::usage(format!("TRUNCATE: time zone {name:?} is not known")))
}

/// Returns the local times of dates or timestamps. The result is `None` for NULL and for a value
/// outside the range of the calendar.
pub(crate) fn local_times(values: &ArrayRef) -> Result<Vec<Option<NaiveDateTime>>> {
    let (unit, zone) = match values.data_type() {
        DataType::Date32 => {
            let days = cast(values, &DataType::Int32)?;
            let days = days.as_primitive::<arrow::datatypes::Int32Type>().iter();
            return Ok(days
                .map(|d| d.and_then(|d| as_datetime::<Date64Type>(i64::from(d) * 86_400_000)))
                .collect());
        }
        DataType::Date64 => {
            let millis = cast(values, &DataType::Int64)?;
            let millis = millis.as_primitive::<Int64Type>().iter();
            return Ok(millis.map(|ms| ms.and_then(as_datetime::<Date64Type>)).collect());
        }
        DataType::Timestamp(unit, zone) => (*unit, zone.as_deref().map(time_zone).transpose()?),
        other => return Err(Error::internal(format!("TRUNCATE over a column of type {other}"))),
    };
    Ok(match unit {
        TimeUnit::Second => local::<TimestampSecondType>(values, zone),
        TimeUnit::Millisecond => local::<TimestampMillisecondType>(values, zone),
        TimeUnit::Microsecond => local::<TimestampMicrosecondType>(values, zone),
        TimeUnit::Nanosecond => local::<TimestampNanosecondType>(values, zone),
    })
}

fn local<T: ArrowTimestampType>(values: &ArrayRef, zone: Option<Tz>) -> Vec<Option<NaiveDateTime>> {
    let at = |v: i64| match zone {
        Some(zone) => as_datetime_with_timezone::<T>(v, zone).map(|at| at.naive_local()),
        None => as_datetime::<T>(v),
    };
    values.as_primitive::<T>().iter().map(|v| v.and_then(at)).collect()
}
