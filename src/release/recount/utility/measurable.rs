//! Columns whose figures can be computed: columns of numbers, dates or timestamps.

use super::sides::Tables;
use crate::base::error::Result;
use crate::base::quoting::quote;
use crate::method::hierarchy::plain_type;
use arrow::datatypes::{DataType, TimeUnit};

/// A column with numbers, or with dates or timestamps, in the release and in the source.
pub(super) struct MeasurableColumn {
    pub(super) name: String,
    /// The values in the release and in the source.
    pub(super) values: [MeasuredNumber; 2],
    pub(super) is_time: bool,
}

/// A value as SQL.
pub(super) struct MeasuredNumber {
    /// The SQL for the value: a decimal number whose digits are those of a whole number of units,
    /// or a double for types without such a unit. Dates and timestamps count from 1970-01-01.
    pub(super) sql: String,
    /// The number of units in one, or in a day for dates and timestamps.
    pub(super) units: f64,
}

impl MeasurableColumn {
    /// Returns the column; `None` if one of the tables does not have it, or if its values are
    /// neither numbers nor dates or timestamps in both tables.
    pub(super) async fn of(tables: &Tables<'_>, column: &str) -> Result<Option<Self>> {
        let Some([released, source]) = types(tables, column).await? else {
            return Ok(None);
        };
        let is_time = released.is_temporal();
        let values = match (measured(column, &released), measured(column, &source)) {
            (Some(released), Some(raw)) if is_time == source.is_temporal() => [released, raw],
            _ => return Ok(None),
        };
        Ok(Some(Self {
            name: column.into(),
            values,
            is_time,
        }))
    }
}

/// Returns the reason why a column is not correlated with masked columns: the source has numbers,
/// dates or timestamps, and the release has labels in their place. Returns `None` for other
/// columns.
pub(super) async fn labels_in_place(tables: &Tables<'_>, column: &str) -> Result<Option<String>> {
    let Some([released, source]) = types(tables, column).await? else {
        return Ok(None);
    };
    let is_time = source.is_temporal();
    let is_kept = is_time == released.is_temporal() && measured(column, &released).is_some();
    Ok((measured(column, &source).is_some() && !is_kept).then(|| {
        let values = if is_time { "dates" } else { "numbers" };
        format!("the release has labels in place of the {values} of {column}")
    }))
}

/// Returns the types of a column in the release and in the source; `None` if one of them does not
/// have the column.
pub(super) async fn types(tables: &Tables<'_>, column: &str) -> Result<Option<[DataType; 2]>> {
    let mut found = vec![];
    for table in [tables.released.name.as_str(), tables.source] {
        let table = tables.session.table(table).await?;
        let field = table.schema().qualified_field_with_unqualified_name(column).ok();
        found.extend(field.map(|(_, field)| plain_type(field.data_type()).clone()));
    }
    Ok(found.try_into().ok())
}

/// Returns a column of type `data_type` as a number; `None` for types that have no mean.
fn measured(column: &str, data_type: &DataType) -> Option<MeasuredNumber> {
    let column = quote(column);
    let whole = |column: &str, units| MeasuredNumber {
        // All digits of every 64-bit integer.
        sql: format!("CAST({column} AS DECIMAL(20, 0))"),
        units,
    };
    let since_1970 = |units| Some(whole(&format!("arrow_cast({column}, 'Int64')"), units));
    match data_type {
        integer if integer.is_integer() => Some(whole(&column, 1.0)),
        DataType::Decimal32(_, scale) | DataType::Decimal64(_, scale) | DataType::Decimal128(_, scale)
            if *scale >= 0 =>
        {
            Some(MeasuredNumber {
                sql: format!("arrow_cast({column}, 'Decimal128(38, {scale})')"),
                units: 10f64.powi(i32::from(*scale)),
            })
        }
        number if number.is_numeric() => Some(MeasuredNumber {
            sql: format!("CAST({column} AS DOUBLE)"),
            units: 1.0,
        }),
        DataType::Date32 => since_1970(1.0),
        DataType::Date64 => since_1970(in_a_day(TimeUnit::Millisecond)),
        DataType::Timestamp(unit, _) => since_1970(in_a_day(*unit)),
        _ => None,
    }
}

/// Returns the number of these units in a day.
fn in_a_day(unit: TimeUnit) -> f64 {
    let in_a_second = match unit {
        TimeUnit::Second => 1.0,
        TimeUnit::Millisecond => 1e3,
        TimeUnit::Microsecond => 1e6,
        TimeUnit::Nanosecond => 1e9,
    };
    86_400.0 * in_a_second
}
