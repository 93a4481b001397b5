//! The VERIFY of what a release promises, from the statement in its manifest.

use super::spec::Verify;
use crate::error::{Error, Result};
use crate::folder::Manifest;
use crate::pool::blocking;
use crate::session::context::AnonContext;
use crate::session::statements::anonymize::spec::AnonymizeSpec;
use crate::session::statements::entry::Statement;
use crate::sql::clause::{QuasiIdentifierClause, SensitiveClause, SourceClause};
use std::path::PathBuf;

impl AnonContext {
    /// Returns the VERIFY of everything that the release in a folder promises, as its manifest says
    /// it. A hierarchy that the session does not know is left out. Fails with
    /// [`ErrorKind::Usage`](crate::error::ErrorKind::Usage) if the folder has no manifest.
    pub async fn promised(&self, folder: &str) -> Result<Statement> {
        let path = PathBuf::from(folder);
        let read = blocking("reading a manifest", move || Manifest::read(&path)).await?;
        let manifest = read.ok_or_else(|| {
            Error::usage(format!(
                "{folder:?} has no manifest, so that nothing says what it promises; name its QUASI IDENTIFIERS and models"
            ))
        })?;
        let unread = || {
            Error::data(format!(
                "{folder:?}: the statement of the manifest is not one ANONYMIZE"
            ))
        };
        let mut statements = self.script(&manifest.statement).map_err(|_| unread())?;
        let statement = statements.next().ok_or_else(unread)?.map_err(|_| unread())?;
        let released: &AnonymizeSpec = statement.get().ok_or_else(unread)?;
        Ok(Statement::new(self.claimed(folder, released)))
    }

    /// Returns the VERIFY of what a request asked for, on the files that it was released to.
    fn claimed(&self, folder: &str, released: &AnonymizeSpec) -> Verify {
        let known = |name: &Option<String>| name.clone().filter(|name| self.hierarchies.read().contains_key(name));
        let quasi_identifiers = released.quasi_identifiers.iter().map(|q| QuasiIdentifierClause {
            column: q.column.clone(),
            hierarchy: known(&q.hierarchy),
            levels: None,
            weight: None,
            labels: None,
        });
        let sensitive = released.sensitive.iter().map(|s| SensitiveClause {
            column: s.column.clone(),
            hierarchy: known(&s.hierarchy),
            randomized: None,
        });
        Verify {
            source: SourceClause::path(folder),
            quasi_identifiers: quasi_identifiers.collect(),
            sensitive: sensitive.collect(),
            entity: released.entity.clone(),
            satisfying: released.satisfying.clone(),
            against: None,
            population: released.population.clone(),
        }
    }
}
