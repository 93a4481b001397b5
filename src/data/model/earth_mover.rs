//! Earth mover's distances between the distribution p of a class and the distribution q of the
//! table, as exact fractions.
//!
//! If n of the s rows in a class and c of the N rows in the table have a value, then p - q = (n N -
//! c s) / (s N). So all sums are whole numbers over the denominator s N. Only the values in the
//! class are visited.

use super::sensitive::{Distribution, total};
use crate::base::error::{Error, Result};
use crate::method::hierarchy::Lookup;

/// A non-negative fraction of counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fraction {
    pub(super) numerator: u128,
    pub(super) denominator: u128,
}

/// A ground distance, with the counts of the whole table that its computation needs.
#[derive(Debug)]
pub(super) enum Distance {
    /// All pairs of values have the same distance.
    Categorical { counts: Vec<u64>, total: u64 },
    /// The distance between two values is the difference of their ranks.
    Ordered(Ranks),
    /// The distance between two values is the height of their lowest common ancestor.
    Hierarchical(Tree),
}

impl Distance {
    /// Returns the distance between the table and a class with this histogram of sensitive values.
    pub(super) fn of(&self, histogram: &[(u32, u64)]) -> Fraction {
        match self {
            Distance::Categorical { counts, total: all } => {
                let size = total(histogram);
                let surplus = |(code, n): &(u32, u64)| extra(*n, size, counts[*code as usize], *all).max(0);
                Fraction {
                    numerator: histogram.iter().map(surplus).sum::<i128>().unsigned_abs(),
                    denominator: u128::from(size) * u128::from(*all),
                }
            }
            Distance::Ordered(ranks) => ranks.distance(histogram),
            Distance::Hierarchical(tree) => tree.distance(histogram),
        }
    }
}

/// Returns (p - q) s N for a value with `n` of the `size` rows in the class and `count` of the
/// `all` rows in the table.
fn extra(n: u64, size: u64, count: u64, all: u64) -> i128 {
    i128::from(n) * i128::from(all) - i128::from(count) * i128::from(size)
}

/// The running sums of q, for the ordered distance.
#[derive(Debug)]
pub(super) struct Ranks {
    all: u64,
    /// For each code: the rank of the value, from 0, among the values that occur.
    rank: Vec<usize>,
    /// For each m, from 0: the number of rows with one of the first m values.
    running: Vec<u64>,
    /// For each m, from 0: the sum of the first m running sums.
    summed: Vec<u128>,
}

impl Ranks {
    pub(super) fn new(table: &Distribution) -> Self {
        let (mut rank, mut running, mut summed) = (vec![], vec![0], vec![0]);
        for count in &table.counts {
            rank.push(running.len() - 1);
            if *count > 0 {
                let sum = running[running.len() - 1] + count;
                running.push(sum);
                summed.push(summed[summed.len() - 1] + u128::from(sum));
            }
        }
        Self {
            all: table.total,
            rank,
            running,
            summed,
        }
    }

    /// Returns the mean of |running sum of p - running sum of q| over the steps between adjacent
    /// values.
    ///
    /// Between two adjacent values of the class, the running sum of p is constant and the running
    /// sum of q rises. So the running sum of p is at least that of q in the first part of each
    /// stretch, and smaller in the second part. The sum over each part is a difference of prefix
    /// sums.
    fn distance(&self, histogram: &[(u32, u64)]) -> Fraction {
        let (size, steps) = (total(histogram), self.running.len().saturating_sub(2));
        let mut sum = 0;
        let mut ahead = 0;
        let mut from = 1;
        for (code, n) in histogram {
            let until = self.rank[*code as usize];
            sum += self.stretch(ahead, size, from, until);
            ahead += n;
            from = until + 1;
        }
        sum += self.stretch(ahead, size, from, steps);
        Fraction {
            numerator: sum,
            denominator: u128::from(size) * u128::from(self.all) * (steps as u128).max(1),
        }
    }

    /// Returns the sum of |ahead N - running s| over the steps `from..=until`.
    fn stretch(&self, ahead: u64, size: u64, from: usize, until: usize) -> u128 {
        if from > until {
            return 0;
        }
        let level = u128::from(ahead) * u128::from(self.all);
        let behind = self.running[from..=until].partition_point(|r| u128::from(*r) * u128::from(size) <= level);
        let turn = from + behind;
        let running = |from: usize, until: usize| (self.summed[until] - self.summed[from - 1]) * u128::from(size);
        let before = level * behind as u128 - running(from, turn - 1);
        let after = running(turn, until) - level * (until + 1 - turn) as u128;
        before + after
    }
}

/// The hierarchy of the sensitive attribute, with the counts of the table at every node. It is
/// needed for the hierarchical distance.
#[derive(Debug)]
pub(super) struct Tree {
    all: u64,
    /// For each level from 0 and each ground code: the node that contains the value, identified by
    /// the lowest ground code under the node.
    nodes: Vec<Vec<u32>>,
    /// For each level from 0 and each node: the number of rows of the table under the node.
    counts: Vec<Vec<u64>>,
}

impl Tree {
    pub(super) fn new(table: &Distribution, hierarchy: &Lookup) -> Result<Self> {
        if hierarchy.values().len() != table.counts.len() {
            return Err(Error::internal(format!(
                "the hierarchy of column {} is bound to {} values, not {}",
                table.column,
                hierarchy.values().len(),
                table.counts.len()
            )));
        }
        // The sensitive values are released unchanged, even if a TOP CODE or BOTTOM CODE of the
        // hierarchy hides some of them.
        let values = (0..hierarchy.values().len() as u32).collect();
        let above = hierarchy.levels().iter().skip(1).map(|l| l.representatives.clone());
        let nodes: Vec<Vec<u32>> = std::iter::once(values).chain(above).collect();
        let under = |nodes: &Vec<u32>| {
            let mut rows = vec![0; nodes.len()];
            nodes
                .iter()
                .zip(&table.counts)
                .for_each(|(node, n)| rows[*node as usize] += n);
            rows
        };
        Ok(Self {
            all: table.total,
            counts: nodes.iter().map(under).collect(),
            nodes,
        })
    }

    /// Returns the sum over inner nodes of level / height times the smaller of the total surplus
    /// and the total deficit of the node's children.
    ///
    /// The p - q of a node is the sum of the p - q of its children. So the deficit is the surplus
    /// minus the node's p - q, and only the children in the class are visited. A child outside the
    /// class has no surplus.
    fn distance(&self, histogram: &[(u32, u64)]) -> Fraction {
        let (size, height) = (total(histogram), self.nodes.len() - 1);
        let mut sum = 0;
        let mut children = histogram.to_vec();
        for level in 1..=height {
            let parent = |child: u32| self.nodes[level][child as usize];
            children.sort_unstable_by_key(|(child, _)| parent(*child));
            let mut parents: Vec<(u32, u64)> = vec![];
            for siblings in children.chunk_by(|a, b| parent(a.0) == parent(b.0)) {
                let node = parent(siblings[0].0);
                let rows = siblings.iter().map(|(_, n)| n).sum();
                let below = &self.counts[level - 1];
                let surplus: i128 = siblings
                    .iter()
                    .map(|(child, n)| extra(*n, size, below[*child as usize], self.all).max(0))
                    .sum();
                let deficit = surplus - extra(rows, size, self.counts[level][node as usize], self.all);
                sum += level as u128 * surplus.min(deficit).unsigned_abs();
                parents.push((node, rows));
            }
            children = parents;
        }
        Fraction {
            numerator: sum,
            denominator: u128::from(size) * u128::from(self.all) * (height as u128).max(1),
        }
    }
}
