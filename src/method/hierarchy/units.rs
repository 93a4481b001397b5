//! Integers, decimals, dates and timestamps as whole numbers of units, for exact computation.

use super::ground::plain;
use crate::base::error::Result;
use arrow::array::{ArrayRef, AsArray, Decimal128Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Date64Type, Decimal128Type, Int64Type};
use std::sync::Arc;

/// The number of milliseconds in a day. `Date64` values are in milliseconds.
const DAY: i64 = 86_400_000;

/// A type whose values are whole numbers of units: integers, decimals (in units of the last digit),
/// dates (in days) and timestamps.
#[derive(Debug, Clone)]
pub(crate) struct Units {
    data_type: DataType,
    /// The number of digits after the decimal point in a unit.
    scale: i8,
    /// The minimum and the maximum value of the type, in units.
    limits: (i128, i128),
}

impl Units {
    /// Returns the units of a type without dictionary encoding; `None` if the type has no units,
    /// such as a floating-point type.
    pub(crate) fn of(data_type: &DataType) -> Option<Self> {
        let (scale, limits) = match data_type {
            DataType::Decimal32(p, s)
            | DataType::Decimal64(p, s)
            | DataType::Decimal128(p, s)
            | DataType::Decimal256(p, s) => {
                let most = 10i128.checked_pow(u32::from(*p).min(38)).map_or(i128::MAX, |m| m - 1);
                (*s, (-most, most))
            }
            DataType::Int8 => (0, (i8::MIN.into(), i8::MAX.into())),
            DataType::Int16 => (0, (i16::MIN.into(), i16::MAX.into())),
            DataType::Int32 | DataType::Date32 => (0, (i32::MIN.into(), i32::MAX.into())),
            DataType::UInt8 => (0, (0, u8::MAX.into())),
            DataType::UInt16 => (0, (0, u16::MAX.into())),
            DataType::UInt32 => (0, (0, u32::MAX.into())),
            DataType::UInt64 => (0, (0, u64::MAX.into())),
            DataType::Int64 | DataType::Timestamp(..) => (0, (i64::MIN.into(), i64::MAX.into())),
            DataType::Date64 => (0, ((i64::MIN / DAY).into(), (i64::MAX / DAY).into())),
            _ => return None,
        };
        Some(Self {
            data_type: data_type.clone(),
            scale,
            limits,
        })
    }

    /// Returns the number of digits after the decimal point in a unit.
    pub(crate) fn scale(&self) -> i32 {
        i32::from(self.scale)
    }

    /// Converts values of the type to units. NULL remains NULL.
    pub(crate) fn read(&self, values: &ArrayRef) -> Result<Decimal128Array> {
        let values = plain(values)?;
        let values = match self.data_type.is_temporal() {
            true => cast(&values, &DataType::Int64)?,
            false => values,
        };
        let values = match self.data_type {
            DataType::Date64 => Arc::new(
                values
                    .as_primitive::<Int64Type>()
                    .unary::<_, Int64Type>(|at| at.div_euclid(DAY)),
            ),
            _ => values,
        };
        let values = cast(&values, &DataType::Decimal128(38, self.scale))?;
        Ok(values.as_primitive::<Decimal128Type>().clone())
    }

    /// Converts numbers of units to values of the type. A number outside the range of the type
    /// becomes the minimum or the maximum of the type.
    pub(crate) fn write(&self, units: impl IntoIterator<Item = Option<i128>>) -> Result<ArrayRef> {
        let (least, greatest) = self.limits;
        let units: Decimal128Array = units.into_iter().map(|n| n.map(|n| n.clamp(least, greatest))).collect();
        let units: ArrayRef = Arc::new(units.with_precision_and_scale(38, self.scale)?);
        if !self.data_type.is_temporal() {
            return Ok(cast(&units, &self.data_type)?);
        }
        let units = cast(&units, &DataType::Int64)?;
        Ok(match &self.data_type {
            DataType::Date32 => cast(&cast(&units, &DataType::Int32)?, &self.data_type)?,
            DataType::Date64 => {
                let days = units.as_primitive::<Int64Type>();
                Arc::new(days.unary::<_, Date64Type>(|day| day * DAY))
            }
            _ => cast(&units, &self.data_type)?,
        })
    }
}
