//! Collects the hierarchy and levels of every quasi-identifier that the statement names or the
//! manifest adds.

use super::claim::Claim;
use super::known::Known;
use super::spelling::TEXT;
use super::verification::Verification;
use crate::base::error::Result;
use crate::data::folder::{MANIFEST, Manifest, Role};
use crate::method::hierarchy::{Codes, Hierarchy, LabelForm};
use std::sync::Arc;

/// A quasi-identifier with the hierarchy and levels that the statement gives.
struct Named {
    column: String,
    hierarchy: Option<Arc<Hierarchy>>,
    levels: Option<(u8, u8)>,
    form: LabelForm,
}

/// Returns the hierarchy and levels of every quasi-identifier, from the statement and the manifest.
/// If both name a hierarchy, adds a check to `found` that both name the same hierarchy. Also adds
/// notes about labels that cannot be checked.
pub(super) fn known(claim: &Claim, found: &mut Verification) -> Result<Vec<Known>> {
    let manifest = claim.evidence.as_ref().map(|e| &e.manifest);
    let of_manifest = manifest
        .map(|m| m.columns_of(Role::QuasiIdentifier))
        .unwrap_or_default();
    let mut known = vec![];
    for named in named(claim, &of_manifest) {
        let column = named.column.as_str();
        // The levels of the statement take precedence over the levels of the manifest.
        let levels = named.levels.or_else(|| {
            // The batches of a release that grew may have different levels.
            manifest.and_then(|m| m.levels_of(column))
        });
        let is_in_manifest = of_manifest.contains(&named.column);
        let hierarchy = match (named.hierarchy, manifest.filter(|_| is_in_manifest)) {
            (Some(hierarchy), None) => Some(hierarchy),
            (Some(hierarchy), Some(manifest)) => found.same(manifest, column, hierarchy)?,
            (None, Some(manifest)) => hierarchy_of(claim, manifest, column, levels, found)?,
            (None, None) if named.levels.is_some() => Some(Hierarchy::suppression_of(column)?),
            (None, None) => None,
        };
        let mut one = Known {
            column: column.into(),
            codes: hierarchy.as_ref().and_then(|hierarchy| hierarchy.rule().codes()),
            hierarchy,
            levels,
            form: manifest.and_then(|m| m.form_of(column)).unwrap_or(named.form),
            is_folder: claim.folders.contains(&named.column),
            text: claim.evidence.as_ref().map_or(TEXT, |e| e.text(column)),
        };
        one.check_levels()?;
        if let (None, Some(manifest)) = (&one.codes, manifest.filter(|_| is_in_manifest)) {
            one.codes = codes(claim, manifest, column)?;
        }
        known.push(one);
    }
    Ok(known)
}

/// Returns the TOP CODE and BOTTOM CODE of the hierarchy that the manifest names for a column, if
/// the hierarchy is known. These codes apply at every level.
fn codes(claim: &Claim, manifest: &Manifest, column: &str) -> Result<Option<Codes>> {
    let name = manifest.hierarchy_of(column).map(|h| &h.name);
    let known = name.and_then(|name| claim.hierarchies.get(name)).into_iter();
    for hierarchy in known.chain(claim.defined.get(column)) {
        if manifest.used(column, hierarchy)? {
            return Ok(hierarchy.rule().codes());
        }
    }
    Ok(None)
}

/// Returns the quasi-identifiers that the statement names, followed by those that the manifest
/// adds.
fn named(claim: &Claim, of_manifest: &[String]) -> Vec<Named> {
    let columns = claim.columns();
    let claimed = claim.quasi_identifiers.iter().map(|q| Named {
        column: q.column.clone(),
        hierarchy: claim.generalized.contains(&q.column).then(|| Arc::clone(&q.hierarchy)),
        levels: q.levels,
        form: q.labels,
    });
    let is_added = |column: &&String| {
        columns.contains(&column.as_str()) && !claim.quasi_identifiers.iter().any(|q| q.column == **column)
    };
    let added = of_manifest.iter().filter(is_added).map(|column| Named {
        column: column.clone(),
        hierarchy: None,
        levels: None,
        form: LabelForm::Text,
    });
    claimed.chain(added).collect()
}

/// Returns the hierarchy that the manifest names for a column: the session's hierarchy of that
/// name, or the hierarchy that the manifest defines if the session has none. If the session has
/// another hierarchy of that name, only labels that are compared with other rows are read by the
/// hierarchy that the manifest defines, and a note says so. Returns `None` if the hierarchy of the
/// release is not known.
fn hierarchy_of(
    claim: &Claim,
    manifest: &Manifest,
    column: &str,
    levels: Option<(u8, u8)>,
    found: &mut Verification,
) -> Result<Option<Arc<Hierarchy>>> {
    let suppression = Hierarchy::suppression_of(column)?;
    if manifest.used(column, &suppression)? {
        return Ok(Some(suppression));
    }
    let is_told = levels != Some((0, 0)) && manifest.partition.is_none();
    let mut unknown = |why: String| {
        if is_told {
            found.gap(format!("labels of {column} ({why})"));
        }
        Ok(None)
    };
    let Some(name) = manifest.hierarchy_of(column).map(|h| &h.name) else {
        return unknown(format!("{MANIFEST} names no hierarchy"));
    };
    // A partition has labels at any level. The hierarchy alone determines the values that such a
    // label covers.
    if levels.is_none() && manifest.partition.is_none() {
        return unknown(format!("{MANIFEST} has no level"));
    }
    let is_compared = claim.against.is_some() || claim.population.is_some();
    match (claim.hierarchies.get(name), claim.defined.get(column)) {
        (None, Some(defined)) if manifest.used(column, defined)? => Ok(Some(Arc::clone(defined))),
        (None, _) => unknown(format!("there is no hierarchy {name} in this session")),
        (Some(hierarchy), _) if manifest.used(column, hierarchy)? => Ok(Some(Arc::clone(hierarchy))),
        // Without its hierarchy, a label could be read as a value that has the same text.
        (Some(_), Some(defined)) if is_compared && manifest.used(column, defined)? => {
            if is_told {
                found.gap(format!(
                    "hierarchy {name} of this session (labels of {column} are read by the hierarchy in {MANIFEST}, which differs)"
                ));
            }
            Ok(Some(Arc::clone(defined)))
        }
        (Some(_), _) => unknown(format!(
            "hierarchy {name} of this session differs from the hierarchy in {MANIFEST}"
        )),
    }
}
