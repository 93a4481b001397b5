//! The measured facts of a report: its JSON form is their serialisation.

use serde::{Deserialize, Serialize};

/// What the JSON form looks like; it grows by one when a field changes its meaning.
pub const VERSION: u32 = 1;

/// The evidence of one release.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Report {
    /// [`VERSION`].
    pub report_version: u32,
    /// The program that made it.
    pub software: String,
    /// What was read and what was released.
    pub release: Released,
    /// Every column of the source, in its order.
    pub columns: Vec<Column>,
    /// The privacy models, recounted on what was released.
    pub promises: Vec<Promise>,
    /// Re-identification risk of the source and of the release.
    pub risks: Vec<Risk>,
    /// Equivalence classes by size, in the source and in the release.
    pub class_sizes: Vec<Bin>,
    /// What a class tells of the sensitive attributes of those in it.
    pub disclosure: Vec<Disclosure>,
    /// What was left out.
    pub suppression: Suppression,
    /// How the generalization was chosen.
    pub choice: Choice,
    /// The alternatives, where several metrics were minimised together.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub front: Option<Front>,
    /// What this report says nothing about.
    pub not_covered: Vec<Gap>,
}

/// What was read and what was released.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Released {
    /// The source: a table's name, a path, or "a query".
    pub source: String,
    /// The folder of the release; none where rows were answered.
    pub target: Option<String>,
    /// Rows read.
    pub rows_in: u64,
    /// Rows written, suppressed ones that are kept as `*` included.
    pub rows_out: u64,
    /// Equivalence classes released.
    pub classes: u64,
    /// The smallest of them, recounted; in persons where `entity` is named.
    pub smallest_class: Option<u64>,
    /// The smallest that the models allow, where they say.
    pub required_class_size: Option<u64>,
    /// The column whose distinct values are the persons; without one a row is a person.
    pub entity: Option<String>,
    /// The population table that classes were counted in.
    pub population: Option<String>,
    /// The files written.
    pub files: Option<Files>,
}

/// The files of a release.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct Files {
    /// How many there are, the manifest not counted.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// SHA-256 of the manifest, which has the checksums of all others.
    pub manifest_sha256: String,
}

/// What a column is.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It says who someone is.
    DirectIdentifier,
    /// Together with others it can say so.
    QuasiIdentifier,
    /// What the data is for, and what nobody should learn of a person.
    Sensitive,
    /// What a classifier is to learn.
    ClassLabel,
    /// Released as it is.
    Kept,
    /// Its distinct values are the persons.
    Entity,
}

/// A column, and what became of it.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// Whether it is in the release.
    pub released: bool,
    /// What was done to it, in the words of ISO/IEC 20889.
    pub technique: String,
    /// How it was generalized.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub generalization: Option<Generalization>,
}

/// How a quasi-identifier was generalized.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Generalization {
    /// The hierarchy's name, where it has one.
    pub hierarchy: Option<String>,
    /// The kind of hierarchy.
    pub kind: String,
    /// The level, 0 for the value itself; none where every class has labels of its own (local recoding).
    pub level: Option<u8>,
    /// The highest level, at which all values are one.
    pub top: u8,
    /// What the level does.
    pub rule: String,
    /// What is lost by generalizing: the mean share of the hierarchy that a released value spans, over all rows.
    pub loss_by_generalization: f64,
    /// What is lost by suppressing: the share of the rows, each of which loses its value whole.
    pub loss_by_suppression: f64,
}

impl Generalization {
    /// The column's share of the general loss metric (Iyengar), from 0 to 1.
    pub fn loss(&self) -> f64 {
        self.loss_by_generalization + self.loss_by_suppression
    }
}

/// How what is reached has to compare with what is required.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// No less.
    AtLeast,
    /// No more.
    AtMost,
    /// Less.
    Below,
}

/// A privacy model that was required, recounted on what was released.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Promise {
    /// The model as the statement has it.
    pub model: String,
    /// What it says.
    pub meaning: String,
    /// The sensitive attribute it is about.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub attribute: Option<String>,
    /// The quasi-identifiers that it is about, where those are not all.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub quasi_identifiers: Option<Vec<String>>,
    /// How it compares.
    pub comparison: Comparison,
    /// What it requires.
    pub required: f64,
    /// The worst that any class reaches; none where there is no class.
    pub reached: Option<f64>,
    /// Whether it holds.
    pub holds: bool,
}

