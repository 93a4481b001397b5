//! The job: a request bound to names and types, as a value. [`Job::check`] contains every refusal
//! of a request. Nothing is read before the check, and after it nothing is refused because of the
//! request.

mod check;
mod choice;
mod constraint;
mod notes;
mod replay;
mod report_file;
mod roles;
mod source;
mod target;
#[cfg(test)]
pub(crate) mod testing;
mod waiting;

pub use check::Purpose;
pub(crate) use check::{check_counted, check_population, check_report, may_divide, no_values, rises_from_zero};
pub use choice::{Candidate, Choice};
pub use constraint::{Constraint, Scope, SuppressionLimit};
pub use replay::Replay;
pub use report_file::ReportFile;
pub use roles::{ItemSet, MaskOf, QuasiIdentifier, Randomization, Sensitive, is_list};
pub use source::SourceTable;
pub(crate) use target::target_exists;
pub use target::{Existing, Format, Stored, Target};
pub use waiting::Waiting;
pub(crate) use waiting::{Taken, WaitingRows};

use crate::error::Result;
use crate::folder::{Manifest, PolicySummary};
use crate::hierarchy::LabelForm;
use crate::metric::Metric;
use crate::model::Sampling;
use crate::standard::Standard;
use std::time::Duration;

/// A bound request: the complete description of a release.
pub struct Job {
    /// The statement in canonical form, as the manifest may contain it. It contains no secret.
    pub statement: String,
    /// SHA-256 of the full statement.
    pub statement_sha256: String,
    /// The table to anonymize.
    pub source: SourceTable,
    /// The identifiers. An identifier without a mask is dropped.
    pub identifiers: Vec<String>,
    /// The masks of identifiers, sensitive attributes and kept columns.
    pub masks: Vec<MaskOf>,
    /// The columns that are generalized.
    pub quasi_identifiers: Vec<QuasiIdentifier>,
    /// The quasi-identifiers that are sets of items.
    pub item_sets: Vec<ItemSet>,
    /// The sensitive attributes, which the models protect.
    pub sensitive: Vec<Sensitive>,
    /// The column of the class label.
    pub class_label: Option<String>,
    /// The columns that no model protects. A column without a mask is released unchanged.
    pub keep: Vec<String>,
    /// The column whose distinct values are counted instead of rows.
    pub entity: Option<String>,
    /// The population table in which models count, with the same quasi-identifiers.
    pub population: Option<SourceTable>,
    /// The privacy models with their attributes and columns.
    pub constraints: Vec<Constraint>,
    /// The standards that the release follows.
    pub standards: Vec<&'static Standard>,
    /// The most rows that may be suppressed.
    pub suppression: SuppressionLimit,
    /// Whether suppressed rows are kept, with `*` in every quasi-identifier and NULL in every
    /// sensitive column.
    pub starred: bool,
    /// The name of the metric to minimise, as the statement writes it.
    pub metric_name: String,
    /// The metric to minimise.
    pub metric: Box<dyn Metric>,
    /// The names and metrics of the terms, if the metric is a weighted sum of several.
    pub terms: Vec<(String, Box<dyn Metric>)>,
    /// How the node or partition is chosen.
    pub choice: Choice,
    /// The seed of all random choices.
    pub seed: u64,
    /// The time limit of the search.
    pub time_limit: Option<Duration>,
    /// The most nodes that the search may assess.
    pub node_limit: Option<u64>,
    /// The folder of the release; `None` if the statement returns the rows.
    pub target: Option<Target>,
    /// The file for the report of the release.
    pub report: Option<ReportFile>,
    /// The columns whose warnings are accepted.
    pub accepted: Vec<String>,
    /// The policy that the statement used.
    pub policy: Option<PolicySummary>,
    /// Whether an open warning is an error.
    pub strict: bool,
}

