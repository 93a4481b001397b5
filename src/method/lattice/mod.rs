//! The generalization lattice: nodes, their order and their neighbours.
//!
//! A node has one level per quasi-identifier. A lattice consists of all nodes between a bottom and
//! a top. This module does not depend on data: it only computes with small vectors.

mod node;
mod tags;

pub use node::Node;
pub use tags::Tags;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use std::iter::repeat_n;

/// The lattice of all nodes from `bottom` to `top`, both inclusive.
///
/// ```
/// use anonsql::extend::search::{Lattice, Node};
/// /// The nodes of the lattice that are raised above the bottom in the first column.
/// fn raised(lattice: &Lattice) -> Vec<Node> {
///     lattice.iter().filter(|node| node.level(0) > lattice.bottom().level(0)).collect()
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lattice {
    bottom: Node,
    top: Node,
}

impl Lattice {
    /// Returns the lattice of the nodes from `bottom` to `top`. Panics if a level of `bottom` is
    /// above the level of `top` at the same index.
    pub(crate) fn new(bottom: Node, top: Node) -> Self {
        assert!(
            bottom.is_below_or_equal(&top),
            "the bottom of a lattice is below its top"
        );
        Self { bottom, top }
    }

    /// Returns the lattice with the levels `0..=tops[i]` in column i.
    #[cfg(test)]
    pub(crate) fn with_tops(tops: &[u8]) -> Self {
        Self::new(Node::new(vec![0; tops.len()]), Node::new(tops.to_vec()))
    }

    /// Returns the most specific node.
    pub fn bottom(&self) -> &Node {
        &self.bottom
    }

    /// Returns the most general node.
    pub fn top(&self) -> &Node {
        &self.top
    }

    /// Returns the number of quasi-identifiers, which is the number of levels of a node.
    pub fn width(&self) -> usize {
        self.top.levels().len()
    }

    /// Returns the number of nodes; `u128::MAX` if the number is `u128::MAX` or more.
    pub fn size(&self) -> u128 {
        nodes(self.spans().map(|(a, b)| u128::from(b - a) + 1))
    }

    /// Returns true if `node` is in this lattice.
    pub fn contains(&self, node: &Node) -> bool {
        node.levels().len() == self.width() && self.bottom.is_below_or_equal(node) && node.is_below_or_equal(&self.top)
    }

    fn spans(&self) -> impl Iterator<Item = (u8, u8)> + '_ {
        self.bottom
            .levels()
            .iter()
            .copied()
            .zip(self.top.levels().iter().copied())
    }

    /// Returns the node at `index` in the mixed-radix numbering, in which the first level varies
    /// slowest. `index` must be less than `size()`.
    pub(crate) fn node_at(&self, mut index: u128) -> Node {
        let mut levels = vec![0; self.width()];
        for (i, (a, b)) in self.spans().enumerate().collect::<Vec<_>>().into_iter().rev() {
            let radix = u128::from(b - a) + 1;
            levels[i] = a + (index % radix) as u8;
            index /= radix;
        }
        Node::new(levels)
    }

    /// Returns the index of `node` in the numbering of [`Lattice::node_at`].
    #[doc(hidden)]
    pub fn index_of(&self, node: &Node) -> u128 {
        self.spans().zip(node.levels()).fold(0, |index, ((a, b), l)| {
            index * (u128::from(b - a) + 1) + u128::from(l - a)
        })
    }

    /// Returns all nodes in the order of their mixed-radix numbering. Every node comes after all
    /// nodes that are more specific.
    pub fn iter(&self) -> impl Iterator<Item = Node> + '_ {
        let mut next = Some(self.bottom.clone());
        std::iter::from_fn(move || {
            let current = next.take()?;
            let mut levels = current.levels().to_vec();
            for i in (0..levels.len()).rev() {
                if levels[i] < self.top.level(i) {
                    levels[i] += 1;
                    levels[i + 1..].copy_from_slice(&self.bottom.levels()[i + 1..]);
                    next = Some(Node::new(levels));
                    break;
                }
            }
            Some(current)
        })
    }

    /// Returns all nodes with height (sum of levels) `height`, in lexicographic order of the
    /// levels.
    pub(crate) fn at_height(&self, height: u32) -> impl Iterator<Item = Node> + '_ {
        let mut next = self.least_of_height(height);
        std::iter::from_fn(move || {
            let current = next.take()?;
            next = self.next_of_height(&current);
            Some(current)
        })
    }

    /// Returns the lexicographically first node with height `height`: the levels are raised above
    /// the bottom as far to the right as possible. Returns `None` if there is no such node.
    fn least_of_height(&self, height: u32) -> Option<Node> {
        let left = height.checked_sub(self.bottom.height())?;
        let mut levels = self.bottom.levels().to_vec();
        (self.fill_right(&mut levels, 0, left) == 0).then(|| Node::new(levels))
    }

    /// Returns the lexicographically next node with the same height: the rightmost level that can
    /// be raised is raised by one, and the levels to its right are lowered by one in total. Returns
    /// `None` after the last node.
    fn next_of_height(&self, node: &Node) -> Option<Node> {
        let mut levels = node.levels().to_vec();
        let mut spare = 0;
        for i in (0..levels.len()).rev() {
            if spare > 0 && levels[i] < self.top.level(i) {
                levels[i] += 1;
                levels[i + 1..].copy_from_slice(&self.bottom.levels()[i + 1..]);
                self.fill_right(&mut levels, i + 1, spare - 1);
                return Some(Node::new(levels));
            }
            spare += u32::from(levels[i] - self.bottom.level(i));
        }
        None
    }

    /// Raises the levels from right to left, down to index `from`, by a total of `left`. Returns
    /// the part of `left` that could not be used.
    fn fill_right(&self, levels: &mut [u8], from: usize, mut left: u32) -> u32 {
        for i in (from..levels.len()).rev() {
            let rise = left.min(u32::from(self.top.level(i) - levels[i]));
            levels[i] += rise as u8;
            left -= rise;
        }
        left
    }

    /// Returns the nodes that are one step more general than `node`.
    pub fn successors<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = Node> + 'a {
        (0..self.width())
            .filter(|&i| node.level(i) < self.top.level(i))
            .map(|i| node.with_level(i, node.level(i) + 1))
    }

    /// Returns the nodes that are one step more specific than `node`.
    pub fn predecessors<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = Node> + 'a {
        (0..self.width())
            .filter(|&i| node.level(i) > self.bottom.level(i))
            .map(|i| node.with_level(i, node.level(i) - 1))
    }

    /// Returns the nodes that differ from `node` in exactly one level, by any amount (the
    /// neighbourhood in the tabu search papers).
    pub(crate) fn axis_neighbours<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = Node> + 'a {
        (0..self.width()).flat_map(move |i| {
            (self.bottom.level(i)..=self.top.level(i))
                .filter(move |&l| l != node.level(i))
                .map(move |l| node.with_level(i, l))
        })
    }

    /// Returns a chain of neighbouring nodes from the bottom to the top. The order of the steps is
    /// random.
    pub(crate) fn chain(&self, rng: &mut impl Rng) -> Vec<Node> {
        let steps = self.spans().enumerate();
        let mut steps: Vec<usize> = steps.flat_map(|(i, (a, b))| repeat_n(i, usize::from(b - a))).collect();
        steps.shuffle(rng);
        let mut chain = vec![self.bottom.clone()];
        for i in steps {
            let last = &chain[chain.len() - 1];
            chain.push(last.with_level(i, last.level(i) + 1));
        }
        chain
    }

    /// Returns a node that is drawn uniformly at random.
    #[doc(hidden)]
    pub fn sample(&self, rng: &mut impl Rng) -> Node {
        Node::new(self.spans().map(|(a, b)| rng.random_range(a..=b)).collect())
    }
}

