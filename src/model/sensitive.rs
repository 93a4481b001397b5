//! The sensitive attribute of a model: its distribution over the whole table, and what can be said before a search.

use super::privacy_model::Subject;
use crate::error::{Error, Result};
use crate::frequency::DetailRequest;

/// The whole table's distribution q of a sensitive attribute, suppressed rows included.
#[derive(Debug)]
pub(super) struct Distribution {
    /// The column.
    pub(super) column: String,
    /// Rows (persons under ENTITY) by value code.
    pub(super) counts: Vec<u64>,
    /// Their sum.
    pub(super) total: u64,
    /// Values that occur.
    pub(super) distinct: u64,
}

impl Distribution {
    /// The distribution that `model` is prepared for.
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

    /// Fails as infeasible when a class would need more distinct values than the attribute has. An empty table has no
    /// class and breaks nothing.
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

/// The sum of a class's counts, the denominator of its distribution p.
pub(super) fn total(histogram: &[(u32, u64)]) -> u64 {
    histogram.iter().map(|(_, n)| n).sum()
}
