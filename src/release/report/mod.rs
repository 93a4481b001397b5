//! The report on a release: the evidence for a data protection officer.
//!
//! A [`Report`] contains measured facts: counts, levels, and the names of columns and
//! hierarchies. It contains no value from any row, neither raw nor generalized. Figures of the
//! source are rounded or withheld if the values of a few persons could be computed from them.
//! Its serialisation is its JSON form. The module `page` writes the report for readers,
//! structured by the three questions of Opinion 05/2014 (WP216), and in the terms of ISO/IEC
//! 20889. The resulting page is rendered as HTML or as Markdown. The HTML is one file with
//! pictures as SVG; it has no scripts and loads nothing. The same facts always give the same
//! bytes.
//!
//! References: Article 29 Data Protection Working Party, Opinion 05/2014 on Anonymisation
//! Techniques, 0829/14/EN WP216; ISO/IEC 20889:2018, Privacy enhancing data de-identification
//! terminology and classification of techniques.

mod bars;
mod block;
mod class_sizes;
mod drawing;
mod explorer;
mod facts;
mod front;
mod gaps;
mod html;
mod markdown;
mod neighbours;
mod number;
mod own_values;
mod page;
#[cfg(test)]
pub(crate) mod sample;
mod section;
mod shares;
#[cfg(test)]
mod tests;
mod utility;

pub use class_sizes::{class_sizes, risks};
pub use explorer::{Explorer, Levels, MetricValues};
pub use facts::{
    AttackMeasure, Attacker, Better, Bin, ChoiceSummary, ClassCount, ColumnSummary, Disclosure, FrontSummary, Gap,
    Generalization, InputSummary, LabelShare, ObjectiveSummary, Point, PolicyUsed, PromiseSummary, ReleaseFiles,
    ReleaseSummary, Report, ReportedRole, RequiredComparison, RiskSummary, StatementRecord, SuppressionSummary,
    VERSION,
};
pub use front::{Axis, FrontChart};
pub use gaps::not_covered;
pub use neighbours::Neighbour;
pub use own_values::OwnValues;

use crate::base::error::{Error, Result};
use block::Page;
use serde::Serialize;
use std::path::Path;

/// The file format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFormat {
    /// One self-contained HTML page.
    Html,
    /// Markdown for a repository or a wiki.
    Markdown,
    /// JSON with every figure, for programs.
    Json,
}

impl ReportFormat {
    /// Returns the format for the extension of a file name. Fails with a usage error if the
    /// extension is unknown.
    pub fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        match extension.as_deref() {
            Some("html" | "htm") => Ok(Self::Html),
            Some("md" | "markdown") => Ok(Self::Markdown),
            Some("json") => Ok(Self::Json),
            _ => Err(Error::usage(format!(
                "REPORT TO {:?}: the name must end in .html, .md or .json, which is the form of the report",
                path.display().to_string()
            ))),
        }
    }
}

impl Report {
    /// Renders the report in this format.
    pub fn render(&self, format: ReportFormat) -> Result<String> {
        rendered(format, || page::page(self), self)
    }
}

/// Returns the report in this format: as JSON the facts themselves, otherwise the page that `page`
/// builds.
fn rendered(format: ReportFormat, page: impl FnOnce() -> Result<Page>, facts: &impl Serialize) -> Result<String> {
    match format {
        ReportFormat::Html => html::render(&page()?),
        ReportFormat::Markdown => Ok(markdown::render(&page()?)),
        ReportFormat::Json => serde_json::to_string_pretty(facts)
            .map(|text| text + "\n")
            .map_err(|e| Error::internal(format!("the report cannot be written as JSON: {e}"))),
    }
}
