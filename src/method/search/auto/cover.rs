//! The search of a lattice that fits in memory. Every node has a lower bound, which is raised until
//! no node is open.

use super::guess::Guess;
use crate::method::lattice::Node;
use crate::method::search::context::{Context, Stop};
use crate::method::search::oracle::{Assessment, Oracle};
use rand::RngExt;
use std::collections::HashSet;

/// The size of the sample of open nodes from which the usefulness of an assessment is estimated.
const SAMPLE: usize = 1024;
/// The number of sampled nodes from which the climb to the most useful node starts.
const STARTS: usize = 4;
/// The number of failed attempts to improve the incumbent after which attempts become rare, and the
/// number of steps between two rare attempts.
const PATIENCE: (u32, u32) = (3, 10);
/// The number of nodes assessed together if the order matters little.
const BATCH: usize = 8;

/// The state of one run. The bounds are stored by the index of the node in the lattice.
pub(super) struct CoverRun<'a> {
    oracle: &'a dyn Oracle,
    context: &'a mut Context,
    strides: Vec<usize>,
    /// For each node: a lower bound on the cost of the node without suppression.
    lower: Vec<f64>,
    /// For each node: a lower bound on the excess, the cost beyond `lower`.
    excess: Vec<f64>,
    /// For each node: false if the node cannot win or is assessed.
    open: Vec<bool>,
    assessed: Vec<bool>,
    /// The indices of every open node, and of some closed nodes that are not removed yet.
    left: Vec<u32>,
    sample: Vec<Sampled>,
    guess: Guess,
    /// The number of assessed nodes at which the proven bound is computed again.
    next_bound: u64,
}

/// An open node, with the excess and the floor that would exclude it, on the scales of [`Guess`].
struct Sampled {
    index: usize,
    levels: Box<[u8]>,
    packed: Packed,
    excess_needed: f64,
    floor_needed: f64,
}

impl<'a> CoverRun<'a> {
    pub(super) fn new(oracle: &'a dyn Oracle, context: &'a mut Context) -> Self {
        let lattice = oracle.lattice();
        let size = lattice.size() as usize;
        let mut strides = vec![1; lattice.width()];
        for i in (1..lattice.width()).rev() {
            strides[i - 1] = strides[i] * (usize::from(lattice.top().level(i) - lattice.bottom().level(i)) + 1);
        }
        Self {
            strides,
            lower: lattice.iter().map(|n| oracle.bound(&n, 0)).collect(),
            excess: vec![0.0; size],
            open: vec![true; size],
            assessed: vec![false; size],
            left: (0..size as u32).collect(),
            sample: vec![],
            guess: Guess::new(oracle),
            next_bound: 0,
            oracle,
            context,
        }
    }

    /// Runs until every node is assessed or excluded. If the budget runs out first, the context
    /// contains the proven bound.
    pub(super) fn finish(&mut self) -> Result<(), Stop> {
        let end = match self.oracle.is_monotone() || self.oracle.excess_is_monotone() {
            true => self.cover(),
            false => self.best_first(),
        };
        self.prove();
        end
    }

    /// Records the bound proven so far: the minimum of the bounds of all open nodes and the cost of
    /// the incumbent.
    fn prove(&mut self) {
        let open = (0..self.open.len()).filter(|&x| self.open[x]).map(|x| self.bound(x));
        let least = open.fold(f64::INFINITY, f64::min);
        self.context.prove(least.min(self.best()));
    }

    /// Assesses nodes in ascending order of their bounds. This order is used if the assessment of a
    /// node implies nothing about the nodes below.
    fn best_first(&mut self) -> Result<(), Stop> {
        let mut order = std::mem::take(&mut self.left);
        order.sort_by(|&a, &b| self.lower[a as usize].total_cmp(&self.lower[b as usize]));
        let mut nodes = order.into_iter().map(|x| x as usize);
        loop {
            let mut batch = vec![];
            for x in nodes.by_ref() {
                self.context.check(0)?;
                self.open[x] &= !self.is_beaten(x);
                if self.open[x] {
                    batch.push(x);
                }
                if batch.len() == BATCH {
                    break;
                }
            }
            if batch.is_empty() {
                return Ok(());
            }
            self.assess(&batch)?;
        }
    }

    /// Assesses nodes one by one: mostly the node that is expected to exclude most nodes, and
    /// sometimes the node with the minimum expected cost. This order is used if the assessment of a
    /// node can exclude all nodes below.
    fn cover(&mut self) -> Result<(), Stop> {
        self.assess(&[0])?;
        let (mut turn, mut failures) = (0u32, 0);
        loop {
            self.context.check(0)?;
            self.draw();
            if self.sample.is_empty() {
                return Ok(());
            }
            turn = turn.wrapping_add(1);
            let looks = if failures < PATIENCE.0 {
                turn % 2 == 0
            } else {
                turn % PATIENCE.1 == 0
            };
            let best = self.best();
            let next = if looks {
                self.most_promising()
            } else {
                self.most_useful()
            };
            self.assess(&[next])?;
            if self.best() < best {
                failures = 0;
            } else if looks {
                failures += 1;
            }
        }
    }

