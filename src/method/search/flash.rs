//! Flash: greedy depth-first traversal with binary search on paths.
//!
//! If anonymity is monotone, Flash walks the lattice from the bottom, height by height. From every
//! node of unknown anonymity, Flash builds a path upward through unknown nodes, always to the
//! successor with the least generalization. Binary search finds the first anonymous node on the
//! path. A node above an anonymous node is anonymous. A node below a node that is not anonymous is
//! not anonymous either. The successors of failed nodes are visited first. A second pass assesses
//! the anonymous nodes that may still win but have no known cost yet.
//!
//! Both passes skip nodes that cannot win. Such a node has a bound ([`Oracle::bound`]) that reaches
//! the cost of the incumbent, or is above a node whose floor ([`super::Assessment::floor`]) reaches
//! that cost. If anonymity is not monotone, only these bounds prune, and the first pass is omitted.
//!
//! **Guarantee**: the optimum for any metric and any models. Ties are broken by the order of the
//! nodes.
//!
//! Example: `SEARCH USING flash`.
//!
//! Reference: F. Kohlmayer, F. Prasser, C. Eckert, A. Kemper, K. A. Kuhn, "Flash: efficient, stable
//! and optimal k-anonymity", 2012, doi:10.1109/SocialCom-PASSAT.2012.52.

use super::algorithm::{Build, Finding, Prunes, Search};
use super::context::{Context, Stop};
use super::known::NodeKnowledge;
use super::oracle::Oracle;
use crate::base::catalogue::{Entry, Info};
use crate::method::lattice::Node;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The Flash search, without parameters.
#[derive(Debug)]
pub struct Flash;

impl Search for Flash {
    fn run(&self, oracle: &dyn Oracle, context: &mut Context) -> Result<Finding, Stop> {
        let lattice = oracle.lattice();
        let mut run = Run {
            known: NodeKnowledge::new(oracle, context),
        };
        if oracle.is_monotone() {
            for height in lattice.bottom().height()..=lattice.top().height() {
                for node in lattice.at_height(height) {
                    run.classify_from(node)?;
                }
            }
        }
        run.known.assess_rest()?;
        Ok(Finding::OPTIMAL)
    }

    fn prunes(&self) -> Prunes {
        Prunes::ALL
    }
}

struct Run<'a> {
    known: NodeKnowledge<'a>,
}

impl Run<'_> {
    /// Runs the outer step of the paper for one start node: checks its path, and then the paths of
    /// the failed nodes' successors.
    fn classify_from(&mut self, node: Node) -> Result<(), Stop> {
        self.known.context.check(0)?;
        if self.known.is_settled(&node) {
            return Ok(());
        }
        let mut failed = BinaryHeap::new();
        self.check_path(self.path_from(node), &mut failed)?;
        while let Some(Reverse((_, node))) = failed.pop() {
            for next in self.sorted_successors(&node) {
                if !self.known.is_settled(&next) {
                    self.check_path(self.path_from(next), &mut failed)?;
                }
            }
        }
        Ok(())
    }

    /// Returns a greedy path upward from `node` through unsettled nodes.
    fn path_from(&self, node: Node) -> Vec<Node> {
        let mut path = vec![node];
        while let Some(next) = path
            .last()
            .and_then(|n| self.sorted_successors(n).find(|n| !self.known.is_settled(n)))
        {
            path.push(next);
        }
        path
    }

    fn check_path(&mut self, path: Vec<Node>, failed: &mut BinaryHeap<Reverse<(Rank, Node)>>) -> Result<(), Stop> {
        let (mut low, mut high) = (0, path.len());
        while low < high {
            let middle = (low + high) / 2;
            let node = &path[middle];
            if self.known.assess(std::slice::from_ref(node))?[0] {
                high = middle;
            } else {
                failed.push(Reverse((self.rank(node), node.clone())));
                low = middle + 1;
            }
        }
        Ok(())
    }

    fn sorted_successors(&self, node: &Node) -> impl Iterator<Item = Node> + use<> {
        let mut successors: Vec<(Rank, Node)> = self
            .known
            .oracle
            .lattice()
            .successors(node)
            .map(|n| (self.rank(&n), n))
            .collect();
        successors.sort();
        successors.into_iter().map(|(_, n)| n)
    }

    /// Returns the sort key of the paper: less height, less relative generalization and more
    /// remaining distinct values come first. The shares are integers in millionths, so that they
    /// can be ordered.
    fn rank(&self, node: &Node) -> Rank {
        const MILLION: u64 = 1_000_000;
        let top = self.known.oracle.lattice().top();
        let (mut generalization, mut distinct_lost) = (0, 0);
        for (i, &level) in node.levels().iter().enumerate() {
            generalization += u64::from(level) * MILLION / u64::from(top.level(i)).max(1);
            let kept =
                self.known.oracle.distinct_values(i, level) * MILLION / self.known.oracle.distinct_values(i, 0).max(1);
            distinct_lost += MILLION.saturating_sub(kept);
        }
        (node.height(), generalization, distinct_lost)
    }
}

/// The sort key of a node: height, relative generalization, relative loss of distinct values.
type Rank = (u32, u64, u64);

/// The catalogue entry of the search `flash`.
pub const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "flash",
        summary: "depth-first with binary search on paths and bounds on the metric; optimal",
        params: &[],
        example: "SEARCH USING flash",
        reference: "Kohlmayer et al. 2012, doi:10.1109/SocialCom-PASSAT.2012.52",
    },
    build: |_| Ok(Box::new(Flash)),
};

#[cfg(test)]
mod tests {
    use crate::base::catalogue::Call;
    use crate::method::search::testing::{check_optimal, toy};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn finds_what_brute_force_finds(toy in toy()) {
            check_optimal(&toy, &Call::bare("flash"))?;
        }
    }
}
