//! Privacy models: what every released equivalence class must hold, by definitions.md, "Privacy models".
//!
//! A model is a predicate over one class: it says what the frequency set must carry for it, is prepared once per
//! request, and then judges classes. Beside the predicate it states the same guarantee a second time, as SQL over
//! released rows ([`PrivacyModel::audit`]); verification runs that, and shares nothing with the search. A new model is
//! one file and one line in [`MODELS`].

mod k_anonymity;

use crate::catalogue::{self, Arguments, Call, Entry};
use crate::error::Result;
use crate::frequency::Base;
use crate::hierarchy::Lookup;
use std::fmt::Debug;

/// When a class that holds implies that every class it is merged into holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Monotonicity {
    /// Along generalization, also when rows are suppressed.
    Always,
    /// Along generalization as long as nothing may be suppressed.
    WithoutSuppression,
    /// Not at all.
    Never,
}

/// What a model reads beyond class sizes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reads {
    /// The sensitive attribute named after ON.
    pub attribute: bool,
    /// That attribute's hierarchy (SENSITIVE (c USING h)).
    pub hierarchy: bool,
    /// The population table.
    pub population: bool,
}

/// What a model is prepared for.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The table.
    pub base: &'a Base,
    /// The attribute's place among the details of the base set, for a model that reads one.
    pub attribute: Option<usize>,
    /// The attribute's hierarchy, for a model that reads one.
    pub hierarchy: Option<&'a Lookup>,
}

/// One equivalence class.
#[derive(Debug, Clone, Copy)]
pub struct Class<'a> {
    /// f: its rows, or its distinct entities under ENTITY.
    pub size: u64,
    /// The class's count in the population table; 0 without one.
    pub population: u64,
    /// The sensitive values in it, ascending by code, with their counts; empty for a model that reads none.
    pub histogram: &'a [(u32, u64)],
}

/// A privacy model with its parameters.
pub trait PrivacyModel: Debug + Send + Sync {
    /// What it reads beyond class sizes.
    fn reads(&self) -> Reads {
        Reads::default()
    }

    /// Along what a class that holds stays one.
    fn monotonicity(&self) -> Monotonicity;

    /// The smallest class that can hold.
    fn min_class_size(&self) -> u64 {
        1
    }

    /// Readies the model for one table. Fails as infeasible when no class of it can hold.
    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Predicate>>;

    /// The same guarantee, to be recounted on released rows.
    fn audit(&self, relation: &Relation) -> Audit;
}

/// A model made ready for one table.
pub trait Predicate: Debug + Send + Sync {
    /// Whether the class may be released.
    fn holds(&self, class: &Class) -> bool;

    /// When the predicate is that a class has at least so many rows (or entities), that number: such predicates are
    /// checked for all classes in one loop.
    fn least_size(&self) -> Option<u64> {
        None
    }

    /// Whether what is released holds as a whole, given that every class does.
    fn holds_overall(&self, classes: u64, released: u64) -> bool {
        let _ = (classes, released);
        true
    }
}

/// Names to write an audit with, all quoted as SQL identifiers.
#[derive(Debug, Clone)]
pub struct Relation {
    /// The released rows, without suppressed ones.
    pub released: String,
    /// The quasi-identifiers that make the classes.
    pub group: Vec<String>,
    /// The sensitive attribute.
    pub attribute: Option<String>,
    /// The entity column, when classes count entities.
    pub entity: Option<String>,
}

impl Relation {
    /// The size of a class as an aggregate.
    pub fn size(&self) -> String {
        match &self.entity {
            Some(entity) => format!("count(DISTINCT {entity})"),
            None => "count(*)".into(),
        }
    }

    /// `GROUP BY` the quasi-identifiers.
    pub fn group_by(&self) -> String {
        format!("GROUP BY {}", self.group.join(", "))
    }
}

/// How what is reached compares with what is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// Reached is at least required.
    AtLeast,
    /// Reached is at most required.
    AtMost,
    /// Reached is less than required.
    Below,
}

/// A check of a guarantee on released rows.
#[derive(Debug, Clone)]
pub struct Audit {
    /// A query that answers one number: the worst that any class reaches, NULL when there is no class.
    pub sql: String,
    /// What the model requires.
    pub required: f64,
    /// How the two compare.
    pub comparison: Comparison,
}

impl Audit {
    /// Whether `reached` is as required. No class, nothing broken.
    pub fn holds(&self, reached: Option<f64>) -> bool {
        reached.is_none_or(|reached| match self.comparison {
            Comparison::AtLeast => reached >= self.required,
            Comparison::AtMost => reached <= self.required,
            Comparison::Below => reached < self.required,
        })
    }
}

/// The constructor in a model's catalogue entry.
pub type Build = fn(&Arguments) -> Result<Box<dyn PrivacyModel>>;

/// Every privacy model, by name.
pub static MODELS: &[Entry<Build>] = &[k_anonymity::ENTRY];

/// The model that a statement names.
pub fn build(call: &Call) -> Result<Box<dyn PrivacyModel>> {
    let entry = catalogue::find("privacy model", MODELS, &call.name)?;
    (entry.build)(&Arguments::bind(&entry.info, &call.args)?)
}
