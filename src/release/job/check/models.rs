//! Checks that privacy models and metrics have their inputs.

use super::Purpose;
use crate::base::error::{Error, Result};
use crate::release::job::{Constraint, Job};

/// Fails if a population is missing, unused or combined with a model that cannot use one, if a
/// model about whole classes has columns after ON, if there is no model, or if weights have no
/// effect.
pub(super) fn check(job: &Job, purpose: Purpose) -> Result<()> {
    check_population(&job.guarantees.constraints, job.input.population.is_some())?;
    if let (Some(c), Some(_)) = (
        job.guarantees.constraints.iter().find(|c| c.model.reads().labels),
        &job.input.population,
    ) {
        return Err(Error::usage(format!(
            "{} counts the values of the table under each label, and a population has values of its own; leave out \
             POPULATION and the models that count in it",
            c.call
        )));
    }
    let reads_supersets = |c: &&Constraint| c.model.reads().supersets && !c.is_of_classes();
    if let Some(c) = job.guarantees.constraints.iter().find(reads_supersets) {
        return Err(Error::usage(format!(
            "{} is about whole equivalence classes and those that contain them; leave out the quasi-identifiers after ON",
            c.describe(&job.roles.quasi_identifiers)
        )));
    }
    if purpose == Purpose::Front {
        // For a front, the objectives may replace the models, and the weights belong to the metrics
        // of the front.
        return Ok(());
    }
    if job.guarantees.constraints.is_empty() {
        return Err(Error::usage(
            "SATISFYING names no privacy model; example: SATISFYING k_anonymity(5)",
        ));
    }
    if !job.goal.metric.reads().weights && job.roles.quasi_identifiers.iter().any(|q| q.weight != 1.0) {
        return Err(Error::usage(format!(
            "WEIGHT has no effect on {}, which does not count columns",
            job.goal.metric_name
        )));
    }
    Ok(())
}

/// Fails if there is a population in which no model counts, or if a model counts in a population
/// and the statement names none. `is_named` is true if the statement names a population.
pub(crate) fn check_population(constraints: &[Constraint], is_named: bool) -> Result<()> {
    let counts = constraints.iter().find(|c| c.model.reads().population);
    match counts {
        Some(c) if !is_named => Err(Error::usage(format!(
            "{} counts in a population table: name it with POPULATION table",
            c.call.name
        ))),
        None if is_named => Err(Error::usage(
            "POPULATION is named, but no model counts in it; k_map and delta_presence do",
        )),
        _ => Ok(()),
    }
}
