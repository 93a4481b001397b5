//! The measured facts of a report. Their serialisation is the JSON form of the report.

use super::neighbours::Neighbour;
use super::own_values::OwnValues;
use crate::masks::MaskKind;
use crate::utility::Utility;
use crate::warning::Warning;
use serde::{Deserialize, Serialize};

/// The version of the JSON form. It increases by one when a field changes its meaning.
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
    /// The warnings about the roles of the request.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<Warning>,
    /// The privacy models, recounted on the release.
    pub promises: Vec<PromiseSummary>,
    /// The re-identification risks of the source and of the release.
    pub risks: Vec<RiskSummary>,
    /// The equivalence classes by size, in the source and in the release.
    pub class_sizes: Vec<Bin>,
    /// The sensitive information that a class reveals about its members.
    pub disclosure: Vec<Disclosure>,
    /// The columns whose masks are drawn by chance, with the rows that still tell their own value.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub own_values: Vec<OwnValues>,
    /// The suppressed rows.
    pub suppression: SuppressionSummary,
    /// The utility that the release keeps; `None` if it was not measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub utility: Option<Utility>,
    /// How the generalization was chosen.
    pub choice: ChoiceSummary,
    /// The combinations of levels one step from the released one; empty for local recoding, for
    /// personal limits and sets of items, and if there are more than 64.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub neighbours: Vec<Neighbour>,
    /// The alternatives, if several metrics were minimised together.
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
    /// The files and tables that were read; empty for a release without files.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub inputs: Vec<InputSummary>,
}

/// The policy that a statement used.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct PolicyUsed {
    /// The name of the policy.
    pub name: String,
    /// The SHA-256 of the policy's clauses and of its hierarchies.
    pub sha256: String,
}

/// A file or a table that was read.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct InputSummary {
    /// The name of the file, the URL of the object, or the table.
    pub name: String,
    /// The size in bytes.
    pub bytes: u64,
    /// The identity of the content: SHA-256 of a file, the tag of an object, the version of a
    /// table.
    pub content: String,
}

/// The source and the release: their names, rows, classes and files.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct ReleaseSummary {
    /// The source: a table's name, a path, or "a query".
    pub source: String,
    /// The folder of the release; `None` if the statement returned the rows.
    pub target: Option<String>,
    /// The number of rows read.
    pub rows_in: u64,
    /// The number of rows written, including suppressed rows that are kept as `*`.
    pub rows_out: u64,
    /// The number of equivalence classes released.
    pub classes: u64,
    /// The size of the smallest released class, recounted; in persons if there is an `entity`.
    pub smallest_class: Option<u64>,
    /// The smallest class size that the models allow, if they define one.
    pub required_class_size: Option<u64>,
    /// The column whose distinct values are the persons; if `None`, each row is a person.
    pub entity: Option<String>,
    /// The number of persons in the source, if there is an `entity`; all rows without a person
    /// count as one person.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub persons_in: Option<u64>,
    /// The number of persons in the classes of the release, counted in the same way.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub persons_out: Option<u64>,
    /// The population table in which classes were counted.
    pub population: Option<String>,
    /// The files of the release, if any were written.
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
    /// The distinct values of the column are the persons.
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
    /// The kind of mask, if the column is released masked.
    #[serde(skip)]
    pub mask: Option<&'static MaskKind>,
    /// The generalization of the column, if it is a quasi-identifier.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub generalization: Option<Generalization>,
}

/// How a quasi-identifier was generalized.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Generalization {
    /// The name of the hierarchy, if it has one.
    pub hierarchy: Option<String>,
    /// The kind of hierarchy.
    pub kind: String,
    /// The level, 0 for the value itself; `None` if every class (local recoding) or every item of a
    /// set has its own labels.
    pub level: Option<u8>,
    /// The highest level, at which all values have the same label.
    pub top: u8,
    /// A description of the labels at the level.
    pub rule: String,
    /// A description of the labels at each level from 0 to the highest; empty for a column without
    /// a hierarchy.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub levels: Vec<String>,
    /// The loss from generalization: the mean share of the hierarchy that a released value spans,
    /// over all rows.
    pub loss_by_generalization: f64,
    /// The loss from suppression: the share of suppressed rows, each of which loses its whole
    /// value.
    pub loss_by_suppression: f64,
    /// The number of labels in the classes of the release; `None` if every class (local recoding)
    /// or every item of a set has its own labels.
    #[serde(default)]
    pub labels: Option<u64>,
    /// The records of each of these labels, in the order of their values; empty for more than
    /// [`Generalization::MOST_SHARES`] labels, and for fewer than [`Generalization::LEAST_RECORDS`]
    /// records.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub shares: Vec<LabelShare>,
}

