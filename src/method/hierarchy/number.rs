//! Exact decimal numbers, for the widths, origins and codes in a statement. Column values are
//! floored to the scale of these numbers.
//!
//! The bounds of groups are computed in whole units of 10^-scale, where scale is the common scale
//! of the numbers in the statement. A value is first floored to these units. This does not change
//! floor((x - origin) / width), because origin and width are whole units. Therefore integers and
//! decimals are exact, and the group of a float is determined by its shortest decimal form: 0.3 is
//! in [0.3, 0.4), although 0.3 / 0.1 is less than 3 in binary.

use crate::base::error::{Error, Result};
use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int64Type,
    UInt64Type, i256,
};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// The number of units that represents a value too large to be counted in units. It is larger than
/// every number of units that can be counted.
pub(super) const BEYOND: i128 = i128::MAX;

/// The maximum number of digits after the decimal point in the numbers of a statement.
const MAX_SCALE: i32 = 18;

/// An exact decimal number: `digits` times ten to the power of `exponent`, without trailing zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    digits: i128,
    exponent: i32,
}

impl Number {
    /// Zero.
    pub const ZERO: Number = Number { digits: 0, exponent: 0 };

    /// Returns the number `digits` * 10^`exponent`.
    pub fn new(mut digits: i128, mut exponent: i32) -> Self {
        if digits == 0 {
            return Self::ZERO;
        }
        while digits % 10 == 0 {
            digits /= 10;
            exponent += 1;
        }
        Self { digits, exponent }
    }

    /// Parses `text` (`12`, `-0.5`, `1e3`), ignoring spaces around it. Returns `None` if the text
    /// is not a number, or if it has too many digits to be represented exactly.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (negative, unsigned) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => {
                let exponent = exponent.parse::<i32>().ok()?;
                (mantissa, Some(exponent).filter(|e| e.unsigned_abs() < 10_000)?)
            }
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let fraction = fraction.trim_end_matches('0');
        let mut digits = 0i128;
        for byte in whole.bytes().chain(fraction.bytes()) {
            if !byte.is_ascii_digit() {
                return None;
            }
            digits = digits.checked_mul(10)?.checked_add(i128::from(byte - b'0'))?;
        }
        let exponent = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        Some(Self::new(if negative { -digits } else { digits }, exponent))
    }

    /// Returns the largest whole number of units of 10^-`scale` that is not above the number.
    /// Returns `None` if the result is too large to be represented.
    pub fn floor_at(self, scale: i32) -> Option<i128> {
        if self.digits == 0 {
            return Some(0);
        }
        let shift = self.exponent.checked_add(scale)?;
        match 10i128.checked_pow(shift.unsigned_abs()) {
            Some(power) if shift >= 0 => self.digits.checked_mul(power),
            Some(power) => Some(self.digits.div_euclid(power)),
            None if shift > 0 => None,
            None => Some(if self.digits < 0 { -1 } else { 0 }),
        }
    }

    /// Returns the smallest whole number of units of 10^-`scale` that is not below the number.
    /// Returns `None` if the result is too large to be represented.
    pub(super) fn ceil_at(self, scale: i32) -> Option<i128> {
        let floor = self.floor_at(scale)?;
        match Self::new(floor, -scale) == self {
            true => Some(floor),
            false => floor.checked_add(1),
        }
    }

    /// Returns the number in units of 10^-`scale`; `None` if it is not a whole number of units, or
    /// if the result is too large to be represented.
    pub fn exact_at(self, scale: i32) -> Option<i128> {
        let units = self.floor_at(scale)?;
        (Self::new(units, -scale) == self).then_some(units)
    }

    fn scale(self) -> i32 {
        0.max(-self.exponent)
    }

    /// Compares two numbers. The comparison is exact unless the magnitudes differ so much that no
    /// common unit can represent both numbers.
    pub fn compared(self, other: Self) -> Ordering {
        let scale = self.scale().max(other.scale());
        match self.floor_at(scale).zip(other.floor_at(scale)) {
            Some((own, other)) => own.cmp(&other),
            // No common unit can represent both numbers.
            None => {
                let float = |n: Self| n.digits as f64 * 10f64.powi(n.exponent);
                float(self).total_cmp(&float(other))
            }
        }
    }
}

impl FromStr for Number {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text).ok_or_else(|| Error::usage(format!("{text:?} is not a number")))
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::new(i128::from(value), 0)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.floor_at(self.scale()) {
            Some(units) => f.write_str(&decimal(units, self.scale(), 0)),
            None => write!(f, "{}e{}", self.digits, self.exponent),
        }
    }
}

