//! The measured facts in a report. Their serialisation is the JSON form of the report.

use super::neighbours::Neighbour;
use super::own_values::OwnValues;
use crate::method::masks::MaskKind;
use crate::method::utility::Utility;
use crate::method::warning::Warning;
use serde::{Deserialize, Serialize};

/// The version of the JSON form. It increases by one when the meaning of a field changes.
pub const VERSION: u32 = 1;

/// The evidence of one release.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Report {
    /// The version of the report: [`VERSION`].
    pub report_version: u32,
    /// The program that made the report.
    pub software: String,
    /// The statement and its inputs.
    #[serde(default)]
    pub record: StatementRecord,
    /// The source and the release.
    pub release: ReleaseSummary,
    /// All columns of the source, in the order of the source.
    pub columns: Vec<ColumnSummary>,
    /// The warnings about the roles that the request gives to columns.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<Warning>,
    /// The privacy models, evaluated again on the release.
    pub promises: Vec<PromiseSummary>,
    /// The re-identification risks of the source and of the release.
    pub risks: Vec<RiskSummary>,
    /// The equivalence classes by size, in the source and in the release.
    pub class_sizes: Vec<Bin>,
    /// For each sensitive attribute, the information that a class reveals about its members.
    pub disclosure: Vec<Disclosure>,
    /// The columns with a mask that is drawn at random, each with the number of rows that still
    /// reveal their own value.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub own_values: Vec<OwnValues>,
    /// The suppressed rows.
    pub suppression: SuppressionSummary,
    /// The utility of the release; `None` if it was not measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub utility: Option<Utility>,
    /// How the generalization was chosen.
    pub choice: ChoiceSummary,
    /// The combinations of levels that differ from the released one by one level in one column;
    /// empty for local recoding, with personal limits or sets of items, for a sample, if counting
    /// them would require reading the files again or more memory, and if there are more than 64.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub neighbours: Vec<Neighbour>,
    /// The Pareto front, if several objectives were optimised together.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub front: Option<FrontSummary>,
    /// The topics that this report does not cover.
    pub not_covered: Vec<Gap>,
}

/// The statement and its inputs.
#[derive(Debug, Clone, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct StatementRecord {
    /// The statement, with `?` for the literals of its queries.
    pub statement: String,
    /// SHA-256 of the full statement.
    pub statement_sha256: String,
    /// The policy that the statement used.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub policy: Option<PolicyUsed>,
    /// The files and tables that were read; empty if the release was not written to files.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub inputs: Vec<InputSummary>,
}

/// The policy that a statement used.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct PolicyUsed {
    /// The name of the policy.
    pub name: String,
    /// The SHA-256 of the clauses and the hierarchies in the policy.
    pub sha256: String,
}

/// A file or a table that was read.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct InputSummary {
    /// The name of the file, the URL of the object, or the name of the table.
    pub name: String,
    /// The size in bytes.
    pub bytes: u64,
    /// The identity of the content: the SHA-256 of a file, the tag of an object, or the version of
    /// a table.
    pub content: String,
}

/// The source and the release: their names, rows, classes and files.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct ReleaseSummary {
    /// The source: the name of a table, a path, or "a query".
    pub source: String,
    /// The folder of the release; `None` if the statement returned the rows.
    pub target: Option<String>,
    /// The number of rows read.
    pub rows_in: u64,
    /// The number of rows written, including suppressed rows that are kept as `*`.
    pub rows_out: u64,
    /// The number of equivalence classes in the release.
    pub classes: u64,
    /// The size of the smallest released class; `None` if there is no class. The size is counted in
    /// the release, in persons if there is an `entity`, and otherwise in rows.
    pub smallest_class: Option<u64>,
    /// The minimum class size that the models require; `None` if no model requires one.
    pub required_class_size: Option<u64>,
    /// The column whose distinct values identify the persons; `None` if each row is a person.
    pub entity: Option<String>,
    /// The number of persons in the source; `None` if there is no `entity`. All rows without a
    /// person count as one person.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub persons_in: Option<u64>,
    /// The number of persons in the classes of the release, counted in the same way; `None` if
    /// there is no `entity`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub persons_out: Option<u64>,
    /// The population table in which classes were counted; `None` if there is no such table.
    pub population: Option<String>,
    /// The files of the release; `None` if no files were written.
    pub files: Option<ReleaseFiles>,
}

