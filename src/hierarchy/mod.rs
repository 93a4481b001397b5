//! Generalization hierarchies as Arrow lookup tables.
//!
//! A [`Hierarchy`] is what CREATE HIERARCHY makes: a [`Ladder`] that says to which label a ground value belongs at each
//! level, and what becomes of values it does not know. Bound to the distinct values of a column it becomes a
//! [`Lookup`]: per level an Arrow array of labels and a code-to-code array, so that generalizing a batch is a take.
//! Every kind of hierarchy is one file with one [`Ladder`] and one line in [`KINDS`].

mod lookup;

pub use lookup::{Level, Lookup};

use crate::catalogue::Info;
use crate::error::{Error, Result};
use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::DataType;
use std::fmt;
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
    /// Levels above the ground that [`Ladder::labels`] answers; a last level that is not single-valued gets a top on it.
    fn levels(&self) -> usize;

    /// Whether columns of this type can be generalized. The error says which types can.
    fn accepts(&self, data_type: &DataType) -> Result<()>;

    /// The labels of `values` (of a type that was accepted), one array per level from level 1 on; a null label where
    /// the value is unmapped or null. For one value either all levels have a label or none has.
    fn labels(&self, values: &ArrayRef) -> Result<Vec<StringArray>>;

    /// The ground values of a hierarchy that lists them, cast to `data_type` where that can be; `None` for a rule.
    fn ground(&self, data_type: &DataType) -> Result<Option<ArrayRef>>;

    /// Whether the last level of [`Ladder::labels`] is single-valued for whatever data.
    fn ends_in_top(&self) -> bool;
}

/// A named hierarchy.
#[derive(Debug, Clone)]
pub struct Hierarchy {
    name: String,
    kind: &'static str,
    ladder: Arc<dyn Ladder>,
    on_unmapped: OnUnmapped,
    on_null: OnNull,
}

impl Hierarchy {
    /// The hierarchy `name` of a kind of [`KINDS`].
    pub fn new(
        name: impl Into<String>,
        kind: &'static str,
        ladder: Arc<dyn Ladder>,
        on_unmapped: OnUnmapped,
        on_null: OnNull,
    ) -> Result<Self> {
        let hierarchy = Self {
            name: name.into(),
            kind,
            ladder,
            on_unmapped,
            on_null,
        };
        if hierarchy.ladder.levels() > MAX_LEVELS {
            return Err(Error::usage(format!(
                "hierarchy {} has {} levels; at most {MAX_LEVELS} are supported",
                hierarchy.name,
                hierarchy.ladder.levels()
            )));
        }
        Ok(hierarchy)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its kind, in SQL.
    pub fn kind(&self) -> &'static str {
        self.kind
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

    /// The lookup table for the distinct `values` of a column (ascending, NULL last if there is one).
    ///
    /// Fails when the type does not fit or groups do not nest. Values that are not mapped are marked in the lookup;
    /// whoever knows how many rows they have decides by [`Hierarchy::on_unmapped`].
    pub fn bind(&self, values: ArrayRef) -> Result<Lookup> {
        self.ladder
            .accepts(values.data_type())
            .map_err(|e| e.context(format!("hierarchy {}", self.name)))?;
        Lookup::try_new(self, values).map_err(|e| e.context(format!("hierarchy {}", self.name)))
    }
}

/// The kinds of hierarchies, as CREATE HIERARCHY ... AS names them.
pub static KINDS: &[Info] = &[];
