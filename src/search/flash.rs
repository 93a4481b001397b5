//! Flash: greedy depth-first traversal with binary search on paths.
//!
//! While anonymity is monotone, Flash walks the lattice from the bottom, height by height. From every node of which
//! nothing is known it builds a path upward through unknown nodes, always to the least generalized successor, and
//! finds the first anonymous node on it by binary search; what lies above an anonymous node is anonymous, what lies
//! below one that is not is not. The successors of nodes that failed are visited first. A second pass assesses those
//! nodes known to be anonymous whose cost is not settled by then.
//!
//! Both passes leave out what cannot win: nodes whose bound ([`Oracle::bound`]) reaches the cost of the incumbent, and
//! nodes above one whose floor ([`super::Assessment::floor`]) does. Where anonymity is not monotone only these bounds
//! prune, and there is no first pass.
//!
//! **Guarantee**: the optimum for any metric and any models; of nodes that cost the same, the one that comes first.
//!
//! Example: `SEARCH USING flash`.
//!
//! Reference: F. Kohlmayer, F. Prasser, C. Eckert, A. Kemper, K. A. Kuhn, "Flash: efficient, stable and optimal
//! k-anonymity", 2012, doi:10.1109/SocialCom-PASSAT.2012.52.

use super::{Build, Context, Finding, Oracle, Search, Stop};
use crate::catalogue::{Entry, Info};
use crate::lattice::{Node, Tags};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The search; it has no parameters.
#[derive(Debug)]
pub struct Flash;

/// Nodes of one height handed over at once in the second pass: more would go by without the bounds that each brings.
const BATCH: usize = 16;

impl Search for Flash {
    fn run(&self, oracle: &dyn Oracle, context: &mut Context) -> Result<Finding, Stop> {
        let mut run = Run {
            oracle,
            context,
            tags: Tags::new(),
            floors: vec![],
            lost: vec![],
        };
        let heights = oracle.lattice().bottom().height()..=oracle.lattice().top().height();
        if oracle.is_monotone() {
            for height in heights.clone() {
                for node in oracle.lattice().at_height(height) {
                    run.classify_from(node)?;
                }
            }
        }
        for height in heights {
            run.assess_rest(height)?;
        }
        Ok(Finding::OPTIMAL)
    }
}

struct Run<'a> {
    oracle: &'a dyn Oracle,
    context: &'a mut Context,
    tags: Tags,
    /// Assessed nodes above which a winner may still lie, with their floors.
    floors: Vec<(Node, f64)>,
    /// Nodes above which no winner lies, themselves assessed; none is above another.
    lost: Vec<Node>,
}

impl Run<'_> {
    /// The paper's outer step for one start node: its path, then those of the failed nodes' successors.
    fn classify_from(&mut self, node: Node) -> Result<(), Stop> {
        self.context.check(0)?;
        if self.is_settled(&node) {
            return Ok(());
        }
        let mut failed = BinaryHeap::new();
        self.check_path(self.path_from(node), &mut failed)?;
        while let Some(Reverse((_, node))) = failed.pop() {
            for next in self.sorted_successors(&node) {
                if !self.is_settled(&next) {
                    self.check_path(self.path_from(next), &mut failed)?;
                }
            }
        }
        Ok(())
    }

    /// A path upward from `node` through unsettled nodes, greedily.
    fn path_from(&self, node: Node) -> Vec<Node> {
        let mut path = vec![node];
        while let Some(next) = path
            .last()
            .and_then(|n| self.sorted_successors(n).find(|n| !self.is_settled(n)))
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
            if self.assess(std::slice::from_ref(node))?[0] {
                high = middle;
            } else {
                failed.push(Reverse((self.rank(node), node.clone())));
                low = middle + 1;
            }
        }
        Ok(())
    }

    /// Assesses what is left of one height: nodes not known to fail that may still win.
    fn assess_rest(&mut self, height: u32) -> Result<(), Stop> {
        let mut batch = vec![];
        for node in self.oracle.lattice().at_height(height) {
            self.context.check(0)?;
            if self.context.recall(&node).is_none() && self.tags.get(&node) != Some(false) && !self.is_lost(&node) {
                batch.push(node);
            }
            if batch.len() == BATCH {
                self.assess(&batch)?;
                batch.clear();
            }
        }
        if !batch.is_empty() {
            self.assess(&batch)?;
        }
        Ok(())
    }

    /// Assesses nodes and keeps what follows from the answers; says which are anonymous.
    fn assess(&mut self, nodes: &[Node]) -> Result<Vec<bool>, Stop> {
        let best = self.context.incumbent().map(|(n, _)| n.clone());
        let found = self.context.assess(self.oracle, nodes)?;
        for (node, assessment) in nodes.iter().zip(&found) {
            if self.oracle.is_monotone() {
                self.tags.set(node, assessment.anonymous);
            }
            self.floors.push((node.clone(), assessment.floor));
        }
        let from = match best.as_ref() == self.context.incumbent().map(|(n, _)| n) {
            true => self.floors.len() - nodes.len(),
            false => 0,
        };
        for i in (from..self.floors.len()).rev() {
            if self.context.cannot_win(self.floors[i].1, &self.floors[i].0) {
                let node = self.floors.swap_remove(i).0;
                if !self.lost.iter().any(|n| n.is_below_or_equal(&node)) {
                    self.lost.retain(|n| !node.is_below_or_equal(n));
                    self.lost.push(node);
                }
            }
        }
        Ok(found.iter().map(|a| a.anonymous).collect())
    }

    /// Whether the first pass has nothing to learn from `node`.
    fn is_settled(&self, node: &Node) -> bool {
        self.tags.get(node).is_some() || self.is_lost(node)
    }

    /// Whether no node at or above `node` can replace the incumbent.
    fn is_lost(&self, node: &Node) -> bool {
        self.context.cannot_win(self.oracle.bound(node, 0), node) || self.lost.iter().any(|n| n.is_below_or_equal(node))
    }

    fn sorted_successors(&self, node: &Node) -> impl Iterator<Item = Node> + use<> {
        let mut successors: Vec<(Rank, Node)> = self
            .oracle
            .lattice()
            .successors(node)
            .map(|n| (self.rank(&n), n))
            .collect();
        successors.sort();
        successors.into_iter().map(|(_, n)| n)
    }

    /// The paper's order of nodes: less height, less relative generalization, more distinct values left. The shares are
    /// in millionths, so that they have an order.
    fn rank(&self, node: &Node) -> Rank {
        const MILLION: u64 = 1_000_000;
        let top = self.oracle.lattice().top();
        let (mut generalization, mut distinct_lost) = (0, 0);
        for (i, &level) in node.levels().iter().enumerate() {
            generalization += u64::from(level) * MILLION / u64::from(top.level(i)).max(1);
            let kept = self.oracle.distinct_values(i, level) * MILLION / self.oracle.distinct_values(i, 0).max(1);
            distinct_lost += MILLION.saturating_sub(kept);
        }
        (node.height(), generalization, distinct_lost)
    }
}

/// Height, relative generalization, relative loss of distinct values.
type Rank = (u32, u64, u64);

/// The catalogue entry.
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
    use crate::catalogue::Call;
    use crate::search::testing::{check_optimal, toy};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn finds_what_brute_force_finds(toy in toy()) {
            check_optimal(&toy, &Call::bare("flash"))?;
        }
    }
}