impl Job {
    /// Returns true if the column is released. Identifiers without a mask are dropped, and so is an
    /// entity column that is in no other list.
    pub fn releases(&self, column: &str) -> bool {
        self.mask(column).is_some()
            || self.quasi_identifiers.iter().any(|q| q.column == column)
            || self.item_set(column).is_some()
            || self.sensitive.iter().any(|s| s.column == column)
            || self.class_label.as_deref() == Some(column)
            || self.keep.iter().any(|k| k == column)
    }

    /// Returns the mask of a column.
    pub fn mask(&self, column: &str) -> Option<&MaskOf> {
        self.masks.iter().find(|of| of.column == column)
    }

    /// Returns how a sensitive column is permuted.
    pub fn randomization(&self, column: &str) -> Option<&Randomization> {
        self.sensitive
            .iter()
            .find(|s| s.column == column)?
            .randomization
            .as_ref()
    }

    /// Returns the position of a quasi-identifier.
    pub fn quasi_identifier(&self, column: &str) -> Option<usize> {
        self.quasi_identifiers.iter().position(|q| q.column == column)
    }

    /// Returns the position of a column of sets of items.
    pub fn item_set(&self, column: &str) -> Option<usize> {
        self.item_sets.iter().position(|s| s.column == column)
    }

    /// Returns the quasi-identifiers whose labels are released in another form than TEXT.
    pub fn computed_columns(&self) -> Vec<String> {
        let computed = self.quasi_identifiers.iter().filter(|q| q.labels != LabelForm::Text);
        computed.map(|q| q.column.clone()).collect()
    }

    /// Fails with `ErrorKind::Data` if the source or the population has changed since it was bound.
    pub(crate) async fn check_unchanged(&self) -> Result<()> {
        self.source.pins.check().await?;
        match &self.population {
            Some(population) => population.pins.check().await,
            None => Ok(()),
        }
    }

    /// Returns the metrics to measure: the metric to minimise, and the terms of a weighted sum.
    pub fn metrics(&self) -> Vec<&dyn Metric> {
        let terms = self.terms.iter().map(|(_, metric)| metric.as_ref());
        std::iter::once(self.metric.as_ref()).chain(terms).collect()
    }

    /// Returns the constraint with personal limits, and the column that contains the limits.
    pub fn personal(&self) -> Option<(&Constraint, &str)> {
        self.constraints.iter().find_map(|c| Some((c, c.model.limit_column()?)))
    }

    /// Returns how the rows are drawn, if the release is a sample.
    pub fn sampling(&self) -> Option<&Sampling> {
        self.constraints.iter().find_map(|c| c.model.sampling())
    }

    /// Returns the levels of the quasi-identifiers if the statement leaves no choice: AT NODE, or
    /// LEVELS with one level for each of them.
    pub fn given_levels(&self) -> Option<Vec<u8>> {
        let only = |q: &QuasiIdentifier| q.levels.filter(|(low, high)| low == high).map(|(low, _)| low);
        match &self.choice {
            Choice::Node(levels) => Some(levels.clone()),
            Choice::Replay(replay) => replay.levels.clone(),
            Choice::Search { .. } => self.quasi_identifiers.iter().map(only).collect(),
            Choice::Partition(_) => None,
        }
    }

    /// Returns true if the job is under a policy, and a release is not under a policy with the same
    /// digest. `standing` is the policy of the release.
    pub(crate) fn is_under_another_policy(&self, standing: Option<&PolicySummary>) -> bool {
        let own = self.policy.as_ref().map(|policy| &policy.sha256);
        own.is_some() && own != standing.map(|policy| &policy.sha256)
    }

    /// Returns the release that the rows are added to, if there is one (APPEND).
    pub(crate) fn grows(&self) -> Option<&Manifest> {
        self.target.as_ref()?.grows.as_deref()
    }

    /// Returns true if classes count an entity that cannot be read from the released rows.
    pub fn hides_entity(&self) -> bool {
        let hidden = |e: &String| !self.releases(e) || self.mask(e).is_some();
        self.entity.as_ref().is_some_and(hidden)
    }
}
