//! Every refusal of a job, before anything is read. There is one file for each part of a request.

mod append;
mod differential_privacy;
mod items;
mod kept;
mod labels;
mod models;
mod mount;
mod partition;
mod personal;
mod purpose;
mod randomized;
mod report;
mod roles;
mod target;

pub(crate) use append::rises_from_zero;
pub(crate) use models::check_population;
pub(crate) use partition::may_divide;
pub use purpose::Purpose;
pub(crate) use report::check_report;

use super::Job;
use crate::error::Result;

impl Job {
    /// Refuses a request that is impossible, contradictory, or would break a promise. Fails with the first such problem
    /// that is found.
    pub fn check(&self, purpose: Purpose) -> Result<()> {
        roles::check(self)?;
        items::check(self)?;
        differential_privacy::check(self, purpose)?;
        personal::check(self)?;
        randomized::check(self)?;
        labels::check(self)?;
        models::check(self, purpose)?;
        purpose::check(self, purpose)?;
        if purpose != Purpose::Front {
            partition::check(self)?;
        }
        if purpose != Purpose::Release {
            return Ok(());
        }
        self.report.as_ref().map_or(Ok(()), |file| report::check(self, file))?;
        self.target
            .as_ref()
            .map_or(Ok(()), |folder| target::check(self, folder))
    }
}

#[cfg(test)]
mod tests;
