//! Local recoding: algorithms that divide the distinct combinations of the table into groups.
//!
//! A search over the lattice chooses one level per column for the whole table. A [`Partitioner`]
//! instead assigns every combination of quasi-identifier values to a group, and assigns one label
//! per column to every group. So a part of the table with many similar rows is generalized less
//! than a part with few. A partitioner never reads rows. It divides the base frequency set: the
//! GROUP BY over the quasi-identifiers from the first scan. It accesses this set through a
//! [`Table`], which also checks groups against the models in force. Like a search, a partitioner
//! does not depend on DataFusion, models or metrics.
//!
//! A new algorithm is one file and one line in [`PARTITIONERS`]. A statement names it after SEARCH
//! USING, like a search. RECODING LOCAL names no algorithm: the engine runs the algorithms of
//! [`best_of`] and uses the partition with the minimum loss.

mod adaptive_clustering;
mod groups;
mod local_suppression;
mod mdav;
mod mondrian;
mod partitioner;
mod peel;
mod ranges;
mod strata;
mod table;
#[cfg(test)]
mod testing;
mod top_down;
mod widen;

pub use groups::Partition;
pub use partitioner::{Build, Partitioner};
pub use strata::divided;
pub use table::{Column, Grouping, Numbers, Table};
pub use widen::widened;

use crate::base::catalogue::{Argument, Arguments, Call, Entry, Param, Value, find};
use crate::base::error::Result;

/// Every partitioning algorithm, in the order of the help text.
pub static PARTITIONERS: &[Entry<Build>] = &[
    mondrian::ENTRY,
    peel::ENTRY,
    top_down::ENTRY,
    adaptive_clustering::ENTRY,
    mdav::ENTRY,
    local_suppression::ENTRY,
];

/// Returns the algorithms from which RECODING LOCAL chooses, in the order in which they are run.
/// Only the last algorithm can satisfy models of groups over some of the columns. No algorithm is
/// the best on every table: peel loses least with fine hierarchies, and mondrian with coarse ones.
/// Peel also runs with the labels of hierarchies, which are sometimes narrower than ranges. The
/// algorithms that read the class label run only if the metric reads it too.
pub fn best_of() -> Vec<Call> {
    let peel = |option: Param, word: &str| {
        let argument = Argument {
            name: Some(option.name.into()),
            value: Value::Word(word.into()),
        };
        Call {
            args: vec![argument],
            ..Call::bare(peel::ENTRY.info.name)
        }
    };
    vec![
        Call::bare(mondrian::ENTRY.info.name),
        Call::bare(peel::ENTRY.info.name),
        peel(ranges::NUMBERS, ranges::HIERARCHY),
        peel(peel::GUIDE, peel::BY_CLASS),
        Call::bare(top_down::ENTRY.info.name),
        Call::bare(local_suppression::ENTRY.info.name),
    ]
}

/// Builds the algorithm that `call` names. Fails if the name or an argument is unknown.
pub fn build(call: &Call) -> Result<Box<dyn Partitioner>> {
    let entry = find("search", PARTITIONERS, &call.name)?;
    (entry.build)(&Arguments::bind(&entry.info, &call.args)?)
}
