//! What models and metrics ask of the rest of a job.

use super::Purpose;
use crate::error::{Error, Result};
use crate::job::Job;

/// Refuses a population that nothing counts in, a model without one, a release without a model, and weights without effect.
pub(super) fn check(job: &Job, purpose: Purpose) -> Result<()> {
    let counts_population = job.constraints.iter().any(|c| c.model.reads().population);
    if job.population.is_some() != counts_population {
        return Err(Error::usage(match counts_population {
            true => "k_map counts in a population table: name it with POPULATION table",
            false => "POPULATION is named, but no model counts in it; k_map does",
        }));
    }
    if purpose == Purpose::Front {
        // What is optimized may take the place of models, and weights are those of its metrics.
        return Ok(());
    }
    if job.constraints.is_empty() {
        return Err(Error::usage(
            "SATISFYING names no privacy model; example: SATISFYING k_anonymity(5)",
        ));
    }
    if !job.metric.reads().weights && job.quasi_identifiers.iter().any(|q| q.weight != 1.0) {
        return Err(Error::usage(format!(
            "WEIGHT has no effect on {}, which does not count columns",
            job.metric_name
        )));
    }
    Ok(())
}
