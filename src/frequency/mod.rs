//! From rows to counts: encoded columns, the base frequency set, roll-up, and the bounded cache of evaluated nodes.
//!
//! One scan of the source answers the distinct combinations of quasi-identifier values with their counts; every node
//! of the lattice is a GROUP BY of that set, or of the set of a more specific node ([`FrequencySet::roll_up`]).

mod base;
mod batch;
mod dictionaries;
mod encoder;
mod grouper;
mod interner;
mod key_file;
mod layout;
mod node;
pub(crate) mod parallel;
mod partitioned;
mod scan;
mod set;
mod sets;
mod space;
mod spill;
mod spilled;
mod tally;
#[cfg(test)]
pub(crate) mod testing;
mod translate;

pub use base::{Attribute, Base, BaseSet};
pub use dictionaries::read_dictionaries;
pub use encoder::{Encoder, KeyIndex};
pub(crate) use grouper::Grouper;
pub(crate) use interner::one_zero;
pub use layout::Layout;
pub(crate) use layout::bits_for;
pub use scan::{Columns, DetailRequest, Scan};
pub use set::{Detail, FrequencySet};
pub use sets::{Answer, FrequencySets, SetCounters};
pub use space::Space;
pub use spill::Scratch;
pub(crate) use spill::{Overflow, TemporaryFolder};
pub use spilled::{Demand, Spilled};
