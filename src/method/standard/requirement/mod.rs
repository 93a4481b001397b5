//! The requirements that standards have for a request, one file per kind of requirement.
//!
//! A new kind of requirement is one file, which implements [`Requirement`], and its module and its
//! name here. The stages call only the methods of [`Requirement`].

mod columns;
mod direct;
mod entry;
mod safe_harbor;
mod smallest_class;

pub use entry::{Promised, Requirement};

pub(super) use direct::DirectIdentifiers;
pub(super) use safe_harbor::SafeHarbor;
pub(super) use smallest_class::SmallestClass;

#[cfg(test)]
mod tests;
