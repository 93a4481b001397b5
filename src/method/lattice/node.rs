//! A node of the lattice: one level per quasi-identifier.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

/// A node: one level per quasi-identifier, in the order in which the statement names the columns.
///
/// The order of nodes is used to break ties: the node with the smaller height comes first; nodes of
/// equal height are compared level by level from left to right.
///
/// ```
/// use anonsql::extend::search::Node;
/// let node = Node::new(vec![1, 0, 2]);
/// assert_eq!((node.height(), node.level(2)), (3, 2));
/// assert!(node.is_below_or_equal(&node.with_level(1, 1)));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Node(Box<[u8]>);

impl Node {
    /// Returns the node with these levels.
    pub fn new(levels: Vec<u8>) -> Self {
        Self(levels.into_boxed_slice())
    }

    /// Returns the levels.
    pub fn levels(&self) -> &[u8] {
        &self.0
    }

    /// Returns the level at index `i`.
    pub fn level(&self, i: usize) -> u8 {
        self.0[i]
    }

    /// Returns a copy of the node with level `level` at index `i`.
    pub fn with_level(&self, i: usize, level: u8) -> Self {
        let mut levels = self.0.clone();
        levels[i] = level;
        Self(levels)
    }

    /// Returns the sum of the levels.
    pub fn height(&self) -> u32 {
        self.0.iter().map(|&l| u32::from(l)).sum()
    }

    /// Returns true if every level is at most the level of `other` at the same index, so that this
    /// node is at least as specific as `other`.
    pub fn is_below_or_equal(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0.iter()).all(|(a, b)| a <= b)
    }

    /// Returns the most general node below both nodes, which has the lower of the two levels at
    /// each index.
    #[cfg(test)]
    pub(crate) fn meet(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(other.0.iter()).map(|(a, b)| *a.min(b)).collect())
    }

    /// Returns the most specific node above both nodes, which has the higher of the two levels at
    /// each index.
    #[cfg(test)]
    pub(crate) fn join(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(other.0.iter()).map(|(a, b)| *a.max(b)).collect())
    }
}

impl Ord for Node {
    fn cmp(&self, other: &Self) -> Ordering {
        self.height().cmp(&other.height()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let levels: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        write!(f, "({})", levels.join(", "))
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_break_by_height_then_levels() {
        let mut nodes = [
            Node::new(vec![2, 0]),
            Node::new(vec![0, 1]),
            Node::new(vec![0, 2]),
            Node::new(vec![1, 0]),
        ];
        nodes.sort();
        let shown: Vec<String> = nodes.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["(0, 1)", "(1, 0)", "(0, 2)", "(2, 0)"]);
    }

    #[test]
    fn meet_and_join_bound_both() {
        let (a, b) = (Node::new(vec![2, 0, 1]), Node::new(vec![1, 3, 1]));
        assert!(a.meet(&b).is_below_or_equal(&a) && a.meet(&b).is_below_or_equal(&b));
        assert!(a.is_below_or_equal(&a.join(&b)) && b.is_below_or_equal(&a.join(&b)));
    }
}
