//! The search of a lattice too large to store: best-first branch and bound over boxes.
//!
//! A box consists of all nodes between two nodes. The bound of a box is the bound of its most
//! specific node without suppression, plus the excess of the most general node assessed at or above
//! the box. The minimum bound of all boxes is also a bound for the whole lattice. The box with this
//! bound is cut in two, at the column and level that are expected to give the halves the best
//! bounds. Two nodes are then assessed: the most general node of the lower half and the most
//! specific node of the upper half. Between these cuts, steps from random nodes lead to a node with
//! a low expected cost.
//!
//! The time limit is checked within each step, because one choice among thousands of columns takes
//! long. For the same reason, a step in a wide lattice chooses among a few columns at a time, not
//! among all columns.

use super::guess::Guess;
use crate::method::lattice::Node;
use crate::method::search::algorithm::Finding;
use crate::method::search::context::{Context, Stop};
use crate::method::search::oracle::Oracle;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The maximum number of boxes plus remembered nodes, in a lattice of fewer than [`WIDE`] columns.
/// A box or node then takes some hundreds of bytes. With more columns, a box or node takes more
/// memory, so the maximum is lower.
const MEMORY: usize = 1 << 21;
/// A lattice with more than `WIDE` columns is wide.
const WIDE: usize = 64;
/// The number of columns among which a step in a wide lattice chooses at a time.
const FEW: usize = 4;
/// The number of cuts between two attempts to improve the incumbent: first during the early cuts,
/// then during all later cuts.
const LOOKS: (u64, u64) = (2, 8);
/// The number of cuts that count as early.
const EARLY: u64 = 256;
/// The number of random nodes from which an attempt starts.
const PLACES: usize = 8;

/// A box: all nodes from `bottom` to `top`. The bound of the box is `lower`, the bound of its
/// bottom without suppression, plus `excess`, a lower bound on the excess of every node in the box.
struct Region {
    bottom: Node,
    top: Node,
    lower: f64,
    excess: f64,
}

impl Region {
    fn bound(&self) -> f64 {
        self.lower + self.excess
    }
}

// Reverses the order of bounds, so that the heap returns the box with the minimum bound first. Ties
// are broken by the order of the nodes.
impl Ord for Region {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_bound = other.bound().total_cmp(&self.bound());
        by_bound.then_with(|| (&other.bottom, &other.top).cmp(&(&self.bottom, &self.top)))
    }
}

impl PartialOrd for Region {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Region {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Region {}

/// The state of one run.
pub(super) struct Boxes<'a> {
    oracle: &'a dyn Oracle,
    context: &'a mut Context,
    guess: Guess,
    heap: BinaryHeap<Region>,
}

impl<'a> Boxes<'a> {
    pub(super) fn new(oracle: &'a dyn Oracle, context: &'a mut Context) -> Self {
        Self {
            oracle,
            context,
            guess: Guess::new(oracle),
            heap: BinaryHeap::new(),
        }
    }

    /// Runs until no box is left or memory is full. If memory is full, the returned bound limits
    /// the distance of the incumbent from the optimum.
    pub(super) fn finish(&mut self) -> Result<Finding, Stop> {
        let (bottom, top) = (
            self.oracle.lattice().bottom().clone(),
            self.oracle.lattice().top().clone(),
        );
        self.context.prove(self.oracle.bound(&bottom, 0));
        let Some(whole) = self.assessed_corners(bottom, top, f64::NEG_INFINITY, 0.0)? else {
            return Ok(Finding::OPTIMAL);
        };
        self.heap.push(whole);
        let mut steps = 0;
        let memory = MEMORY / (1 + self.oracle.lattice().width() / WIDE);
        while let Some(next) = self.heap.pop() {
            self.context.check(0)?;
            if self.context.cannot_win(next.bound(), &next.bottom) {
                continue;
            }
            self.context.prove(next.bound());
            if self.heap.len() + self.context.remembered() > memory {
                return Ok(Finding { bound: next.bound() });
            }
            self.split(&next)?;
            steps += 1;
            if steps % if steps < EARLY { LOOKS.0 } else { LOOKS.1 } == 0 {
                self.look()?;
            }
        }
        Ok(Finding::OPTIMAL)
    }

