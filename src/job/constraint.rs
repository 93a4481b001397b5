//! What a release must hold.

use super::roles::QuasiIdentifier;
use crate::catalogue::Call;
use crate::model::PrivacyModel;

/// A privacy model in force.
#[derive(Debug)]
pub struct Constraint {
    /// As the statement has it.
    pub call: Call,
    /// The model.
    pub model: Box<dyn PrivacyModel>,
    /// What it promises, in a line.
    pub meaning: &'static str,
    /// The sensitive attribute it is about.
    pub attribute: Option<String>,
    /// The quasi-identifiers whose groups must hold, by position; all of them when `None`.
    pub subset: Option<Vec<usize>>,
}

impl Constraint {
    /// As it stands in a statement, with what it is about: `l_diversity(3) ON diagnosis`.
    pub fn describe(&self, quasi_identifiers: &[QuasiIdentifier]) -> String {
        let mut text = self.call.to_string();
        if let Some(attribute) = &self.attribute {
            text += &format!(" ON {attribute}");
        }
        if let Some(subset) = &self.subset {
            let columns: Vec<&str> = subset.iter().map(|i| quasi_identifiers[*i].column.as_str()).collect();
            text += &format!(" ON ({})", columns.join(", "));
        }
        text
    }
}

/// The most rows that may be suppressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuppressionLimit {
    /// A number of rows.
    Rows(u64),
    /// A share of the rows as an exact fraction; the limit is the floor of it.
    Share {
        /// Numerator.
        over: u64,
        /// Denominator.
        under: u64,
    },
}

impl SuppressionLimit {
    /// Nothing may be suppressed.
    pub const NONE: Self = Self::Rows(0);

    /// The limit for a table of `rows` rows.
    pub fn rows(self, rows: u64) -> u64 {
        match self {
            SuppressionLimit::Rows(n) => n.min(rows),
            SuppressionLimit::Share { over, under } => {
                let share = u128::from(rows) * u128::from(over) / u128::from(under.max(1));
                share.min(u128::from(rows)) as u64
            }
        }
    }
}
