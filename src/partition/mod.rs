//! Local recoding: algorithms that divide the table's distinct combinations into groups.
//!
//! A search over the lattice chooses one level per column for the whole table. A [`Partitioner`] instead gives every
//! combination of quasi-identifier values to a group, and every group one label per column, so that a part of the table
//! with many alike rows is generalized less than one with few. It never holds rows: what it divides is the base
//! frequency set, the GROUP BY over the quasi-identifiers that the first scan answers, seen through a [`Table`] that
//! also judges groups by the models in force. Like a search it knows nothing of DataFusion, models or metrics.
//!
//! A new algorithm is one file and one line in [`PARTITIONERS`]; it stands after SEARCH USING like a search does.

mod adaptive_clustering;
mod groups;
mod mondrian;
mod table;
#[cfg(test)]
mod testing;
mod top_down;

pub use groups::Partition;
pub use table::{Column, Table};

use crate::catalogue::{self, Arguments, Call, Entry};
use crate::error::Result;
use crate::search::{Context, Stop};

/// A partition, and why it is not finished where the budget ran out: any division so far stands as it is.
#[derive(Debug)]
pub struct Found {
    /// The groups. Those that do not hold are suppressed.
    pub partition: Partition,
    /// Why the algorithm ended early.
    pub stopped: Option<Stop>,
}

/// A partitioning algorithm.
pub trait Partitioner: std::fmt::Debug + Send + Sync {
    /// Divides the combinations of `table`. The context has the budget and the random numbers; when its budget ends,
    /// what was divided so far is the answer.
    fn run(&self, table: &dyn Table, context: &mut Context) -> Result<Found>;

    /// Whether it reads the class label (CLASS).
    fn reads_class_label(&self) -> bool {
        false
    }

    /// Whether it keeps labels within the levels that LEVELS allows.
    fn honours_levels(&self) -> bool {
        false
    }

    /// What it does, for EXPLAIN: a sentence after its name.
    fn describe(&self) -> String;
}

/// The constructor in a partitioner's catalogue entry.
pub type Build = fn(&Arguments) -> Result<Box<dyn Partitioner>>;

/// Every partitioning algorithm, by name.
pub static PARTITIONERS: &[Entry<Build>] = &[mondrian::ENTRY, top_down::ENTRY, adaptive_clustering::ENTRY];

/// The algorithm that a statement names.
pub fn build(call: &Call) -> Result<Box<dyn Partitioner>> {
    let entry = catalogue::find("search", PARTITIONERS, &call.name)?;
    (entry.build)(&Arguments::bind(&entry.info, &call.args)?)
}
