//! The walk over the lattice. It visits the nodes in ascending order of loss, and at each node
//! releases the classes that satisfy the models.

use super::space::{PeeledClass, Space};
use crate::method::key::partitioned::group;
use crate::method::lattice::Node;
use crate::method::search::{Context, Stop};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// The bounds that end a walk before the most general node.
#[derive(Debug, Clone, Copy)]
pub(super) struct WalkBounds {
    /// The number of cells generalized, plus the number of losses added to find nodes, that a walk
    /// may spend without releasing a class. It bounds a walk over a lattice of many columns, in
    /// which the huge lower part contains no class that satisfies the models.
    pub(super) patience: u64,
    /// The total loss of the released classes at which the walk stops, because its result would be
    /// useless.
    pub(super) most: f64,
}

impl WalkBounds {
    /// The bounds of the walk for the whole table.
    pub(super) const WHOLE: Self = Self {
        patience: 1 << 31,
        most: f64::INFINITY,
    };
}

/// A node that the walk has reached: its loss and the columns raised above their lowest levels, in
/// the order of the columns. Even if there are many columns, only a few are raised, so a node takes
/// little memory. The column indices compare in reverse, so that nodes compare like the lists of
/// all their levels.
#[derive(Debug, PartialEq)]
struct Step {
    loss: f64,
    raised: Box<[(Reverse<usize>, u8)]>,
}

impl Eq for Step {}

impl Ord for Step {
    /// Reverses the order of losses, so that the heap returns the node with the minimum loss first.
    /// Ties are broken by the order of the levels.
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .loss
            .total_cmp(&self.loss)
            .then_with(|| other.raised.cmp(&self.raised))
    }
}

impl PartialOrd for Step {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The nodes of a lattice in ascending order of loss. The loss of a node is the sum of one loss per
/// column and level.
///
/// Every node except the lowest is reached from exactly one other node, by raising the last raised
/// column or a later one. The loss never falls when a column is raised, so a node comes after the
/// node from which it is reached. The heap contains only reached nodes.
#[derive(Debug)]
pub(super) struct Ascent {
    losses: Vec<Vec<f64>>,
    reached: BinaryHeap<Step>,
}

impl Ascent {
    /// Starts at the lowest node. `losses[column][level]` must not fall as the level rises.
    pub(super) fn new(losses: Vec<Vec<f64>>) -> Self {
        let mut ascent = Self {
            losses,
            reached: BinaryHeap::new(),
        };
        ascent.reach(Box::default());
        ascent
    }

    /// Returns the levels of all columns, given the raised ones.
    fn levels(&self, raised: &[(Reverse<usize>, u8)]) -> Vec<u8> {
        let mut levels = vec![0; self.losses.len()];
        raised
            .iter()
            .for_each(|(Reverse(column), level)| levels[*column] = *level);
        levels
    }

    fn reach(&mut self, raised: Box<[(Reverse<usize>, u8)]>) {
        let levels = self.levels(&raised);
        let losses = self.losses.iter().zip(&levels);
        // Losses are added in column order, so equal levels have equal losses.
        let loss = losses.map(|(losses, level)| losses[usize::from(*level)]).sum();
        self.reached.push(Step { loss, raised });
    }
}

impl Iterator for Ascent {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let node = self.reached.pop()?;
        let last = node.raised.last().map_or(0, |(Reverse(column), _)| *column);
        let levels = self.levels(&node.raised);
        for (column, level) in levels.iter().enumerate().skip(last) {
            let level = level + 1;
            if usize::from(level) < self.losses[column].len() {
                let others = node.raised.iter().filter(|(Reverse(other), _)| *other != column);
                self.reach(others.copied().chain([(Reverse(column), level)]).collect());
            }
        }
        Some(levels)
    }
}

/// The outcome of a walk.
pub(super) struct Walked {
    /// The classes that satisfy the models. Each class was released at the first node at which it
    /// satisfies them.
    pub(super) classes: Vec<PeeledClass>,
    /// The combinations in no class.
    pub(super) left: Vec<u32>,
    /// The reason why the walk stopped early; `None` if it finished.
    pub(super) stopped: Option<Stop>,
}

