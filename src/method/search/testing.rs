//! A small oracle over random tables, used to test every search.
//!
//! The oracle implements the definitions by plain loops over rows, and shares no code with the
//! evaluator of the engine. All costs are whole numbers, so floors and bounds are exact, and ties
//! are real ties.

use super::context::by_cost;
use super::{Assessment, Context, Counters, Finding, Oracle, SearchBudget, Stop};
use crate::base::catalogue::Call;
use crate::base::error::Result;
use crate::method::lattice::{Lattice, Node};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};

/// The metric that the toy minimizes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Metric {
    /// Discernibility.
    Dm,
    /// General loss in leaves, not normalized.
    Loss,
    /// The sum of levels.
    Height,
    /// An arbitrary number per node, without floor and bound.
    Arbitrary,
}

/// The model that decides which classes are released.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Model {
    /// The class has at least k rows: monotone for any suppression limit.
    Size,
    /// The class has at least k rows and its size is not a multiple of 3. Never monotone.
    OddSize,
}

/// A random table with its hierarchies, and one request over it.
#[derive(Debug)]
pub struct Toy {
    lattice: Lattice,
    rows: Vec<Vec<u8>>,
    /// For each column and level: the generalized code of each ground value.
    hierarchies: Vec<Vec<Vec<u8>>>,
    pub k: u64,
    pub limit: u64,
    pub metric: Metric,
    pub model: Model,
    /// True if the evaluation of a node ends as soon as the node is known not to be anonymous.
    pub excludes: bool,
    evaluated: AtomicU64,
}

impl Clone for Toy {
    fn clone(&self) -> Self {
        Self {
            lattice: self.lattice.clone(),
            rows: self.rows.clone(),
            hierarchies: self.hierarchies.clone(),
            evaluated: AtomicU64::new(0),
            ..*self
        }
    }
}

impl Toy {
    fn code(&self, row: &[u8], node: &Node, i: usize) -> u8 {
        self.hierarchies[i][usize::from(node.level(i))][usize::from(row[i])]
    }

    /// Returns the number of leaves of hierarchy `i` in the group of `value` at `level`, minus one.
    fn cell_loss(&self, i: usize, level: u8, value: u8) -> u64 {
        let codes = &self.hierarchies[i][usize::from(level)];
        codes.iter().filter(|c| **c == codes[usize::from(value)]).count() as u64 - 1
    }

    fn row_loss(&self, row: &[u8], node: &Node) -> u64 {
        (0..row.len()).map(|i| self.cell_loss(i, node.level(i), row[i])).sum()
    }

    fn row_loss_suppressed(&self) -> u64 {
        self.hierarchies.iter().map(|h| h[0].len() as u64 - 1).sum()
    }

    /// Returns every class of a node as a list of its rows.
    fn classes(&self, node: &Node) -> Vec<Vec<&[u8]>> {
        let mut classes: BTreeMap<Vec<u8>, Vec<&[u8]>> = BTreeMap::new();
        for row in &self.rows {
            let key = (0..row.len()).map(|i| self.code(row, node, i)).collect();
            classes.entry(key).or_default().push(row);
        }
        classes.into_values().collect()
    }

    fn holds(&self, size: u64) -> bool {
        size >= self.k && (self.model == Model::Size || !size.is_multiple_of(3))
    }

    /// Returns the minimum class size after the smallest classes are suppressed within the
    /// suppression limit.
    fn reached_k(&self, node: &Node) -> u64 {
        let mut sizes: Vec<u64> = self.classes(node).iter().map(|c| c.len() as u64).collect();
        sizes.sort_unstable();
        let mut gone = 0;
        for size in sizes {
            gone += size;
            if gone > self.limit {
                return size;
            }
        }
        self.rows.len() as u64
    }

    fn evaluate(&self, node: &Node) -> Assessment {
        let n = self.rows.len() as u64;
        let (mut dm, mut floor_dm, mut loss, mut floor_loss, mut suppressed, mut kept) = (0, 0, 0, 0, 0, 0);
        for class in self.classes(node) {
            let f = class.len() as u64;
            let l: u64 = class.iter().map(|r| self.row_loss(r, node)).sum();
            floor_dm += f * f;
            floor_loss += l;
            if self.holds(f) {
                kept += 1;
                dm += f * f;
                loss += l;
            } else {
                suppressed += f;
                dm += f * n;
                loss += f * self.row_loss_suppressed();
            }
        }
        let (cost, floor) = match self.metric {
            Metric::Dm => (dm as f64, floor_dm as f64),
            Metric::Loss => (loss as f64, floor_loss as f64),
            Metric::Height => (f64::from(node.height()), f64::from(node.height())),
            Metric::Arbitrary => ((self.lattice.index_of(node) * 7919 % 31) as f64, f64::NEG_INFINITY),
        };
        let costs = vec![cost, loss as f64, -(self.reached_k(node) as f64), suppressed as f64];
        Assessment {
            anonymous: suppressed <= self.limit,
            suppressed,
            classes: kept,
            costs,
            floor,
        }
    }