    /// Fills the sample with open nodes. Takes all open nodes if there are few.
    fn draw(&mut self) {
        let mut sample = std::mem::take(&mut self.sample);
        sample.retain(|s| self.open[s.index] && !self.is_beaten(s.index));
        if sample.len() < SAMPLE * 3 / 4 {
            let mut drawn: HashSet<usize> = sample.iter().map(|s| s.index).collect();
            let mut misses = 0;
            while sample.len() < SAMPLE && misses < 8 * SAMPLE && !self.left.is_empty() {
                let at = self.context.rng.random_range(0..self.left.len());
                let index = self.left[at] as usize;
                if !self.open[index] || self.is_beaten(index) {
                    self.open[index] = false;
                    self.left.swap_remove(at);
                } else if drawn.insert(index) {
                    let levels: Box<[u8]> = self.node(index).levels().into();
                    let packed = Packed::new(&levels);
                    sample.push(Sampled {
                        index,
                        levels,
                        packed,
                        excess_needed: 0.0,
                        floor_needed: 0.0,
                    });
                } else {
                    misses += 1;
                }
            }
        }
        let best = self.best();
        for s in &mut sample {
            s.excess_needed = self.guess.excess_scale(best - self.lower[s.index]);
            s.floor_needed = (best - self.excess[s.index]).max(f64::MIN_POSITIVE).ln();
        }
        self.sample = sample;
    }

    /// Climbs from some sampled nodes to the node whose assessment is expected to exclude the most
    /// sampled nodes, and returns it.
    fn most_useful(&self) -> usize {
        let climb = |s| self.climb(s, |x| !self.assessed[x], |levels, x| self.usefulness(levels, x));
        let found = self.sample.iter().take(STARTS).map(climb);
        let best = found.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        best.map_or(0, |(_, index)| index)
    }

