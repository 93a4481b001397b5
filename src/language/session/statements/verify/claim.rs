//! Binds a VERIFY to a claim: looks up names, checks arguments and reads the manifest.

use super::promised::{no_manifest, statement};
use super::spec::{Claimed, Verify};
use crate::base::error::{Error, Result};
use crate::base::location::expanded;
use crate::base::pool::blocking;
use crate::data::folder::Role;
use crate::data::signature::PublicKey;
use crate::language::session::bind::{constraints, suppression};
use crate::language::session::context::AnonContext;
use crate::language::session::sources::released::folders;
use crate::language::sql::clause::SourceClause;
use crate::method::masks::MaskClause;
use crate::release::audit::{Claim, ClaimedAttribute, ReleaseEvidence, ReleaseLocation, Stated};
use crate::release::job::{Constraint, QuasiIdentifier, SuppressionLimit, check_counted, check_population, no_values};
use datafusion::dataframe::DataFrame;
use std::collections::BTreeMap;
use std::path::PathBuf;

impl AnonContext {
    /// Binds a VERIFY to its claim.
    pub(super) async fn claim(&self, verify: &Verify) -> Result<Claim> {
        // This is one function because it binds all fields of the claim.
        let source = self.settled(&verify.source).await?;
        let key = self.public_key(verify.signed_by.as_deref()).await?;
        let place = self.place(&verify.source, &source).await?;
        let (evidence, folders) = evidence(place).await?;
        let promised = match (&verify.claimed, &evidence) {
            (Some(claimed), _) => claimed,
            (None, Some(evidence)) => &self.promise_of(&source.name, evidence.manifest())?,
            (None, None) => return Err(no_manifest(&source.name)),
        };
        let (quasi_identifiers, item_sets) =
            self.quasi_identifiers(&promised.quasi_identifiers, source.rows.schema())?;
        let constraints = constraints(
            &self.registry(),
            &promised.satisfying,
            (&quasi_identifiers, &item_sets),
            &promised.sensitive,
        )?;
        check((verify, promised), &source.columns(), &quasi_identifiers, &constraints)?;
        if let ([], [set, ..]) = (&quasi_identifiers[..], &item_sets[..])
            && constraints.iter().any(|c| !c.is_about_items())
        {
            return Err(Error::usage(no_values(&set.column)));
        }
        let quasi = quasi_identifiers.iter().map(|q| &q.column);
        let sensitive = promised.sensitive.iter().map(|s| &s.column);
        let sets = item_sets.iter().map(|s| &s.column);
        check_counted(
            source.rows.schema(),
            quasi.chain(sensitive).chain(sets).chain(&promised.entity),
        )?;
        let hierarchies = self.hierarchies.read().clone();
        let against = self.rows_of(verify.against.as_ref()).await?;
        let defined = match &evidence {
            Some(evidence) => self.defined(evidence.manifest(), against.as_ref()).await?,
            None => BTreeMap::new(),
        };
        let generalized = promised.quasi_identifiers.iter().filter(|q| q.hierarchy.is_some());
        let sensitive = promised.sensitive.iter().map(|s| ClaimedAttribute {
            column: s.column.clone(),
            hierarchy: s.hierarchy.clone(),
            randomized: s.randomized.is_some(),
        });
        let files = Some(source.pins.files_read()).filter(|files| *files > 0 && evidence.is_none());
        Ok(Claim {
            files_read: files,
            rows: source.rows,
            folders,
            evidence,
            generalized: generalized.map(|q| q.column.clone()).collect(),
            quasi_identifiers,
            sensitive: sensitive.collect(),
            entity: promised.entity.clone(),
            constraints,
            against,
            key,
            population: self.rows_of(verify.population.as_ref()).await?,
            hierarchies,
            defined,
        })
    }

    /// Reads the public key in the file at `path`; `None` if there is no path.
    async fn public_key(&self, path: Option<&str>) -> Result<Option<PublicKey>> {
        let Some(path) = path else {
            return Ok(None);
        };
        let path = PathBuf::from(expanded(path)?.as_ref());
        blocking("reading a key", move || PublicKey::read(&path))
            .await
            .map(Some)
    }

