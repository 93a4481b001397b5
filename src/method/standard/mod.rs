//! Published standards that a release can follow. Each standard has requirements for a request in
//! addition to its privacy models, and requirements that no program can check.
//!
//! A standard does not change a request. It rejects a request that violates a requirement, with an
//! error that names the paragraph and says what to write instead. It recognizes identifiers in the
//! same way as SUGGEST ROLES ([`crate::method::suggest`]).
//!
//! A new standard is one file and one line in [`STANDARDS`]. A new kind of requirement is one file
//! in `requirement`, and its name in the list there.

mod ema_policy_0070;
mod eurostat_microdata;
mod health_canada;
mod hipaa_safe_harbor;
mod looked;
mod published;
mod recorded;
mod requirement;

pub use looked::{Looked, LowestLabels, Treated};
pub use published::Standard;
pub use recorded::{
    RecordedColumn, RecordedForm, RecordedLabels, RecordedRelease, ReleaseCheck, Remark, StandardCheck,
};
pub use requirement::Promised;

use crate::base::error::{Error, Result};

/// Every standard, in the order in which help lists them.
pub static STANDARDS: &[Standard] = &[
    hipaa_safe_harbor::STANDARD,
    ema_policy_0070::STANDARD,
    health_canada::STANDARD,
    eurostat_microdata::STANDARD,
];

/// Returns the standard called `name`. Fails with a usage error if there is no such standard; the
/// error suggests the nearest name, or lists all names.
pub fn named(name: &str) -> Result<&'static Standard> {
    let found = STANDARDS.iter().find(|standard| standard.info.name == name);
    found.ok_or_else(|| Error::unknown("standard", name, STANDARDS.iter().map(|standard| standard.info.name)))
}

#[cfg(test)]
mod tests;
