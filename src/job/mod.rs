//! What was asked: a request bound to names and types, as a value. [`Job::check`] holds every refusal; nothing is read
//! before it, and nothing is refused for what was asked after it.

mod check;
mod choice;
mod constraint;
mod report_file;
mod roles;
mod source;
mod target;
#[cfg(test)]
pub(crate) mod testing;

pub use check::Purpose;
pub(crate) use check::check_population;
pub use choice::Choice;
pub use constraint::{Constraint, SuppressionLimit};
pub use report_file::ReportFile;
pub(crate) use report_file::resolved;
pub use roles::{Identifier, QuasiIdentifier, Randomization, Secret, Sensitive};
pub use source::SourceTable;
pub(crate) use target::target_exists;
pub use target::{Existing, Format, Target};

use crate::error::Result;
use crate::metric::Metric;
use std::time::Duration;

/// A bound request.
pub struct Job {
    /// The statement, printed canonically, as the manifest may have it. It holds no secret.
    pub statement: String,
    /// SHA-256 of the statement in full.
    pub statement_sha256: String,
    /// The rows.
    pub source: SourceTable,
    /// Columns that are removed or hashed.
    pub identifiers: Vec<Identifier>,
    /// Columns that are generalized.
    pub quasi_identifiers: Vec<QuasiIdentifier>,
    /// Columns that are protected.
    pub sensitive: Vec<Sensitive>,
    /// The class label.
    pub class_label: Option<String>,
    /// Columns that are kept as they are.
    pub keep: Vec<String>,
    /// The column whose distinct values are counted instead of rows.
    pub entity: Option<String>,
    /// The population table of k_map, with the same quasi-identifiers.
    pub population: Option<SourceTable>,
    /// The privacy models.
    pub constraints: Vec<Constraint>,
    /// The most rows that may be suppressed.
    pub suppression: SuppressionLimit,
    /// Whether suppressed rows stay, with every quasi-identifier as `*` and every sensitive value NULL.
    pub starred: bool,
    /// What is minimised, as the statement has it.
    pub metric_name: String,
    /// What is minimised.
    pub metric: Box<dyn Metric>,
    /// The metrics that it weighs against each other, by name, where it is a sum of several.
    pub terms: Vec<(String, Box<dyn Metric>)>,
    /// How the release is chosen.
    pub choice: Choice,
    /// The seed of everything random.
    pub seed: u64,
    /// When the search has to end.
    pub time_limit: Option<Duration>,
    /// The most nodes that the search may evaluate.
    pub node_limit: Option<u64>,
    /// Where the release goes; its rows are handed out where there is no target.
    pub target: Option<Target>,
    /// Where the report of the release goes.
    pub report: Option<ReportFile>,
}

impl Job {
    /// Whether the released table has the column: identifiers without a hash are dropped, and so is an entity column
    /// that is in no other list.
    pub fn releases(&self, column: &str) -> bool {
        let hashed = |i: &Identifier| i.column == column && i.secret.is_some();
        self.identifiers.iter().any(hashed)
            || self.quasi_identifiers.iter().any(|q| q.column == column)
            || self.sensitive.iter().any(|s| s.column == column)
            || self.class_label.as_deref() == Some(column)
            || self.keep.iter().any(|k| k == column)
    }

    /// How a sensitive column is permuted.
    pub fn randomization(&self, column: &str) -> Option<&Randomization> {
        self.sensitive
            .iter()
            .find(|s| s.column == column)?
            .randomization
            .as_ref()
    }

    /// The position of a quasi-identifier.
    pub fn quasi_identifier(&self, column: &str) -> Option<usize> {
        self.quasi_identifiers.iter().position(|q| q.column == column)
    }

    /// An error when a source is not what it was when it was named.
    pub(crate) async fn check_unchanged(&self) -> Result<()> {
        self.source.pins.check().await?;
        match &self.population {
            Some(population) => population.pins.check().await,
            None => Ok(()),
        }
    }

    /// All that is measured: what is minimised, and the metrics that it weighs.
    pub fn metrics(&self) -> Vec<&dyn Metric> {
        let terms = self.terms.iter().map(|(_, metric)| metric.as_ref());
        std::iter::once(self.metric.as_ref()).chain(terms).collect()
    }

    /// The promise to each row, and the column with its limits.
    pub fn personal(&self) -> Option<(&Constraint, &str)> {
        self.constraints.iter().find_map(|c| Some((c, c.model.limit_column()?)))
    }

    /// Whether classes count an entity that the released rows do not tell.
    pub fn hides_entity(&self) -> bool {
        let hidden = |e: &String| !self.releases(e) || self.identifiers.iter().any(|i| i.column == *e);
        self.entity.as_ref().is_some_and(hidden)
    }
}
