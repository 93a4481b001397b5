//! The purposes of statements, and a check that a job fits the purpose.

use crate::base::error::{Error, Result};
use crate::release::job::{Choice, Job};

/// The purpose for which a statement uses a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Release rows: ANONYMIZE, and statements that contain it.
    Release,
    /// Decide, and show what would be or was released: EXPLAIN, COMPARE.
    Decide,
    /// List every node: LATTICE OF.
    Lattice,
    /// Show nodes from which the reader chooses: EXPLORE.
    Explore,
    /// Return the nodes that no other node dominates: PARETO FRONT OF. Its objectives may replace
    /// the models.
    Front,
}

/// Fails if a statement about nodes has a job that does not choose among nodes, or has models by
/// which nodes cannot be judged.
pub(super) fn check(job: &Job, purpose: Purpose) -> Result<()> {
    let statement = match purpose {
        Purpose::Release | Purpose::Decide => return Ok(()),
        Purpose::Lattice => "LATTICE OF",
        Purpose::Explore => "EXPLORE",
        Purpose::Front => "PARETO FRONT OF",
    };
    let mut constraints = job.guarantees.constraints.iter();
    if let Some((constraint, why)) = constraints.find_map(|c| Some((c, c.kind().refused_for_nodes?))) {
        return Err(Error::usage(format!(
            "{statement} judges nodes by their classes, and {} {why}",
            constraint.describe(&job.roles.quasi_identifiers)
        )));
    }
    let name = job.goal.choice.name().unwrap_or_default();
    match (&job.goal.choice, purpose) {
        (Choice::Partition(_), Purpose::Lattice | Purpose::Explore) => Err(Error::usage(format!(
            "{statement} lists nodes, which {name} does not look at; leave it out",
        ))),
        (Choice::Partition(_), _) => Err(Error::usage(format!(
            "PARETO FRONT OF looks for nodes of the lattice, and {name} divides the table instead; use a search over the \
             lattice, such as SEARCH USING pbg_local, or COMPARE",
        ))),
        (Choice::Node(_) | Choice::Replay(_), Purpose::Lattice) => Err(Error::usage(
            "LATTICE OF lists every node; leave AT NODE and USING MANIFEST out",
        )),
        (Choice::Replay(_), Purpose::Explore) => Err(Error::usage(
            "EXPLORE opens its page at the node of AT NODE; leave USING MANIFEST out, and name the levels of the manifest there",
        )),
        (Choice::Node(_) | Choice::Replay(_), Purpose::Front) => Err(Error::usage(
            "PARETO FRONT OF looks for nodes; leave AT NODE and USING MANIFEST out",
        )),
        _ => Ok(()),
    }
}
