//! Knowledge about nodes, for the optimal searches from the literature: which nodes are anonymous,
//! and which can no longer win.

use super::context::{Context, Stop};
use super::oracle::Oracle;
use crate::method::lattice::{Node, Tags};

/// The number of nodes at the same height that are assessed together. A larger batch would include
/// nodes that the bounds from the earlier assessments exclude.
const BATCH: usize = 16;

/// The knowledge about the nodes during one run.
pub(super) struct NodeKnowledge<'a> {
    pub(super) oracle: &'a dyn Oracle,
    pub(super) context: &'a mut Context,
    tags: Tags,
    /// Assessed nodes, each with its floor, for which a node above may still replace the incumbent.
    floors: Vec<(Node, f64)>,
    /// Assessed nodes for which no node above can replace the incumbent. No node in the list is
    /// above another.
    lost: Vec<Node>,
}

impl<'a> NodeKnowledge<'a> {
    pub(super) fn new(oracle: &'a dyn Oracle, context: &'a mut Context) -> Self {
        Self {
            oracle,
            context,
            tags: Tags::new(),
            floors: vec![],
            lost: vec![],
        }
    }

    /// Assesses nodes, stores the conclusions, and returns for each node whether it is anonymous.
    pub(super) fn assess(&mut self, nodes: &[Node]) -> Result<Vec<bool>, Stop> {
        let best = self.context.incumbent().map(|(n, _)| n.clone());
        let found = self.context.assess(self.oracle, nodes)?;
        for (node, assessment) in nodes.iter().zip(&found) {
            if self.oracle.is_monotone() {
                self.tags.set(node, assessment.anonymous);
            }
            self.floors.push((node.clone(), assessment.floor));
        }
        // An older floor can lose only to a new incumbent.
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

    /// Assesses the nodes of `nodes` that may win and whose anonymity is unknown. All nodes must be
    /// at the same height.
    pub(super) fn classify(&mut self, nodes: impl Iterator<Item = Node>) -> Result<(), Stop> {
        self.assess_if(nodes, |known, node| !known.is_settled(node))
    }

    /// Assesses every node that may be anonymous and may win, from the lowest height upward.
    pub(super) fn assess_rest(&mut self) -> Result<(), Stop> {
        let lattice = self.oracle.lattice();
        for height in lattice.bottom().height()..=lattice.top().height() {
            self.assess_if(lattice.at_height(height), |known, node| {
                known.context.recall(node).is_none() && known.tag(node) != Some(false) && !known.is_lost(node)
            })?;
        }
        Ok(())
    }

    fn assess_if(
        &mut self,
        nodes: impl Iterator<Item = Node>,
        wanted: impl Fn(&Self, &Node) -> bool,
    ) -> Result<(), Stop> {
        let mut batch = vec![];
        for node in nodes {
            self.context.check(0)?;
            if wanted(self, &node) {
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

    /// Returns whether `node` is anonymous; `None` if this is unknown or anonymity is not monotone.
    pub(super) fn tag(&self, node: &Node) -> Option<bool> {
        self.tags.get(node)
    }

    /// Returns true if the anonymity of `node` is known, or if `node` can no longer win.
    pub(super) fn is_settled(&self, node: &Node) -> bool {
        self.tags.get(node).is_some() || self.is_lost(node)
    }

    /// Returns true if no node at or above `node` can replace the incumbent.
    fn is_lost(&self, node: &Node) -> bool {
        self.context.cannot_win(self.oracle.bound(node, 0), node) || self.lost.iter().any(|n| n.is_below_or_equal(node))
    }
}
