//! The counts that warnings follow from.

use crate::masks::MaskKind;
use crate::suggest::{Facts, Identifying, identifying};

/// The least number of rows whose shares are no chance.
pub(super) const FEW_ROWS: u64 = 20;

/// The counts that warnings follow from.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// The number of rows of the source.
    pub rows: u64,
    /// The columns that were examined.
    pub columns: Vec<Examined>,
    /// The quasi-identifiers with the same value in every row.
    pub constant: Vec<String>,
    /// The quasi-identifiers of which most texts have blanks around them.
    pub padded: Vec<String>,
    /// Whether the request names an entity.
    pub has_entity: bool,
    /// The entity, and the rows that have none.
    pub without_entity: Option<(String, u64)>,
    /// The rows that kept columns single out, if they were counted.
    pub links: Option<Links>,
}

/// What becomes of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The column is an identifier and dropped.
    Dropped,
    /// The column is an identifier and released as a mask of its value.
    Masked(&'static MaskKind),
    /// The column is sensitive and released.
    Sensitive,
    /// The column is the class label and released.
    ClassLabel,
    /// The column is kept.
    Kept,
}

/// An examined column.
#[derive(Debug, Clone)]
pub struct Examined {
    /// The counts and samples of the column.
    pub facts: Facts,
    /// What becomes of the values of the column.
    pub fate: Fate,
    /// Why the values identify people by themselves.
    pub identifying: Option<Identifying>,
}

impl Examined {
    /// Examines the facts of a column.
    pub fn new(facts: Facts, fate: Fate) -> Self {
        Self {
            identifying: identifying(&facts),
            facts,
            fate,
        }
    }

    /// Returns true if the values of the column are released as they are.
    pub(super) fn is_plain(&self) -> bool {
        matches!(self.fate, Fate::Sensitive | Fate::ClassLabel | Fate::Kept)
    }
}

/// The released rows that are alone with their quasi-identifiers and kept columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Links {
    /// The kept columns.
    pub columns: Vec<String>,
    /// The number of combinations of kept values and quasi-identifiers that only one row has, or
    /// only one person.
    pub alone: u64,
    /// Whether people are counted instead of rows, because the request names an entity.
    pub of_people: bool,
    /// The number of released rows.
    pub rows: u64,
    /// Whether `alone` is an estimate.
    pub estimated: bool,
}
