//! The privacy models that a release must satisfy, and the suppression limit.

use super::roles::QuasiIdentifier;
use crate::catalogue::Call;
use crate::model::PrivacyModel;

/// A requested privacy model, with the columns that it is about.
#[derive(Debug)]
pub struct Constraint {
    /// The model in the words of the statement.
    pub call: Call,
    /// The privacy model.
    pub model: Box<dyn PrivacyModel>,
    /// The promise of the model in one line.
    pub meaning: &'static str,
    /// The sensitive attribute that the model is about.
    pub attribute: Option<String>,
    /// The positions of the quasi-identifiers whose groups must satisfy the model; `None` for all.
    pub subset: Option<Vec<usize>>,
}

impl Constraint {
    /// Returns the model in the words of the statement, with its attribute and columns:
    /// `l_diversity(3) ON diagnosis`.
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
    /// A share of the rows as an exact fraction. The limit is rounded down.
    Share {
        /// The numerator of the share.
        over: u64,
        /// The denominator of the share.
        under: u64,
    },
}

impl SuppressionLimit {
    /// The limit if no row may be suppressed.
    pub const NONE: Self = Self::Rows(0);

    /// Returns the limit for a table of `rows` rows.
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
