//! What is claimed of rows, and what they can be held against.

use super::evidence::Evidence;
use crate::error::{Error, Result};
use crate::hierarchy::Hierarchy;
use crate::job::{Constraint, QuasiIdentifier};
use datafusion::dataframe::DataFrame;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is claimed of rows, and what they can be held against.
pub(crate) struct Claim {
    /// The rows.
    pub(crate) rows: DataFrame,
    /// The columns that are the names of their folders.
    pub(crate) folders: Vec<String>,
    /// What the release says of itself.
    pub(crate) evidence: Option<Evidence>,
    /// The quasi-identifiers that are named.
    pub(crate) quasi_identifiers: Vec<QuasiIdentifier>,
    /// Those of them whose hierarchy is named too.
    pub(crate) generalized: Vec<String>,
    /// The sensitive attributes.
    pub(crate) sensitive: Vec<ClaimedAttribute>,
    /// The column whose distinct values classes count.
    pub(crate) entity: Option<String>,
    /// The models that are to hold.
    pub(crate) constraints: Vec<Constraint>,
    /// The rows that these were made from.
    pub(crate) against: Option<DataFrame>,
    /// The rows of the population.
    pub(crate) population: Option<DataFrame>,
    /// The hierarchies that are known, by name.
    pub(crate) hierarchies: BTreeMap<String, Arc<Hierarchy>>,
}

/// A sensitive attribute that is named.
pub(crate) struct ClaimedAttribute {
    /// Its column.
    pub(crate) column: String,
    /// The name of its hierarchy.
    pub(crate) hierarchy: Option<String>,
    /// Whether it was permuted.
    pub(crate) randomized: bool,
}

impl Claim {
    /// The hierarchy called `name`.
    pub(super) fn hierarchy(&self, name: &str) -> Result<Arc<Hierarchy>> {
        let found = self.hierarchies.get(name).cloned();
        found.ok_or_else(|| Error::unknown("hierarchy", name, self.hierarchies.keys().map(String::as_str)))
    }

    /// The columns of the rows.
    pub(super) fn columns(&self) -> Vec<&str> {
        let fields = self.rows.schema().fields().iter();
        fields.map(|f| f.name().as_str()).collect()
    }
}
