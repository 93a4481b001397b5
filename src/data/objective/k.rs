//! k: the size of the smallest released class; 0 if nothing is released.
//!
//! The rows of the smallest classes are suppressed. So k is the maximum number such that the rows
//! in classes smaller than k are within the suppression limit.
//!
//! Dewri, Ray, Ray and Whitley, 2010, section 6, doi:10.1007/978-3-642-13739-6_6.

use super::entry::Entry;
use super::property::{Lead, Measured, Property, ReleasedClasses};
use crate::base::catalogue::{Call, Info, Value};
use crate::base::error::Result;
use crate::data::model::{Class, Subject};

#[derive(Debug, Clone, Copy)]
struct Size;

impl Property for Size {
    fn leads(&self) -> Lead {
        Lead::BySize
    }

    fn prepare(&self, _: &Subject) -> Result<Box<dyn Measured>> {
        Ok(Box::new(*self))
    }
}

impl Measured for Size {
    fn value(&self, released: &dyn ReleasedClasses) -> f64 {
        // A release without rows has no class in which a person could hide.
        smallest(released).unwrap_or(0) as f64
    }

    fn rank(&self, class: &Class) -> f64 {
        class.size as f64
    }
}

/// Returns the size of the smallest released class; `None` if nothing is released.
pub(super) fn smallest(released: &dyn ReleasedClasses) -> Option<u64> {
    let mut smallest: Option<u64> = None;
    released.each_class(&mut |class| smallest = Some(smallest.map_or(class.size, |least| least.min(class.size))));
    smallest
}

/// The catalogue entry of the objective `k`.
pub(super) const ENTRY: Entry = Entry {
    info: Info {
        name: "k",
        summary: "the size of the smallest class under the suppression limit",
        params: &[],
        example: "OPTIMIZING MAX k, MIN glm",
        reference: "Dewri et al. 2010, section 6, doi:10.1007/978-3-642-13739-6_6",
    },
    of_attribute: false,
    is_whole: true,
    model: |k, _| Some(Call::of("k_anonymity", vec![Value::Integer(k.round() as i64)])),
    build: |_, _| Ok(Box::new(Size)),
};
