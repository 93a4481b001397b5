//! highest_risk: the highest prosecutor risk of a released row, 1 / k; 0 if nothing is released.
//!
//! Definitions of RISK OF; El Emam, Guide to the de-identification of personal health information,
//! CRC Press 2013, doi:10.1201/b14764.

use super::entry::Entry;
use super::k::smallest;
use super::property::{Lead, Measured, Property, ReleasedClasses};
use crate::base::catalogue::{Call, Info, Value};
use crate::base::error::Result;
use crate::data::model::{Class, Subject};

#[derive(Debug, Clone, Copy)]
struct Risk;

impl Property for Risk {
    fn leads(&self) -> Lead {
        Lead::BySize
    }

    fn prepare(&self, _: &Subject) -> Result<Box<dyn Measured>> {
        Ok(Box::new(*self))
    }
}

impl Measured for Risk {
    fn value(&self, released: &dyn ReleasedClasses) -> f64 {
        // If nothing is released, no person can be re-identified.
        smallest(released).map_or(0.0, |k| 1.0 / k as f64)
    }

    fn rank(&self, class: &Class) -> f64 {
        class.size as f64
    }
}

/// The catalogue entry of the objective `highest_risk`.
pub(super) const ENTRY: Entry = Entry {
    info: Info {
        name: "highest_risk",
        summary: "the highest prosecutor risk of a released row, 1 / k",
        params: &[],
        example: "OPTIMIZING MIN highest_risk, MIN glm",
        reference: "definitions of RISK OF",
    },
    of_attribute: false,
    is_whole: false,
    model: |risk, _| {
        let k = (1.0 / risk).round() as i64;
        Some(Call::of("k_anonymity", vec![Value::Integer(k)]))
    },
    build: |_, _| Ok(Box::new(Risk)),
};
