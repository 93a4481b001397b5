//! The sensitive attribute of a model: its distribution over the whole table, and checks before the
//! search.

use super::privacy_model::Subject;
use crate::base::error::{Error, Result};
use crate::data::frequency::DetailRequest;

/// The distribution q of a sensitive attribute over the whole table, including suppressed rows.
#[derive(Debug)]
pub(super) struct Distribution {
    /// The name of the column.
    pub(super) column: String,
    /// The number of rows (entities under ENTITY) for each value code.
    pub(super) counts: Vec<u64>,
    /// The sum of `counts`.
    pub(super) total: u64,
    /// The number of values that occur.
    pub(super) distinct: u64,
}

impl Distribution {
    /// Returns the distribution of the sensitive attribute of `subject`. Without a sensitive
    /// attribute, fails with a usage error that names `model`.
    pub(super) fn of(subject: &Subject, model: &str) -> Result<Self> {
        let Some(index) = subject.attribute else {
            return Err(Error::usage(format!(
                "{model} needs a sensitive attribute: write {model}(...) ON column"
            )));
        };
        let attribute = subject.base.attributes.get(index).ok_or_else(|| {
            Error::internal(format!(
                "{model} reads an attribute that the frequency set does not carry"
            ))
        })?;
        let column = match &attribute.request {
            DetailRequest::Values(c) | DetailRequest::Distinct(c) | DetailRequest::Pairs { values: c, .. } => c,
        };
        Ok(Self {
            column: column.clone(),
            counts: attribute.counts.clone(),
            total: attribute.counts.iter().sum(),
            distinct: attribute.counts.iter().filter(|n| **n > 0).count() as u64,
        })
    }

    /// Fails as infeasible if a class would need more distinct values than the attribute has. An
    /// empty table never fails, because it has no class.
    pub(super) fn has_at_least(&self, values: u64, required: impl FnOnce() -> String) -> Result<()> {
        if self.total == 0 || self.distinct >= values {
            return Ok(());
        }
        Err(Error::infeasible(format!(
            "{} cannot hold: it needs at least {values} distinct values in a class, and column {} has {}",
            required(),
            self.column,
            self.distinct
        )))
    }
}

/// Returns the sum of the counts of a class, the denominator of its distribution p.
pub(super) fn total(histogram: &[(u32, u64)]) -> u64 {
    histogram.iter().map(|(_, n)| n).sum()
}