/// The files of a release.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct ReleaseFiles {
    /// The number of files, without the manifest.
    pub count: u64,
    /// The total size of the files, in bytes.
    pub bytes: u64,
    /// The SHA-256 of the manifest, which contains the checksums of all other files.
    pub manifest_sha256: String,
}

/// The role of a column.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum ReportedRole {
    /// The column identifies a person by itself.
    DirectIdentifier,
    /// The column can identify a person together with other columns.
    QuasiIdentifier,
    /// The column contains lists of items. A single item can identify a person. No equivalence
    /// class takes the column into account.
    ItemSet,
    /// The column is sensitive: nobody should learn its value for any person.
    Sensitive,
    /// The column is the target of a classifier.
    ClassLabel,
    /// The column is released unchanged.
    Kept,
    /// The distinct values of the column identify the persons.
    Entity,
}

/// A column of the source with its treatment.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct ColumnSummary {
    /// The name of the column.
    pub name: String,
    /// The role of the column.
    pub role: ReportedRole,
    /// Whether the column is in the release.
    pub released: bool,
    /// The treatment of the column, in the terms of ISO/IEC 20889.
    pub technique: String,
    /// The kind of mask; `None` if the column is not released as a mask.
    #[serde(skip)]
    pub mask: Option<&'static MaskKind>,
    /// The generalization of the column; `None` if it is not generalized.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub generalization: Option<Generalization>,
}

/// How a quasi-identifier was generalized.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Generalization {
    /// The name of the hierarchy; `None` if the column has no hierarchy.
    pub hierarchy: Option<String>,
    /// The kind of hierarchy.
    pub kind: String,
    /// The level, where level 0 contains the values themselves; `None` for local recoding and for
    /// sets of items, where each class or item has its own labels.
    pub level: Option<u8>,
    /// The highest level, at which all values share one label.
    pub top: u8,
    /// A description of the labels at the level.
    pub rule: String,
    /// A description of the labels at each level from level 0 to the highest level; empty for a
    /// column without a hierarchy.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub levels: Vec<String>,
    /// The loss from generalization, from 0 to 1: the share of the hierarchy that a released value
    /// covers, averaged over all rows.
    pub loss_by_generalization: f64,
    /// The loss from suppression, from 0 to 1: the share of suppressed rows. A suppressed row loses
    /// its whole value.
    pub loss_by_suppression: f64,
    /// The number of distinct labels in the classes of the release; `None` for local recoding and
    /// for sets of items, where each class or item has its own labels.
    #[serde(default)]
    pub labels: Option<u64>,
    /// For each distinct label, the share of the records with that label, in the order of the
    /// labels' values; empty for more than [`Generalization::MOST_SHARES`] labels, and for fewer
    /// than [`Generalization::LEAST_RECORDS`] records.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub shares: Vec<LabelShare>,
}

/// The shares of the records with one label, before and after the release. The label itself is left
/// out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelShare {
    /// The share of records in the source with the label, rounded to whole percents. An exact count
    /// would reveal the labels of suppressed records.
    pub before: u8,
    /// The share of records in the released classes with the label, in whole percents.
    pub after: u8,
}

impl Generalization {
    /// The maximum number of labels for which shares are reported. A picture cannot show more.
    pub const MOST_SHARES: usize = 30;
    /// The minimum number of records in the source for shares to be reported. With fewer records,
    /// one percent is less than ten records, so a share could reveal the label of a suppressed
    /// record.
    pub const LEAST_RECORDS: u64 = 1_000;

