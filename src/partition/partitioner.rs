//! The trait of a partitioning algorithm.

use super::groups::Partition;
use super::table::Table;
use crate::catalogue::Arguments;
use crate::error::Result;
use crate::search::{Context, Stop};

/// A partition, and the reason if it is unfinished because the budget ran out. An unfinished
/// division is a valid partition too.
#[derive(Debug)]
pub struct Found {
    /// The groups. Groups that do not satisfy the models are suppressed.
    pub partition: Partition,
    /// The reason why the algorithm ended early; `None` if it finished.
    pub stopped: Option<Stop>,
}

/// A partitioning algorithm.
pub trait Partitioner: std::fmt::Debug + Send + Sync {
    /// Divides the combinations of `table`. The context contains the budget and the random numbers.
    /// If the budget runs out, returns the division so far.
    fn run(&self, table: &dyn Table, context: &mut Context) -> Result<Found>;

    /// Returns true if the algorithm reads the class label (CLASS).
    fn reads_class_label(&self) -> bool {
        false
    }

    /// Returns true if the algorithm accepts only columns of numbers, dates and timestamps.
    fn needs_order(&self) -> bool {
        false
    }

    /// Returns true if the algorithm itself keeps labels within the levels of LEVELS, so that it is
    /// not run on each stratum.
    fn keeps_levels(&self) -> bool {
        false
    }

    /// Returns true if the algorithm can satisfy models about the groups of some quasi-identifiers:
    /// see [`Table::groupings`].
    fn judges_groupings(&self) -> bool {
        false
    }

    /// Returns true if the algorithm labels numbers and dates by ranges in columns that have
    /// ranges.
    fn makes_ranges(&self) -> bool {
        false
    }

    /// Returns true if an option asks for ranges of numbers and dates where a hierarchy has labels
    /// for them.
    fn asks_for_ranges(&self) -> bool {
        false
    }

    /// Returns the approximate number of bytes that a run needs to divide this many combinations of
    /// this many columns. By default, the algorithm stores and sorts the combinations, and stores
    /// one label per column for every group. There may be as many groups as combinations.
    fn bytes(&self, combinations: usize, columns: usize) -> usize {
        combinations * (32 + 16 * columns)
    }

    /// Describes the algorithm for EXPLAIN, in one sentence after its name.
    fn describe(&self) -> String;
}

/// The constructor in the catalogue entry of a partitioner.
pub type Build = fn(&Arguments) -> Result<Box<dyn Partitioner>>;
