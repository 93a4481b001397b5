//! Casts that preserve every value: `exactly(value, type)` fails where a plain cast would truncate,
//! round or wrap around.

use super::arrays::one_spelling;
use crate::base::error::{Error, Result};
use crate::method::hierarchy::{Number, plain_type};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::compute::kernels::cmp::not_distinct;
use arrow::compute::{CastOptions, can_cast_types, cast_with_options};
use arrow::datatypes::{DataType, Field, FieldRef, TimeUnit};
use arrow::util::display::FormatOptions;
use datafusion::common::ScalarValue;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, lit,
};
use std::sync::Arc;

/// Returns an expression that casts `values` from the type `from` to the type `to`, and preserves
/// every value. If `to` cannot represent a value, the query fails with `ErrorKind::Data`. Fails
/// with a usage error if the types cannot be cast in both directions. Error messages name the
/// column as `called`.
pub(crate) fn exactly(values: Expr, from: &DataType, to: &DataType, called: &str) -> Result<Expr> {
    if from == to {
        return Ok(values);
    }
    let (one, other) = (plain_type(from), plain_type(to));
    if !can_cast_types(one, other) || !can_cast_types(other, one) {
        return Err(Error::usage(format!(
            "{called} is {one}, which cannot be compared with {other}; CAST it in a query, (SELECT CAST(...) AS ..., ... FROM ...)"
        )));
    }
    // A plan for another machine contains only the name of the function, so everything that the
    // function needs must be passed as an argument.
    let target = ScalarValue::try_new_null(to)?;
    Ok(ScalarUDF::from(Exactly::default()).call(vec![values, lit(target), lit(called)]))
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Exactly {
    signature: Signature,
}

impl Default for Exactly {
    fn default() -> Self {
        Self {
            signature: Signature::any(3, Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for Exactly {
    fn name(&self) -> &str {
        "exactly"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> DfResult<DataType> {
        Ok(types.get(1).cloned().unwrap_or(DataType::Null))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> DfResult<FieldRef> {
        let (values, target) = (&args.arg_fields[0], &args.arg_fields[1]);
        let field = Field::new(self.name(), target.data_type().clone(), values.is_nullable());
        Ok(Arc::new(field))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let values = args.args[0].to_array(args.number_rows)?;
        let called = match &args.args[2] {
            ColumnarValue::Scalar(name) => name.try_as_str().flatten().unwrap_or_default(),
            ColumnarValue::Array(_) => "",
        };
        Ok(ColumnarValue::Array(same_values(
            &values,
            args.return_field.data_type(),
            called,
        )?))
    }
}

/// Casts values to another type. Fails with `ErrorKind::Data` if the cast would change a value. The
/// error message names the column as `called`.
fn same_values(values: &ArrayRef, to: &DataType, called: &str) -> Result<ArrayRef> {
    let (from, target) = (plain_type(values.data_type()), plain_type(to));
    let values = one_spelling(&read(values, from)?)?;
    let after = one_spelling(&read(&values, target)?)?;
    let is_kept = match (is_text(from), is_text(target)) {
        (true, true) => true,
        (true, false) => says(&values, &after)?,
        _ => is_same(&one_spelling(&read(&after, from)?)?, &values)?,
    };
    match is_kept {
        true => read(&after, to),
        false => Err(Error::data(format!(
            "{called} has values that {target} cannot represent exactly; CAST it in a query in the way that you want, \
             (SELECT CAST(...) AS ..., ... FROM ...)"
        ))),
    }
}

/// Casts values. A value that the target type cannot represent becomes NULL.
fn read(values: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    let options = CastOptions {
        safe: true,
        format_options: FormatOptions::default(),
    };
    Ok(cast_with_options(values, data_type, &options)?)
}

fn is_same(one: &ArrayRef, other: &ArrayRef) -> Result<bool> {
    Ok(not_distinct(one, other)?.true_count() == one.len())
}

/// Returns true if each text represents exactly the value that was parsed from it. A number can be
/// represented by several texts, such as 7 and 7.0.
fn says(texts: &ArrayRef, values: &ArrayRef) -> Result<bool> {
    let texts = read(texts, &DataType::Utf8)?;
    let data_type = values.data_type();
    if data_type.is_numeric() {
        let written = read(values, &DataType::Utf8)?;
        let mut both = texts.as_string::<i32>().iter().zip(written.as_string::<i32>());
        let number = |text: Option<&str>| text.and_then(Number::parse);
        return Ok(
            both.all(|(text, written)| text == written || (number(text).is_some() && number(text) == number(written)))
        );
    }
    let finest = match data_type {
        DataType::Date32 | DataType::Date64 => DataType::Timestamp(TimeUnit::Nanosecond, None),
        DataType::Timestamp(_, zone) => DataType::Timestamp(TimeUnit::Nanosecond, zone.clone()),
        DataType::Time32(_) | DataType::Time64(_) => DataType::Time64(TimeUnit::Nanosecond),
        _ => return is_same(&read(values, &DataType::Utf8)?, &texts),
    };
    let (text, value) = (read(&texts, &finest)?, read(values, &finest)?);
    let is_told: BooleanArray = not_distinct(&text, &value)?;
    let is_read = |array: &ArrayRef| array.null_count() == texts.null_count();
    Ok(is_told.true_count() == texts.len() && is_read(&text) && is_read(&value))
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Float64Array, StringArray};
    use arrow::compute::cast;

    /// Casts texts to `from` and then exactly to `to`. Returns the results as texts; `None` if the
    /// exact cast fails.
    fn kept(texts: &[&str], from: &DataType, to: &DataType) -> Option<Vec<String>> {
        let texts: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
        let values = cast(&texts, from).unwrap();
        assert_eq!(values.null_count(), 0, "{from}");
        let same = match same_values(&values, to, "column a of the population") {
            Ok(same) => same,
            Err(e) => {
                assert!(
                    e.to_string().starts_with("column a of the population has values that"),
                    "{e}"
                );
                return None;
            }
        };
        assert_eq!(same.data_type(), to);
        let written = cast(&same, &DataType::Utf8).unwrap();
        Some(
            written
                .as_string::<i32>()
                .iter()
                .map(|t| t.unwrap().to_string())
                .collect(),
        )
    }

    #[test]
    fn a_value_stays_itself_or_is_refused() {
        use DataType::{Boolean, Date32, Date64, Float32, Float64, Int8, Int32, Int64, UInt64, Utf8, Utf8View};
        let decimal = |scale| DataType::Decimal128(20, scale);
        let at = |unit| DataType::Timestamp(unit, None);
        let zoned = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
        let coded = DataType::Dictionary(Box::new(Int32), Box::new(Float64));
        let (s, ms, ns) = (TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Nanosecond);
        for (text, from, to, wanted) in [
            ("1.0", Float64, Int64, Some("1")),
            ("1.4", Float64, Int64, None),
            ("-0.4", Float64, Int64, None),
            ("-0.0", Float64, Int64, Some("0")),
            ("NaN", Float64, Int64, None),
            ("1e300", Float64, Int64, None),
            ("1.0", coded.clone(), Int64, Some("1")),
            ("1.4", coded.clone(), Int64, None),
            ("1", Int64, coded, Some("1.0")),
            ("9007199254740993", Int64, Float64, None),
            ("9007199254740992", Int64, Float64, Some("9007199254740992.0")),
            ("300", Int64, Int8, None),
            ("18446744073709551615", UInt64, Int64, None),
            ("-1", Int64, UInt64, None),
            ("0.1", Float64, Float32, None),
            ("0.5", Float64, Float32, Some("0.5")),
            ("1.45", decimal(2), decimal(1), None),
            ("1.40", decimal(2), decimal(1), Some("1.4")),
            ("1.40", decimal(2), Int64, None),
            ("2.00", decimal(2), Int64, Some("2")),
            ("-0.40", decimal(2), Int64, None),
            ("7", Int64, decimal(2), Some("7.00")),
            ("2024-05-03T00:00:00", at(ms), Date32, Some("2024-05-03")),
            ("2024-05-03T10:00:00", at(ms), Date32, None),
            ("2024-05-03T10:00:00", at(ms), Date64, None),
            ("2024-05-03", Date32, at(s), Some("2024-05-03T00:00:00")),
            ("2024-05-03T10:00:00.5", at(ms), at(s), None),
            ("1969-12-31T23:59:59.5", at(ms), at(s), None),
            ("2024-05-03T10:00:00", at(ms), at(ns), Some("2024-05-03T10:00:00")),
            ("9999-12-31T10:00:00", at(ms), at(ns), None),
            ("2024-05-03T10:00:00Z", zoned, at(s), Some("2024-05-03T10:00:00")),
            ("7", Utf8, Int64, Some("7")),
            ("007", Utf8, Int64, Some("7")),
            ("7.5", Utf8, Int64, None),
            ("7.0", Utf8, Float64, Some("7.0")),
            ("1.45", Utf8, decimal(1), None),
            ("0.1000000000000000055511151231257827", Utf8, Float64, None),
            ("2024-05-03", Utf8, Date32, Some("2024-05-03")),
            ("2024-05-03T10:00:00", Utf8, Date32, None),
            (
                "2024-05-03 10:00:00.25",
                Utf8View,
                at(ms),
                Some("2024-05-03T10:00:00.250"),
            ),
            ("2024-05-03 10:00:00.25", Utf8View, at(s), None),
            ("x", Utf8, Int64, None),
            ("true", Utf8, Boolean, Some("true")),
            ("yes", Utf8, Boolean, None),
            ("7", Int64, Utf8, Some("7")),
            ("a", Utf8, Utf8View, Some("a")),
        ] {
            let wanted = wanted.map(|text| vec![text.to_string()]);
            assert_eq!(kept(&[text], &from, &to), wanted, "{text}: {from} to {to}");
        }
    }

    #[test]
    fn null_stays_null() {
        let values: ArrayRef = Arc::new(Float64Array::from(vec![Some(2.0), None]));
        let same = same_values(&values, &DataType::Int64, "column a").unwrap();
        assert_eq!((same.null_count(), same.is_null(1)), (1, true));
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("2024-05-03"), None]));
        assert!(same_values(&texts, &DataType::Date32, "column a").unwrap().is_null(1));
    }

    #[test]
    fn types_that_no_cast_connects_are_refused_when_planned() {
        let binary = DataType::FixedSizeBinary(3);
        let e = exactly(lit(1), &DataType::Int64, &binary, "column a")
            .unwrap_err()
            .to_string();
        assert!(e.starts_with("column a is Int64, which cannot be compared with"), "{e}");
    }
}
