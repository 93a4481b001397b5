//! Computes the statistics of a data file for the log: counts and bounds of the released values.

use crate::base::error::{Error, Result};
use parquet::basic::{LogicalType, Type};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use parquet::file::statistics::Statistics;
use serde_json::{Map, Value, json};
use std::fs::File;

/// The maximum number of characters of a text bound.
const LONGEST: usize = 32;

/// Returns the statistics of a Parquet file as JSON. Only columns of whole numbers, texts and dates
/// get bounds.
pub(super) fn statistics(file: &File) -> Result<String> {
    let metadata = ParquetMetaDataReader::new().parse_and_finish(file)?;
    let rows = metadata.file_metadata().num_rows();
    let (mut nulls, mut least, mut most) = (Map::new(), Map::new(), Map::new());
    for (at, column) in metadata.file_metadata().schema_descr().columns().iter().enumerate() {
        let [name] = column.path().parts() else {
            // Nested columns get no bounds, because readers rarely use them.
            continue;
        };
        let groups: Option<Vec<&Statistics>> = groups(&metadata).map(|group| group.column(at).statistics()).collect();
        let Some(groups) = groups else { continue };
        let counts: Option<Vec<u64>> = groups.iter().map(|group| group.null_count_opt()).collect();
        let Some(counts) = counts else { continue };
        let count: u64 = counts.iter().sum();
        nulls.insert(name.clone(), json!(count));
        let is_named = |group: &&&Statistics| group.min_bytes_opt().is_some();
        let full = groups.iter().filter(is_named);
        let own = full.map(|group| bounds(group, column.physical_type(), column.logical_type_ref()));
        let own: Option<Vec<(Bound, Bound)>> = own.collect();
        let is_whole = groups
            .iter()
            .zip(&counts)
            .zip(metadata.row_groups())
            .all(|((group, nulls), of)| group.min_bytes_opt().is_some() || *nulls == of.num_rows().unsigned_abs());
        if let Some(own) = own.filter(|_| is_whole) {
            let (lows, highs): (Vec<Bound>, Vec<Bound>) = own.into_iter().unzip();
            if let (Some(low), Some(high)) = (lows.into_iter().min(), highs.into_iter().max()) {
                least.insert(name.clone(), low.json());
                most.insert(name.clone(), high.json());
            }
        }
    }
    serde_json::to_string(&json!({
        "numRecords": rows, "minValues": least, "maxValues": most, "nullCount": nulls,
    }))
    .map_err(|e| Error::internal(format!("statistics cannot be written as JSON: {e}")))
}

fn groups(metadata: &ParquetMetaData) -> impl Iterator<Item = &RowGroupMetaData> {
    metadata.row_groups().iter()
}

/// A bound of a column. All bounds of a column have the same variant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Bound {
    Number(i64),
    /// A date as the number of days since 1970-01-01.
    Day(i32),
    Text(String),
}

impl Bound {
    fn json(self) -> Value {
        match self {
            Self::Number(number) => json!(number),
            Self::Day(day) => {
                let day = chrono::DateTime::from_timestamp(i64::from(day) * 86_400, 0);
                day.map_or(Value::Null, |day| json!(day.format("%Y-%m-%d").to_string()))
            }
            Self::Text(text) => json!(text),
        }
    }
}

/// Returns the bounds of a row group; `None` if they are missing or not exact, or their type has no
/// bounds in the log.
fn bounds(group: &Statistics, physical: Type, logical: Option<&LogicalType>) -> Option<(Bound, Bound)> {
    if !(group.min_is_exact() && group.max_is_exact()) {
        return None;
    }
    let is_whole = match logical {
        None => true,
        Some(LogicalType::Integer(kind)) => kind.is_signed,
        Some(_) => false,
    };
    match (group, logical) {
        (Statistics::Int32(values), Some(LogicalType::Date)) => {
            Some((Bound::Day(*values.min_opt()?), Bound::Day(*values.max_opt()?)))
        }
        (Statistics::Int32(values), _) if is_whole => Some((
            Bound::Number(i64::from(*values.min_opt()?)),
            Bound::Number(i64::from(*values.max_opt()?)),
        )),
        (Statistics::Int64(values), _) if is_whole => {
            Some((Bound::Number(*values.min_opt()?), Bound::Number(*values.max_opt()?)))
        }
        (Statistics::ByteArray(_), Some(LogicalType::String)) if physical == Type::BYTE_ARRAY => {
            let text = |bytes: Option<&[u8]>| {
                let text = std::str::from_utf8(bytes?).ok()?;
                (text.chars().count() <= LONGEST).then(|| Bound::Text(text.to_string()))
            };
            Some((text(group.min_bytes_opt())?, text(group.max_bytes_opt())?))
        }
        _ => None,
    }
}