    fn split(&mut self, parent: &Region) -> Result<(), Stop> {
        let Some((position, level)) = self.cut(parent)? else {
            return Ok(());
        };
        let top = parent.top.with_level(position, level);
        let bottom = parent.bottom.with_level(position, level + 1);
        let halves = [(parent.bottom.clone(), top), (bottom, parent.top.clone())];
        let corners = [halves[0].1.clone(), halves[1].0.clone()];
        self.assess(&corners)?;
        for (bottom, top) in halves {
            if let Some(half) = self.assessed_corners(bottom, top, parent.lower, parent.excess)? {
                self.heap.push(half);
            }
        }
        Ok(())
    }

    /// Assesses two nodes and returns the box between them; `None` if no further node in the box
    /// can win.
    fn assessed_corners(&mut self, bottom: Node, top: Node, lower: f64, excess: f64) -> Result<Option<Region>, Stop> {
        let found = self.assess(&[bottom.clone(), top.clone()])?;
        let single = bottom.height() + 1 >= top.height();
        let fails = self.oracle.is_monotone() && !found[1].anonymous;
        if single || fails {
            // Either the box has no nodes besides the two, or the most general node fails and
            // therefore all nodes fail.
            return Ok(None);
        }
        let above = found[1].cost() - found[1].floor;
        let above = if self.oracle.excess_is_monotone() && above.is_finite() {
            above
        } else {
            0.0
        };
        let lower = lower.max(found[0].floor).max(self.oracle.bound(&bottom, 0));
        let made = Region {
            lower,
            excess: excess.max(above),
            bottom,
            top,
        };
        Ok((!self.context.cannot_win(made.bound(), &made.bottom)).then_some(made))
    }

    /// Returns the cut of a box: the index of a column, and the highest level of this column in the
    /// lower half. The cut maximizes the lower of the two expected bounds of the halves. Returns
    /// `None` if the box is a single node.
    fn cut(&self, parent: &Region) -> Result<Option<(usize, u8)>, Stop> {
        let mut best: Option<((f64, f64), usize, u8)> = None;
        for i in 0..parent.bottom.levels().len() {
            self.context.check(0)?;
            for level in parent.bottom.level(i)..parent.top.level(i) {
                let top = parent.top.with_level(i, level);
                let bottom = parent.bottom.with_level(i, level + 1);
                let below = parent.lower + parent.excess.max(self.guess.excess_number(top.levels()));
                let apriori = self.oracle.bound(&bottom, 0).max(parent.lower);
                let above = self.guess.floor_number(bottom.levels(), apriori) + parent.excess;
                let worth = (below.min(above), below.max(above));
                if best.is_none_or(|b| worth.0.total_cmp(&b.0.0).then(worth.1.total_cmp(&b.0.1)).is_gt()) {
                    best = Some((worth, i, level));
                }
            }
        }
        Ok(best.map(|(_, i, level)| (i, level)))
    }

    /// Steps from random nodes and from the incumbent, and assesses the reached node with the
    /// minimum expected cost.
    fn look(&mut self) -> Result<(), Stop> {
        let lattice = self.oracle.lattice();
        let mut places: Vec<Node> = (0..PLACES).map(|_| lattice.sample(&mut self.context.rng)).collect();
        places.extend(self.context.incumbent().map(|(n, _)| n.clone()));
        let mut best: Option<(f64, Node)> = None;
        for node in places {
            let (cost, node) = self.settled(node)?;
            if cost < f64::INFINITY && best.as_ref().is_none_or(|b| cost < b.0) {
                best = Some((cost, node));
            }
        }
        if let Some((_, node)) = best {
            self.assess(&[node])?;
        }
        Ok(())
    }

