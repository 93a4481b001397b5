//! s_l: the sum over released rows of the count of the row's own sensitive value in its class.
//!
//! Dewri, Ray, Ray and Whitley, 2010, section 7, doi:10.1007/978-3-642-13739-6_6.

use super::entry::Entry;
use super::property::{Measured, Property, ReleasedClasses, SensitiveAttribute};
use crate::base::catalogue::Info;
use crate::base::error::Result;
use crate::data::model::Subject;

#[derive(Debug, Clone)]
struct Spread {
    attribute: String,
}

impl Property for Spread {
    fn attribute(&self) -> Option<SensitiveAttribute<'_>> {
        Some(SensitiveAttribute {
            column: &self.attribute,
            by_rows: true,
            needs_hierarchy: None,
        })
    }

    fn prepare(&self, _: &Subject) -> Result<Box<dyn Measured>> {
        Ok(Box::new(self.clone()))
    }
}

impl Measured for Spread {
    fn value(&self, released: &dyn ReleasedClasses) -> f64 {
        let mut sum = 0u128;
        released.each_class(&mut |class| {
            let squares = class.histogram.iter().map(|(_, n)| u128::from(*n) * u128::from(*n));
            sum += squares.sum::<u128>();
        });
        sum as f64
    }
}

/// The catalogue entry of the objective `s_l`.
pub(super) const ENTRY: Entry = Entry {
    info: Info {
        name: "s_l",
        summary: "the sum over released rows of the count of their own sensitive value in their class",
        params: &[],
        example: "OPTIMIZING MAX s_k, MAX s_l ON diagnosis, MIN glm",
        reference: "Dewri et al. 2010, section 7, doi:10.1007/978-3-642-13739-6_6",
    },
    of_attribute: true,
    is_whole: false,
    model: |_, _| None,
    build: |_, attribute| {
        Ok(Box::new(Spread {
            attribute: attribute.to_string(),
        }))
    },
};
