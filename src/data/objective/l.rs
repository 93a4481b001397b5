//! l: the minimum number of distinct values of a sensitive attribute in a released class; 0 if
//! nothing is released.
//!
//! Dewri, Ray, Ray and Whitley, 2010, section 7, doi:10.1007/978-3-642-13739-6_6.

use super::entry::Entry;
use super::property::{Lead, Measured, Property, ReleasedClasses, SensitiveAttribute};
use crate::base::catalogue::{Call, Info, Value};
use crate::base::error::Result;
use crate::data::model::{Class, Predicate, Subject, weakest_l_diversity};

#[derive(Debug)]
struct Values {
    attribute: String,
}

impl Property for Values {
    fn attribute(&self) -> Option<SensitiveAttribute<'_>> {
        Some(SensitiveAttribute {
            column: &self.attribute,
            by_rows: false,
            needs_hierarchy: None,
        })
    }

    fn leads(&self) -> Lead {
        Lead::ByAttribute
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measured>> {
        Ok(Box::new(Prepared(weakest_l_diversity().prepare(subject)?)))
    }
}

#[derive(Debug)]
struct Prepared(Box<dyn Predicate>);

impl Measured for Prepared {
    fn value(&self, released: &dyn ReleasedClasses) -> f64 {
        let mut least: Option<f64> = None;
        released.each_class(&mut |class| {
            let values = self.rank(class);
            least = Some(least.map_or(values, |least| least.min(values)));
        });
        least.unwrap_or(0.0)
    }

    fn rank(&self, class: &Class) -> f64 {
        self.0.reached(class).unwrap_or_default()
    }
}

/// The catalogue entry of the objective `l`.
pub(super) const ENTRY: Entry = Entry {
    info: Info {
        name: "l",
        summary: "the least number of distinct values of a sensitive attribute in a class",
        params: &[],
        example: "OPTIMIZING MAX l ON diagnosis, MIN glm",
        reference: "Dewri et al. 2010, section 7, doi:10.1007/978-3-642-13739-6_6",
    },
    of_attribute: true,
    is_whole: true,
    model: |l, _| Some(Call::of("l_diversity", vec![Value::Integer(l.round() as i64)])),
    build: |_, attribute| {
        Ok(Box::new(Values {
            attribute: attribute.to_string(),
        }))
    },
};
