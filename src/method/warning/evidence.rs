//! The evidence for warnings: counts and samples of the source's columns.

use crate::method::masks::MaskKind;
use crate::method::suggest::{Facts, Identifying, identifying};

/// The minimum number of rows for which a share is unlikely to be due to chance.
pub(super) const FEW_ROWS: u64 = 20;

/// The counts from which warnings are derived.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// The number of rows of the source.
    pub rows: u64,
    /// The columns that were examined.
    pub columns: Vec<Examined>,
    /// The quasi-identifiers with the same value in every row.
    pub constant: Vec<String>,
    /// The quasi-identifiers whose texts mostly have blanks around them.
    pub padded: Vec<String>,
    /// True if the request names an entity.
    pub has_entity: bool,
    /// The entity's column, and the number of rows in which it is NULL.
    pub without_entity: Option<(String, u64)>,
    /// The rows that are unique by their quasi-identifiers and kept columns, if they were counted.
    pub links: Option<Links>,
}

/// The treatment of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The column is an identifier and is dropped.
    Dropped,
    /// The column is an identifier and is released as a mask of its value.
    Masked(&'static MaskKind),
    /// The column is sensitive and is released.
    Sensitive,
    /// The column is the class label and is released.
    ClassLabel,
    /// The column is kept.
    Kept,
}

/// An examined column.
#[derive(Debug, Clone)]
pub struct Examined {
    /// The counts and samples of the column.
    pub facts: Facts,
    /// The treatment of the values of the column.
    pub fate: Fate,
    /// The reason why the values identify people by themselves, if any.
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

/// The released rows that are unique by their quasi-identifiers and kept columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Links {
    /// The kept columns.
    pub columns: Vec<String>,
    /// The number of combinations of kept values and quasi-identifiers that only one row, or only
    /// one person, has.
    pub alone: u64,
    /// True if people are counted instead of rows, because the request names an entity.
    pub of_people: bool,
    /// The number of released rows.
    pub rows: u64,
    /// True if `alone` is an estimate.
    pub estimated: bool,
}
