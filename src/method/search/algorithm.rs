//! The search trait, and the bound that a finished search proves.

use super::context::{Context, Stop};
use super::oracle::Oracle;
use crate::base::catalogue::Arguments;
use crate::base::error::Result;

/// The bound that a finished search has proven. It determines whether the incumbent, the best
/// anonymous node found, is optimal.
///
/// ```
/// use anonsql::extend::search::Finding;
/// assert!(Finding::OPTIMAL.bound > Finding::HEURISTIC.bound);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finding {
    /// A lower bound on the cost of every anonymous node that costs less than the incumbent. It is
    /// `f64::INFINITY` if no such node exists, and `f64::NEG_INFINITY` if the algorithm proves
    /// nothing. The incumbent is optimal if its cost is not above the bound.
    pub bound: f64,
}

impl Finding {
    /// Every node was assessed or excluded, so the incumbent is the optimum.
    pub const OPTIMAL: Self = Self { bound: f64::INFINITY };
    /// The incumbent is the best node found; nothing is proven.
    pub const HEURISTIC: Self = Self {
        bound: f64::NEG_INFINITY,
    };
}

/// A search algorithm. It offers nodes to the context until it finishes or the budget runs out.
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
    /// Runs until the search finishes, or until `?` propagates a [`Stop`] from the context. The
    /// node that was found is the incumbent of `context`. The returned [`Finding`] only contains
    /// the proven bound.
    fn run(&self, oracle: &dyn Oracle, context: &mut Context) -> Result<Finding, Stop>;

    /// Returns the kinds of nodes that the search skips. A search that skips nothing assesses every
    /// node that it visits.
    #[doc(hidden)]
    fn prunes(&self) -> Prunes {
        Prunes::default()
    }
}

/// The kinds of nodes that a search skips because a proof makes their assessment unnecessary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Prunes {
    /// True if the search skips nodes above and below an assessed node when the request is
    /// monotone.
    pub by_monotonicity: bool,
    /// True if the search skips nodes whose lower bound on the cost is not below the best cost
    /// found.
    pub by_bound: bool,
}

impl Prunes {
    /// Skips nodes by monotonicity and by bound.
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
