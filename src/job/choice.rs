//! How the node or partition of a release is chosen.

use crate::catalogue::Call;
use crate::partition::Partitioner;
use crate::search::Search;

/// How the node or partition of a release is chosen.
#[derive(Debug)]
pub enum Choice {
    /// A search chooses a node.
    Search {
        /// The search in the words of the statement.
        call: Call,
        /// The search algorithm.
        search: Box<dyn Search>,
    },
    /// Local recoding chooses a partition.
    Partition {
        /// The algorithm in the words of the statement.
        call: Call,
        /// The partitioning algorithm.
        partitioner: Box<dyn Partitioner>,
    },
    /// The statement gives the node, as one level per quasi-identifier. It is still checked.
    Node(Vec<u8>),
}

impl Choice {
    /// Returns the algorithm in the words of the statement; `None` if the node is given.
    pub fn call(&self) -> Option<&Call> {
        match self {
            Choice::Search { call, .. } | Choice::Partition { call, .. } => Some(call),
            Choice::Node(_) => None,
        }
    }
}
