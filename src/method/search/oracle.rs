//! The interface between a search and the evaluator of nodes.

use crate::base::error::Result;
use crate::method::lattice::{Lattice, Node};

/// The result of the evaluation of one node.
///
/// ```
/// use anonsql::extend::search::Assessment;
/// /// Returns the node that a search keeps.
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
    /// True if the number of rows to suppress is within the suppression limit.
    pub anonymous: bool,
    /// The number of rows in classes that violate a model, plus the rows that no hierarchy maps.
    /// For a node that is not anonymous, it may be an estimate above the limit. Searches order
    /// nodes by the estimate, but prove nothing with it.
    pub suppressed: u64,
    /// The number of released classes.
    pub classes: u64,
    /// One cost per objective. Lower is better (a maximized objective is negated). A search
    /// minimizes the first cost. The costs are infinite for a node that is not anonymous and was
    /// not evaluated further.
    pub costs: Vec<f64>,
    /// A lower bound on the first cost of this node and every node above. `f64::NEG_INFINITY` if
    /// nothing is known. The bound must also be valid in floating point: a metric with inexact sums
    /// subtracts an allowance for rounding.
    pub floor: f64,
}

impl Assessment {
    /// Returns the assessment of a node that was excluded as not anonymous before all its classes
    /// were known.
    pub(crate) fn excluded(suppressed: u64, objectives: usize, floor: f64) -> Self {
        Self {
            anonymous: false,
            suppressed,
            classes: 0,
            costs: vec![f64::INFINITY; objectives],
            floor,
        }
    }

    /// Returns the cost of the first objective.
    pub fn cost(&self) -> f64 {
        self.costs[0]
    }
}

/// Counters of the work of the evaluator.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counters {
    /// The number of nodes whose frequency set was computed.
    pub evaluated: u64,
    /// The number of evaluated nodes computed from a cached set smaller than the base set.
    pub rolled_up: u64,
    /// The number of assessments returned from the cache without a computation.
    pub cached: u64,
    /// The number of entries (classes) read to compute frequency sets.
    pub rows_read: u64,
}

/// An evaluator of the nodes of one lattice for one request.
///
/// ```
/// use anonsql::extend::search::{Node, Oracle};
/// /// Returns the nodes one step above that may cost less.
/// fn worth_a_look(oracle: &dyn Oracle, node: &Node, best: f64) -> Vec<Node> {
///     let above = oracle.lattice().successors(node);
///     above.filter(|node| oracle.bound(node, 0) < best).collect()
/// }
/// ```
pub trait Oracle: Send + Sync {
    /// Returns the lattice.
    fn lattice(&self) -> &Lattice;

    /// Assesses `nodes`, and returns the assessments in the same order. May assess the nodes of a
    /// batch concurrently.
    fn assess(&self, nodes: &[Node]) -> Result<Vec<Assessment>>;

    /// Returns, without an evaluation, a lower bound on the first cost of `node` itself if at least
    /// `suppressed` rows are suppressed at the node. For `suppressed = 0`, the bound is at most the
    /// floor of the node and never falls as values are generalized, so it is also a bound for every
    /// node above.
    fn bound(&self, node: &Node, suppressed: u64) -> f64;

    /// Returns true if anonymity is monotone: every node above an anonymous node is anonymous.
    fn is_monotone(&self) -> bool;

    /// Returns true if the number of suppressed rows never grows as values are generalized, for any
    /// suppression limit.
    #[doc(hidden)]
    fn suppression_is_monotone(&self) -> bool;

    /// Returns true if the excess of a node, its first cost minus its floor, never grows as values
    /// are generalized. Then `lower + (cost(u) - floor(u))` bounds the cost of a node below an
    /// assessed node `u` if `lower` is the floor of the lower node, or its bound without
    /// suppression. The excess is monotone under two conditions. The rows suppressed at a node are
    /// also suppressed at every node below it. The metric charges a suppressed row at least as much
    /// as a released row (dm, glm, entropy).
    ///
    /// The floor must then be the cost without suppression (dm: the sum of f^2 over all classes).
    /// Knowledge about released classes must not raise it, and `bound(node, 0)` must be at most
    /// this floor.
    #[doc(hidden)]
    fn excess_is_monotone(&self) -> bool {
        false
    }

    /// Returns the number of distinct values of the quasi-identifier at `position` if the table is
    /// generalized to `level`.
    fn distinct_values(&self, position: usize, level: u8) -> u64;

    /// Returns the effective number of values of the quasi-identifier at `position` and `level`:
    /// the reciprocal of the sum of squared shares. This number of equally frequent values would
    /// distinguish rows as well as the actual values. Searches use the number only for guesses.
    #[doc(hidden)]
    fn effective_values(&self, position: usize, level: u8) -> f64 {
        self.distinct_values(position, level) as f64
    }

    /// Returns the number of rows of the table.
    fn rows(&self) -> u64;

    /// Returns the maximum number of rows that may be suppressed.
    fn suppression_limit(&self) -> u64;

    /// Returns the work done so far.
    #[doc(hidden)]
    fn counters(&self) -> Counters;
}
