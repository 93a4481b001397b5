//! Objectives of a Pareto front besides the metrics: properties of the classes that a node
//! releases, such as the size of the smallest class.
//!
//! A new property is one file and one line in [`OBJECTIVES`].

mod entry;
mod highest_risk;
mod k;
mod l;
mod property;
mod s_l;
mod suppressed;
mod t;
#[cfg(test)]
mod tests;

pub use entry::Entry;
pub use property::{Lead, Measured, Property, ReleasedClasses, SensitiveAttribute};

/// Every objective that is not a metric, in the order of the help text.
pub static OBJECTIVES: &[Entry] = &[
    k::ENTRY,
    l::ENTRY,
    t::ENTRY,
    s_l::ENTRY,
    highest_risk::ENTRY,
    suppressed::ENTRY,
];
