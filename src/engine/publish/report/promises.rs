//! The promises with their recounts, and the attribute disclosure of the released classes.

use super::facts::Facts;
use crate::engine::recount::{Promise, steady};
use crate::error::Result;
use crate::folder::Check;
use crate::job::{Constraint, Scope};
use crate::model::{self, Comparison, Relation};
use crate::report::{self, Disclosure};

impl Facts<'_> {
    /// Returns each promise with its recount.
    pub(super) fn kept_promises(&self) -> Vec<report::Promise> {
        let job = self.job;
        let columns = |subset: &[usize]| -> Vec<String> {
            let column = |i: &usize| job.quasi_identifiers[*i].column.clone();
            subset.iter().map(column).collect()
        };
        let one = |(c, check): (&Constraint, &Check)| report::Promise {
            model: c.describe(&job.quasi_identifiers),
            meaning: match &c.scope {
                Scope::All => c.meaning.into(),
                Scope::Columns(subset) => format!("by {} alone, {}", columns(subset).join(", "), c.meaning),
                Scope::Any(size) => format!("by any {size} of the quasi-identifiers alone, {}", c.meaning),
            },
            attribute: c.attribute.clone(),
            quasi_identifiers: match &c.scope {
                Scope::Columns(subset) => Some(columns(subset)),
                Scope::All | Scope::Any(_) => None,
            },
            comparison: match c.model.audit(&Relation::default()).comparison {
                Comparison::AtLeast => report::Comparison::AtLeast,
                Comparison::AtMost => report::Comparison::AtMost,
                Comparison::Below => report::Comparison::Below,
            },
            required: check.required,
            reached: check.reached,
            holds: check.ok,
        };
        job.constraints.iter().zip(&self.release.checks).map(one).collect()
    }

    /// Returns the disclosure of each sensitive attribute by the classes of `released`, recounted by l-diversity and
    /// t-closeness.
    pub(super) async fn disclosure(&self) -> Result<Vec<Disclosure>> {
        let job = self.job;
        let (fewest, farthest) = (
            model::weakest_l_diversity(),
            model::weakest_t_closeness(model::CATEGORICAL),
        );
        let (session, released) = (&self.recounted.session, &self.recounted.released);
        let mut found = vec![];
        // A generalized attribute is left out: its values no longer compare with the distribution in the source.
        let comparable = job
            .sensitive
            .iter()
            .filter(|s| Some(s.column.as_str()) != self.generalized_attribute());
        for sensitive in comparable {
            let promise = |model: &'static str, by| Promise {
                name: model.into(),
                model: by,
                groupings: vec![released.quasi_identifiers.clone()],
                attribute: Some(sensitive.column.clone()),
                hierarchy: None,
            };
            let promises = [promise("l", fewest.as_ref()), promise("t", farthest.as_ref())];
            let reached = released.check(session, &promises).await?;
            let full = job.constraints.iter().filter(|c| c.is_of_classes());
            found.push(Disclosure {
                attribute: sensitive.column.clone(),
                models: full
                    .filter(|c| c.attribute.as_ref() == Some(&sensitive.column))
                    .map(|c| c.describe(&job.quasi_identifiers))
                    .collect(),
                least_distinct: reached[0].reached.map(|l| l as u64),
                rows_in_uniform_classes: released.rows_in_uniform_classes(session, &sensitive.column).await?,
                greatest_distance: reached[1].reached.map(steady),
            });
        }
        Ok(found)
    }
}
