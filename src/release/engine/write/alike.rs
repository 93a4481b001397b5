//! Rejects columns with values that a file format cannot distinguish.
//!
//! Two values that were judged as different must be different in the file; otherwise the file
//! guarantees less than was promised. CSV does not distinguish NULL from the empty text. JSON
//! writes NULL and all floating-point values that are not finite in the same way. A column with
//! more than one of these values is rejected before any row is visible.

use super::compact::compact;
use crate::base::error::{Error, Result};
use crate::base::quoting::quote;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, SchemaRef};
use arrow::record_batch::RecordBatch;

/// A file format that writes different values alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Alike {
    /// CSV that writes NULL as this text.
    Csv(String),
    /// JSON, which writes NULL, NaN, Infinity and -Infinity alike.
    Json,
}

/// The kinds of values seen in each column so far, as one bit per kind.
#[derive(Debug)]
pub(super) struct Seen {
    alike: Alike,
    schema: SchemaRef,
    columns: Vec<u8>,
}

impl Seen {
    pub(super) fn new(alike: Alike, schema: SchemaRef) -> Self {
        Self {
            columns: vec![0; schema.fields().len()],
            alike,
            schema,
        }
    }

    /// Checks rows before they are written. Fails with `ErrorKind::Data` if a column has values
    /// that the format writes alike.
    pub(super) fn look(&mut self, rows: &RecordBatch) -> Result<()> {
        for (i, column) in rows.columns().iter().enumerate() {
            self.columns[i] |= self.alike.kinds(column)?;
            if self.columns[i].count_ones() > 1 {
                return Err(self.alike.refused(self.schema.field(i).name()));
            }
        }
        Ok(())
    }
}

impl Alike {
    /// Returns the kinds of values in a column that the format writes alike, as one bit per kind.
    /// Bit 0 stands for NULL.
    fn kinds(&self, column: &ArrayRef) -> Result<u8> {
        let null = u8::from(column.logical_null_count() > 0);
        if let DataType::Dictionary(..) = column.data_type() {
            let used = compact(&RecordBatch::try_from_iter(
                [("c", column)].map(|(n, c)| (n, c.clone())),
            )?)?;
            return Ok(null | self.kinds(used.column(0).as_any_dictionary().values())?);
        }
        Ok(null
            | match self {
                Alike::Csv(spelled) => u8::from(has_text(column, spelled)?) << 1,
                Alike::Json if column.data_type().is_floating() => {
                    let numbers = cast(column, &DataType::Float64)?;
                    let kind = |v: f64| match v {
                        v if v.is_nan() => 1 << 1,
                        f64::INFINITY => 1 << 2,
                        f64::NEG_INFINITY => 1 << 3,
                        _ => 0,
                    };
                    let numbers = numbers.as_primitive::<Float64Type>().iter().flatten();
                    numbers.fold(0, |kinds, v| kinds | kind(v))
                }
                Alike::Json => 0,
            })
    }

    fn refused(&self, column: &str) -> Error {
        let quoted = quote(column);
        Error::data(match self {
            Alike::Csv(spelled) if spelled.is_empty() => format!(
                "column {quoted} has NULL and the empty text, which a CSV file writes alike, so the file would not keep \
                 the recounted promises. Write Parquet, or make them one in a query: nullif({quoted}, '')"
            ),
            Alike::Csv(_) => format!(
                "column {quoted} has NULL and the very text that stands for NULL in the CSV file, so the file would not keep \
                 the recounted promises. Write Parquet, or choose another text for NULL"
            ),
            Alike::Json => format!(
                "column {quoted} has more than one of NULL, NaN, Infinity and -Infinity, which JSON writes alike, so the \
                 file would not keep the recounted promises. Write Parquet"
            ),
        })
    }
}

/// Returns true if a value of a column is written as the text `spelled`.
fn has_text(column: &ArrayRef, spelled: &str) -> Result<bool> {
    let is_text = matches!(
        column.data_type(),
        DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_)
    );
    if spelled.is_empty() && !is_text || column.data_type().is_nested() {
        return Ok(false);
    }
    let texts = match column.data_type() {
        DataType::Utf8 => column.clone(),
        DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => cast(column, &DataType::Binary)?,
        DataType::Binary => column.clone(),
        _ => cast(column, &DataType::Utf8)?,
    };
    Ok(match texts.as_binary_opt::<i32>() {
        Some(bytes) => bytes.iter().flatten().any(|b| hex::encode(b) == spelled),
        None => texts.as_string::<i32>().iter().flatten().any(|t| t == spelled),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{BinaryArray, DictionaryArray, Float64Array, Int64Array, StringArray};
    use arrow::datatypes::Int32Type;
    use std::sync::Arc;

    /// Returns true if the check accepts the column.
    fn told(alike: &Alike, column: ArrayRef) -> bool {
        let rows = RecordBatch::try_from_iter_with_nullable([("c", column, true)]).unwrap();
        let mut seen = Seen::new(alike.clone(), rows.schema());
        // Each row is checked by itself, to test that a `Seen` keeps the kinds of earlier rows.
        let looked = (0..rows.num_rows()).try_for_each(|row| seen.look(&rows.slice(row, 1)));
        assert_eq!(
            Seen::new(alike.clone(), rows.schema()).look(&rows).is_ok(),
            looked.is_ok()
        );
        looked.is_ok()
    }

    #[test]
    fn what_a_format_writes_alike_is_refused() {
        let csv = Alike::Csv(String::new());
        let texts = [
            vec![Some("a"), None],
            vec![Some(""), Some("a")],
            vec![None, Some("a"), Some("")],
        ];
        for (texts, is_told) in texts.into_iter().zip([true, true, false]) {
            let dictionary: DictionaryArray<Int32Type> = texts.iter().copied().collect();
            let bytes: BinaryArray = texts.iter().map(|t| t.map(str::as_bytes)).collect();
            for column in [
                Arc::new(StringArray::from(texts)) as ArrayRef,
                Arc::new(dictionary),
                Arc::new(bytes),
            ] {
                assert_eq!(told(&csv, column), is_told);
            }
        }
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(0), None, Some(7)]));
        assert!(told(&csv, numbers.clone()));
        assert!(!told(&Alike::Csv("7".into()), numbers.clone()));
        assert!(told(&Alike::Csv("NULL".into()), numbers));

        let (nan, inf) = (f64::NAN, f64::INFINITY);
        for (numbers, is_told) in [
            (vec![Some(1.0), Some(-0.0), None], true),
            (vec![Some(nan), Some(nan), Some(1.0)], true),
            (vec![Some(nan), None], false),
            (vec![Some(inf), Some(-inf)], false),
        ] {
            let numbers: ArrayRef = Arc::new(Float64Array::from(numbers));
            assert_eq!(told(&Alike::Json, numbers.clone()), is_told);
            assert!(told(&csv, numbers));
        }
    }

    #[test]
    fn an_unused_label_is_not_seen() {
        let labels: DictionaryArray<Int32Type> = vec![Some("a"), None, Some("")].into_iter().collect();
        assert!(told(&Alike::Csv(String::new()), Arc::new(labels.slice(0, 2))));
    }
}