/// The combinations in no class yet, with their keys.
struct Left {
    combinations: Vec<u32>,
    keys: Vec<u64>,
}

impl Left {
    fn new(space: &Space, combinations: Vec<u32>) -> Self {
        let layout = space.schema.layout();
        let mut keys = vec![0u64; combinations.len() * layout.words()];
        for column in 0..space.columns() {
            let codes: Vec<u32> = combinations.iter().map(|c| space.codes(*c)[column]).collect();
            layout.pack_column(column, &codes, &mut keys);
        }
        Self { combinations, keys }
    }

    /// Keeps the combinations at the positions for which `kept` returns true.
    fn keep(&mut self, words: usize, kept: impl Fn(usize) -> bool) {
        let positions: Vec<usize> = (0..self.combinations.len())
            .filter(|position| kept(*position))
            .collect();
        self.keys = positions
            .iter()
            .flat_map(|p| &self.keys[p * words..(p + 1) * words])
            .copied()
            .collect();
        self.combinations = positions.iter().map(|position| self.combinations[*position]).collect();
    }
}

/// Walks the lattice until the remaining combinations can form no class that satisfies the models,
/// or until a bound is reached. Each released class removes its combinations from the walk.
pub(super) fn walk(space: &Space, combinations: Vec<u32>, bounds: WalkBounds, context: &Context) -> Walked {
    let ascent = Ascent::new(space.losses_by_level(&combinations));
    let mut left = Left::new(space, combinations);
    let (mut classes, mut stopped): (Vec<PeeledClass>, _) = (vec![], None);
    let (mut nodes, mut patience, mut cost) = (0, bounds.patience, 0.0);
    let mut rows: u64 = left.combinations.iter().map(|c| space.rows(*c)).sum();
    let bottom: Vec<u8> = space.table.columns().iter().map(|column| column.bottom).collect();
    for levels in ascent {
        nodes += 1;
        stopped = context.check(nodes).err();
        let cells = ((left.combinations.len() + space.columns()) * space.columns()) as u64;
        let is_done = left.combinations.is_empty() || rows < space.table.least_rows() || cost >= bounds.most;
        if stopped.is_some() || is_done || patience < cells {
            break;
        }
        space.worked(left.combinations.len() + space.columns());
        let node = Node::new(
            levels
                .iter()
                .zip(&bottom)
                .map(|(level, bottom)| level + bottom)
                .collect(),
        );
        let released = released(space, &node, &mut left);
        patience = if released.is_empty() {
            patience - cells
        } else {
            bounds.patience
        };
        rows -= released.iter().map(|class| class.rows).sum::<u64>();
        cost += released.iter().map(PeeledClass::cost).sum::<f64>();
        classes.extend(released);
    }
    Walked {
        classes,
        left: left.combinations,
        stopped,
    }
}