/// Returns `units` * 10^-`scale` as text, with at least `decimals` digits after the decimal point.
pub(super) fn decimal(units: i128, scale: i32, decimals: usize) -> String {
    let scale = scale as usize;
    let digits = format!("{:0>width$}", units.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let sign = if units < 0 { "-" } else { "" };
    match decimals.max(scale) {
        0 => format!("{sign}{whole}"),
        decimals => format!("{sign}{whole}.{fraction:0<decimals$}"),
    }
}

/// Returns the minimum scale at which all of `numbers` are whole units. Fails if it exceeds
/// [`MAX_SCALE`].
pub(super) fn common_scale(numbers: &[Number]) -> Result<i32> {
    match numbers.iter().map(|n| n.scale()).max().unwrap_or(0) {
        scale if scale > MAX_SCALE => Err(Error::usage(format!(
            "numbers may have at most {MAX_SCALE} digits after the decimal point"
        ))),
        scale => Ok(scale),
    }
}

/// Returns the values of a numeric column without dictionary encoding, floored to whole units of
/// 10^-`scale`; `None` for NULL, NaN and infinity. A value that is too large to be counted becomes
/// [`BEYOND`], or the negative of [`BEYOND`] if it is below zero.
pub(super) fn floored(values: &ArrayRef, scale: i32) -> Result<Vec<Option<i128>>> {
    let units = |n: Number| n.floor_at(scale).unwrap_or(n.digits.signum() * BEYOND);
    let at = |digits: i128, exponent: i32| Some(units(Number { digits, exponent }));
    let float = |text: String| Number::parse(&text).map(units);
    Ok(match values.data_type() {
        DataType::UInt64 => map::<UInt64Type>(values, |v| at(v.into(), 0)),
        t if t.is_integer() => map::<Int64Type>(&cast(values, &DataType::Int64)?, |v| at(v.into(), 0)),
        DataType::Decimal32(_, s) => map::<Decimal32Type>(values, |v| at(v.into(), -i32::from(*s))),
        DataType::Decimal64(_, s) => map::<Decimal64Type>(values, |v| at(v.into(), -i32::from(*s))),
        DataType::Decimal128(_, s) => map::<Decimal128Type>(values, |v| at(v, -i32::from(*s))),
        DataType::Decimal256(_, s) => {
            let sign = |v: i256| if v.is_negative() { -BEYOND } else { BEYOND };
            map::<Decimal256Type>(values, |v| v.to_i128().map_or(Some(sign(v)), |v| at(v, -i32::from(*s))))
        }
        DataType::Float64 => map::<Float64Type>(values, |v| float(format!("{v:e}"))),
        DataType::Float16 | DataType::Float32 => {
            map::<Float32Type>(&cast(values, &DataType::Float32)?, |v| float(format!("{v:e}")))
        }
        other => return Err(Error::usage(format!("a column of type {other} has no numbers"))),
    })
}

fn map<T: ArrowPrimitiveType>(values: &ArrayRef, unit: impl Fn(T::Native) -> Option<i128>) -> Vec<Option<i128>> {
    let values: &PrimitiveArray<T> = values.as_primitive();
    values.iter().map(|v| v.and_then(&unit)).collect()
}

/// Returns true if a column of this type contains only whole numbers.
pub(super) fn is_whole(data_type: &DataType) -> bool {
    match data_type {
        DataType::Decimal32(_, s)
        | DataType::Decimal64(_, s)
        | DataType::Decimal128(_, s)
        | DataType::Decimal256(_, s) => *s <= 0,
        other => other.is_integer(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Decimal128Array, Decimal256Array, Float32Array, Float64Array, UInt64Array};
    use proptest::prelude::*;
    use std::sync::Arc;

    fn number(text: &str) -> Number {
        Number::parse(text).unwrap()
    }

    #[test]
    fn numbers_are_read_and_written_exactly() {
        for (text, shown) in [
            ("5", "5"),
            ("-0.50", "-0.5"),
            ("1e3", "1000"),
            ("+.25", "0.25"),
            ("0.0", "0"),
            (" 7 ", "7"),
            ("12e-1", "1.2"),
            ("5.", "5"),
        ] {
            assert_eq!(number(text).to_string(), shown, "{text}");
            assert_eq!(number(shown), number(text));
        }
        for text in [
            "", "-", ".", "x", "1,5", "0x1", "NaN", "inf", "1e", "--1", "1_000", "+-1",
        ] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
        assert_eq!(Number::parse(&"9".repeat(50)), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[-+ ]?[0-9.]{0,45}([eE][-+]?[0-9]{0,11})?") {
            if let Some(number) = Number::parse(&text) {
                prop_assert_eq!(Number::parse(&number.to_string()), Some(number));
                // The number is small enough to equal the float that Rust parses.
                let float: f64 = text.trim().parse().unwrap();
                let again: f64 = number.to_string().parse().unwrap();
                prop_assert_eq!(again, float);
            }
        }
    }

    #[test]
    fn floors_go_down_on_both_sides_of_zero() {
        assert_eq!(number("1.29").floor_at(1), Some(12));
        assert_eq!(number("-1.21").floor_at(1), Some(-13));
        assert_eq!(number("-1e-300").floor_at(2), Some(-1));
        assert_eq!(number("1e-300").floor_at(2), Some(0));
        assert_eq!(number("1e300").floor_at(0), None);
        assert_eq!(
            (number("1.5").exact_at(0), number("1.50").exact_at(1)),
            (None, Some(15))
        );
    }

    #[test]
    fn every_numeric_type_is_floored_as_it_is_written() {
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![
            Some(0.3),
            Some(-0.3),
            None,
            Some(f64::NAN),
            Some(1e300),
            Some(-1e300),
        ]));
        let beyond = [Some(BEYOND), Some(-BEYOND)];
        assert_eq!(floored(&floats, 1).unwrap()[..4], [Some(3), Some(-3), None, None]);
        assert_eq!(floored(&floats, 1).unwrap()[4..], beyond);
        let wide = Decimal256Array::from(vec![i256::MAX, i256::MIN]);
        assert_eq!(floored(&(Arc::new(wide) as ArrayRef), 1).unwrap(), beyond);
        let floats: ArrayRef = Arc::new(Float32Array::from(vec![0.3, 0.7]));
        assert_eq!(floored(&floats, 1).unwrap(), [Some(3), Some(7)]);
        let large: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX]));
        assert_eq!(floored(&large, 1).unwrap(), [Some(i128::from(u64::MAX) * 10)]);
        let decimals = Decimal128Array::from(vec![1999, -1])
            .with_precision_and_scale(10, 2)
            .unwrap();
        assert_eq!(
            floored(&(Arc::new(decimals) as ArrayRef), 0).unwrap(),
            [Some(19), Some(-1)]
        );
    }
}
