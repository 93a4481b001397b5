//! The search trait.

use super::context::{Context, Stop};
use super::oracle::Oracle;
use crate::catalogue::Arguments;
use crate::error::Result;

/// The proof that a search which ran to its end gives for its incumbent.
///
/// ```
/// use anonsql::extend::search::Finding;
/// assert!(Finding::OPTIMAL.bound > Finding::HEURISTIC.bound);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finding {
    /// A lower bound on the cost of every anonymous node; `f64::NEG_INFINITY` if the algorithm
    /// proves nothing. The incumbent is optimal if its cost is not above the bound.
    pub bound: f64,
}

impl Finding {
    /// Every node was assessed or excluded: the incumbent is the optimum.
    pub const OPTIMAL: Self = Self { bound: f64::INFINITY };
    /// The incumbent is the best node found; nothing is proven.
    pub const HEURISTIC: Self = Self {
        bound: f64::NEG_INFINITY,
    };
}

/// A search algorithm: offers nodes to the context until it is done or the budget is used up.
///
/// ```
/// use anonsql::extend::search::{Context, Finding, Oracle, Search, Stop};
///
/// /// Assesses the two ends of the lattice.
/// #[derive(Debug)]
/// struct Ends;
///
/// impl Search for Ends {
///     fn run(&self, oracle: &dyn Oracle, context: &mut Context) -> Result<Finding, Stop> {
///         let ends = [oracle.lattice().bottom().clone(), oracle.lattice().top().clone()];
///         context.assess(oracle, &ends)?;
///         Ok(Finding::HEURISTIC)
///     }
/// }
/// ```
pub trait Search: std::fmt::Debug + Send + Sync {
    /// Runs to the end, or until `?` propagates the [`Stop`] of the context. The result is the
    /// incumbent of the context.
    fn run(&self, oracle: &dyn Oracle, context: &mut Context) -> Result<Finding, Stop>;

    /// Returns which nodes the search leaves out because their assessment follows from assessed
    /// nodes. A search that leaves out nothing assesses every node that it comes to.
    #[doc(hidden)]
    fn prunes(&self) -> Prunes {
        Prunes::default()
    }
}

/// The nodes that a search leaves out by proof.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Prunes {
    /// Leaves out nodes above and below an assessed node, if the request is monotone.
    pub by_monotonicity: bool,
    /// Leaves out nodes whose bound on the metric is not below the best cost found.
    pub by_bound: bool,
}

impl Prunes {
    /// Leaves out nodes by monotonicity and by bound.
    pub const ALL: Self = Self {
        by_monotonicity: true,
        by_bound: true,
    };
}

/// The constructor in the catalogue entry of a search.
///
/// ```
/// use anonsql::extend::search::{Build, Search};
/// fn described(build: Build, arguments: &anonsql::extend::Arguments) -> anonsql::error::Result<String> {
///     let search: Box<dyn Search> = build(arguments)?;
///     Ok(format!("{search:?}"))
/// }
/// ```
pub type Build = fn(&Arguments) -> Result<Box<dyn Search>>;