/// Who attacks, by what they know.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Attacker {
    /// Knows that a certain person is in the data, and looks for that person.
    Prosecutor,
    /// Looks for some person in the data, and does not know who is in it.
    Journalist,
    /// Wants as many as possible, and does not mind some mistakes.
    Marketer,
}

/// What is measured of an attack.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The chance of success with the record that is easiest.
    Highest,
    /// The mean chance of success over all records.
    Mean,
    /// The share of records whose chance is above this.
    ShareAbove(f64),
}

/// A re-identification risk, from 0 to 1, before and after.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Risk {
    /// The attacker.
    pub attacker: Attacker,
    /// What is measured.
    pub measure: Measure,
    /// In the source; none where it cannot be measured.
    pub before: Option<f64>,
    /// In the release; none where it cannot be measured.
    pub after: Option<f64>,
}

/// Equivalence classes of some sizes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
pub struct Bin {
    /// The smallest size.
    pub from: u64,
    /// The largest size; none for the last bin.
    pub to: Option<u64>,
    /// In the source.
    pub before: Classes,
    /// In the release, suppressed records left out.
    pub after: Classes,
}

/// A number of classes.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Classes {
    /// The classes.
    pub classes: u64,
    /// The records in them, or the persons where those are counted (a person in two classes counts in both).
    pub members: u64,
}

/// What classes tell of a sensitive attribute.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Disclosure {
    /// The sensitive attribute.
    pub attribute: String,
    /// The models in force that constrain it.
    pub models: Vec<String>,
    /// The fewest distinct values in a class of the release (NULL is a value); none where there is no class.
    pub least_distinct: Option<u64>,
    /// Rows of the release in classes with a single value.
    pub rows_in_uniform_classes: u64,
    /// The greatest distance of a class's values from those of the whole source: half the sum of all differences of
    /// shares (t of categorical t-closeness).
    pub greatest_distance: Option<f64>,
}

/// What was left out.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct Suppression {
    /// Rows that were suppressed.
    pub rows: u64,
    /// The most rows that might have been.
    pub limit: u64,
    /// The classes they were in.
    pub classes: u64,
    /// Of the rows, those with a value that its hierarchy does not know.
    pub unmapped_rows: u64,
    /// Whether they are in the release with every quasi-identifier as `*` and every sensitive value empty.
    pub starred: bool,
}

/// How the generalization was chosen.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Choice {
    /// The search as the statement has it; none where the levels were given.
    pub search: Option<String>,
    /// What was minimised.
    pub metric: String,
    /// Its value.
    pub value: f64,
    /// What is known of the alternatives.
    pub proof: String,
    /// The combinations of levels there are, as decimal digits (they may not fit 64 bits); none for local recoding, which
    /// chooses no levels.
    pub alternatives: Option<String>,
    /// Those that were assessed.
    pub assessed: u64,
    /// The seed of everything random.
    pub seed: u64,
}

/// Which of two values of an objective is better.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// The lower one.
    Lower,
    /// The higher one.
    Higher,
}

/// Something that was minimised or maximised.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct Objective {
    /// As the statement has it: `k`, `l ON occupation`, `glm`.
    pub name: String,
    /// Which values are better.
    pub better: Better,
}

/// A combination of levels that no other that was assessed beats in every objective.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Point {
    /// The level by quasi-identifier, as `age 1, zip 2`.
    pub node: String,
    /// One value per objective.
    pub values: Vec<f64>,
    /// Whether it is the knee: where giving up a little of one objective no longer buys much of another.
    pub knee: bool,
    /// Whether it is the one that was released.
    pub released: bool,
}

/// A Pareto front: of the combinations of levels that were assessed, those that no other of them beats.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Front {
    /// What was weighed against each other.
    pub objectives: Vec<Objective>,
    /// Its points.
    pub points: Vec<Point>,
}

/// Something that the figures do not speak of.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct Gap {
    /// In a few words.
    pub topic: String,
    /// What it means here.
    pub detail: String,
    /// The columns it is about.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub columns: Vec<String>,
}

impl Report {
    /// The columns with a role.
    pub(super) fn with_role(&self, role: Role) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(move |c| c.role == role)
    }

    /// The rows in classes: those written, without suppressed ones.
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

    /// The risk by attacker and measure.
    pub(super) fn risk(&self, attacker: Attacker, measure: Measure) -> Option<&Risk> {
        let mut risks = self.risks.iter();
        risks.find(|r| r.attacker == attacker && r.measure == measure)
    }
}
