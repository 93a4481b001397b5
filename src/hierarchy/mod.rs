//! Generalization hierarchies as Arrow lookup tables.
//!
//! A [`Hierarchy`] is what CREATE HIERARCHY makes: a [`Ladder`] that says to which label a ground value belongs at each
//! level, and what becomes of values it does not know. Bound to the distinct values of a column it becomes a
//! [`Lookup`]: per level an Arrow array of labels and a code-to-code array, so that generalizing a batch is a take.
//! Every kind of hierarchy is one file with one [`Ladder`] and one line in [`KINDS`].

mod cover;
mod coverage;
pub mod file;
mod grid;
mod ground;
pub mod intervals;
mod label;
mod lookup;
mod number;
pub mod prefix;
pub mod quantiles;
pub mod suppression;
pub mod table;
pub mod truncate;

pub use cover::{Cover, Proven};
pub use coverage::Coverage;
pub(crate) use ground::plain_type;
pub use label::{Label, LabelTexts};
pub use lookup::{Level, Lookup};
pub use number::Number;

use crate::catalogue::Info;
use crate::error::{Error, Result};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray, UInt8Array, UInt64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

/// The label of a top level that is added where it is missing, and of a suppressed cell.
pub const TOP: &str = "*";

/// The most levels above the ground that a hierarchy may have.
pub const MAX_LEVELS: usize = 200;

/// What becomes of a value that the hierarchy does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnUnmapped {
    /// The statement fails and says how many values and rows there are.
    #[default]
    Error,
    /// Its rows are suppressed.
    Suppress,
    /// It generalizes to the top at every level above the ground.
    Top,
}

/// What becomes of NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnNull {
    /// NULL is a value of its own below the top.
    #[default]
    Value,
    /// NULL generalizes to the top at every level above the ground.
    Top,
    /// The statement fails and says how many rows there are.
    Error,
}

/// The rule of one hierarchy: which label a ground value has at each level.
pub trait Ladder: fmt::Debug + Send + Sync {
    /// Its kind, an entry of [`KINDS`].
    fn info(&self) -> &'static Info;

    /// Levels above the ground that [`Ladder::labels`] answers; a last level that is not single-valued gets a top on it.
    fn levels(&self) -> usize;

    /// How many ground values it lists; `None` for a rule.
    fn listed(&self) -> Option<u64> {
        None
    }

    /// Whether columns of this type can be generalized. The error says which types can.
    fn accepts(&self, data_type: &DataType) -> Result<()>;

    /// The labels of `values` (of a type that was accepted), one array per level from level 1 on; a null label where
    /// the value is unmapped or null. For one value either all levels have a label or none has.
    fn labels(&self, values: &ArrayRef) -> Result<Vec<StringArray>>;

    /// The ground values of a hierarchy that lists them, cast to `data_type` where that can be; `None` for a rule.
    fn ground(&self, data_type: &DataType) -> Result<Option<ArrayRef>>;

    /// Whether the last level of [`Ladder::labels`] is single-valued for whatever data.
    fn ends_in_top(&self) -> bool;

    /// Whether [`Ladder::sql`] says all of it and holds nothing that was taken from data.
    fn is_rule(&self) -> bool {
        false
    }

    /// The clause of CREATE HIERARCHY that makes it again, from `AS` or `FROM` on.
    fn sql(&self) -> String;

    /// What each level from level 1 on does; as many as [`Ladder::levels`].
    fn describe(&self) -> Vec<LevelRule>;
}

/// What one level of a hierarchy does, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelRule {
    /// The rule, without any value of the data.
    pub rule: String,
    /// How many labels the level has, where they are listed.
    pub labels: Option<u64>,
}

/// A named hierarchy.
#[derive(Debug, Clone)]
pub struct Hierarchy {
    name: String,
    ladder: Arc<dyn Ladder>,
    on_unmapped: OnUnmapped,
    on_null: OnNull,
}

