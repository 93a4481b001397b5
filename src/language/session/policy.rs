//! Policies: the roles, the models and the limits for releases, and the hierarchies with which a
//! policy was created.

use crate::base::error::Result;
use crate::base::quoting::ident;
use crate::data::folder::{PolicySummary, sha256};
use crate::language::sql::clause::PolicyClause;
use crate::method::hierarchy::Hierarchy;
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The policies of a session, by name.
pub(super) type Policies = Arc<RwLock<BTreeMap<String, Arc<Policy>>>>;

/// A named policy, and the hierarchies with which it was created.
#[derive(Debug)]
pub(super) struct Policy {
    pub(super) name: String,
    pub(super) clauses: PolicyClause,
    pub(super) hierarchies: Vec<Arc<Hierarchy>>,
    sha256: String,
}

impl Policy {
    /// Creates a policy. `hierarchies` contains the hierarchies that `clauses` name.
    pub(super) fn new(name: String, clauses: PolicyClause, hierarchies: Vec<Arc<Hierarchy>>) -> Result<Self> {
        let mut text = written(&clauses);
        let key = sha256(&text);
        for hierarchy in &hierarchies {
            let digest = hierarchy.digest(key.as_bytes())?;
            text.push_str(&format!("\n{} {digest}", ident(hierarchy.name())));
        }
        Ok(Self {
            sha256: sha256(&text),
            name,
            clauses,
            hierarchies,
        })
    }

    /// Returns the CREATE POLICY statement of the policy, with OR REPLACE if `replaces` is true.
    pub(super) fn statement(&self, replaces: bool) -> String {
        let replace = if replaces { "OR REPLACE " } else { "" };
        let (name, clauses) = (ident(&self.name), written(&self.clauses));
        format!("CREATE {replace}POLICY {name} AS ({clauses})")
    }

    /// Returns the name and the digest of the policy. The digest covers the clauses and the digests
    /// of the hierarchies.
    pub(super) fn summary(&self) -> PolicySummary {
        PolicySummary::new(self.name.clone(), self.sha256.clone())
    }
}

/// Returns the clauses of a policy on one line.
pub(super) fn written(clauses: &PolicyClause) -> String {
    clauses.written(" ").to_string().trim_start().to_string()
}
