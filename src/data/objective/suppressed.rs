//! suppressed: the number of suppressed rows. Defined by this project.

use super::entry::Entry;
use super::property::{Measured, Property, ReleasedClasses};
use crate::base::catalogue::Info;
use crate::base::error::Result;
use crate::data::model::Subject;

#[derive(Debug, Clone, Copy)]
struct Suppressed;

impl Property for Suppressed {
    fn prepare(&self, _: &Subject) -> Result<Box<dyn Measured>> {
        Ok(Box::new(*self))
    }
}

impl Measured for Suppressed {
    fn value(&self, released: &dyn ReleasedClasses) -> f64 {
        released.suppressed() as f64
    }
}

/// The catalogue entry of the objective `suppressed`.
pub(super) const ENTRY: Entry = Entry {
    info: Info {
        name: "suppressed",
        summary: "the number of suppressed rows",
        params: &[],
        example: "OPTIMIZING MAX k, MIN suppressed, MIN glm",
        reference: "ours",
    },
    of_attribute: false,
    is_whole: true,
    model: |_, _| None,
    build: |_, _| Ok(Box::new(Suppressed)),
};
