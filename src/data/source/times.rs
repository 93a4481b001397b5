//! Finds the first date or time in a column of a Parquet file that readers would change.

use crate::base::error::Result;
use crate::base::pool::check_cancelled;
use arrow::datatypes::TimeUnit;
use bytes::{Buf, Bytes};
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{DataType, Int32Type, Int64Type, Int96, Int96Type};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use std::sync::Arc;

const NANOSECONDS_OF_A_DAY: i128 = 86_400_000_000_000;
/// The Julian day number of 1970-01-01.
const EPOCH: i128 = 2_440_588;
/// 1900-01-01 in seconds since 1970. For earlier times, the offset of a time zone may also depend
/// on the calendar.
const YEAR_1900: i64 = -2_208_988_800;
/// 1582-10-15 in days since 1970, the first day with the same date in both calendars.
const GREGORIAN: i32 = -141_427;
const BATCH: usize = 8192;

/// The reason why a time cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The time has more digits than the unit can store.
    Digits,
    /// The time is too far from 1970 for the unit.
    Range,
    /// The file uses the old calendar, and the time is so early that it may differ between the two
    /// calendars.
    Calendar,
}

/// The stored form of times that must be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StoredTimes {
    /// 96 bits, which are read in `unit`. `is_old` is true if the file uses the old calendar.
    Int96 { unit: TimeUnit, is_old: bool },
    /// Days since 1970 in the old calendar.
    OldDays,
    /// Ticks since 1970 in the old calendar, for a time with `per_second` ticks per second.
    OldTicks { per_second: i64 },
}

/// Returns the fault of the first date or time in a column chunk that readers would change; `None`
/// if there is none.
pub(super) fn first_fault(
    bytes: Bytes,
    chunk: &ColumnChunkMetaData,
    rows: i64,
    stored: StoredTimes,
) -> Result<Option<Fault>> {
    let old = |is_old: bool| is_old.then_some(Fault::Calendar);
    match stored {
        StoredTimes::Int96 { unit, is_old } => {
            first::<Int96Type>(bytes, chunk, rows, |value| fault(value, unit, is_old))
        }
        StoredTimes::OldDays => first::<Int32Type>(bytes, chunk, rows, |day| old(*day < GREGORIAN)),
        StoredTimes::OldTicks { per_second } => {
            first::<Int64Type>(bytes, chunk, rows, |tick| old(tick.div_euclid(per_second) < YEAR_1900))
        }
    }
}

/// Returns the first fault that `fault` finds in the values of a column chunk.
fn first<T: DataType>(
    bytes: Bytes,
    chunk: &ColumnChunkMetaData,
    rows: i64,
    fault: impl Fn(&T::T) -> Option<Fault>,
) -> Result<Option<Fault>> {
    let start = chunk.byte_range().0;
    let rows = usize::try_from(rows).unwrap_or_default();
    let pages = SerializedPageReader::new(Arc::new(Chunk { start, bytes }), chunk, rows, None)?;
    let mut reader = ColumnReaderImpl::<T>::new(chunk.column_descr_ptr(), Box::new(pages));
    let (mut values, mut defined, mut repeated) = (vec![], vec![], vec![]);
    loop {
        check_cancelled()?;
        values.clear();
        defined.clear();
        repeated.clear();
        let (records, ..) = reader.read_records(BATCH, Some(&mut defined), Some(&mut repeated), &mut values)?;
        let fault = values.iter().find_map(&fault);
        if fault.is_some() || records == 0 {
            return Ok(fault);
        }
    }
}

fn fault(value: &Int96, unit: TimeUnit, is_old: bool) -> Option<Fault> {
    let &[low, high, day] = value.data() else {
        return Some(Fault::Range);
    };
    // Both numbers are signed, as all readers interpret them.
    let of_day = (i64::from(high) << 32) + i64::from(low);
    let time = (i128::from(day as i32) - EPOCH) * NANOSECONDS_OF_A_DAY + i128::from(of_day);
    let divisor = match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    };
    if time % divisor != 0 {
        return Some(Fault::Digits);
    }
    if i64::try_from(time / divisor).is_err() {
        return Some(Fault::Range);
    }
    (is_old && time < i128::from(YEAR_1900) * 1_000_000_000).then_some(Fault::Calendar)
}

/// The bytes of a column chunk. Positions in the chunk are counted from the start of the file.
struct Chunk {
    start: u64,
    bytes: Bytes,
}

impl Length for Chunk {
    fn len(&self) -> u64 {
        self.start.saturating_add(self.bytes.len() as u64)
    }
}

impl Chunk {
    fn rest_at(&self, at: u64) -> ParquetResult<Bytes> {
        let offset = at
            .checked_sub(self.start)
            .and_then(|offset| usize::try_from(offset).ok());
        match offset.filter(|offset| *offset <= self.bytes.len()) {
            Some(offset) => Ok(self.bytes.slice(offset..)),
            None => Err(ParquetError::EOF("a page is not where its column is".into())),
        }
    }
}

impl ChunkReader for Chunk {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(self.rest_at(start)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let bytes = self.rest_at(start)?;
        match length <= bytes.len() {
            true => Ok(bytes.slice(..length)),
            false => Err(ParquetError::EOF("a page ends after its column".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(day: i32, of_day: i64) -> Int96 {
        Int96::from(vec![of_day as u32, (of_day >> 32) as u32, day as u32])
    }

    #[test]
    fn what_a_unit_cannot_hold_is_found() {
        use TimeUnit::{Microsecond, Millisecond, Nanosecond};
        let last = 5_373_484; // 9999-12-31
        let first = 1_721_426; // 0001-01-01
        for (value, unit, found) in [
            (time(2_440_588, 0), Nanosecond, None),
            (time(last, 86_399_999_999_000), Microsecond, None),
            (time(last, 86_399_999_999_000), Millisecond, Some(Fault::Digits)),
            (time(last, 86_399_999_999_000), Nanosecond, Some(Fault::Range)),
            (time(last, 86_399_999_999_999), Microsecond, Some(Fault::Digits)),
            (time(first, 0), Microsecond, None),
            (time(first, 0), Nanosecond, Some(Fault::Range)),
            (time(2_440_588, -1_000), Microsecond, None),
            (time(2_440_588, -1), Microsecond, Some(Fault::Digits)),
            (time(i32::MAX, 0), Microsecond, Some(Fault::Range)),
            (time(i32::MIN, 0), Microsecond, Some(Fault::Range)),
            (time(2_440_588, i64::MIN), Nanosecond, None),
            (time(2_440_587, i64::MIN), Nanosecond, Some(Fault::Range)),
        ] {
            assert_eq!(fault(&value, unit, false), found, "{value} {unit:?}");
        }
        assert_eq!(fault(&time(2_415_020, 0), Microsecond, true), Some(Fault::Calendar));
        assert_eq!(fault(&time(2_415_021, 0), Microsecond, true), None);
    }
}