    /// Climbs from the best sampled node to the open node with the minimum expected cost, and
    /// returns it.
    fn most_promising(&self) -> usize {
        let ranked = self.sample.iter().map(|s| (self.promise(&s.levels, s.index), s));
        let best = ranked.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.index.cmp(&a.1.index)));
        best.map_or(0, |(_, s)| {
            self.climb(s, |x| self.open[x], |levels, x| self.promise(levels, x)).1
        })
    }

    /// Steps from neighbour to neighbour while the value of `worth` grows. Returns the worth and
    /// the index of the last node.
    fn climb(
        &self,
        start: &Sampled,
        can_go: impl Fn(usize) -> bool,
        worth: impl Fn(&[u8], usize) -> f64,
    ) -> (f64, usize) {
        let lattice = self.oracle.lattice();
        let (mut levels, mut index) = (start.levels.to_vec(), start.index);
        let mut reached = worth(&levels, index);
        loop {
            let mut step: Option<(f64, usize, u8, usize)> = None;
            for i in 0..levels.len() {
                let level = levels[i];
                let up = (level < lattice.top().level(i)).then(|| (level + 1, index + self.strides[i]));
                let down = (level > lattice.bottom().level(i)).then(|| (level - 1, index - self.strides[i]));
                for (next, at) in up.into_iter().chain(down).filter(|(_, at)| can_go(*at)) {
                    levels[i] = next;
                    let found = worth(&levels, at);
                    if found > step.map_or(reached, |s| s.0) {
                        step = Some((found, i, next, at));
                    }
                }
                levels[i] = level;
            }
            let Some((found, i, next, at)) = step else {
                return (reached, index);
            };
            (reached, index) = (found, at);
            levels[i] = next;
        }
    }

    /// Returns the number of sampled nodes that an assessment of this node is expected to exclude.
    fn usefulness(&self, levels: &[u8], index: usize) -> f64 {
        let limit = self
            .guess
            .suppressed_scale(self.oracle.suppression_limit() as f64 + 0.5);
        let fails = match self.oracle.is_monotone() && self.oracle.suppression_limit() < self.oracle.rows() {
            true => self.guess.suppressed(levels).reaches(limit),
            false => 0.0,
        };
        let excess = self.oracle.excess_is_monotone().then(|| self.guess.excess(levels));
        let floor = self.guess.floors_tell().then(|| self.guess.floor(levels));
        let packed = Packed::new(levels);
        let worth = |s: &Sampled| {
            if s.index == index {
                1.0
            } else if s.packed.is_below(packed) {
                excess.map_or(fails, |e| fails.max(e.reaches(s.excess_needed)))
            } else {
                floor
                    .filter(|_| packed.is_below(s.packed))
                    .map_or(0.0, |f| f.reaches(s.floor_needed))
            }
        };
        self.sample.iter().map(worth).sum()
    }

    /// Returns the negated guessed cost. Nodes that are expected not to be anonymous have the
    /// lowest values.
    fn promise(&self, levels: &[u8], index: usize) -> f64 {
        let limit = self
            .guess
            .suppressed_scale(self.oracle.suppression_limit() as f64 + 0.5);
        let may_fail = self.oracle.suppression_limit() < self.oracle.rows();
        let cost = self.guess.floor_number(levels, self.lower[index]) + self.guess.excess_number(levels);
        match may_fail && self.guess.suppressed(levels).value > limit {
            true => f64::MIN / 2.0 - cost - self.guess.suppressed(levels).value,
            false => -cost,
        }
    }

    fn assess(&mut self, indices: &[usize]) -> Result<(), Stop> {
        let nodes: Vec<Node> = indices.iter().map(|&x| self.node(x)).collect();
        let found = self.context.assess_batch(self.oracle, &nodes)?;
        for ((node, found), &index) in nodes.iter().zip(&found).zip(indices) {
            self.learn(node, found);
            self.open[index] = false;
            self.assessed[index] = true;
        }
        // The bound of a running search serves only for reports, so it is computed rarely.
        if self.context.assessed() >= self.next_bound {
            self.next_bound = self.context.assessed() + 64.max(self.open.len() as u64 / 256);
            self.prove();
        }
        Ok(())
    }

    /// Updates the bounds of the nodes below and above `node` with its assessment.
    fn learn(&mut self, node: &Node, found: &Assessment) {
        self.guess.learn(self.oracle, node, found);
        let lattice = self.oracle.lattice();
        let excess = found.cost() - found.floor;
        if self.oracle.is_monotone() && !found.anonymous {
            self.for_each(lattice.bottom(), node, |s, x| s.open[x] = false);
        } else if self.oracle.excess_is_monotone() && excess.is_finite() {
            self.for_each(lattice.bottom(), node, |s, x| s.excess[x] = s.excess[x].max(excess));
        }
        if found.floor > f64::NEG_INFINITY {
            self.for_each(node, lattice.top(), |s, x| s.lower[x] = s.lower[x].max(found.floor));
        }
    }

    /// Calls `f` for every node between two nodes, both included.
    fn for_each(&mut self, from: &Node, to: &Node, mut f: impl FnMut(&mut Self, usize)) {
        let mut above = vec![0; from.levels().len()];
        let mut x = self.oracle.lattice().index_of(from) as usize;
        loop {
            f(self, x);
            let Some(i) = (0..above.len()).rev().find(|&i| above[i] < to.level(i) - from.level(i)) else {
                return;
            };
            for (level, stride) in above[i + 1..].iter_mut().zip(&self.strides[i + 1..]) {
                x -= usize::from(std::mem::take(level)) * stride;
            }
            above[i] += 1;
            x += self.strides[i];
        }
    }

    fn best(&self) -> f64 {
        self.context.incumbent().map_or(f64::INFINITY, |(_, a)| a.cost())
    }

    fn bound(&self, index: usize) -> f64 {
        self.lower[index] + self.excess[index]
    }

    fn is_beaten(&self, index: usize) -> bool {
        let (bound, best) = (self.bound(index), self.best());
        // The node itself is needed only for a tie.
        bound > best || (bound == best && self.context.cannot_win(bound, &self.node(index)))
    }

    fn node(&self, index: usize) -> Node {
        self.oracle.lattice().node_at(index as u128)
    }
}

/// Up to 32 levels, one byte each, so that all levels are compared in one step. Stored lattices
/// have fewer than 32 free columns. Levels beyond the 32nd, and levels above 127, only make a guess
/// worse.
#[derive(Clone, Copy)]
struct Packed([u128; 2]);

impl Packed {
    const HIGH: u128 = u128::from_ne_bytes([0x80; 16]);

    fn new(levels: &[u8]) -> Self {
        let mut words = [[0u8; 16]; 2];
        for (byte, level) in words.as_flattened_mut().iter_mut().zip(levels) {
            *byte = level & 0x7f;
        }
        Self(words.map(u128::from_le_bytes))
    }

    /// Returns true if every level is at most the same level of `other`: no byte of the difference
    /// borrows its high bit.
    fn is_below(self, other: Self) -> bool {
        let holds = |i: usize| ((other.0[i] | Self::HIGH) - self.0[i]) & Self::HIGH == Self::HIGH;
        holds(0) && holds(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packed_levels_compare_as_nodes_do(pairs in prop::collection::vec((0u8..9, 0u8..9), 1..32), raise: bool) {
            let a: Vec<u8> = pairs.iter().map(|p| p.0).collect();
            let b: Vec<u8> = pairs.iter().map(|p| if raise { p.1.max(p.0) } else { p.1 }).collect();
            let expected = Node::new(a.clone()).is_below_or_equal(&Node::new(b.clone()));
            prop_assert_eq!(Packed::new(&a).is_below(Packed::new(&b)), expected);
        }
    }
}
