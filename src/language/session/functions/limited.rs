//! The functions `lpad`, `rpad`, `repeat`, `array_repeat` and `array_resize` of DataFusion with a
//! limit on the size of their results. The functions allocate the memory for a batch of rows at
//! once. Without the limit, the process would end if the operating system refused this memory. A
//! negative number is replaced by 0, except for `array_resize`. The text functions would otherwise
//! interpret it as a very large number.

use crate::base::error::{Error, ErrorKind};
use crate::method::hierarchy::is_binary;
use arrow::array::{Array, ArrayRef, AsArray, GenericListArray, Int64Array, OffsetSizeTrait};
use arrow::compute::cast;
use arrow::compute::kernels::length::length;
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::ScalarValue;
use datafusion::error::Result as DfResult;
use datafusion::execution::FunctionRegistry;
use datafusion::functions::{string, unicode};
use datafusion::functions_nested::{repeat, resize};
use datafusion::logical_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature};
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// The maximum number of bytes of the result for a batch of rows. An array of texts cannot hold
/// more bytes.
const MOST_BYTES: i64 = i32::MAX as i64;
/// The number of bytes that a function of lists needs for an element, apart from its value.
const ELEMENT: i64 = 8;
/// The maximum number of bytes of a character.
const CHARACTER: i64 = 4;

/// Replaces the functions of DataFusion in a session. Functions of the same names that a program
/// registered itself are not replaced.
pub(super) fn register(session: &SessionContext) {
    for (own, growth) in [
        (unicode::lpad(), Growth::Characters),
        (unicode::rpad(), Growth::Characters),
        (string::repeat(), Growth::Texts),
        (repeat::array_repeat_udf(), Growth::Elements),
        (resize::array_resize_udf(), Growth::Length),
    ] {
        if session.udf(own.name()).is_ok_and(|known| known == own) {
            session.register_udf(ScalarUDF::from(LimitedFunction { own, growth }));
        }
    }
}

/// What the second argument of a function counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Growth {
    /// The characters of the result.
    Characters,
    /// The repetitions of a text.
    Texts,
    /// The repetitions of an element in a list.
    Elements,
    /// The elements of a list.
    Length,
}

/// A function of a value and a number. It returns an error in place of a result that is too large.
#[derive(Debug, PartialEq, Eq, Hash)]
struct LimitedFunction {
    /// The function of DataFusion.
    own: Arc<ScalarUDF>,
    growth: Growth,
}

impl ScalarUDFImpl for LimitedFunction {
    fn name(&self) -> &str {
        self.own.name()
    }

    fn aliases(&self) -> &[String] {
        self.own.aliases()
    }

    fn signature(&self) -> &Signature {
        self.own.signature()
    }

    fn return_type(&self, types: &[DataType]) -> DfResult<DataType> {
        self.own.return_type(types)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.own.documentation()
    }

    fn invoke_with_args(&self, mut args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let number = match self.growth {
            Growth::Length => args.args[1].clone(),
            _ => not_negative(&args.args[1])?,
        };
        let is_constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if is_constant { 1 } else { args.number_rows };
        if self.most_bytes(&args.args, &number, rows)? > MOST_BYTES {
            let text = format!(
                "{}() could return more than {MOST_BYTES} bytes for a batch of rows; write a smaller number",
                self.name()
            );
            return Err(Error::new(ErrorKind::Resources, text).into());
        }
        args.args[1] = number;
        self.own.invoke_with_args(args)
    }
}

impl LimitedFunction {
    /// Returns an upper bound on the number of bytes of the result, apart from the bytes of the
    /// arguments. `number` is the second argument.
    fn most_bytes(&self, args: &[ColumnarValue], number: &ColumnarValue, rows: usize) -> DfResult<i64> {
        let numbers = cast(&number.to_array(rows)?, &DataType::Int64)?;
        let numbers = numbers.as_primitive::<Int64Type>().iter();
        // A negative number must not offset a large one in another row.
        let numbers = numbers.map(|number| number.unwrap_or_default().max(0));
        let add = |sum: i64, (number, bytes): (i64, i64)| sum.saturating_add(number.saturating_mul(bytes));
        Ok(numbers.zip(self.bytes_of_one(args, rows)?).fold(0, add))
    }

    /// Returns, for each row, the bytes by which one more character, repetition or element enlarges
    /// the result.
    fn bytes_of_one(&self, args: &[ColumnarValue], rows: usize) -> DfResult<Vec<i64>> {
        let (least, repeated) = match self.growth {
            Growth::Characters => (CHARACTER, None),
            Growth::Texts => (0, args.first()),
            Growth::Elements => (ELEMENT, args.first()),
            Growth::Length => (ELEMENT, args.get(2)),
        };
        let Some(repeated) = repeated else {
            return Ok(vec![least; rows]);
        };
        let bytes = bytes_of(&repeated.to_array(rows)?)?;
        Ok(bytes.into_iter().map(|bytes| bytes.saturating_add(least)).collect())
    }
}

/// Returns the number of bytes of each value apart from a fixed size: the bytes of a text, of the
/// elements of a list, or of the fields of a struct. For a number, this is 0.
fn bytes_of(values: &ArrayRef) -> DfResult<Vec<i64>> {
    Ok(match values.data_type() {
        DataType::List(_) => bytes_of_lists(values.as_list::<i32>())?,
        DataType::LargeList(_) => bytes_of_lists(values.as_list::<i64>())?,
        DataType::Struct(_) => {
            let mut sums = vec![0_i64; values.len()];
            for field in values.as_struct().columns() {
                for (sum, bytes) in sums.iter_mut().zip(bytes_of(field)?) {
                    *sum = sum.saturating_add(ELEMENT).saturating_add(bytes);
                }
            }
            sums
        }
        text if text.is_string() || is_binary(text) => {
            let lengths = cast(&length(values)?, &DataType::Int64)?;
            let lengths = lengths.as_primitive::<Int64Type>().iter();
            lengths.map(Option::unwrap_or_default).collect()
        }
        _ => vec![0; values.len()],
    })
}

/// Returns the bytes of the elements of each list.
fn bytes_of_lists<O: OffsetSizeTrait>(lists: &GenericListArray<O>) -> DfResult<Vec<i64>> {
    let bytes = bytes_of(lists.values())?;
    let of_one = |ends: &[O]| {
        let elements = bytes[ends[0].as_usize()..ends[1].as_usize()].iter();
        elements.fold(0_i64, |sum, bytes| sum.saturating_add(ELEMENT).saturating_add(*bytes))
    };
    Ok(lists.offsets().windows(2).map(of_one).collect())
}

/// Returns the numbers with 0 in place of each negative number.
fn not_negative(numbers: &ColumnarValue) -> DfResult<ColumnarValue> {
    Ok(match numbers {
        ColumnarValue::Scalar(ScalarValue::Int64(Some(number))) => {
            ColumnarValue::Scalar(ScalarValue::Int64(Some((*number).max(0))))
        }
        ColumnarValue::Scalar(other) => ColumnarValue::Scalar(other.clone()),
        ColumnarValue::Array(numbers) => {
            let numbers = cast(numbers, &DataType::Int64)?;
            let positive: Int64Array = numbers.as_primitive::<Int64Type>().unary(|number: i64| number.max(0));
            ColumnarValue::Array(Arc::new(positive))
        }
    })
}
