//! `VERIFY ... BESIDE ...`: checks what two releases of the same table reveal together
//! ([`crate::release::audit`]).

use super::answered::answer;
use super::claim::evidence;
use super::promised::statement;
use crate::base::error::{Error, Result};
use crate::base::quoting::ident;
use crate::data::folder::MANIFEST;
use crate::language::session::answer::Answer;
use crate::language::session::bind::constraints;
use crate::language::session::context::AnonContext;
use crate::language::session::statements::entry::Run;
use crate::language::sql::clause::list as clause;
use crate::language::sql::clause::{QuasiIdentifierClause, SourceClause, source};
use crate::language::sql::cursor::Cursor;
use crate::release::audit::{Claim, ClaimedRelease, Pair, Verification, beside};
use crate::release::job::check_counted;
use crate::release::observe::Phase;
use datafusion::dataframe::DataFrame;
use futures::future::BoxFuture;
use std::fmt;

/// `VERIFY ... BESIDE ...`
#[derive(Debug, Clone, PartialEq)]
pub(in crate::language::session) struct Beside {
    /// The first release.
    pub(in crate::language::session) first: SourceClause,
    /// BESIDE: the second release.
    pub(in crate::language::session) second: SourceClause,
    /// AGAINST: the source of both releases.
    pub(in crate::language::session) against: Option<SourceClause>,
    /// ENTITY: the column of the source that identifies a person.
    pub(in crate::language::session) entity: Option<String>,
}

/// Parses the rest of the statement after BESIDE.
pub(super) fn read(c: &mut Cursor, first: SourceClause) -> Result<Beside> {
    let second = source::read(c)?;
    let s = clause::read(c, "VERIFY ... BESIDE", &[&clause::AGAINST, &clause::ENTITY], &[])?;
    if s.policy.entity.is_some() && s.against.is_none() {
        return Err(c.error("ENTITY counts the people of the source, and needs AGAINST; example: AGAINST people"));
    }
    Ok(Beside {
        first,
        second,
        against: s.against,
        entity: s.policy.entity,
    })
}

impl fmt::Display for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VERIFY {} BESIDE {}", self.first, self.second)?;
        if let Some(against) = &self.against {
            write!(f, " AGAINST {against}")?;
        }
        match &self.entity {
            Some(entity) => write!(f, " ENTITY ({})", ident(entity)),
            None => Ok(()),
        }
    }
}

impl Run for Beside {
    fn kind(&self) -> &'static str {
        "verify"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move { answer(self.verification(context).await?, context.is_strict()) })
    }
}

impl Beside {
    /// Runs all checks of the two releases.
    pub(in crate::language::session) async fn verification(&self, context: &AnonContext) -> Result<Verification> {
        context.observer.begin(Phase::Verify);
        let against = context.rows_of(self.against.as_ref()).await?;
        let pair = Pair {
            first: context.side(&self.first, against.as_ref()).await?,
            second: context.side(&self.second, against.as_ref()).await?,
            entity: self.entity.clone(),
            against,
        };
        if let Some(rows) = &pair.against {
            let constraints = [&pair.first, &pair.second]
                .into_iter()
                .flat_map(|s| &s.claim.constraints);
            check_counted(
                rows.schema(),
                constraints.filter_map(|c| c.attribute.as_ref()).chain(&pair.entity),
            )?;
        }
        beside(&pair, context.observer.as_ref()).await
    }
}

impl AnonContext {
    /// Reads one of the two releases, with the statement in its manifest.
    async fn side(&self, named: &SourceClause, against: Option<&DataFrame>) -> Result<ClaimedRelease> {
        let source = self.settled(named).await?;
        let place = self.place(named, &source).await?;
        let (evidence, folders) = evidence(place).await?;
        let evidence = evidence.ok_or_else(|| {
            Error::usage(format!(
                "{} is not a release: there is no {MANIFEST} in it; write the folder that ANONYMIZE ... TO wrote, as in VERIFY \
                 'monthly' BESIDE 'yearly' AGAINST people",
                source.name
            ))
        })?;
        let of_manifest = || format!("the statement in {MANIFEST} of {}", source.name);
        let stated = statement(&evidence.manifest().statement)
            .ok_or_else(|| Error::data(format!("{} does not parse; VERIFY the release alone", of_manifest())))?;
        // Only the columns of the constraints are needed. Their hierarchies may not exist in this
        // session.
        let named = stated.policy.quasi_identifiers.iter().map(|q| QuasiIdentifierClause {
            hierarchy: None,
            ..q.clone()
        });
        let named: Vec<QuasiIdentifierClause> = named.collect();
        let (quasi_identifiers, item_sets) = self
            .quasi_identifiers(&named, source.rows.schema())
            .map_err(|e| e.context(of_manifest()))?;
        let constraints = constraints(
            &self.registry(),
            &stated.policy.satisfying,
            (&quasi_identifiers, &item_sets),
            &stated.policy.sensitive,
        )
        .map_err(|e| e.context(of_manifest()))?;
        Ok(ClaimedRelease {
            name: source.name,
            quasi_identifiers,
            reads_path: matches!(stated.source, SourceClause::Path(_)),
            source: stated.source.to_string(),
            claim: Claim {
                files_read: None,
                rows: source.rows,
                folders,
                defined: self.defined(evidence.manifest(), against).await?,
                evidence: Some(evidence),
                generalized: vec![],
                quasi_identifiers: vec![],
                sensitive: vec![],
                entity: None,
                constraints,
                against: against.cloned(),
                population: None,
                key: None,
                hierarchies: self.hierarchies.read().clone(),
            },
        })
    }
}
