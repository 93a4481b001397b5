//! What a partitioning algorithm is.

use super::groups::Partition;
use super::table::Table;
use crate::catalogue::Arguments;
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
