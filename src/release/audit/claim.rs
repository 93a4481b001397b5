//! The claim of a VERIFY statement: the rows, the promises about them, and the data to check them
//! against.

use super::evidence::ReleaseEvidence;
use crate::base::error::{Error, Result};
use crate::data::signature::PublicKey;
use crate::method::hierarchy::Hierarchy;
use crate::release::job::{Constraint, QuasiIdentifier};
use datafusion::dataframe::DataFrame;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The rows to check, the promises about them, and the data to check them against.
pub(crate) struct Claim {
    /// The number of files read; `None` if there is a manifest.
    pub(crate) files_read: Option<u64>,
    /// The rows to check: a release, or any other table.
    pub(crate) rows: DataFrame,
    /// The columns whose values are stored in folder names.
    pub(crate) folders: Vec<String>,
    /// The manifest of the release, if the rows are a release.
    pub(crate) evidence: Option<ReleaseEvidence>,
    /// The quasi-identifiers that the statement names.
    pub(crate) quasi_identifiers: Vec<QuasiIdentifier>,
    /// The quasi-identifiers whose hierarchy the statement names.
    pub(crate) generalized: Vec<String>,
    /// The sensitive attributes that the statement names.
    pub(crate) sensitive: Vec<ClaimedAttribute>,
    /// The column whose distinct values are counted in each class.
    pub(crate) entity: Option<String>,
    /// The constraints to check.
    pub(crate) constraints: Vec<Constraint>,
    /// The source that the rows were released from (AGAINST).
    pub(crate) against: Option<DataFrame>,
    /// The rows of the population (POPULATION).
    pub(crate) population: Option<DataFrame>,
    /// The public key of the claimed signer of the release (SIGNED BY).
    pub(crate) key: Option<PublicKey>,
    /// The hierarchies of the session, by name.
    pub(crate) hierarchies: BTreeMap<String, Arc<Hierarchy>>,
    /// The hierarchies that the manifest defines, by column.
    pub(crate) defined: BTreeMap<String, Arc<Hierarchy>>,
}

/// A sensitive attribute that the statement names.
pub(crate) struct ClaimedAttribute {
    /// The column of the attribute.
    pub(crate) column: String,
    /// The name of the attribute's hierarchy, if the statement names it.
    pub(crate) hierarchy: Option<String>,
    /// Whether the statement declares the column as permuted (RANDOMIZED).
    pub(crate) randomized: bool,
}

impl Claim {
    /// Returns the hierarchy called `name`, or an error that suggests similar names.
    pub(super) fn hierarchy(&self, name: &str) -> Result<Arc<Hierarchy>> {
        let found = self.hierarchies.get(name).cloned();
        found.ok_or_else(|| Error::unknown("hierarchy", name, self.hierarchies.keys().map(String::as_str)))
    }

    /// Returns the names of the columns of the rows.
    pub(super) fn columns(&self) -> Vec<&str> {
        let fields = self.rows.schema().fields().iter();
        fields.map(|f| f.name().as_str()).collect()
    }
}
