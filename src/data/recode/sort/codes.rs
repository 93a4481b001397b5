//! Codes: values as integers in the order of the values.
//!
//! A number is converted to a code directly, and the code must fit in 64 bits. Any other value gets
//! its code from the dictionary of the column while the rows are read. Once all values are known,
//! this code is replaced by the rank of the value.

use crate::base::error::{Error, Result};
use crate::data::frequency::{Dictionary, Local, Shared};
use arrow::array::{
    Array, ArrayData, ArrayRef, AsArray, BooleanArray, DictionaryArray, Int32Array, UInt32Array, make_array,
};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow::compute::{cast, take};
use arrow::datatypes::{ArrowNativeType, DataType, Field, Int32Type};
use std::sync::Arc;

/// How the values of a column are converted to codes.
#[derive(Debug, Clone)]
pub(super) enum Coding {
    /// A value is converted to its code directly.
    Number,
    /// The code of a value comes from a dictionary that the partitions of the scan share.
    Dictionary(Arc<Shared>),
}

/// The codes of the rows of a batch.
pub(super) struct BatchCodes {
    pub(super) words: Vec<u64>,
    pub(super) nulls: Option<NullBuffer>,
}

impl Coding {
    /// Returns true if values of this type can be converted to codes.
    pub(super) fn is_possible(data_type: &DataType) -> bool {
        match data_type {
            DataType::Dictionary(_, values) => Self::is_possible(values),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => true,
            other => is_number(other),
        }
    }

    /// Returns the coding for a column of this type.
    pub(super) fn of(field: &Field) -> Result<Self> {
        match is_number(field.data_type()) {
            true => Ok(Coding::Number),
            false => Ok(Coding::Dictionary(Arc::new(Shared::new(
                field.name(),
                field.data_type(),
            )?))),
        }
    }

    /// Creates the encoder for one partition.
    pub(super) fn coder(&self) -> Result<Coder> {
        match self {
            Coding::Number => Ok(Coder::Number),
            Coding::Dictionary(shared) => Ok(Coder::Dictionary(Box::new(Local::new(Arc::clone(shared), false)?))),
        }
    }

    /// Returns the memory that the partitions share, in bytes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Coding::Number => 0,
            Coding::Dictionary(shared) => shared.bytes(),
        }
    }

    /// Returns the values of all rows in ascending order, and the rank of each code; `None` for
    /// numbers. The values are removed from the coding, so no other row can be encoded.
    pub(super) fn finish(&self) -> Result<Option<Dictionary>> {
        match self {
            Coding::Number => Ok(None),
            Coding::Dictionary(shared) => shared.take().map(Some),
        }
    }
}

/// The encoder for a column in one partition.
pub(super) enum Coder {
    Number,
    Dictionary(Box<Local>),
}

impl Coder {
    /// Returns the codes of a column; `None` if the code of a number needs more than 64 bits.
    pub(super) fn encode(&mut self, column: &ArrayRef) -> Result<Option<BatchCodes>> {
        Ok(match self {
            Coder::Number => numbers(column).map(|words| BatchCodes {
                words,
                nulls: column.logical_nulls().filter(|nulls| nulls.null_count() > 0),
            }),
            Coder::Dictionary(local) => Some(BatchCodes {
                words: local.encode(column)?.into_iter().map(u64::from).collect(),
                nulls: None,
            }),
        })
    }

    /// Returns the memory of the encoder in bytes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Coder::Number => 0,
            Coder::Dictionary(local) => local.memory(),
        }
    }
}

/// A value that can be converted to a code directly.
trait Number: ArrowNativeType {
    /// Returns the code; `None` if it needs more than 64 bits.
    fn code(self) -> Option<u64>;
    fn of_code(code: u64) -> Self;
}

/// The highest bit. It is flipped so that negative numbers come before positive numbers.
const SIGN: u64 = 1 << 63;

macro_rules! integers {
    ($($native:ty),*) => {$(
        impl Number for $native {
            fn code(self) -> Option<u64> {
                Some(i64::try_from(self).ok()? as u64 ^ SIGN)
            }
            fn of_code(code: u64) -> Self {
                (code ^ SIGN) as i64 as $native
            }
        }
    )*};
}
integers!(i8, i16, i32, i64, i128, u8, u16, u32);

impl Number for u64 {
    fn code(self) -> Option<u64> {
        Some(self)
    }
    fn of_code(code: u64) -> Self {
        code
    }
}

