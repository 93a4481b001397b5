//! Serializes lookup tables for transport to another machine, and restores them.

use super::codes::{Coded, Codes, Side};
use super::lookup::{Level, Lookup};
use super::number::Number;
use crate::base::error::{Error, Result};
use crate::base::operator::Parcel;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, StringArray, UInt32Array, UInt64Array};
use arrow::datatypes::{Float64Type, UInt32Type, UInt64Type};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, OnceLock};

/// The parts of a lookup table that are not stored as arrays.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct LookupHeader {
    levels: usize,
    /// True if all levels have extents, false if none has.
    extents: bool,
    codes: bool,
    listed: bool,
    total_leaves: u64,
}

impl Lookup {
    /// Adds the arrays of the table to a parcel, and returns the parts that are not arrays.
    pub(crate) fn pack(&self, parcel: &mut Parcel) -> LookupHeader {
        let extents = self.levels.iter().all(|level| level.extents.is_some());
        for level in &self.levels {
            parcel.push(Arc::clone(&level.labels));
            parcel.push(Arc::new(UInt32Array::from(level.codes.clone())));
            parcel.push(Arc::new(UInt32Array::from(level.representatives.clone())));
            parcel.push(Arc::new(UInt64Array::from(level.leaves.clone())));
            if let Some(ends) = level.extents.as_ref().filter(|_| extents) {
                parcel.push(Arc::new(
                    ends.iter().map(|(low, _)| Some(*low)).collect::<Float64Array>(),
                ));
                parcel.push(Arc::new(
                    ends.iter().map(|(_, high)| Some(*high)).collect::<Float64Array>(),
                ));
            }
        }
        parcel.push(Arc::clone(&self.values));
        if let Some(numbers) = self.extents.as_ref().filter(|_| extents) {
            let low = numbers.iter().map(|(low, _)| Some(*low)).collect::<Float64Array>();
            let high = numbers.iter().map(|(_, high)| Some(*high)).collect::<Float64Array>();
            parcel.push(Arc::new(low));
            parcel.push(Arc::new(high));
        }
        if let Some(hidden) = &self.hidden {
            let is_above = |side: &Option<Side>| side.map(|side| side == Side::Above);
            parcel.push(Arc::new(hidden.iter().map(is_above).collect::<BooleanArray>()));
        }
        if let Some(codes) = &self.codes {
            parcel.push(Arc::new(codes.pack()));
        }
        parcel.push(Arc::new(BooleanArray::from(self.unmapped.clone())));
        if let Some(listed) = &self.listed {
            parcel.push(Arc::new(Float64Array::from(listed.clone())));
        }
        LookupHeader {
            levels: self.levels.len(),
            extents,
            codes: self.has_codes(),
            listed: self.listed.is_some(),
            total_leaves: self.total_leaves,
        }
    }

    /// Restores a table from the arrays in a parcel and from the parts that are not arrays.
    pub(crate) fn unpack(header: LookupHeader, parcel: &mut Parcel) -> Result<Self> {
        let mut levels = vec![];
        for _ in 0..header.levels {
            levels.push(Level {
                labels: parcel.take()?,
                codes: codes(&parcel.take()?)?,
                representatives: codes(&parcel.take()?)?,
                leaves: leaves(&parcel.take()?)?,
                extents: match header.extents {
                    true => {
                        let (low, high) = (numbers(&parcel.take()?)?, numbers(&parcel.take()?)?);
                        Some(low.into_iter().zip(high).collect())
                    }
                    false => None,
                },
            });
        }
        let values = parcel.take()?;
        let extents = match header.extents {
            true => {
                let (low, high) = (numbers(&parcel.take()?)?, numbers(&parcel.take()?)?);
                Some(low.into_iter().zip(high).collect())
            }
            false => None,
        };
        let (hidden, codes) = match header.codes {
            true => {
                let sides = parcel.take()?;
                let sides = sides.as_boolean_opt().ok_or_else(otherwise)?;
                let side = |is_above: bool| if is_above { Side::Above } else { Side::Below };
                let sides = sides.iter().map(|is_above| is_above.map(side)).collect();
                (Some(sides), Some(Codes::unpack(&parcel.take()?)?))
            }
            false => (None, None),
        };
        let unmapped = parcel.take()?;
        let unmapped = unmapped.as_boolean_opt().ok_or_else(otherwise)?;
        Ok(Self {
            values,
            levels,
            extents,
            codes,
            hidden,
            unmapped: unmapped.values().iter().collect(),
            total_leaves: header.total_leaves,
            listed: match header.listed {
                true => Some(numbers(&parcel.take()?)?),
                false => None,
            },
            grid: OnceLock::new(),
        })
    }
}

/// The text that marks codes as years in the array of the codes.
const YEARS: &str = "years";

impl Codes {
    fn pack(&self) -> StringArray {
        let text = |code: Option<Number>| code.map(|code| code.to_string());
        let of = matches!(self.of, Coded::Years(_)).then(|| YEARS.to_string());
        StringArray::from(vec![text(self.bottom), text(self.top), of])
    }

    fn unpack(array: &ArrayRef) -> Result<Self> {
        let texts = array
            .as_string_opt::<i32>()
            .filter(|texts| texts.len() == 3)
            .ok_or_else(otherwise)?;
        let text = |at: usize| texts.is_valid(at).then(|| texts.value(at));
        Ok(Self {
            of: match text(2) {
                Some(_) => Coded::Years(None),
                None => Coded::Numbers,
            },
            ..Self::parse(text(0), text(1))?
        })
    }
}

fn codes(array: &ArrayRef) -> Result<Vec<u32>> {
    let codes = array.as_primitive_opt::<UInt32Type>().ok_or_else(otherwise)?;
    Ok(codes.values().to_vec())
}

fn leaves(array: &ArrayRef) -> Result<Vec<u64>> {
    let leaves = array.as_primitive_opt::<UInt64Type>().ok_or_else(otherwise)?;
    Ok(leaves.values().to_vec())
}

fn numbers(array: &ArrayRef) -> Result<Vec<f64>> {
    let numbers = array.as_primitive_opt::<Float64Type>().ok_or_else(otherwise)?;
    Ok(numbers.values().to_vec())
}

fn otherwise() -> Error {
    Error::internal("a lookup table from another machine has other columns")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_arrive_as_they_were_sent() {
        let years = Codes {
            of: Coded::Years(None),
            ..Codes::parse(None, Some("2020")).unwrap()
        };
        for codes in [Codes::parse(Some("-0.5"), Some("90")).unwrap(), years] {
            let sent: ArrayRef = Arc::new(codes.pack());
            assert_eq!(Codes::unpack(&sent).unwrap(), codes);
        }
        let other: ArrayRef = Arc::new(StringArray::from(vec!["90"]));
        assert!(Codes::unpack(&other).is_err());
    }
}
