//! Who chooses the release.

use crate::catalogue::Call;
use crate::partition::Partitioner;
use crate::search::Search;

/// How the release is chosen.
#[derive(Debug)]
pub enum Choice {
    /// A node, by a search.
    Search {
        /// As the statement has it.
        call: Call,
        /// The algorithm.
        search: Box<dyn Search>,
    },
    /// A partition, by local recoding.
    Partition {
        /// As the statement has it.
        call: Call,
        /// The algorithm.
        partitioner: Box<dyn Partitioner>,
    },
    /// As given: one level per quasi-identifier, then checked.
    Node(Vec<u8>),
}

impl Choice {
    /// The algorithm as the statement has it; `None` where a node is given.
    pub fn call(&self) -> Option<&Call> {
        match self {
            Choice::Search { call, .. } | Choice::Partition { call, .. } => Some(call),
            Choice::Node(_) => None,
        }
    }
}