    /// Returns the loss of the column by the general loss metric (Iyengar), from 0 to 1.
    pub fn loss(&self) -> f64 {
        self.loss_by_generalization + self.loss_by_suppression
    }

    /// Returns true if the released values of the column contain no information.
    pub(super) fn is_lost(&self) -> bool {
        (self.top > 0 && self.level == Some(self.top)) || self.loss() >= 1.0
    }
}

/// How the value that a release reaches must compare with the required value.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum RequiredComparison {
    /// The reached value must be at least the required one.
    AtLeast,
    /// The reached value must be at most the required one.
    AtMost,
    /// The reached value must be below the required one.
    Below,
}

/// A required privacy model, evaluated again on the release.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct PromiseSummary {
    /// The model as written in the statement.
    pub model: String,
    /// A description of the model's guarantee.
    pub meaning: String,
    /// The sensitive attribute to which the model applies, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub attribute: Option<String>,
    /// The quasi-identifiers to which the model applies; `None` if it applies to all of them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub quasi_identifiers: Option<Vec<String>>,
    /// How `reached` must compare with `required`.
    pub comparison: RequiredComparison,
    /// The value that the model requires.
    pub required: f64,
    /// The value that the model reaches in its worst class; `None` if there is no class.
    pub reached: Option<f64>,
    /// True if the release satisfies the model.
    pub holds: bool,
}

/// An attacker, characterised by prior knowledge.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Attacker {
    /// Knows that a certain person is in the data, and searches for that person.
    Prosecutor,
    /// Searches for any person in the data, without knowing who is in the data.
    Journalist,
    /// Wants to identify as many persons as possible, and accepts some mistakes.
    Marketer,
}

/// The way in which the chances of success of an attack are summarised.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum AttackMeasure {
    /// The highest chance of success over all records.
    Highest,
    /// The mean chance of success over all records.
    Mean,
    /// The share of records whose chance of success is above this threshold.
    ShareAbove(f64),
}

/// A re-identification risk, from 0 to 1, before and after the release.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct RiskSummary {
    /// The attacker whose risk is measured.
    pub attacker: Attacker,
    /// The measure of the risk.
    pub measure: AttackMeasure,
    /// The risk in the source; `None` if it cannot be measured.
    pub before: Option<f64>,
    /// The risk in the release; `None` if it cannot be measured.
    pub after: Option<f64>,
}

/// The equivalence classes of a range of sizes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
pub struct Bin {
    /// The smallest size of the range.
    pub from: u64,
    /// The largest size of the range; `None` for the last bin.
    pub to: Option<u64>,
    /// The classes of the source.
    pub before: ClassCount,
    /// The classes of the release, without suppressed records.
    pub after: ClassCount,
}

/// A number of classes with the number of their members.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct ClassCount {
    /// The number of classes.
    pub classes: u64,
    /// The number of records in the classes, or of persons if persons are counted (a person in two
    /// classes counts in both).
    pub members: u64,
}

/// The information that classes reveal about a sensitive attribute.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Disclosure {
    /// The sensitive attribute.
    pub attribute: String,
    /// The models in the request that constrain the attribute.
    pub models: Vec<String>,
    /// The minimum number of distinct values in a released class, where NULL counts as a value;
    /// `None` if there is no class.
    pub least_distinct: Option<u64>,
    /// The number of released rows in classes in which the attribute has a single value.
    pub rows_in_uniform_classes: u64,
    /// The maximum distance between the distribution of the attribute in a released class and its
    /// distribution in the source: half the sum of the absolute differences of the shares, as in
    /// t-closeness for categories; `None` if there is no class. It is rounded to two decimals if
    /// some rows are suppressed, but fewer than the minimum number of persons on whose values a
    /// figure must be based. With an entity, it is rounded if any row is suppressed.
    pub greatest_distance: Option<f64>,
}

