//! What becomes of every column of the source: the recipe of a decision.

use super::job::QuasiIdentifier;
use super::release::Decided;
use crate::error::{Error, Result};
use crate::recode::{Grouped, Pseudonym, Recipe, Released, Treatment};
use std::sync::Arc;

impl Decided {
    /// What becomes of every released column but the randomized ones, and of columns of `extra` that are only recounted.
    pub(super) fn recipe(&self, extra: &[String]) -> Result<Recipe> {
        let limit = self.job.personal().map(|(_, limit)| limit.to_string());
        let extra: Vec<String> = extra.iter().cloned().chain(limit).collect();
        let mut columns = self.treatments(&extra)?;
        columns.retain(|c| self.job.randomization(&c.name).is_none());
        self.recipe_of(&self.decision.verdict.kept, self.job.starred, columns)
    }

    /// What becomes of every released column, and of columns of `extra`, but for being put into random order.
    pub(super) fn treatments(&self, extra: &[String]) -> Result<Vec<Released>> {
        let job = &self.job;
        let mut columns = vec![];
        for field in job.source.rows.schema().fields() {
            let name = field.name();
            let treatment = if let Some(i) = job.quasi_identifier(name) {
                Treatment::Generalize(i)
            } else if let Some(secret) = job
                .identifiers
                .iter()
                .find(|i| i.column == *name)
                .and_then(|i| i.secret.as_ref())
            {
                Treatment::Hash(Arc::new(Pseudonym::new(&secret.read()?)?))
            } else if job.sensitive.iter().any(|s| s.column == *name) {
                Treatment::Protect
            } else if job.releases(name) || extra.contains(name) {
                Treatment::Keep
            } else {
                continue;
            };
            columns.push(Released {
                name: name.clone(),
                treatment,
            });
        }
        Ok(columns)
    }

    pub(super) fn recipe_of(&self, kept: &[bool], starred: bool, columns: Vec<Released>) -> Result<Recipe> {
        let rule = |q: &QuasiIdentifier| (q.column.clone(), q.hierarchy.on_unmapped());
        let rules = self.job.quasi_identifiers.iter().map(rule).collect();
        let base = self.prepared.evaluator.sets().base();
        let space = Arc::clone(&base.space);
        match (&self.decision.verdict.partition, &self.decision.combinations) {
            (None, None) => Recipe::new(space, rules, &self.decision.classes, kept, starred, columns),
            (Some(partition), Some(combinations)) => {
                let grouped = Grouped {
                    bottom: base.bottom().clone(),
                    combinations: Arc::clone(&combinations.index),
                    partition: Arc::clone(partition),
                    kept: kept.to_vec(),
                };
                Recipe::partitioned(space, rules, grouped, starred, columns)
            }
            _ => Err(Error::internal("a partition without its index")),
        }
    }
}
