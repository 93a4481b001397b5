//! Search algorithms over the lattice.
//!
//! An algorithm reads an [`Oracle`], which assesses nodes, and a [`Context`], which contains the
//! budget, the incumbent and the random numbers. An algorithm has no access to data, models or
//! metrics, so it can be tested on an artificial lattice. A new algorithm is one file and one line
//! in [`SEARCHES`].

mod algorithm;
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

pub use algorithm::{Build, Finding, Search};
pub use context::{Context, Progress, SearchBudget, Stop};
pub use oracle::{Assessment, Counters, Oracle};

use crate::base::catalogue::{self, Arguments, Call, Entry};
use crate::base::error::Result;

/// The name of the default search.
pub const DEFAULT: &str = auto::ENTRY.info.name;

/// Returns the default search for a Pareto front. A lattice of at most 65,536 nodes is enumerated,
/// which gives the true front. A larger lattice is searched by `pbg_local`.
pub fn for_front(nodes: u128) -> Result<Box<dyn Search>> {
    let entry = match nodes <= 1 << 16 {
        true => exhaustive::ENTRY,
        false => pbg_local::ENTRY,
    };
    build(&Call::bare(entry.info.name))
}

/// Every built-in search, in the order of the help text.
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

/// Builds the search that `call` names. Fails if the name or an argument is unknown.
pub fn build(call: &Call) -> Result<Box<dyn Search>> {
    let entry = catalogue::find("search", SEARCHES, &call.name)?;
    (entry.build)(&Arguments::bind(&entry.info, &call.args)?)
}
