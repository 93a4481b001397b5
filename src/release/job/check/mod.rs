//! Checks a job before anything is read. There is one file for each part of a request.

mod append;
mod counted;
mod csv;
mod differential_privacy;
mod items;
mod kept;
mod labels;
mod masks;
mod models;
mod mount;
mod partition;
mod personal;
mod purpose;
mod randomized;
mod report;
mod roles;
mod standards;
mod standing;
mod target;

pub(crate) use append::rises_from_zero;
pub(crate) use counted::check_counted;
pub(crate) use models::check_population;
pub(crate) use partition::may_divide;
pub use purpose::Purpose;
pub(crate) use report::check_report;
pub(crate) use roles::no_values;

use super::Job;
use crate::base::error::Result;

impl Job {
    /// Fails if the request is impossible or contradictory, or if it would break a promise. The
    /// error is the first such problem that is found. The report file and the target are only
    /// checked for a release and for EXPLORE.
    pub fn check(&self, purpose: Purpose) -> Result<()> {
        roles::check(self)?;
        check_counted(self.input.source.rows.schema(), self.counted())?;
        masks::check(self, purpose)?;
        items::check(self)?;
        differential_privacy::check(self, purpose)?;
        personal::check(self)?;
        randomized::check(self)?;
        labels::check(self)?;
        models::check(self, purpose)?;
        standards::check(self)?;
        purpose::check(self, purpose)?;
        if purpose != Purpose::Front {
            partition::check(self)?;
        }
        if !matches!(purpose, Purpose::Release | Purpose::Explore) {
            return Ok(());
        }
        self.output
            .report
            .as_ref()
            .map_or(Ok(()), |file| report::check(self, file))?;
        self.output
            .target
            .as_ref()
            .map_or(Ok(()), |folder| target::check(self, folder))
    }
}

impl Job {
    /// Returns the columns whose distinct values are counted or compared: quasi-identifiers, item
    /// sets, sensitive columns, masked columns, the class label and the entity.
    fn counted(&self) -> impl Iterator<Item = &String> {
        let quasi_identifiers = self.roles.quasi_identifiers.iter().map(|q| &q.column);
        let sets = self.roles.item_sets.iter().map(|s| &s.column);
        let sensitive = self.roles.sensitive.iter().map(|s| &s.column);
        let masked = self.roles.masks.iter().map(|of| &of.column);
        let counted = quasi_identifiers.chain(sets).chain(sensitive).chain(masked);
        counted.chain(&self.roles.class_label).chain(&self.input.entity)
    }
}

#[cfg(test)]
mod tests;