    /// Returns a table of `columns` columns, each with two levels above level 0. In every column,
    /// each row shares its value with one other row.
    pub fn wide(columns: usize) -> Self {
        let rows: Vec<Vec<u8>> = (0..8usize)
            .map(|row| (0..columns).map(|i| ((row + i) / 2 % 4) as u8).collect())
            .collect();
        Self {
            lattice: Lattice::new(Node::new(vec![0; columns]), Node::new(vec![2; columns])),
            rows,
            hierarchies: vec![vec![vec![0, 1, 2, 3], vec![0, 0, 2, 2], vec![0; 4]]; columns],
            k: 4,
            limit: 0,
            metric: Metric::Height,
            model: Model::Size,
            excludes: false,
            evaluated: AtomicU64::new(0),
        }
    }

    /// Returns the best anonymous node, found by assessing all nodes.
    pub fn optimum(&self) -> Option<(Node, f64)> {
        self.lattice
            .iter()
            .map(|n| (self.evaluate(&n), n))
            .filter(|(a, _)| a.anonymous)
            .min_by(|(a, n), (b, m)| by_cost((a, n), (b, m)))
            .map(|(a, n)| (n, a.cost()))
    }

    /// Returns the exact assessment of `node`.
    pub fn truth(&self, node: &Node) -> Assessment {
        self.evaluate(node)
    }

    /// Runs the search named by `call` with this seed until it finishes.
    pub fn run(&self, call: &Call, seed: u64) -> (Finding, Context) {
        let (found, context) = self.run_within(call, seed, SearchBudget::default());
        (found.expect("an unlimited search ends by itself"), context)
    }

    /// Runs the search named by `call` within a budget.
    pub fn run_within(&self, call: &Call, seed: u64, budget: SearchBudget) -> (Result<Finding, Stop>, Context) {
        let search = super::build(call).expect("the search is registered");
        let mut context = Context::new(seed, budget);
        (search.run(self, &mut context), context)
    }
}

impl Oracle for Toy {
    fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    fn assess(&self, nodes: &[Node]) -> Result<Vec<Assessment>> {
        self.evaluated.fetch_add(nodes.len() as u64, Ordering::Relaxed);
        assert!(
            nodes.iter().all(|n| self.lattice.contains(n)),
            "a search left the lattice"
        );
        let assess = |node| match self.evaluate(node) {
            found if self.excludes && !found.anonymous => {
                // The number of suppressed rows of an excluded node may be an estimate.
                let suppressed = (found.suppressed + found.classes * 7 % 5).max(self.limit + 1);
                Assessment::excluded(suppressed, found.costs.len(), self.bound(node, 0))
            }
            found => found,
        };
        Ok(nodes.iter().map(assess).collect())
    }

    fn bound(&self, node: &Node, suppressed: u64) -> f64 {
        let n = self.rows.len() as u64;
        let bound = match self.metric {
            Metric::Dm => {
                let cells: u64 = (0..self.rows[0].len())
                    .map(|i| self.distinct_values(i, node.level(i)))
                    .product();
                let kept_cost = if suppressed == 0 {
                    0
                } else {
                    (n - suppressed) * self.k.min(n)
                };
                (suppressed * n + kept_cost).max(n * n / cells.max(1))
            }
            Metric::Loss => {
                let all: u64 = self.rows.iter().map(|r| self.row_loss(r, node)).sum();
                let mut extra: Vec<u64> = self
                    .rows
                    .iter()
                    .map(|r| self.row_loss_suppressed() - self.row_loss(r, node))
                    .collect();
                extra.sort_unstable();
                all + extra[..suppressed as usize].iter().sum::<u64>()
            }
            Metric::Height => u64::from(node.height()),
            Metric::Arbitrary => return f64::NEG_INFINITY,
        };
        bound as f64
    }

    fn is_monotone(&self) -> bool {
        self.model == Model::Size
    }

    fn suppression_is_monotone(&self) -> bool {
        self.model == Model::Size
    }

    fn excess_is_monotone(&self) -> bool {
        self.model == Model::Size && self.metric != Metric::Arbitrary
    }

    fn distinct_values(&self, position: usize, level: u8) -> u64 {
        let codes = &self.hierarchies[position][usize::from(level)];
        self.rows
            .iter()
            .map(|r| codes[usize::from(r[position])])
            .collect::<HashSet<_>>()
            .len() as u64
    }

    fn rows(&self) -> u64 {
        self.rows.len() as u64
    }

    fn suppression_limit(&self) -> u64 {
        self.limit
    }

    fn counters(&self) -> Counters {
        Counters {
            evaluated: self.evaluated.load(Ordering::Relaxed),
            ..Counters::default()
        }
    }
}