/// Returns the number of nodes of a lattice over columns with these numbers of levels; `u128::MAX`
/// if the number is `u128::MAX` or more.
pub fn nodes(levels: impl Iterator<Item = u128>) -> u128 {
    levels.fold(1, u128::saturating_mul)
}

/// Returns a number of nodes as text: in decimal digits, or as a lower bound if the number is too
/// large to be represented.
pub fn said(nodes: u128) -> String {
    match nodes {
        u128::MAX => "over 3.4e38".into(),
        nodes => nodes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha12Rng;

    fn lattice() -> impl Strategy<Value = Lattice> {
        prop::collection::vec((0u8..3, 0u8..3), 1..5).prop_map(|spans| {
            let bottom = spans.iter().map(|s| s.0).collect();
            let top = spans.iter().map(|s| s.0 + s.1).collect();
            Lattice::new(Node::new(bottom), Node::new(top))
        })
    }

    /// The size of 2^127 nodes is exact. The size of 2^128 nodes or more is `u128::MAX`, and not 0.
    #[test]
    fn a_lattice_of_any_width_has_a_size() {
        for (width, size) in [(0, 1), (127, 1 << 127), (128, u128::MAX), (2_000, u128::MAX)] {
            assert_eq!(Lattice::with_tops(&vec![1; width]).size(), size, "{width}");
        }
        assert_eq!((said(12_960), said(u128::MAX)), ("12960".into(), "over 3.4e38".into()));
    }

    proptest! {
        #[test]
        fn numbering_and_iteration_agree(l in lattice()) {
            let all: Vec<Node> = l.iter().collect();
            prop_assert_eq!(all.len() as u128, l.size());
            for (i, node) in all.iter().enumerate() {
                prop_assert!(l.contains(node));
                prop_assert_eq!(l.index_of(node), i as u128);
                prop_assert_eq!(&l.node_at(i as u128), node);
            }
            let by_height: Vec<Node> = (0..=l.top().height() + 1).flat_map(|h| l.at_height(h)).collect();
            let mut sorted = all;
            sorted.sort();
            prop_assert_eq!(by_height, sorted);
        }

        #[test]
        fn a_chain_rises_by_one_step_from_the_bottom_to_the_top(l in lattice(), seed in any::<u64>()) {
            let chain = l.chain(&mut ChaCha12Rng::seed_from_u64(seed));
            prop_assert_eq!((chain.first(), chain.last()), (Some(l.bottom()), Some(l.top())));
            for pair in chain.windows(2) {
                prop_assert!(l.successors(&pair[0]).any(|up| up == pair[1]));
            }
        }

        #[test]
        fn neighbours_differ_by_one_step(l in lattice(), pick in any::<u64>()) {
            let node = l.node_at(u128::from(pick) % l.size());
            for up in l.successors(&node) {
                prop_assert!(l.contains(&up) && node.is_below_or_equal(&up) && up.height() == node.height() + 1);
                prop_assert!(l.predecessors(&up).any(|n| n == node));
            }
            let axis = l.axis_neighbours(&node).count();
            let expected: usize = (0..l.width()).map(|i| usize::from(l.top().level(i) - l.bottom().level(i))).sum();
            prop_assert_eq!(axis, expected);
        }
    }
}
