//! What a statement does with a job, and which jobs are none of its.

use crate::error::{Error, Result};
use crate::job::{Choice, Job};

/// What a statement does with a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// It releases rows: ANONYMIZE, and what is wrapped around it.
    Release,
    /// It decides and shows what would be released, or what came of it: EXPLAIN, COMPARE.
    Decide,
    /// It lists every node: LATTICE OF.
    Lattice,
    /// It answers the nodes that no other beats: PARETO FRONT OF. What it optimizes may take the place of models.
    Front,
}

/// Refuses jobs that are not about nodes where a statement is.
pub(super) fn check(job: &Job, purpose: Purpose) -> Result<()> {
    let statement = match purpose {
        Purpose::Release | Purpose::Decide => return Ok(()),
        Purpose::Lattice => "LATTICE OF",
        Purpose::Front => "PARETO FRONT OF",
    };
    // Promises to each row are kept while rows are handed out, which these statements do not come to.
    if let Some((constraint, _)) = job.personal() {
        return Err(Error::usage(format!(
            "{statement} judges nodes by their classes, and {} is about single rows; leave it out there, and ANONYMIZE ... AT \
             NODE checks it",
            constraint.describe(&job.quasi_identifiers)
        )));
    }
    match (&job.choice, purpose) {
        (Choice::Partition { call, .. }, Purpose::Lattice) => Err(Error::usage(format!(
            "LATTICE OF lists nodes, which {} does not look at; leave SEARCH USING out",
            call.name
        ))),
        (Choice::Partition { call, .. }, _) => Err(Error::usage(format!(
            "PARETO FRONT OF looks for nodes of the lattice, and {} divides the table instead; use a search over the \
             lattice, such as SEARCH USING pbg_local, or COMPARE",
            call.name
        ))),
        (Choice::Node(_), Purpose::Front) => Err(Error::usage(
            "PARETO FRONT OF looks for nodes; leave AT NODE and USING MANIFEST out",
        )),
        _ => Ok(()),
    }
}