/// Groups the remaining combinations at one node, and removes the classes that satisfy the models.
fn released(space: &Space, node: &Node, left: &mut Left) -> Vec<PeeledClass> {
    let (schema, keys) = (&space.schema, &left.keys);
    let words = schema.layout().words();
    let groups = group(words, left.combinations.len(), |range| {
        let keys = &keys[range.start * words..range.end * words];
        schema.generalize(keys, schema.ground(), node).into()
    });
    let mut rows = vec![0u64; groups.keys.len() / words];
    for (combination, group) in left.combinations.iter().zip(&groups.groups) {
        rows[*group as usize] += space.rows(*combination);
    }
    let least = space.table.least_rows();
    if rows.iter().all(|rows| *rows < least) {
        return vec![];
    }
    let mut members: Vec<Vec<u32>> = vec![vec![]; rows.len()];
    for (combination, group) in left.combinations.iter().zip(&groups.groups) {
        if rows[*group as usize] >= least {
            members[*group as usize].push(*combination);
        }
    }
    let may_hold = |(members, rows): (&Vec<u32>, &u64)| !members.is_empty() && space.may_hold(members, *rows);
    let holds: Vec<bool> = members.iter().zip(&rows).map(may_hold).collect();
    left.keep(words, |position| !holds[groups.groups[position] as usize]);
    let released = members.into_iter().zip(holds).filter(|(_, holds)| *holds);
    released.map(|(members, _)| space.class(members)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::partition::ranges::Ranges;
    use crate::method::partition::testing::{Toy, column};
    use crate::method::search::SearchBudget;
    use proptest::prelude::*;

    proptest! {
        /// Every node comes exactly once, and never before a node with a lower loss.
        #[test]
        fn nodes_ascend(steps in prop::collection::vec(prop::collection::vec(0u8..4, 0..4), 1..5)) {
            let ladder = |steps: &Vec<u8>| {
                let mut loss = 0.0;
                let rest = steps.iter().map(|step| { loss += f64::from(*step); loss });
                std::iter::once(0.0).chain(rest.collect::<Vec<f64>>()).collect::<Vec<f64>>()
            };
            let losses: Vec<Vec<f64>> = steps.iter().map(ladder).collect();
            let loss = |node: &Vec<u8>| losses.iter().zip(node).map(|(l, n)| l[usize::from(*n)]).sum::<f64>();
            let nodes: Vec<Vec<u8>> = Ascent::new(losses.clone()).collect();
            prop_assert!(nodes.is_sorted_by(|a, b| loss(a) <= loss(b)));
            let mut distinct = nodes.clone();
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert_eq!(distinct.len(), nodes.len());
            prop_assert_eq!(nodes.len(), losses.iter().map(Vec::len).product::<usize>());
        }
    }

    /// In a lattice of 2,000 columns, each of thousands of reached nodes stores only its few raised
    /// columns.
    #[test]
    fn what_is_reached_takes_little_memory() {
        let mut ascent = Ascent::new(
            (0..2_000)
                .map(|column| vec![0.0, 1.0 + f64::from(column), 1e6])
                .collect(),
        );
        let nodes: Vec<Vec<u8>> = ascent.by_ref().take(20).collect();
        assert!(nodes.iter().all(|levels| levels.len() == 2_000));
        assert!(ascent.reached.len() > 20_000);
        let most = ascent.reached.iter().map(|step| step.raised.len()).max();
        assert!(most <= Some(6), "{most:?}");
    }

    /// The values 0 and 1 are in group a, and 2 and 3 in group b. The value 0 satisfies the model
    /// at level 0. The values 2 and 3 satisfy it together as group b. The value 1 remains.
    #[test]
    fn a_class_is_released_where_it_first_holds() {
        let combinations = [(0, 3), (1, 1), (2, 2), (3, 1)];
        let toy = Toy {
            columns: vec![column(&["a", "a", "b", "b"], false)],
            combinations: combinations
                .iter()
                .map(|(code, rows)| (vec![*code], vec![*rows]))
                .collect(),
            k: 3,
            suppressible: 0,
            asks: false,
        };
        let space = Space::new(
            &toy,
            Ranges {
                by_hierarchy: true,
                asked: false,
                exact: true,
            },
        );
        let walked = walk(
            &space,
            vec![0, 1, 2, 3],
            WalkBounds::WHOLE,
            &Context::new(0, SearchBudget::default()),
        );
        let members: Vec<Vec<u32>> = walked.classes.into_iter().map(|class| class.members).collect();
        assert_eq!((members, walked.left), (vec![vec![0], vec![2, 3]], vec![1]));
        let none = SearchBudget {
            max_nodes: Some(1),
            ..SearchBudget::default()
        };
        let walked = walk(&space, vec![0, 1, 2, 3], WalkBounds::WHOLE, &Context::new(0, none));
        assert_eq!((walked.classes.len(), walked.left), (1, vec![1, 2, 3]));
        assert!(matches!(walked.stopped, Some(Stop::NodeLimit)));
    }
}
