//! Search algorithms over the lattice.
//!
//! An algorithm sees an [`Oracle`], which assesses nodes, and a [`Context`], which holds the budget, the incumbent and
//! the random numbers. It knows nothing of data, models or metrics, and can be tested on a lattice made up in a test.
//! A new algorithm is one file and one line in [`SEARCHES`].

mod auto;
mod chance;
mod context;
mod datafly;
mod exhaustive;
mod flash;
pub mod front;
mod genetic;
mod incognito;
mod known;
mod ma_datafly;
mod ola;
mod oracle;
mod pbg_ea;
mod pbg_local;
mod samarati;
mod tabu;
mod tabu_genetic;
#[cfg(test)]
mod testing;

pub use context::{Budget, Context, Progress, Stop};
pub use oracle::{Assessment, Counters, Oracle};

use crate::catalogue::{self, Arguments, Call, Entry};
use crate::error::Result;

/// What a search that ran to its end can say for its incumbent.
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
pub trait Search: std::fmt::Debug + Send + Sync {
    /// Runs to the end, or until `?` hands on the [`Stop`] of the context. The answer is the context's incumbent.
    fn run(&self, oracle: &dyn Oracle, context: &mut Context) -> Result<Finding, Stop>;

    /// What it leaves out because it follows from assessed nodes. One that leaves out nothing assesses every node that
    /// it comes to.
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
pub type Build = fn(&Arguments) -> Result<Box<dyn Search>>;

/// The search where a statement names none.
pub const DEFAULT: &str = auto::ENTRY.info.name;

/// The search for a Pareto front where a statement names none. A lattice of at most 65,536 nodes is enumerated, so that
/// the front is the true one; a larger one is searched by `pbg_local`.
pub fn for_front(nodes: u128) -> Result<Box<dyn Search>> {
    let entry = match nodes <= 1 << 16 {
        true => exhaustive::ENTRY,
        false => pbg_local::ENTRY,
    };
    build(&Call::bare(entry.info.name))
}

/// Every search, by name.
pub static SEARCHES: &[Entry<Build>] = &[
    auto::ENTRY,
    flash::ENTRY,
    exhaustive::ENTRY,
    ola::ENTRY,
    incognito::ENTRY,
    samarati::ENTRY,
    datafly::ENTRY,
    ma_datafly::ENTRY,
    tabu::ENTRY,
    genetic::ENTRY,
    tabu_genetic::ENTRY,
    pbg_ea::ENTRY,
    pbg_local::ENTRY,
];

/// The search that a statement names.
pub fn build(call: &Call) -> Result<Box<dyn Search>> {
    let entry = catalogue::find("search", SEARCHES, &call.name)?;
    (entry.build)(&Arguments::bind(&entry.info, &call.args)?)
}
