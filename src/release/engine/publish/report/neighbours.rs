//! The neighbours of the released node in the lattice.

use super::facts::ReleaseToMeasure;
use crate::base::error::{ErrorKind, Result};
use crate::data::frequency::BaseSet;
use crate::method::lattice::Node;
use crate::method::search::Oracle;
use crate::release::engine::decide::NodeProfile;
use crate::release::report::Neighbour;
use std::sync::Arc;

/// If a node has more neighbours than this, a report shows none of them: so many would be hard to
/// read, and counting them would take too much time.
const MOST: usize = 64;

impl ReleaseToMeasure<'_> {
    /// Returns the figures of the nodes that are one level higher or lower in one column, coarser
    /// levels first. Returns an empty vector for local recoding, for more than [`MOST`] neighbours,
    /// for a sample, or if each node would have to be counted from files again. The vector is also
    /// empty with personal limits and sets of items, which are applied after a node is chosen, so
    /// that the classes alone do not decide whether a node satisfies the models.
    pub(super) async fn neighbours(&self) -> Result<Vec<Neighbour>> {
        let (job, evaluator) = (self.job, Arc::clone(&self.decision.evaluator));
        let is_held = matches!(evaluator.sets().base().set, BaseSet::Held(_));
        let is_of_classes =
            job.guarantees.of_rows().is_none() && job.roles.item_sets.is_empty() && job.guarantees.sampling().is_none();
        if self.decision.verdict.partition.is_some() || !is_held || !is_of_classes {
            return Ok(vec![]);
        }
        let (lattice, node) = (evaluator.lattice(), self.decision.classes.node().clone());
        let nodes: Vec<Node> = lattice.successors(&node).chain(lattice.predecessors(&node)).collect();
        if nodes.len() > MOST {
            return Ok(vec![]);
        }
        let (own, asked) = (Arc::clone(&evaluator), nodes.clone());
        let pool = evaluator.sets().pool();
        let profiles = match pool
            .compute("the neighbours of a node", move || own.profile(&asked))
            .await
        {
            Err(e) if e.kind() == ErrorKind::Resources => return Ok(vec![]),
            profiles => profiles?,
        };
        let columns = &job.roles.quasi_identifiers;
        let neighbour = |(other, profile): (Node, NodeProfile)| {
            let changed = (0..columns.len()).find(|i| other.level(*i) != node.level(*i))?;
            Some(Neighbour {
                column: columns[changed].column.clone(),
                level: other.level(changed),
                coarser: other.level(changed) > node.level(changed),
                holds: profile.anonymous,
                k: profile.k,
                suppressed: profile.suppressed,
                value: profile.metrics.first().copied().filter(|value| value.is_finite()),
            })
        };
        Ok(nodes.into_iter().zip(profiles).filter_map(neighbour).collect())
    }
}
