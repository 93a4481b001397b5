//! Quality metrics: measures of the loss of a release. Each file states the definition of its
//! metric and its publication.
//!
//! A metric is prepared once per request, and then measures nodes from their classes. Sums are
//! exact integers (or fixed point, see [`cells`]). So a value does not depend on the order of the
//! classes, or on the set from which they were rolled up. A new metric is one file and one line in
//! [`METRICS`].

#[cfg(test)]
mod brute;
mod c_avg;
pub mod cells;
mod cm;
mod dm;
mod entropy;
mod glm;
mod height;
mod ileft;
mod infoloss;
mod measure;
mod precision;
mod s_k;
mod s_l;
#[cfg(test)]
mod tests;
mod weighted;

pub use measure::{Build, Measure, Metric, Reads, Subject, View};
pub use weighted::Weighted;

use crate::base::catalogue::{self, Arguments, Call, Entry};
use crate::base::error::Result;

/// The name of the default metric, which is minimized if a statement names no metric.
pub const DEFAULT: &str = glm::ENTRY.info.name;

/// Every built-in metric, in the order of the help text.
pub static METRICS: &[Entry<Build>] = &[
    glm::ENTRY,
    dm::ENTRY,
    entropy::ENTRY,
    c_avg::ENTRY,
    precision::ENTRY,
    height::ENTRY,
    infoloss::ENTRY,
    cm::ENTRY,
    ileft::ENTRY,
    s_k::ENTRY,
    s_l::ENTRY,
];

/// Builds the metric that `call` names. Fails if the name or an argument is unknown.
pub fn build(call: &Call) -> Result<Box<dyn Metric>> {
    let entry = catalogue::find("metric", METRICS, &call.name)?;
    (entry.build)(&Arguments::bind(&entry.info, &call.args)?)
}