/// Generates nested levels over a few ground values: every level merges groups of the level below,
/// and some levels change nothing.
fn hierarchy() -> impl Strategy<Value = Vec<Vec<u8>>> {
    (1usize..6)
        .prop_flat_map(|values| prop::collection::vec(prop::collection::vec(0u8..4, values), 0..3))
        .prop_map(|merges| {
            let values = merges.first().map_or(2, Vec::len);
            let mut levels = vec![(0..values as u8).collect::<Vec<u8>>()];
            for merge in &merges {
                let below = levels.last().expect("level 0 is there");
                levels.push(
                    below
                        .iter()
                        .map(|code| merge[usize::from(*code)] % values as u8)
                        .collect(),
                );
            }
            levels.push(vec![0; values]);
            levels
        })
}

/// Generates random tables and requests, monotone or not.
pub fn toy() -> impl Strategy<Value = Toy> {
    let metric = prop_oneof![
        4 => Just(Metric::Dm), 4 => Just(Metric::Loss), 1 => Just(Metric::Height), 1 => Just(Metric::Arbitrary)
    ];
    let model = prop_oneof![3 => Just(Model::Size), 1 => Just(Model::OddSize)];
    (
        prop::collection::vec(hierarchy(), 1..5),
        1usize..30,
        any::<u64>(),
        1u64..6,
        0u64..10,
        metric,
        model,
        any::<bool>(),
    )
        .prop_map(|(hierarchies, rows, seed, k, limit, metric, model, excludes)| {
            let mut state = seed | 1;
            let mut draw = |below: usize| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as usize % below
            };
            let rows: Vec<Vec<u8>> = (0..rows)
                .map(|_| hierarchies.iter().map(|h| draw(h[0].len()) as u8).collect())
                .collect();
            let (mut bottom, mut top) = (vec![], vec![]);
            for h in &hierarchies {
                let restricted = draw(6) == 0;
                let last = h.len() - 1;
                let low = if restricted { draw(h.len()) } else { 0 };
                bottom.push(low as u8);
                top.push(if restricted { low + draw(h.len() - low) } else { last } as u8);
            }
            let lattice = Lattice::new(Node::new(bottom), Node::new(top));
            let limit = limit.min(rows.len() as u64);
            Toy {
                lattice,
                rows,
                hierarchies,
                k,
                limit,
                metric,
                model,
                excludes,
                evaluated: AtomicU64::new(0),
            }
        })
}

/// Checks against brute force that a search that claims optimality finds the optimum.
pub fn check_optimal(toy: &Toy, call: &Call) -> Result<(), TestCaseError> {
    let (finding, context) = toy.run(call, 7);
    let found = context.incumbent().map(|(n, a)| (n.clone(), a.cost()));
    prop_assert_eq!(found, toy.optimum(), "{} is not optimal", call);
    prop_assert_eq!(finding, Finding::OPTIMAL);
    prop_assert!(
        u128::from(context.assessed()) <= toy.lattice.size(),
        "{} assessed a node twice",
        call
    );
    Ok(())
}

/// Checks that the result of any search is anonymous, never better than the optimum, and the same
/// for the same seed.
pub fn check_heuristic(toy: &Toy, call: &Call, seed: u64) -> Result<(), TestCaseError> {
    let (finding, context) = toy.run(call, seed);
    let optimum = toy.optimum();
    if let Some((node, assessment)) = context.incumbent() {
        prop_assert!(assessment.anonymous, "{} answers a node that is not anonymous", call);
        prop_assert_eq!(assessment, &toy.truth(node));
        let least = optimum.as_ref().expect("an anonymous node exists").1;
        prop_assert!(least <= assessment.cost());
        prop_assert!(finding.bound <= least || finding == Finding::OPTIMAL && least == assessment.cost());
    }
    let (_, again) = toy.run(call, seed);
    prop_assert_eq!(context.incumbent(), again.incumbent());
    prop_assert_eq!(context.assessed(), again.assessed());
    Ok(())
}

proptest! {
    /// The toy fulfils the contract of [`Oracle`]. All tests with the toy depend on this.
    #[test]
    fn the_toy_keeps_its_promises(toy in toy(), pick in any::<u64>()) {
        let node = toy.lattice.node_at(u128::from(pick) % toy.lattice.size());
        let here = toy.truth(&node);
        prop_assert!(toy.bound(&node, 0) <= here.cost() && toy.bound(&node, here.suppressed) <= here.cost());
        for above in toy.lattice.iter().filter(|n| node.is_below_or_equal(n)) {
            let there = toy.truth(&above);
            prop_assert!(here.floor <= there.cost() && toy.bound(&node, 0) <= toy.bound(&above, 0));
            prop_assert!(!toy.is_monotone() || !here.anonymous || there.anonymous);
            prop_assert!(!toy.suppression_is_monotone() || there.suppressed <= here.suppressed);
            let excess = there.cost() - there.floor;
            prop_assert!(!toy.excess_is_monotone() || here.floor.max(toy.bound(&node, 0)) + excess <= here.cost());
        }
    }
}
