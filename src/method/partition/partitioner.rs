//! The trait of a partitioning algorithm.

use super::groups::Partition;
use super::table::Table;
use crate::base::catalogue::Arguments;
use crate::base::error::Result;
use crate::method::search::{Context, Stop};

/// A partition, and the reason if the algorithm stopped before it finished. An unfinished division
/// is also a valid partition.
#[derive(Debug)]
pub struct Found {
    /// The groups. Groups that do not satisfy the models are suppressed.
    pub partition: Partition,
    /// The reason why the algorithm stopped early; `None` if it finished.
    pub stopped: Option<Stop>,
}

/// A partitioning algorithm.
pub trait Partitioner: std::fmt::Debug + Send + Sync {
    /// Divides the combinations of `table` within the budget of the context. If the budget runs
    /// out, returns the division so far.
    fn run(&self, table: &dyn Table, context: &mut Context) -> Result<Found>;

    /// Returns true if the algorithm reads the class label (CLASS).
    fn reads_class_label(&self) -> bool {
        false
    }

    /// Returns true if the algorithm accepts only columns of numbers, dates or timestamps.
    fn needs_order(&self) -> bool {
        false
    }

    /// Returns true if the algorithm itself keeps labels within LEVELS. It then divides the whole
    /// table instead of each stratum.
    fn keeps_levels(&self) -> bool {
        false
    }

    /// Returns true if the algorithm can satisfy models of the groups of some quasi-identifiers:
    /// see [`Table::groupings`].
    fn judges_groupings(&self) -> bool {
        false
    }

    /// Returns true if the algorithm labels numbers and dates by ranges in columns that allow
    /// ranges.
    fn makes_ranges(&self) -> bool {
        false
    }

    /// Returns true if an option requests ranges of numbers and dates even if a hierarchy has
    /// labels for them.
    fn asks_for_ranges(&self) -> bool {
        false
    }

    /// Returns the approximate memory of a run in bytes. By default, the algorithm stores and sorts
    /// the combinations, and stores one label per column for every group. The number of groups may
    /// equal the number of combinations.
    fn bytes(&self, combinations: usize, columns: usize) -> usize {
        combinations * (32 + 16 * columns)
    }

    /// Returns the description of the algorithm for EXPLAIN: one sentence that follows the name of
    /// the algorithm.
    fn describe(&self) -> String;
}

/// The constructor in the catalogue entry of a partitioner.
pub type Build = fn(&Arguments) -> Result<Box<dyn Partitioner>>;
