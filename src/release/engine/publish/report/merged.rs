//! The values of the source that the base frequency set does not distinguish, because one code
//! stands for several of them, such as all ages above 90.

use crate::data::frequency::Base;

/// The values of each quasi-identifier that share a label with another value.
pub(super) struct Merged<'a> {
    base: &'a Base,
    /// For each quasi-identifier and ground code: whether another value has the same label.
    values: Vec<Vec<bool>>,
}

impl<'a> Merged<'a> {
    pub(super) fn of(base: &'a Base) -> Self {
        let lookups = base.key_schema.lookups().iter();
        Self {
            base,
            values: lookups.map(|lookup| lookup.merged()).collect(),
        }
    }

    /// Returns true if no value is merged, so that the base frequency set has the classes of the
    /// source.
    pub(super) fn is_empty(&self) -> bool {
        self.values.iter().flatten().all(|merged| !merged)
    }

    /// Returns true if a class of the base frequency set may contain several classes of the source.
    pub(super) fn has(&self, class: &[u64]) -> bool {
        let layout = self.base.key_schema.layout();
        let mut values = self.values.iter().enumerate();
        values.any(|(column, merged)| merged[layout.code(class, column) as usize])
    }
}
