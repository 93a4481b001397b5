//! Frequency sets: the base set, in memory or in files, and the sets of more general nodes.

mod base;
mod batch;
mod beside;
mod cache;
mod coarsen;
mod detail;
mod frequency_set;
mod generalize_word;
mod index;
mod kept;
mod merge;
mod merge_counts;
mod node;
mod sets;
mod sketch;
mod slices;
mod spilled;
mod translate;

pub use base::{Base, BaseSet};
pub use detail::{Attribute, Detail};
pub use frequency_set::FrequencySet;
pub use index::KeyIndex;
pub use sets::{FrequencySets, NodeAnswer};
pub use spilled::Demand;
