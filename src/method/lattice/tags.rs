//! Tags: the nodes whose anonymity is known, either directly or by inference from other nodes.

use super::Node;

/// The nodes that are known to be anonymous and the nodes that are known not to be, for a monotone
/// predicate. Only the two frontiers are stored: every node above an anonymous node is anonymous,
/// and every node below a node that is not anonymous is not anonymous either.
#[derive(Debug, Default, Clone)]
pub struct Tags {
    lowest_anonymous: Vec<Node>,
    highest_not: Vec<Node>,
}

impl Tags {
    /// Creates tags without any known node.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns `Some(true)` if `node` is known to be anonymous, `Some(false)` if it is known not to
    /// be anonymous, and `None` if neither is known.
    pub fn get(&self, node: &Node) -> Option<bool> {
        if self.lowest_anonymous.iter().any(|n| n.is_below_or_equal(node)) {
            Some(true)
        } else if self.highest_not.iter().any(|n| node.is_below_or_equal(n)) {
            Some(false)
        } else {
            None
        }
    }

    /// Records that `node` is anonymous if `anonymous` is true, and that it is not if `anonymous`
    /// is false.
    pub fn set(&mut self, node: &Node, anonymous: bool) {
        if self.get(node) == Some(anonymous) {
            return;
        }
        if anonymous {
            self.lowest_anonymous.retain(|n| !node.is_below_or_equal(n));
            self.lowest_anonymous.push(node.clone());
        } else {
            self.highest_not.retain(|n| !n.is_below_or_equal(node));
            self.highest_not.push(node.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::lattice::Lattice;

    #[test]
    fn closure_is_implied() {
        let lattice = Lattice::with_tops(&[2, 2]);
        let mut tags = Tags::new();
        tags.set(&Node::new(vec![1, 1]), true);
        tags.set(&Node::new(vec![0, 1]), false);
        let known: Vec<Option<bool>> = lattice.iter().map(|n| tags.get(&n)).collect();
        let (t, f, u) = (Some(true), Some(false), None);
        assert_eq!(known, [f, f, u, u, t, t, u, t, t]);
        tags.set(&Node::new(vec![0, 2]), true);
        assert_eq!(tags.lowest_anonymous.len(), 2);
    }
}
