//! Refusals of requests that local recoding cannot meet.

use crate::catalogue::Call;
use crate::error::{Error, Result};
use crate::job::{Choice, Job};
use crate::partition::Partitioner;

/// Refuses requests that no partitioning algorithm, or not the chosen one, can meet.
pub(super) fn check(job: &Job) -> Result<()> {
    let Choice::Partition { call, partitioner } = &job.choice else {
        return Ok(());
    };
    divided_by(job, call, partitioner.as_ref())
}

/// Returns true if a partitioning algorithm can meet the request.
pub(crate) fn may_divide(job: &Job, call: &Call, partitioner: &dyn Partitioner) -> bool {
    divided_by(job, call, partitioner).is_ok()
}

/// Refuses requests that a partitioning algorithm cannot meet.
fn divided_by(job: &Job, call: &Call, partitioner: &dyn Partitioner) -> Result<()> {
    let name = &call.name;
    let instead = "use a search over the lattice, such as SEARCH USING auto";
    if let Some(c) = job.constraints.iter().find(|c| !c.is_of_classes()) {
        return Err(Error::usage(format!(
            "{name} judges whole equivalence classes, and {} is about the groups of some quasi-identifiers; {instead}",
            c.describe(&job.quasi_identifiers)
        )));
    }
    if let Some(c) = job.constraints.iter().find(|c| c.model.reads().population) {
        return Err(Error::usage(format!(
            "{} counts in a population table, whose rows are in no group of {name}; {instead}",
            c.call
        )));
    }
    if let Some(c) = job.constraints.iter().find(|c| c.model.reads().labels) {
        return Err(Error::usage(format!(
            "{} reads what the labels of a hierarchy's level stand for, which {name} mixes; {instead}",
            c.call
        )));
    }
    if job.metric.reads().levels {
        return Err(Error::usage(format!(
            "{} counts levels, which the groups of {name} do not have; MINIMIZING glm measures any release",
            job.metric_name
        )));
    }
    if job.node_limit.is_some() {
        return Err(Error::usage(format!(
            "node_limit is a number of nodes of the lattice, and {name} assesses none; time_limit ends it early"
        )));
    }
    let levels = job.quasi_identifiers.iter().find(|q| q.levels.is_some());
    if let Some(q) = levels.filter(|_| !partitioner.honours_levels()) {
        return Err(Error::usage(format!(
            "column {}: LEVELS says levels of the hierarchy, which {name} is not held to; leave LEVELS out, or {instead}",
            q.column
        )));
    }
    if partitioner.reads_class_label() && job.class_label.is_none() {
        return Err(Error::usage(format!(
            "{name} is guided by a class label: name its column with CLASS (column)"
        )));
    }
    Ok(())
}
