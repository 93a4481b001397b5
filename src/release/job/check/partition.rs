//! Checks requests for local recoding.

use crate::base::error::{Error, Result};
use crate::method::hierarchy::{has_order, plain_type};
use crate::method::partition::Partitioner;
use crate::release::job::{Candidate, Choice, Constraint, Job, QuasiIdentifier};

/// Fails if none of the chosen partitioning algorithms can satisfy the request.
pub(super) fn check(job: &Job) -> Result<()> {
    let Choice::Partition(candidates) = &job.goal.choice else {
        return Ok(());
    };
    let name = match &candidates[..] {
        [one] => &one.call.name,
        _ => "RECODING LOCAL",
    };
    let refused = candidates.iter().map(|c| divided_by(job, name, c.partitioner.as_ref()));
    // If no algorithm can satisfy the request, the error is that of the last algorithm.
    refused.reduce(Result::or).unwrap_or(Ok(()))
}

/// Returns true if a partitioning algorithm can satisfy the request.
pub(crate) fn may_divide(job: &Job, name: &str, partitioner: &dyn Partitioner) -> bool {
    divided_by(job, name, partitioner).is_ok()
}

impl Job {
    /// Returns the local recoding algorithms that can satisfy the request and suit its metric;
    /// empty if the request chooses a node.
    pub fn candidates(&self) -> Vec<&Candidate> {
        let Choice::Partition(candidates) = &self.goal.choice else {
            return vec![];
        };
        // If there are several algorithms, one that reads the class label suits only metrics that
        // also read it.
        let serves = |c: &&Candidate| {
            candidates.len() == 1 || !c.partitioner.reads_class_label() || self.goal.metric.reads().class_label
        };
        let meets = |c: &&Candidate| may_divide(self, &c.call.name, c.partitioner.as_ref());
        // If there are several algorithms, those that suppress cells are only used for models about
        // groups of some columns. For all other models, labels are better.
        let is_for = |c: &&Candidate| {
            let asked = self.guarantees.constraints.iter().any(|c| !c.is_of_classes());
            candidates.len() == 1 || asked || !c.partitioner.judges_groupings()
        };
        candidates.iter().filter(is_for).filter(serves).filter(meets).collect()
    }
}

/// Fails if a partitioning algorithm cannot satisfy the request. `name` is the name of the
/// algorithm in the statement.
fn divided_by(job: &Job, name: &str, partitioner: &dyn Partitioner) -> Result<()> {
    let instead = "use a search over the lattice, such as SEARCH USING auto";
    if let Some(c) = job.guarantees.constraints.iter().find(|c| !c.is_of_classes()) {
        if !partitioner.judges_groupings() {
            return Err(Error::usage(format!(
                "{name} judges whole equivalence classes, and {} is about the groups of some quasi-identifiers; write \
                 SEARCH USING local_suppression, which suppresses single cells for them, or {instead}",
                c.describe(&job.roles.quasi_identifiers)
            )));
        }
        counts_rows(job, name, c)?;
    }
    if let Some(c) = job.guarantees.constraints.iter().find(|c| c.model.reads().population) {
        return Err(Error::usage(format!(
            "{} counts in a population table, whose rows are in no group of {name}; {instead}",
            c.call
        )));
    }
    if let Some(c) = job.guarantees.constraints.iter().find(|c| c.model.reads().labels) {
        return Err(Error::usage(format!(
            "{} reads what the labels of a hierarchy's level stand for, which {name} mixes; {instead}",
            c.call
        )));
    }
    if let Some(c) = job.guarantees.constraints.iter().find(|c| c.model.reads().supersets) {
        return Err(Error::usage(format!(
            "{} looks for classes of more general nodes that contain a class, which a group of {name} does not have; \
             {instead}",
            c.call
        )));
    }
    if job.goal.metric.reads().levels {
        return Err(Error::usage(format!(
            "{} counts levels, which the groups of {name} do not have; MINIMIZING glm measures any release",
            job.goal.metric_name
        )));
    }
    if job.goal.node_limit.is_some() {
        return Err(Error::usage(format!(
            "node_limit is a number of nodes of the lattice, and {name} assesses none; time_limit ends it early"
        )));
    }
    if partitioner.needs_order() {
        check_distances(job, name)?;
    }
    if partitioner.reads_class_label() && job.roles.class_label.is_none() {
        return Err(Error::usage(format!(
            "{name} is guided by a class label: name its column with CLASS (column)"
        )));
    }
    Ok(())
}

fn check_distances(job: &Job, name: &str) -> Result<()> {
    // If LEVELS gives a column only one level, no distances are computed in the column.
    let has_distances = |q: &&QuasiIdentifier| q.levels.is_none_or(|(low, high)| low < high);
    for q in job.roles.quasi_identifiers.iter().filter(has_distances) {
        let field = job.input.source.rows.schema().field_with_unqualified_name(&q.column)?;
        if !has_order(field.data_type()) {
            return Err(Error::usage(format!(
                "column {}: {name} computes distances of numbers, dates and timestamps, and the column has the type {}; \
                 cast it in a query, keep it at one level (LEVELS 0 TO 0), or use another partitioner, such as SEARCH USING \
                 peel",
                q.column,
                plain_type(field.data_type())
            )));
        }
    }
    Ok(())
}

/// Fails if the request counts entities, or if a model reads more than the number of rows in each
/// group. `scoped` is a model about the groups of some quasi-identifiers. The error names it.
fn counts_rows(job: &Job, name: &str, scoped: &Constraint) -> Result<()> {
    let scoped = scoped.describe(&job.roles.quasi_identifiers);
    let instead = "use a search over the lattice, such as SEARCH USING auto";
    if let Some(entity) = &job.input.entity {
        return Err(Error::usage(format!(
            "{name} counts the rows of the groups of some quasi-identifiers, and with ENTITY ({entity}) {scoped} counts \
             distinct {entity}; {instead}"
        )));
    }
    let reads_more = |c: &&Constraint| {
        let reads = c.model.reads();
        c.is_of_rows() || reads.attribute || reads.sizes
    };
    match job.guarantees.constraints.iter().find(reads_more) {
        Some(c) => Err(Error::usage(format!(
            "{name} judges the groups of some quasi-identifiers, as in {scoped}, only by their numbers of rows, and \
             {} reads more than these numbers; {instead}",
            c.describe(&job.roles.quasi_identifiers)
        ))),
        None => Ok(()),
    }
}
