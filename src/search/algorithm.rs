//! What a search is.

use super::context::{Context, Stop};
use super::oracle::Oracle;
use crate::catalogue::Arguments;
use crate::error::Result;

/// What a search that ran to its end can say for its incumbent.
///
/// ```
/// use anonsql::extend::search::Finding;
/// assert!(Finding::OPTIMAL.bound > Finding::HEURISTIC.bound);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finding {
    /// No anonymous node costs less than this; `f64::NEG_INFINITY` when the algorithm proves nothing. The incumbent
    /// is optimal when its cost is not above it.
    pub bound: f64,
}

impl Finding {
    /// Every node was looked at or excluded: the incumbent is the optimum.
    pub const OPTIMAL: Self = Self { bound: f64::INFINITY };
    /// The incumbent is what was found, with no proof.
    pub const HEURISTIC: Self = Self {
        bound: f64::NEG_INFINITY,
    };
}

/// A search algorithm: offers nodes to the context until it is done or the budget is.
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
    /// Runs to the end, or until `?` hands on the [`Stop`] of the context. The answer is the context's incumbent.
    fn run(&self, oracle: &dyn Oracle, context: &mut Context) -> Result<Finding, Stop>;

    /// What it leaves out because it follows from assessed nodes. One that leaves out nothing assesses every node that
    /// it comes to.
    #[doc(hidden)]
    fn prunes(&self) -> Prunes {
        Prunes::default()
    }
}

/// What a search leaves out by proof.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Prunes {
    /// Nodes above and below an assessed one, where the request is monotone.
    pub by_monotonicity: bool,
    /// Nodes whose bound on the metric is not below the best found.
    pub by_bound: bool,
}

impl Prunes {
    /// Both.
    pub const ALL: Self = Self {
        by_monotonicity: true,
        by_bound: true,
    };
}

/// The constructor in a search's catalogue entry.
///
/// ```
/// use anonsql::extend::search::{Build, Search};
/// fn described(build: Build, arguments: &anonsql::extend::Arguments) -> anonsql::error::Result<String> {
///     let search: Box<dyn Search> = build(arguments)?;
///     Ok(format!("{search:?}"))
/// }
/// ```
pub type Build = fn(&Arguments) -> Result<Box<dyn Search>>;