macro_rules! floats {
    ($($native:ty, $bits:ty, $signed:ty);*) => {$(
        /// Codes have the order of `total_cmp`, which is the order in which Arrow sorts.
        impl Number for $native {
            fn code(self) -> Option<u64> {
                let bits = self.to_bits() as $signed;
                i64::from(bits ^ ((bits >> (<$signed>::BITS - 1)) as $bits >> 1) as $signed).code()
            }
            fn of_code(code: u64) -> Self {
                let bits = i64::of_code(code) as $signed;
                Self::from_bits((bits ^ ((bits >> (<$signed>::BITS - 1)) as $bits >> 1) as $signed) as $bits)
            }
        }
    )*};
}
floats!(f32, u32, i32; f64, u64, i64);

/// Calls a generic function with the native Rust type of an Arrow type as its type argument.
/// Returns `None` for every Arrow type that is not listed.
macro_rules! with_native {
    ($data_type:expr, $function:ident($($argument:expr),*)) => {
        match $data_type {
            DataType::Int8 => Some($function::<i8>($($argument),*)),
            DataType::Int16 => Some($function::<i16>($($argument),*)),
            DataType::Int32 | DataType::Date32 | DataType::Time32(_) | DataType::Decimal32(..) => {
                Some($function::<i32>($($argument),*))
            }
            DataType::Int64
            | DataType::Date64
            | DataType::Time64(_)
            | DataType::Timestamp(..)
            | DataType::Duration(_)
            | DataType::Decimal64(..) => Some($function::<i64>($($argument),*)),
            DataType::UInt8 => Some($function::<u8>($($argument),*)),
            DataType::UInt16 => Some($function::<u16>($($argument),*)),
            DataType::UInt32 => Some($function::<u32>($($argument),*)),
            DataType::UInt64 => Some($function::<u64>($($argument),*)),
            DataType::Float32 => Some($function::<f32>($($argument),*)),
            DataType::Float64 => Some($function::<f64>($($argument),*)),
            DataType::Decimal128(..) => Some($function::<i128>($($argument),*)),
            _ => None,
        }
    };
}

fn is_number(data_type: &DataType) -> bool {
    fn width<T>() -> usize {
        size_of::<T>()
    }
    *data_type == DataType::Boolean || with_native!(data_type, width()).is_some()
}

/// Returns the codes of numbers; `None` if the values are not numbers, or if a code needs more than
/// 64 bits. The code of NULL has no meaning.
pub(crate) fn numbers(column: &ArrayRef) -> Option<Vec<u64>> {
    fn of<T: Number>(data: &ArrayData) -> Option<Vec<u64>> {
        let is_null = |row: usize| data.nulls().is_some_and(|nulls| nulls.is_null(row));
        let values = data.buffer::<T>(0)[..data.len()].iter().enumerate();
        let code = |(row, value): (usize, &T)| value.code().or_else(|| is_null(row).then_some(0));
        values.map(code).collect()
    }
    if let Some(flags) = column.as_boolean_opt() {
        return Some(flags.values().iter().map(u64::from).collect());
    }
    with_native!(column.data_type(), of(&column.to_data())).flatten()
}

/// Converts codes back to numbers.
pub(super) fn of_numbers(data_type: &DataType, codes: BatchCodes) -> Result<ArrayRef> {
    fn buffer<T: Number>(codes: &[u64]) -> Buffer {
        codes.iter().map(|code| T::of_code(*code)).collect::<Vec<T>>().into()
    }
    if *data_type == DataType::Boolean {
        let flags = BooleanBuffer::collect_bool(codes.words.len(), |row| codes.words[row] == 1);
        return Ok(Arc::new(BooleanArray::new(flags, codes.nulls)));
    }
    let values = with_native!(data_type, buffer(&codes.words));
    let values = values.ok_or_else(|| Error::internal(format!("codes of {data_type}")))?;
    let data = ArrayData::builder(data_type.clone()).len(codes.words.len());
    Ok(make_array(data.add_buffer(values).nulls(codes.nulls).build()?))
}

