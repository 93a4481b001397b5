//! t: the maximum distance between the distributions of the sensitive values in a released class
//! and in the table; 0 if nothing is released.
//!
//! Li, Li and Venkatasubramanian, ICDE 2007, doi:10.1109/ICDE.2007.367856.

use super::entry::Entry;
use super::property::{Lead, Measured, Property, ReleasedClasses, SensitiveAttribute};
use crate::base::catalogue::{Call, Info, Kind, Param, Value};
use crate::base::error::Result;
use crate::data::model::{CATEGORICAL, Class, HIERARCHICAL, ORDERED, Predicate, Subject, weakest_t_closeness};

#[derive(Debug)]
struct Distance {
    attribute: String,
    by: String,
}

impl Property for Distance {
    fn attribute(&self) -> Option<SensitiveAttribute<'_>> {
        Some(SensitiveAttribute {
            column: &self.attribute,
            by_rows: false,
            needs_hierarchy: (self.by == HIERARCHICAL).then_some("t_closeness(1.0, hierarchical)"),
        })
    }

    fn leads(&self) -> Lead {
        Lead::ByAttribute
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measured>> {
        Ok(Box::new(Prepared(weakest_t_closeness(&self.by).prepare(subject)?)))
    }
}

#[derive(Debug)]
struct Prepared(Box<dyn Predicate>);

impl Prepared {
    fn distance(&self, class: &Class) -> f64 {
        self.0.reached(class).unwrap_or_default()
    }
}

impl Measured for Prepared {
    fn value(&self, released: &dyn ReleasedClasses) -> f64 {
        let mut greatest: Option<f64> = None;
        released.each_class(&mut |class| {
            let distance = self.distance(class);
            greatest = Some(greatest.map_or(distance, |greatest| greatest.max(distance)));
        });
        greatest.unwrap_or(0.0)
    }

    fn rank(&self, class: &Class) -> f64 {
        -self.distance(class)
    }
}

/// The catalogue entry of the objective `t`.
pub(super) const ENTRY: Entry = Entry {
    info: Info {
        name: "t",
        summary: "the greatest distance between the sensitive values of a class and of the table",
        params: &[Param {
            name: "distance",
            summary: "the distance between two values, as in t_closeness",
            kind: Kind::Word(&[CATEGORICAL, ORDERED, HIERARCHICAL]),
            default: Some(CATEGORICAL),
        }],
        example: "OPTIMIZING MIN t(ordered) ON income, MIN glm",
        reference: "Li, Li and Venkatasubramanian, ICDE 2007, doi:10.1109/ICDE.2007.367856",
    },
    of_attribute: true,
    is_whole: false,
    model: |t, args| {
        let args = std::iter::once(Value::Real(t)).chain(args.iter().cloned());
        Some(Call::of("t_closeness", args.collect()))
    },
    build: |args, attribute| {
        Ok(Box::new(Distance {
            attribute: attribute.to_string(),
            by: args.word("distance")?.to_string(),
        }))
    },
};
