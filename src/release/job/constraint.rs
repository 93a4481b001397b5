//! The privacy models that a release must satisfy, and the suppression limit.

use super::roles::QuasiIdentifier;
use crate::base::catalogue::Call;
use crate::base::error::{Error, Result};
use crate::data::model::{PrivacyModel, PromiseAttribute, PromiseKind, Sampling};

/// A requested privacy model, with the columns that it is about.
#[derive(Debug)]
pub struct Constraint {
    /// The model as the statement writes it.
    pub call: Call,
    /// The privacy model.
    pub model: Box<dyn PrivacyModel>,
    /// The promise of the model in one line.
    pub meaning: &'static str,
    /// The sensitive attribute that the model is about.
    pub attribute: Option<String>,
    /// The quasi-identifiers whose groups must satisfy the model.
    pub scope: Scope,
}

/// The quasi-identifiers whose groups must satisfy a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All: the groups are the equivalence classes.
    All,
    /// The quasi-identifiers at these positions.
    Columns(Vec<usize>),
    /// Every subset of this many quasi-identifiers. A model of class size then also holds for
    /// smaller subsets, because their groups are larger.
    Any(usize),
}

impl Scope {
    /// The largest number of subsets in a scope. Each subset costs one GROUP BY per node.
    const MOST: usize = 1000;

    /// Returns the positions of each subset of `columns` quasi-identifiers, in lexicographic order.
    /// Fails with a usage error if there are no subsets or too many.
    pub fn subsets(&self, columns: usize) -> Result<Vec<Vec<usize>>> {
        let size = match self {
            Self::All => return Ok(vec![(0..columns).collect()]),
            Self::Columns(subset) => return Ok(vec![subset.clone()]),
            Self::Any(size) => *size,
        };
        if size == 0 || size > columns {
            return Err(Error::usage(format!(
                "ON ANY {size}: write a number of quasi-identifiers from 1 to {columns}"
            )));
        }
        let mut subsets: Vec<Vec<usize>> = vec![vec![]];
        for chosen in 1..=size {
            // After the last column of a subset, enough columns are left to complete the subset.
            let longer = |subset: Vec<usize>| {
                let next = subset.last().map_or(0, |last| last + 1);
                (next..=columns - (size - chosen) - 1).map(move |i| [&subset[..], &[i]].concat())
            };
            subsets = subsets.into_iter().flat_map(longer).collect();
            if subsets.len() > Self::MOST {
                return Err(Error::usage(format!(
                    "ON ANY {size} of {columns} quasi-identifiers is more than {} groupings; name the subsets that matter \
                     with ON (column, ...), or ask for fewer columns at a time",
                    Self::MOST
                )));
            }
        }
        Ok(subsets)
    }
}

impl Constraint {
    /// Returns the model as the statement writes it, with its attribute and columns:
    /// `l_diversity(3) ON diagnosis`.
    pub fn describe(&self, quasi_identifiers: &[QuasiIdentifier]) -> String {
        let mut text = self.call.to_string();
        if let Some(attribute) = &self.attribute {
            text += &format!(" ON {attribute}");
        }
        match &self.scope {
            Scope::All => {}
            Scope::Columns(subset) => {
                let columns: Vec<&str> = subset.iter().map(|i| quasi_identifiers[*i].column.as_str()).collect();
                text += &format!(" ON ({})", columns.join(", "));
            }
            Scope::Any(size) => text += &format!(" ON ANY {size}"),
        }
        text
    }

    /// Returns true if the groups are the equivalence classes.
    pub fn is_of_classes(&self) -> bool {
        self.scope == Scope::All
    }

    /// Returns the kind of the model's promise, which answers the questions of the stages.
    pub(crate) fn kind(&self) -> &'static PromiseKind {
        self.model.about().kind()
    }

    /// Returns the column that contains the limit of each row, if the model reads such a column.
    pub fn limit(&self) -> Option<&str> {
        self.model.about().limit()
    }

    /// Returns how the rows are drawn, if the model is about a sample.
    pub fn sampling(&self) -> Option<&Sampling> {
        self.model.about().sampling()
    }

    /// Returns the sensitive attribute if its values are generalized to keep the promise.
    pub fn generalized_attribute(&self) -> Option<&str> {
        self.attribute.as_deref().filter(|_| self.kind().generalizes_attribute)
    }

    /// Returns true if the model is about single rows.
    pub fn is_of_rows(&self) -> bool {
        self.kind().is_of_rows
    }

    /// Returns true if the model is about a column of sets of items.
    pub fn is_about_items(&self) -> bool {
        matches!(self.kind().attribute, PromiseAttribute::ItemSet)
    }
}

/// The maximum number of rows that may be suppressed.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_is_every_subset_of_that_size(columns in 1usize..10, size in 0usize..11) {
            let masks = (0u32..1 << columns).filter(|mask| mask.count_ones() as usize == size);
            let mut every: Vec<Vec<usize>> = masks.map(|mask| (0..columns).filter(|i| mask >> i & 1 == 1).collect()).collect();
            every.sort();
            match Scope::Any(size).subsets(columns) {
                Ok(subsets) => prop_assert_eq!(subsets, every),
                Err(e) => prop_assert!(size == 0 || size > columns, "{}", e),
            }
        }
    }

    #[test]
    fn too_many_groupings_are_refused_before_they_are_listed() {
        let e = Scope::Any(30).subsets(60).unwrap_err().to_string();
        assert!(e.contains("more than 1000 groupings"), "{e}");
    }
}
