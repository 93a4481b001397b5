//! The figures of nodes for LATTICE OF.

use super::evaluator::{Evaluator, Verdict};
use crate::base::error::Result;
use crate::data::frequency::FrequencySet;
use crate::method::lattice::Node;

/// The figures of one node in the result of LATTICE OF.
#[derive(Debug, Clone)]
pub struct NodeProfile {
    /// Whether the number of suppressed rows is within the limit and the entire release satisfies
    /// the models.
    pub anonymous: bool,
    /// The size of the smallest class of a release at the node. For a node that is not anonymous,
    /// this is the maximum k under the suppression limit. The size is 0 if the node has no class.
    pub k: u64,
    /// The number of suppressed rows.
    pub suppressed: u64,
    /// The number of kept classes.
    pub classes: u64,
    /// The values of all metrics, in the order in which the evaluator was given the metrics.
    pub metrics: Vec<f64>,
}

impl Evaluator {
    /// Returns k under the suppression limit: the maximum k for which the number of rows in classes
    /// smaller than k is within the limit.
    pub fn reached_k(&self, set: &FrequencySet) -> u64 {
        let mut sizes: Vec<(u64, u64)> = (0..set.len())
            .filter(|i| set.counts()[*i] > 0)
            .map(|i| (self.size(set, i), set.counts()[i]))
            .collect();
        sizes.sort_unstable();
        let mut below = self.sets.base().unmapped_rows;
        for (size, rows) in &sizes {
            below += rows;
            if below > self.limit {
                return *size;
            }
        }
        sizes.last().map_or(0, |(size, _)| *size)
    }

    /// Returns the size of the smallest kept class, or 0 if no class is kept.
    fn smallest(&self, set: &FrequencySet, verdict: &Verdict) -> u64 {
        let kept = (0..set.len()).filter(|class| verdict.kept[*class]);
        kept.map(|class| self.size(set, class)).min().unwrap_or(0)
    }

    /// Returns the figures of `nodes` for LATTICE OF.
    pub fn profile(&self, nodes: &[Node]) -> Result<Vec<NodeProfile>> {
        self.sets.each(nodes, None, |_, answer| {
            let set = answer.classes()?;
            let verdict = self.verdict(&set)?;
            Ok(NodeProfile {
                anonymous: verdict.anonymous,
                k: match verdict.anonymous {
                    true => self.smallest(&set, &verdict),
                    false => self.reached_k(&set),
                },
                suppressed: verdict.suppressed,
                classes: verdict.classes,
                metrics: self.measure(&set, &verdict),
            })
        })
    }
}
