//! The sections of the report on the utility of a release.

use super::{class, correlations, definitions, distributions, masked};
use crate::method::utility::Utility;
use crate::release::report::section::entry::Entry;

/// Every section of the report on the utility of a release, in the order in which they appear on
/// the page.
pub(in crate::release::report) const UTILITY: &[Entry<Utility>] = &[
    distributions::ENTRY,
    class::ENTRY,
    correlations::ENTRY,
    masked::ENTRY,
    definitions::ENTRY,
];
