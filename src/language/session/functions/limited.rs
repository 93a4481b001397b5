//! The functions `lpad`, `rpad`, `repeat`, `array_repeat` and `array_resize` of DataFusion with a
//! limit on the size of their results. The functions allocate the memory for a batch of rows at
//! once. Without the limit, the process would end if the operating system refused this memory. A
//! negative number is replaced by 0 for all of them but `array_resize`, because the functions of
//! texts would otherwise take it for a very large one.

use crate::base::error::{Error, ErrorKind};
use arrow::array::{AsArray, Int64Array};
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

/// What the second argument of a function is the number of.
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
        if self.most_bytes(&args.args[0], &number, rows)? > MOST_BYTES {
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
    /// Returns a number of bytes that the result does not exceed, apart from the bytes of the
    /// value.
    fn most_bytes(&self, value: &ColumnarValue, number: &ColumnarValue, rows: usize) -> DfResult<i64> {
        let numbers = cast(&number.to_array(rows)?, &DataType::Int64)?;
        let numbers = numbers
            .as_primitive::<Int64Type>()
            .iter()
            .map(Option::unwrap_or_default);
        let add = |sum: i64, (number, bytes): (i64, i64)| sum.saturating_add(number.saturating_mul(bytes));
        Ok(numbers.zip(self.bytes_of_one(value, rows)?).fold(0, add))
    }

    /// Returns, for each row, the bytes by which one more character, repetition or element enlarges
    /// the result. Elements are measured if they are texts or lists.
    fn bytes_of_one(&self, value: &ColumnarValue, rows: usize) -> DfResult<Vec<i64>> {
        let (least, factor) = match (self.growth, value.data_type()) {
            (Growth::Characters, _) => (CHARACTER, 0),
            (Growth::Texts, _) => (0, 1),
            (Growth::Elements, text) if text.is_string() => (ELEMENT, 1),
            (Growth::Elements, DataType::List(_) | DataType::LargeList(_)) => (ELEMENT, ELEMENT),
            (Growth::Elements | Growth::Length, _) => (ELEMENT, 0),
        };
        if factor == 0 {
            return Ok(vec![least; rows]);
        }
        let lengths = cast(&length(&value.to_array(rows)?)?, &DataType::Int64)?;
        let lengths = lengths
            .as_primitive::<Int64Type>()
            .iter()
            .map(Option::unwrap_or_default);
        Ok(lengths.map(|length| least + factor * length).collect())
    }
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
