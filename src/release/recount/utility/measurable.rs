//! Columns whose figures can be computed: columns of numbers, dates or timestamps.

use super::sides::Tables;
use crate::base::error::Result;
use crate::base::quoting::quote;
use crate::method::hierarchy::plain_type;
use arrow::datatypes::{DataType, TimeUnit};

/// A column with numbers, or with dates or timestamps, in the release and in the source.
pub(super) struct MeasurableColumn {
    pub(super) name: String,
    /// The SQL for the value as a double, in the release and in the source. Dates and timestamps
    /// are the number of days since 1970-01-01.
    pub(super) values: [String; 2],
    /// The SQL for the value as a decimal number, in the release and in the source; `None` for
    /// types that are not integers. A sum of such values is exact.
    pub(super) exact: [Option<String>; 2],
    pub(super) is_time: bool,
}

impl MeasurableColumn {
    /// Returns the column; `None` if one of the tables does not have it, or if its values are
    /// neither numbers nor dates or timestamps in both tables.
    pub(super) async fn of(tables: &Tables<'_>, column: &str) -> Result<Option<Self>> {
        let Some([released, source]) = types(tables, column).await? else {
            return Ok(None);
        };
        let is_time = released.is_temporal();
        let values = match (as_double(column, &released), as_double(column, &source)) {
            (Some(released), Some(raw)) if is_time == source.is_temporal() => [released, raw],
            _ => return Ok(None),
        };
        Ok(Some(Self {
            name: column.into(),
            values,
            exact: [as_decimal(column, &released), as_decimal(column, &source)],
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
    let is_kept = is_time == released.is_temporal() && as_double(column, &released).is_some();
    Ok((as_double(column, &source).is_some() && !is_kept).then(|| {
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

/// Returns the SQL for a column of type `data_type` as a double; `None` for types that have no
/// mean.
fn as_double(column: &str, data_type: &DataType) -> Option<String> {
    let column = quote(column);
    let in_a_day = match data_type {
        number if number.is_numeric() => return Some(format!("CAST({column} AS DOUBLE)")),
        DataType::Date32 => 1.0,
        DataType::Date64 => in_a_day(TimeUnit::Millisecond),
        DataType::Timestamp(unit, _) => in_a_day(*unit),
        _ => return None,
    };
    Some(format!(
        "(CAST(arrow_cast({column}, 'Int64') AS DOUBLE) / {in_a_day:.1})"
    ))
}

/// Returns the SQL for a column of integers of type `data_type` as a decimal number with all digits
/// of every 64-bit integer; `None` for other types.
fn as_decimal(column: &str, data_type: &DataType) -> Option<String> {
    data_type
        .is_integer()
        .then(|| format!("CAST({} AS DECIMAL(20, 0))", quote(column)))
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
