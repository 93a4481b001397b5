//! How the node or partition of a release is chosen.

use super::replay::Replay;
use crate::base::catalogue::Call;
use crate::base::error::Result;
use crate::method::partition::{self, Partitioner};
use crate::method::search::Search;

/// How the node or partition of a release is chosen.
#[derive(Debug)]
pub enum Choice {
    /// A search chooses a node.
    Search {
        /// The search as the statement writes it.
        call: Call,
        /// The search algorithm.
        search: Box<dyn Search>,
    },
    /// Local recoding by the algorithm whose partition has the lowest loss.
    Partition(Vec<Candidate>),
    /// The statement gives the node, as one level per quasi-identifier. The models are still
    /// checked at this node.
    Node(Vec<u8>),
    /// The node of an earlier release. The models are still checked at this node.
    Replay(Box<Replay>),
}

/// An algorithm of local recoding.
#[derive(Debug)]
pub struct Candidate {
    /// The algorithm as a statement writes it.
    pub call: Call,
    /// The partitioning algorithm.
    pub partitioner: Box<dyn Partitioner>,
}

impl Choice {
    /// Returns local recoding by one algorithm.
    pub fn partition(call: Call, partitioner: Box<dyn Partitioner>) -> Self {
        Self::Partition(vec![Candidate { call, partitioner }])
    }

    /// Returns local recoding by the best of several algorithms (RECODING LOCAL).
    pub fn local() -> Result<Self> {
        let candidate = |call: Call| {
            Ok(Candidate {
                partitioner: partition::build(&call)?,
                call,
            })
        };
        let candidates = partition::best_of().into_iter().map(candidate);
        Ok(Self::Partition(candidates.collect::<Result<_>>()?))
    }

    /// Returns the choice as the statement writes it; `None` if the node is given.
    pub fn name(&self) -> Option<String> {
        match self {
            Choice::Search { call, .. } => Some(call.to_string()),
            Choice::Partition(candidates) => Some(match &candidates[..] {
                [one] => one.call.to_string(),
                _ => "RECODING LOCAL".into(),
            }),
            Choice::Node(_) | Choice::Replay(_) => None,
        }
    }
}