/// Returns the numbers with these codes, and then NULL if `has_null` is true.
pub(crate) fn of_codes(data_type: &DataType, mut codes: Vec<u64>, has_null: bool) -> Result<ArrayRef> {
    let (numbers, mut nulls) = (codes.len(), None);
    if has_null {
        // The code of NULL has no meaning.
        codes.push(codes.last().copied().unwrap_or(SIGN));
        nulls = Some((0..codes.len()).map(|row| row < numbers).collect::<NullBuffer>());
    }
    of_numbers(data_type, BatchCodes { words: codes, nulls })
}

/// Returns the values with these ranks in `values`. Only the last of `values` can be NULL. A
/// dictionary has at most as many values as rows, because a reader of a batch often reads all
/// values of its dictionaries.
pub(super) fn of_ranks(data_type: &DataType, values: &ArrayRef, ranks: impl Iterator<Item = u64>) -> Result<ArrayRef> {
    let ranks: Vec<u32> = ranks.map(|rank| rank as u32).collect();
    if !matches!(data_type, DataType::Dictionary(..)) || values.len() > ranks.len() {
        return Ok(cast(&take(values, &UInt32Array::from(ranks), None)?, data_type)?);
    }
    let ranks = ranks.into_iter();
    let keys: Int32Array = match values.null_count() {
        0 => ranks.map(|rank| rank as i32).collect::<Vec<i32>>().into(),
        _ => ranks
            .map(|rank| values.is_valid(rank as usize).then_some(rank as i32))
            .collect(),
    };
    Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(
        keys,
        Arc::clone(values),
    )?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Decimal128Array, Float32Array, Float64Array, Int64Array, StringArray, UInt64Array};
    use arrow::compute::{SortOptions, sort};

    /// Codes are in the order in which Arrow sorts the values, and can be converted back to the
    /// values.
    #[test]
    fn numbers_are_their_own_codes() {
        let nan = f64::NAN;
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(vec![
                Some(i64::MIN),
                Some(-1),
                None,
                Some(0),
                Some(i64::MAX),
            ])),
            Arc::new(UInt64Array::from(vec![Some(u64::MAX), Some(0), None, Some(1 << 63)])),
            Arc::new(Float64Array::from(vec![
                -nan,
                f64::NEG_INFINITY,
                -1.5,
                -0.0,
                0.0,
                1e-300,
                nan,
            ])),
            Arc::new(Float32Array::from(vec![
                Some(1.5),
                Some(-1.5),
                None,
                Some(f32::INFINITY),
            ])),
            Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])),
            Arc::new(
                Decimal128Array::from(vec![Some(-12345), None, Some(99)])
                    .with_precision_and_scale(20, 2)
                    .unwrap(),
            ),
        ];
        for array in arrays {
            let codes = Coder::Number.encode(&array).unwrap().unwrap();
            let mut by_code: Vec<u32> = (0..array.len() as u32)
                .filter(|row| array.is_valid(*row as usize))
                .collect();
            by_code.sort_by_key(|row| codes.words[*row as usize]);
            let nulls_first = false;
            let sorted = sort(
                &array,
                Some(SortOptions {
                    descending: false,
                    nulls_first,
                }),
            )
            .unwrap();
            let taken = take(&array, &UInt32Array::from(by_code.clone()), None).unwrap();
            assert_eq!(&sorted.slice(0, taken.len()), &taken);
            let distinct: Vec<u64> = by_code.iter().map(|row| codes.words[*row as usize]).collect();
            let restored = of_codes(array.data_type(), distinct, array.null_count() > 0).unwrap();
            assert_eq!(&restored, &sorted);
            assert_eq!(&of_numbers(array.data_type(), codes).unwrap(), &array);
        }
        let wide: ArrayRef = Arc::new(Decimal128Array::from(vec![Some(i128::MAX)]));
        assert!(Coder::Number.encode(&wide).unwrap().is_none());
    }

    #[test]
    fn a_dictionary_has_no_more_values_than_rows() {
        let values: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("b"), Some("c"), None]));
        let coded = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        for (ranks, expected) in [
            (vec![2, 3], vec![Some("c"), None]),
            (
                vec![3, 2, 0, 0, 1],
                vec![None, Some("c"), Some("a"), Some("a"), Some("b")],
            ),
        ] {
            let found = of_ranks(&coded, &values, ranks.iter().copied()).unwrap();
            assert_eq!(found.data_type(), &coded);
            assert!(found.as_any_dictionary().values().len() <= ranks.len());
            let found = cast(&found, &DataType::Utf8).unwrap();
            assert_eq!(found.as_string::<i32>(), &StringArray::from(expected));
        }
    }
}
