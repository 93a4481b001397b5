//! What a search may ask about a node.

use crate::error::Result;
use crate::lattice::{Lattice, Node};

/// What the evaluation of one node found.
///
/// ```
/// use anonsql::extend::search::Assessment;
/// /// Of two nodes the one that a search keeps.
/// fn better<'a>(a: &'a Assessment, b: &'a Assessment) -> &'a Assessment {
///     match (a.anonymous, b.anonymous) {
///         (true, false) => a,
///         (false, true) => b,
///         _ => if a.cost() <= b.cost() { a } else { b },
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// Whether the suppressed rows are within the limit.
    pub anonymous: bool,
    /// Rows in classes that fail a model, and rows that no hierarchy maps. Of a node that is not anonymous it may be an
    /// estimate above the limit: searches order nodes by it, and prove nothing by it.
    pub suppressed: u64,
    /// Classes that are kept.
    pub classes: u64,
    /// One cost per objective, lower is better (what is maximised is negated). The first is what a search minimises.
    /// Infinite for a node that is not anonymous and was not looked at further.
    pub costs: Vec<f64>,
    /// No node at or above this one has a lower first cost; `f64::NEG_INFINITY` when nothing is known. It must hold in
    /// floating point too: a metric with inexact sums takes an allowance for rounding off it.
    pub floor: f64,
}

impl Assessment {
    /// Of a node that was found not to be anonymous before all of its classes were known.
    pub(crate) fn excluded(suppressed: u64, objectives: usize, floor: f64) -> Self {
        Self {
            anonymous: false,
            suppressed,
            classes: 0,
            costs: vec![f64::INFINITY; objectives],
            floor,
        }
    }

    /// The first objective.
    pub fn cost(&self) -> f64 {
        self.costs[0]
    }
}

/// What the evaluator did so far.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counters {
    /// Nodes whose frequency set was computed.
    pub evaluated: u64,
    /// Of those, nodes computed from a cached set smaller than the base.
    pub rolled_up: u64,
    /// Assessments answered without a computation.
    pub cached: u64,
    /// Classes read as input of those computations.
    pub rows_read: u64,
}

/// Assesses nodes of one lattice for one request.
///
/// ```
/// use anonsql::extend::search::{Node, Oracle};
/// /// The nodes one step above that may still cost less.
/// fn worth_a_look(oracle: &dyn Oracle, node: &Node, best: f64) -> Vec<Node> {
///     let above = oracle.lattice().successors(node);
///     above.filter(|node| oracle.bound(node, 0) < best).collect()
/// }
/// ```
pub trait Oracle: Send + Sync {
    /// The lattice.
    fn lattice(&self) -> &Lattice;

    /// Assesses `nodes`, in their order. A batch is a chance for concurrency.
    fn assess(&self, nodes: &[Node]) -> Result<Vec<Assessment>>;

    /// A bound on the first cost of `node` itself that costs no evaluation, given that at least `suppressed` rows are
    /// suppressed there. For `suppressed = 0` it is at most the floor of the node, and never falls along generalization,
    /// so that it bounds every node above.
    fn bound(&self, node: &Node, suppressed: u64) -> f64;

    /// Whether anonymity is upward closed: every node above an anonymous one is anonymous.
    fn is_monotone(&self) -> bool;

    /// Whether suppressed rows never grow along generalization, whatever the limit.
    #[doc(hidden)]
    fn suppression_is_monotone(&self) -> bool;

    /// Whether the first cost of a node exceeds its floor by an amount that never grows along generalization: so that
    /// `lower + (cost(u) - floor(u))` bounds the cost of every node below an assessed `u` for which `lower` is a floor
    /// or a bound with nothing suppressed. It holds where the rows suppressed at a node are suppressed at every node
    /// below it and the metric charges a suppressed row no less than a kept one (dm, glm, entropy).
    ///
    /// The floor must then be the cost with nothing suppressed (dm: the sum over all classes of f^2), not raised by
    /// what is known of classes that are kept, and `bound(node, 0)` at most that.
    #[doc(hidden)]
    fn excess_is_monotone(&self) -> bool {
        false
    }

    /// Distinct values of quasi-identifier `position` in the table when it is generalized to `level`.
    fn distinct_values(&self, position: usize, level: u8) -> u64;

    /// The values of quasi-identifier `position` at `level` that would tell rows apart as well if all were equally
    /// frequent: 1 / the sum of squared shares. Searches only guess by it.
    #[doc(hidden)]
    fn effective_values(&self, position: usize, level: u8) -> f64 {
        self.distinct_values(position, level) as f64
    }

    /// Rows of the table.
    fn rows(&self) -> u64;

    /// The most rows that may be suppressed.
    fn suppression_limit(&self) -> u64;

    /// What was done so far.
    #[doc(hidden)]
    fn counters(&self) -> Counters;
}
