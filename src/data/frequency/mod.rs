//! From rows to counts: encoded columns, the base frequency set, roll-up, and the bounded cache of
//! evaluated nodes.
//!
//! One scan of the source finds the distinct combinations of quasi-identifier values with their
//! counts. The classes of every node of the lattice are a GROUP BY over these combinations, or over
//! the classes of a more specific node ([`FrequencySet::roll_up`]).
//!
//! The folders are listed in the order of processing: `encode` (from values to codes), `scan` (from
//! rows to counts), `set` (from counts to the classes of any node). The module `key` defines the
//! keys of combinations.

mod encode;
mod key_file;
mod scan;
mod set;
#[cfg(test)]
pub(crate) mod testing;
mod values;

pub use encode::Encoder;
pub(crate) use encode::{Dictionary, Interner, Local, Shared, ranked};
pub(crate) use scan::{CodedRows, Marginals, ROWS, RankedColumn, count_codes};
pub use scan::{Columns, DetailRequest, Scan, read_dictionaries};
pub use set::{Attribute, Base, BaseSet, Demand, Detail, FrequencySet, FrequencySets, KeyIndex, NodeAnswer};
pub use values::distinct_values;
pub(crate) use values::gathered;