/// The shares of the records with a certain label. The label itself is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelShare {
    /// The share of the source's records that have the label, in whole percents. An exact count
    /// would reveal the labels of the suppressed records.
    pub before: u8,
    /// The share of the records in the classes of the release, in whole percents.
    pub after: u8,
}

impl Generalization {
    /// The most labels whose shares are reported; a picture cannot show more.
    pub const MOST_SHARES: usize = 30;
    /// The smallest number of records in a source whose shares are reported. With fewer records,
    /// one percent is less than ten records, so a share could reveal the label of a suppressed
    /// record.
    pub const LEAST_RECORDS: u64 = 1_000;

    /// Returns the column's general loss metric (Iyengar), from 0 to 1.
    pub fn loss(&self) -> f64 {
        self.loss_by_generalization + self.loss_by_suppression
    }

    /// Returns true if no released value of the column contains information.
    pub(super) fn is_lost(&self) -> bool {
        (self.top > 0 && self.level == Some(self.top)) || self.loss() >= 1.0
    }
}

/// How the reached value must compare with the required value.
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

/// A required privacy model, recounted on the release.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct PromiseSummary {
    /// The model as written in the statement.
    pub model: String,
    /// A description of the model's guarantee.
    pub meaning: String,
    /// The sensitive attribute of the model, if it has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub attribute: Option<String>,
    /// The quasi-identifiers of the model, if the model is not about all of them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub quasi_identifiers: Option<Vec<String>>,
    /// How `reached` must compare with `required`.
    pub comparison: RequiredComparison,
    /// The value that the model requires.
    pub required: f64,
    /// The worst value of any class; `None` if there is no class.
    pub reached: Option<f64>,
    /// Whether the model holds.
    pub holds: bool,
}

/// An attacker, characterised by prior knowledge.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Attacker {
    /// Knows that a certain person is in the data, and looks for that person.
    Prosecutor,
    /// Looks for any person in the data, without knowing who is in it.
    Journalist,
    /// Wants to identify as many persons as possible, and accepts some mistakes.
    Marketer,
}

/// The measure of an attack.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum AttackMeasure {
    /// The highest chance of success of any record.
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
    /// The models of the request that constrain the attribute.
    pub models: Vec<String>,
    /// The fewest distinct values in a class of the release (NULL is a value); `None` if there is
    /// no class.
    pub least_distinct: Option<u64>,
    /// The number of released rows in classes with a single value.
    pub rows_in_uniform_classes: u64,
    /// The greatest distance between the values of a class and those of the whole source: half the
    /// sum of all absolute differences of shares (t of categorical t-closeness).
    pub greatest_distance: Option<f64>,
}

/// The suppressed rows of a release.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct SuppressionSummary {
    /// The number of suppressed rows.
    pub rows: u64,
    /// The largest number of rows that may be suppressed.
    pub limit: u64,
    /// The number of classes of the suppressed rows.
    pub classes: u64,
    /// The number of suppressed rows with a value that its hierarchy does not map.
    pub unmapped_rows: u64,
    /// Whether suppressed rows are released with every quasi-identifier as `*` and every sensitive
    /// value empty.
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
    /// The metric that was minimised.
    pub metric: String,
    /// The value of the metric.
    pub value: f64,
    /// The statement about the alternatives that the search proves.
    pub proof: String,
    /// The number of combinations of levels in decimal digits (it may not fit 64 bits), or the text
    /// that it is over 3.4e38; `None` for local recoding, which chooses no levels.
    pub alternatives: Option<String>,
    /// The number of combinations that were assessed.
    pub assessed: u64,
    /// The seed of all random choices.
    pub seed: u64,
    /// The advice to use another search, if that search would lose far less information.
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

/// A property that was minimised or maximised.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct ObjectiveSummary {
    /// The objective as written in the statement: `k`, `l ON occupation`, `glm`.
    pub name: String,
    /// Which values are better.
    pub better: Better,
}

/// A combination of levels that no other assessed combination beats in every objective.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Point {
    /// The level of each quasi-identifier, such as `age 1, zip 2`.
    pub node: String,
    /// One value per objective.
    pub values: Vec<f64>,
    /// True if the point is the knee of the front. Beyond the knee, a small gain in one objective
    /// costs much of another.
    pub knee: bool,
    /// Whether the point was released.
    pub released: bool,
}

/// A Pareto front: the assessed combinations of levels that no other assessed combination beats.
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
    /// The meaning of the gap for this release.
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

    /// Returns the number of rows in released classes: the rows read, without the suppressed rows.
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

    /// Returns the risk of this attacker and measure, if the report has it.
    pub(super) fn risk(&self, attacker: Attacker, measure: AttackMeasure) -> Option<&RiskSummary> {
        let mut risks = self.risks.iter();
        risks.find(|r| r.attacker == attacker && r.measure == measure)
    }
}