    /// Steps to the neighbour with the minimum expected cost until no neighbour is expected to cost
    /// less. In a wide lattice, chooses among a few columns at a time.
    fn settled(&self, mut node: Node) -> Result<(f64, Node), Stop> {
        let (bottom, top) = (self.oracle.lattice().bottom(), self.oracle.lattice().top());
        let columns: Vec<usize> = (0..top.levels().len())
            .filter(|i| bottom.level(*i) < top.level(*i))
            .collect();
        let few = if columns.len() <= WIDE {
            columns.len().max(1)
        } else {
            FEW
        };
        let mut cost = self.expected_cost(&node);
        loop {
            let before = cost;
            for columns in columns.chunks(few) {
                self.context.check(0)?;
                let up = columns.iter().filter(|i| node.level(**i) < top.level(**i));
                let up = up.map(|i| node.with_level(*i, node.level(*i) + 1));
                let down = columns.iter().filter(|i| node.level(**i) > bottom.level(**i));
                let down = down.map(|i| node.with_level(*i, node.level(*i) - 1));
                let ranked = up.chain(down).map(|n| (self.expected_cost(&n), n));
                match ranked.min_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1))) {
                    Some((less, next)) if less < cost => (cost, node) = (less, next),
                    _ => {}
                }
            }
            if cost >= before {
                return Ok((cost, node));
            }
        }
    }

    /// Returns the expected cost of a node. The cost is infinite for an assessed node, so that the
    /// node is not chosen again.
    fn expected_cost(&self, node: &Node) -> f64 {
        if self.context.recall(node).is_some() {
            return f64::INFINITY;
        }
        let levels = node.levels();
        let suppressed = self.guess.suppressed(levels).value;
        let limit = self
            .guess
            .suppressed_scale(self.oracle.suppression_limit() as f64 + 0.5);
        let cost = self.guess.floor_number(levels, self.oracle.bound(node, 0)) + self.guess.excess_number(levels);
        match self.oracle.suppression_limit() < self.oracle.rows() && suppressed > limit {
            true => f64::MAX / 2.0 * (1.0 - 1.0 / (2.0 + suppressed - limit)),
            false => cost,
        }
    }

    fn assess(&mut self, nodes: &[Node]) -> Result<Vec<super::super::Assessment>, Stop> {
        let fresh: Vec<bool> = nodes.iter().map(|n| self.context.recall(n).is_none()).collect();
        let found = self.context.assess(self.oracle, nodes)?;
        for ((node, found), _) in nodes.iter().zip(&found).zip(fresh).filter(|(_, fresh)| *fresh) {
            self.guess.learn(self.oracle, node, found);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::Result as Answer;
    use crate::method::lattice::Lattice;
    use crate::method::search::testing::Toy;
    use crate::method::search::{Assessment, Counters, SearchBudget};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    /// An oracle that ends the search after `ends_at` requests for a bound.
    struct Ending {
        toy: Toy,
        asked: AtomicU64,
        ends_at: u64,
        end: Arc<AtomicBool>,
    }

    impl Oracle for Ending {
        fn lattice(&self) -> &Lattice {
            self.toy.lattice()
        }

        fn assess(&self, nodes: &[Node]) -> Answer<Vec<Assessment>> {
            self.toy.assess(nodes)
        }

        fn bound(&self, node: &Node, suppressed: u64) -> f64 {
            let asked = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
            self.end.fetch_or(asked >= self.ends_at, Ordering::Relaxed);
            self.toy.bound(node, suppressed)
        }

        fn is_monotone(&self) -> bool {
            self.toy.is_monotone()
        }

        fn suppression_is_monotone(&self) -> bool {
            self.toy.suppression_is_monotone()
        }

        fn excess_is_monotone(&self) -> bool {
            self.toy.excess_is_monotone()
        }

        fn distinct_values(&self, position: usize, level: u8) -> u64 {
            self.toy.distinct_values(position, level)
        }

        fn rows(&self) -> u64 {
            self.toy.rows()
        }

        fn suppression_limit(&self) -> u64 {
            self.toy.suppression_limit()
        }

        fn counters(&self) -> Counters {
            self.toy.counters()
        }
    }

    /// A search requests only a few more bounds after its time is up, at any step and with any
    /// number of columns.
    #[test]
    fn it_ends_at_once_in_a_lattice_of_any_width() {
        for width in [60, 128, 400] {
            for ends_at in [1, 100, 1_000, 3_000, 10_000, 30_000] {
                let oracle = Ending {
                    toy: Toy::wide(width),
                    asked: AtomicU64::new(0),
                    ends_at,
                    end: Arc::default(),
                };
                let budget = SearchBudget {
                    interrupt: Arc::clone(&oracle.end),
                    ..SearchBudget::default()
                };
                let mut context = Context::new(7, budget);
                let end = Boxes::new(&oracle, &mut context).finish();
                assert!(matches!(end, Err(Stop::Interrupted)), "{width} {ends_at}");
                let more = oracle.asked.load(Ordering::Relaxed) - ends_at;
                let at_once = if width <= WIDE { 2 * width } else { 2 * FEW };
                assert!(more <= at_once as u64 + 8, "{width} {ends_at}: {more}");
            }
        }
    }
}