impl Hierarchy {
    /// The hierarchy `name` with this rule.
    pub fn new(
        name: impl Into<String>,
        ladder: Arc<dyn Ladder>,
        on_unmapped: OnUnmapped,
        on_null: OnNull,
    ) -> Result<Self> {
        let name = name.into();
        if ladder.levels() > MAX_LEVELS {
            return Err(Error::usage(format!(
                "hierarchy {name} has {} levels; at most {MAX_LEVELS} are supported",
                ladder.levels()
            )));
        }
        Ok(Self {
            name,
            ladder,
            on_unmapped,
            on_null,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its kind, as [`KINDS`] names it.
    pub fn kind(&self) -> &'static str {
        self.ladder.info().name
    }

    /// Whether it has no labels but `*`: a value is released as it is, or suppressed.
    pub fn only_suppresses(&self) -> bool {
        self.ladder.levels() == 0
    }

    /// The rule.
    pub fn ladder(&self) -> &dyn Ladder {
        self.ladder.as_ref()
    }

    /// What becomes of unknown values.
    pub fn on_unmapped(&self) -> OnUnmapped {
        self.on_unmapped
    }

    /// What becomes of NULL.
    pub fn on_null(&self) -> OnNull {
        self.on_null
    }

    /// The highest level: that of the single-valued top.
    pub fn height(&self) -> u8 {
        (self.ladder.levels() + usize::from(!self.ladder.ends_in_top())) as u8
    }

    /// What stands after the name in the CREATE HIERARCHY that makes it again.
    pub fn definition(&self) -> String {
        format!("{}{}", self.ladder.sql(), self.exceptions())
    }

    fn exceptions(&self) -> String {
        let unmapped = match self.on_unmapped {
            OnUnmapped::Error => "",
            OnUnmapped::Suppress => " ON UNMAPPED SUPPRESS",
            OnUnmapped::Top => " ON UNMAPPED TOP",
        };
        let null = match self.on_null {
            OnNull::Value => "",
            OnNull::Top => " NULLS AS TOP",
            OnNull::Error => " NULLS ERROR",
        };
        format!("{unmapped}{null}")
    }

    /// HMAC-SHA-256 of all that it does: values with their labels in the order of the values, or the rule, and what
    /// becomes of other values. The same whatever it was made from.
    pub fn digest(&self, key: &[u8]) -> Result<String> {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).map_err(|_| Error::internal("a digest without a key"))?;
        let mut add = |text: &str| {
            mac.update(&(text.len() as u64).to_le_bytes());
            mac.update(text.as_bytes());
        };
        add(&self.exceptions());
        match self.ladder.ground(&DataType::Utf8)? {
            None => add(&self.ladder.sql()),
            Some(ground) => {
                let labels = self.ladder.labels(&ground)?;
                let values = ground.as_string::<i32>();
                let mut rows: Vec<usize> = (0..values.len()).collect();
                rows.sort_by_key(|i| values.value(*i));
                for row in rows {
                    add(values.value(row));
                    labels.iter().for_each(|level| add(level.value(row)));
                }
            }
        }
        Ok(hex::encode(mac.finalize().into_bytes()))
    }

    /// The rows of DESCRIBE HIERARCHY: `level`, `labels` (how many, where they are listed) and `rule`.
    pub fn describe(&self) -> Result<RecordBatch> {
        let mut rules = vec![LevelRule {
            rule: "the value itself".to_string(),
            labels: self.ladder.listed(),
        }];
        rules.extend(self.ladder.describe());
        let top = LevelRule {
            rule: format!("everything is {TOP}"),
            labels: Some(1),
        };
        rules.extend((!self.ladder.ends_in_top()).then_some(top));
        let level: UInt8Array = (0..=self.height()).collect::<Vec<u8>>().into();
        let labels: UInt64Array = rules.iter().map(|r| r.labels).collect();
        let rule: StringArray = rules.iter().map(|r| Some(r.rule.as_str())).collect();
        Ok(RecordBatch::try_from_iter([
            ("level", Arc::new(level) as ArrayRef),
            ("labels", Arc::new(labels)),
            ("rule", Arc::new(rule)),
        ])?)
    }

    /// The lookup table for the distinct `values` of a column (ascending, NULL last if there is one).
    ///
    /// Fails when the type does not fit, when there are NaN or infinite values, or when groups do not nest. Values that
    /// are not mapped are marked in the lookup; whoever knows how many rows they have decides by [`Hierarchy::admit`].
    pub fn bind(&self, values: ArrayRef) -> Result<Lookup> {
        let bound = || {
            self.ladder.accepts(values.data_type())?;
            let finite = finite(&values)?;
            match (0..values.len()).filter(|i| !finite(*i)).count() {
                0 => Lookup::try_new(self, Arc::clone(&values)),
                n => Err(Error::data(format!(
                    "{n} values are NaN or infinite, which cannot be generalized"
                ))),
            }
        };
        bound().map_err(|e| e.context(format!("hierarchy {}", self.name)))
    }
}

/// Says of each position of `values` whether it holds no NaN and no infinity.
fn finite(values: &ArrayRef) -> Result<impl Fn(usize) -> bool + use<>> {
    let plain = ground::plain(values)?;
    let floats = match plain.data_type().is_floating() {
        true => Some(cast(&plain, &DataType::Float64)?),
        false => None,
    };
    Ok(move |i: usize| {
        floats
            .as_ref()
            .is_none_or(|floats| floats.is_null(i) || floats.as_primitive::<Float64Type>().value(i).is_finite())
    })
}

/// Whether every group (first of the pairs) lies in one group (second) only.
fn nests<A: Hash + Eq, B: Eq>(pairs: impl Iterator<Item = (A, B)>) -> bool {
    let mut parents: HashMap<A, B> = HashMap::new();
    for (below, above) in pairs {
        match parents.get(&below) {
            Some(parent) if *parent != above => return false,
            Some(_) => {}
            None => {
                parents.insert(below, above);
            }
        }
    }
    true
}

/// The error for a group of level `level` that lies in more than one group of the next.
fn does_not_nest(level: usize) -> Error {
    Error::usage(format!(
        "groups do not nest: a group of level {level} lies in more than one group of level {}; every label of a level \
         must have exactly one label on the next",
        level + 1
    ))
}

#[cfg(test)]
mod tests;

/// The kinds of hierarchies, in the order of the language.
pub static KINDS: &[&Info] = &[
    &file::INFO,
    &table::QUERY,
    &intervals::INFO,
    &prefix::INFO,
    &truncate::INFO,
    &table::VALUES,
    &quantiles::INFO,
    &suppression::INFO,
];
