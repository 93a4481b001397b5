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
mod partitioner;
mod table;
#[cfg(test)]
mod testing;
mod top_down;

pub use groups::Partition;
pub use partitioner::{Build, Partitioner};
pub use table::{Column, Table};

use crate::catalogue::Entry;
#[cfg(any(test, feature = "internal-api"))]
use crate::{
    catalogue::{Arguments, Call, find},
    error::Result,
};

/// Every partitioning algorithm, by name.
pub static PARTITIONERS: &[Entry<Build>] = &[mondrian::ENTRY, top_down::ENTRY, adaptive_clustering::ENTRY];

/// The algorithm that a statement names.
#[cfg(any(test, feature = "internal-api"))]
pub fn build(call: &Call) -> Result<Box<dyn Partitioner>> {
    let entry = find("search", PARTITIONERS, &call.name)?;
    (entry.build)(&Arguments::bind(&entry.info, &call.args)?)
}