/// The suppressed rows of a release.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct SuppressionSummary {
    /// The number of suppressed rows.
    pub rows: u64,
    /// The maximum number of rows that may be suppressed.
    pub limit: u64,
    /// The number of classes whose rows are suppressed.
    pub classes: u64,
    /// The number of suppressed rows in which a hierarchy does not map the value of its column.
    pub unmapped_rows: u64,
    /// True if suppressed rows are released with `*` in every quasi-identifier and with empty
    /// sensitive values.
    pub starred: bool,
}

/// How the generalization was chosen.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct ChoiceSummary {
    /// The search as a statement writes it; `None` if the levels were given.
    pub search: Option<String>,
    /// The searches that RECODING LOCAL tried, each with its value of the metric or the reason why
    /// it was skipped.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub tried: Vec<String>,
    /// The metric that was minimized.
    pub metric: String,
    /// The value of the metric.
    pub value: f64,
    /// What the search proves: "proven optimal", a bound, or a statement that there is no proof.
    pub proof: String,
    /// The number of combinations of levels. It is stored as a string, because it may not fit into
    /// 64 bits. If it does not fit into 128 bits either, the string is `over 3.4e38`. The number is
    /// `None` for local recoding, which chooses no levels.
    pub alternatives: Option<String>,
    /// The number of combinations that were assessed.
    pub assessed: u64,
    /// The seed of all random choices.
    pub seed: u64,
    /// The advice to use another search; `None` unless that search would lose far less information.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub advice: Option<String>,
}

/// Whether lower or higher values of an objective are better.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Lower values are better.
    Lower,
    /// Higher values are better.
    Higher,
}

/// A property that was minimized or maximized.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct ObjectiveSummary {
    /// The objective as written in the statement: `k`, `l ON occupation`, `glm`.
    pub name: String,
    /// Which values are better.
    pub better: Better,
}

/// A combination of levels that no other assessed combination dominates.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Point {
    /// The level of each quasi-identifier, such as `age 1, zip 2`.
    pub node: String,
    /// One value per objective.
    pub values: Vec<f64>,
    /// True if the point is the knee of the front. Beyond the knee, a small gain in one objective
    /// costs much in another.
    pub knee: bool,
    /// True if the combination was released.
    pub released: bool,
}

/// A Pareto front: the assessed combinations of levels that no other assessed combination
/// dominates.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct FrontSummary {
    /// The objectives of the front.
    pub objectives: Vec<ObjectiveSummary>,
    /// The points of the front.
    pub points: Vec<Point>,
}

/// A topic that the figures of a report do not cover.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct Gap {
    /// The topic in a few words.
    pub topic: String,
    /// What the gap means for this release.
    pub detail: String,
    /// The columns that are affected.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub columns: Vec<String>,
}

impl Report {
    /// Returns the columns with this role.
    pub(super) fn with_role(&self, role: ReportedRole) -> impl Iterator<Item = &ColumnSummary> {
        self.columns.iter().filter(move |c| c.role == role)
    }

    /// Returns the number of rows in released classes: the number of rows read minus the number of
    /// suppressed rows.
    pub(super) fn rows_in_classes(&self) -> u64 {
        self.release.rows_in - self.suppression.rows
    }

    pub(super) fn unit(&self) -> (&'static str, &'static str) {
        match self.release.entity {
            Some(_) => ("person", "persons"),
            None => ("record", "records"),
        }
    }

    pub(super) fn alone(&self) -> [(u64, u64); 2] {
        [|b: &Bin| b.before, |b: &Bin| b.after].map(|of| {
            let members = |bins: &mut dyn Iterator<Item = &Bin>| bins.map(|b| of(b).members).sum();
            let alone = members(&mut self.class_sizes.iter().filter(|b| b.to == Some(1)));
            (alone, members(&mut self.class_sizes.iter()))
        })
    }

    /// Returns the risk for this attacker and measure; `None` if the report does not contain it.
    pub(super) fn risk(&self, attacker: Attacker, measure: AttackMeasure) -> Option<&RiskSummary> {
        let mut risks = self.risks.iter();
        risks.find(|r| r.attacker == attacker && r.measure == measure)
    }
}