    pub(super) async fn rows_of(&self, source: Option<&SourceClause>) -> Result<Option<DataFrame>> {
        match source {
            Some(source) => Ok(Some(self.settled(source).await?.rows)),
            None => Ok(None),
        }
    }
}

/// Reads the manifest of the release at `place`, and the partition columns of the release. Returns
/// `None` and an empty list if `place` is `None`.
pub(super) async fn evidence(place: Option<ReleaseLocation>) -> Result<(Option<ReleaseEvidence>, Vec<String>)> {
    let read = move || match place {
        Some(place) => {
            let folders = folders(&place);
            Ok((ReleaseEvidence::of(place, stated)?, folders))
        }
        None => Ok((None, vec![])),
    };
    blocking("reading the manifest", read).await
}

/// Fails with a usage error if a named column does not exist, or if the statement lacks a clause
/// that a model needs.
fn check(
    (verify, promised): (&Verify, &Claimed),
    columns: &[&str],
    quasi_identifiers: &[QuasiIdentifier],
    constraints: &[Constraint],
) -> Result<()> {
    let named = quasi_identifiers.iter().map(|q| q.column.as_str());
    let named = named
        .chain(promised.sensitive.iter().map(|s| s.column.as_str()))
        .chain(promised.entity.as_deref());
    for column in named {
        if !columns.contains(&column) {
            return Err(Error::unknown("column", column, columns.iter().copied()));
        }
    }
    let personal = constraints.iter().find(|c| c.is_of_rows());
    if let Some(c) = personal.filter(|_| verify.against.is_none() || promised.entity.is_none()) {
        return Err(Error::usage(format!(
            "{} compares each row with its own value and limit, which are only in the source: write AGAINST source, \
             and ENTITY (key) with a column of both that identifies the rows. Without this key, no row of a release \
             can be found in the source; the promise was recounted when the release was written, and the \
             manifest says so",
            c.describe(quasi_identifiers)
        )));
    }
    check_population(constraints, verify.population.is_some())
}

/// Returns the properties of the released columns, such as their roles, according to the statement
/// in a manifest; `None` if the statement is not an ANONYMIZE.
fn stated(text: &str) -> Option<Stated> {
    let spec = statement(text)?;
    let identifiers = spec.policy.identifiers.iter().filter(|i| i.mask.is_some());
    let form = |mask: &MaskClause| (mask.kind.build)(mask).ok()?.form();
    let masked = spec.policy.masks();
    let forms = masked.filter_map(|(column, mask)| Some((column.clone(), form(mask)?)));
    let lowest = spec.policy.quasi_identifiers.iter().filter_map(|q| {
        let (low, _) = q.levels?;
        Some((q.column.clone(), u8::try_from(low).ok()?))
    });
    let randomized = spec.policy.sensitive.iter().filter(|s| s.randomized.is_some());
    let roles = identifiers
        .map(|i| (&i.column, Role::Identifier))
        .chain(
            spec.policy
                .quasi_identifiers
                .iter()
                .map(|q| (&q.column, Role::QuasiIdentifier)),
        )
        .chain(spec.policy.sensitive.iter().map(|s| (&s.column, Role::Sensitive)))
        .chain(spec.policy.class.iter().map(|c| (c, Role::Class)))
        .chain(spec.policy.keep.iter().map(|c| (&c.column, Role::Keep)));
    Some(Stated {
        roles: roles.map(|(column, role)| (column.clone(), role)).collect(),
        randomized: randomized.map(|s| s.column.clone()).collect(),
        forms: forms.collect(),
        following: spec.policy.following.clone(),
        lowest: lowest.collect(),
        // If the statement has no SUPPRESSING clause, no row may be suppressed.
        limit: Some(spec.policy.limit.as_ref().map_or(SuppressionLimit::NONE, suppression)),
    })
}
