//! The promises of a release, from the statement in its manifest.

use super::spec::{Claimed, Verify};
use crate::base::error::{Error, Result};
use crate::base::pool::blocking;
use crate::data::folder::Manifest;
use crate::language::session::context::AnonContext;
use crate::language::session::statements::anonymize;
use crate::language::session::statements::anonymize::spec::AnonymizeSpec;
use crate::language::session::statements::entry::Statement;
use crate::language::sql::clause::{QuasiIdentifierClause, SensitiveClause, SourceClause};
use crate::language::sql::variable::Variables;
use std::path::PathBuf;

/// Returns the error for a release without a manifest.
pub(super) fn no_manifest(release: &str) -> Error {
    Error::usage(format!(
        "{release} has no manifest, so its promises are not known; name its QUASI IDENTIFIERS and models"
    ))
}

/// Parses the statement in a manifest; `None` if it is not an ANONYMIZE.
pub(super) fn statement(text: &str) -> Option<AnonymizeSpec> {
    let read = anonymize::ENTRY.parse(text, &Variables::of_a_record()).ok().flatten()?;
    read.get::<AnonymizeSpec>().cloned()
}

impl AnonContext {
    /// Returns the VERIFY statement that checks everything that the manifest of a release promises.
    /// `folder` is the folder of the release. A hierarchy that the session does not have is left
    /// out. Fails with [`ErrorKind::Usage`](crate::base::error::ErrorKind::Usage) if the folder has
    /// no manifest.
    pub async fn promised(&self, folder: &str) -> Result<Statement> {
        let (path, named) = (PathBuf::from(folder), format!("{folder:?}"));
        let read = blocking("reading a manifest", move || Manifest::read(&path)).await?;
        let manifest = read.ok_or_else(|| no_manifest(&named))?;
        let released = statement(&manifest.statement);
        Ok(Statement::new(Verify {
            source: SourceClause::path(folder),
            claimed: Some(self.promise_of(&named, &manifest)?),
            against: None,
            population: released.and_then(|released| released.policy.population),
            signed_by: None,
        }))
    }

    /// Returns the promises of the statement in a manifest. Fails with a usage error if they count
    /// entities, and the release does not contain the column of the entities. Counting rows instead
    /// would accept a class that consists of many rows of a single person.
    pub(super) fn promise_of(&self, release: &str, manifest: &Manifest) -> Result<Claimed> {
        let unread = || Error::data(format!("{release}: the statement of the manifest is not one ANONYMIZE"));
        let released = statement(&manifest.statement).ok_or_else(unread)?;
        let known = |name: &Option<String>| name.clone().filter(|name| self.hierarchies.read().contains_key(name));
        let quasi_identifiers = released.policy.quasi_identifiers.iter().map(|q| QuasiIdentifierClause {
            column: q.column.clone(),
            hierarchy: known(&q.hierarchy),
            levels: None,
            weight: None,
            labels: None,
        });
        let sensitive = released.policy.sensitive.iter().map(|s| SensitiveClause {
            column: s.column.clone(),
            hierarchy: known(&s.hierarchy),
            randomized: None,
            mask: None,
        });
        let is_released = |column: &&String| manifest.columns.iter().any(|c| c.name == **column);
        if let Some(entity) = manifest.entity.as_ref().filter(|entity| !is_released(entity)) {
            return Err(Error::usage(format!(
                "{release} promises to count each {entity} once, and its rows do not name it, so its promises cannot \
                 be counted; name QUASI IDENTIFIERS and SATISFYING, which are then counted in rows"
            )));
        }
        Ok(Claimed {
            quasi_identifiers: quasi_identifiers.collect(),
            sensitive: sensitive.collect(),
            entity: released.policy.entity.clone(),
            satisfying: released.policy.satisfying,
        })
    }
}
