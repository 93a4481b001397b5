//! Binds USING MANIFEST: the node of an earlier release, and the drift of columns and hierarchies
//! since then.

use super::roles::level;
use crate::base::catalogue::Call;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::location::expanded;
use crate::base::pool::blocking;
use crate::data::drift::{Drift, DriftKind, OnDrift, SchemaChange, changes, refusal};
use crate::data::folder::{MANIFEST, Manifest};
use crate::data::formats::At;
use crate::language::session::context::AnonContext;
use crate::language::session::registry::Registry;
use crate::language::session::statements::anonymize::spec::AnonymizeSpec;
use crate::method::hierarchy::Hierarchy;
use crate::method::search::{self, Search};
use crate::release::job::{Choice, Constraint, Job, QuasiIdentifier, Replay, Sensitive, SourceTable};
use std::sync::Arc;

/// The parts of a request that are compared with an earlier release.
pub(super) struct ComparedRequest<'a> {
    pub(super) statement: &'a AnonymizeSpec,
    pub(super) source: &'a SourceTable,
    pub(super) quasi_identifiers: &'a [QuasiIdentifier],
    pub(super) sensitive: &'a [Sensitive],
    pub(super) constraints: &'a [Constraint],
    pub(super) strict: bool,
}

impl ComparedRequest<'_> {
    /// Returns true if a release depends on a column of the source, because the release contains
    /// the column or counts its values.
    fn uses(&self, column: &str) -> bool {
        let asked = &self.statement.policy;
        let deciding = asked.masks().filter_map(|(_, mask)| mask.entity());
        let limits = self.constraints.iter().filter_map(Constraint::limit);
        let masked = asked.masks().map(|(column, _)| column.as_str());
        let named = masked
            .chain(deciding)
            .chain(asked.quasi_identifiers.iter().map(|q| q.column.as_str()))
            .chain(asked.sensitive.iter().map(|s| s.column.as_str()))
            .chain(asked.class.as_deref())
            .chain(asked.keep.iter().map(|k| k.column.as_str()))
            .chain(asked.entity.as_deref())
            .chain(limits);
        named.into_iter().any(|named| named == column)
    }
}

/// Binds the node of the earlier release at `path`. Fails with `ErrorKind::Drift` if hierarchies or
/// columns of the source have drifted, and ON DRIFT does not allow this drift. Fails with
/// `ErrorKind::Usage` if the path has no manifest, or if its release has local recoding.
pub(super) async fn replay(
    context: &AnonContext,
    registry: &Registry,
    (path, on_drift): (&str, Option<OnDrift>),
    asked: &ComparedRequest<'_>,
) -> Result<Replay> {
    // This is one function because it lists each kind of drift with its effect.
    let manifest = context.manifest_at(path, &At::Newest).await?;
    let path = expanded(path)?;
    let folder = path.strip_suffix(MANIFEST).unwrap_or(&path).trim_end_matches('/');
    let manifest = of_a_node(manifest, folder)?;
    let on_drift = match on_drift.unwrap_or_default() {
        // With a strict statement, a warning stops the release.
        OnDrift::Warn if asked.strict => OnDrift::Error,
        on_drift => on_drift,
    };
    let changes = match &manifest.source[..] {
        [] => vec![],
        before => changes(before, &asked.source.typed_columns(), |column| asked.uses(column)),
    };
    let stops = |is_used: bool| match on_drift {
        OnDrift::Error => true,
        OnDrift::Warn => is_used,
        OnDrift::Search => false,
    };
    let is_stopped = changes.iter().any(|(_, is_used, _)| stops(*is_used));
    for (_, is_used, drift) in &changes {
        context.observer.drifted(drift, stops(*is_used));
    }
    let of = |wanted: SchemaChange| -> Vec<String> {
        let unused = changes.iter().filter(|(change, used, _)| *change == wanted && !used);
        unused.flat_map(|(_, _, drift)| drift.columns.clone()).collect()
    };
    let (come, gone) = (of(SchemaChange::Come), of(SchemaChange::Gone));
    let mut drift: Vec<Drift> = changes.into_iter().map(|(_, _, drift)| drift).collect();
    if is_stopped {
        return Err(refusal(ErrorKind::Drift, &drift));
    }
    let (schema_compared, sha256) = (!manifest.source.is_empty(), manifest.sha256.clone());
    let suppressed_rows = manifest.rows_suppressed.map(|rows| rows > 0);
    let (of_folder, quasi_identifiers) = (folder.to_string(), asked.quasi_identifiers.to_vec());
    let sensitive = asked.sensitive.iter();
    let attributes = sensitive.filter_map(|s| Some((s.column.clone(), Arc::clone(s.hierarchy.as_ref()?))));
    let attributes: Attributes = attributes.collect();
    let compared = move || compared(&of_folder, &manifest, (&quasi_identifiers, &attributes));
    let levels = match blocking("comparing hierarchies", compared).await? {
        Compared::Alike(levels) => Some(levels),
        Compared::Unlike(unlike, error) => {
            let stops = on_drift != OnDrift::Search;
            unlike.iter().for_each(|drift| context.observer.drifted(drift, stops));
            if stops {
                return Err(error);
            }
            drift.extend(unlike);
            None
        }
    };
    Ok(Replay {
        levels,
        on_drift,
        instead: match on_drift {
            OnDrift::Search => default_search(registry)?,
            OnDrift::Error | OnDrift::Warn => None,
        },
        manifest: sha256,
        suppressed_rows,
        schema_compared,
        drift,
        come,
        gone,
    })
}

/// The hierarchies of an earlier release, compared with the current ones.
enum Compared {
    /// The hierarchies are the same. Contains the levels of the release.
    Alike(Vec<u8>),
    /// The hierarchies or the columns differ. Contains the drift, and the error for it.
    Unlike(Vec<Drift>, Error),
}

/// The sensitive attributes that have a hierarchy.
type Attributes = Vec<(String, Arc<Hierarchy>)>;

fn compared(
    folder: &str,
    manifest: &Manifest,
    (quasi_identifiers, attributes): (&[QuasiIdentifier], &Attributes),
) -> Result<Compared> {
    let unlike = unlike(manifest, quasi_identifiers, attributes)?;
    Ok(match unlike.is_empty() {
        true => Compared::Alike(levels(manifest, quasi_identifiers)?),
        false => Compared::Unlike(unlike, refused(folder, manifest, quasi_identifiers, attributes)),
    })
}

fn default_search(registry: &Registry) -> Result<Option<(Call, Box<dyn Search>)>> {
    Ok(match registry.search(&Call::bare(search::DEFAULT))? {
        Choice::Search { call, search } => Some((call, search)),
        _ => None,
    })
}

/// Adapts a job to drift that does not stop it. New columns without a role are added to the
/// identifiers, which are dropped. Unmasked identifiers that the source no longer contains are
/// removed from the job. With ON DRIFT WARN, rows with unknown values are suppressed.
pub(super) fn fit(job: &mut Job) {
    let Choice::Replay(replay) = &job.goal.choice else {
        return;
    };
    let (come, gone, on_drift) = (replay.come.clone(), replay.gone.clone(), replay.on_drift);
    let is_masked = |column: &String| job.roles.masks.iter().any(|of| of.column == *column);
    job.roles
        .identifiers
        .retain(|column| is_masked(column) || !gone.contains(column));
    for column in come {
        if !job.roles.identifiers.contains(&column) {
            job.roles.identifiers.push(column);
        }
    }
    if on_drift == OnDrift::Warn {
        for q in &mut job.roles.quasi_identifiers {
            q.hierarchy = Arc::new(q.hierarchy.suppressing_unknown());
        }
    }
}

/// Returns the manifest of the release in `folder`. Fails with a usage error if there is no
/// manifest, or if the release has local recoding and therefore no node.
fn of_a_node(manifest: Option<Manifest>, folder: &str) -> Result<Manifest> {
    let manifest = manifest.ok_or_else(|| {
        Error::usage(format!(
            "there is no {MANIFEST} in {folder}; USING MANIFEST takes the folder of a release, or its manifest"
        ))
    })?;
    if manifest.partition.is_some() {
        return Err(Error::usage(format!(
            "the release in {folder} has local recoding ({}), and a manifest contains no data value, so it does not \
             have the groups; run the statement again, with SEARCH USING {}",
            manifest.search.algorithm, manifest.search.algorithm
        )));
    }
    Ok(manifest)
}

/// Returns the differences between hierarchies or columns that give the levels of a release another
/// meaning for these quasi-identifiers.
fn unlike(manifest: &Manifest, quasi_identifiers: &[QuasiIdentifier], attributes: &Attributes) -> Result<Vec<Drift>> {
    let mut found = vec![];
    for QuasiIdentifier { column, hierarchy, .. } in quasi_identifiers {
        let mut add = |kind, text| found.push(Drift::new(kind, vec![column.clone()], text));
        if !manifest.node.contains_key(column) {
            add(
                DriftKind::Schema,
                format!("{column} is a quasi-identifier now, and the release has no level for it"),
            );
        } else if !manifest.used(column, hierarchy)? {
            let name = hierarchy.name();
            add(
                DriftKind::Hierarchy,
                format!("hierarchy {name} of column {column} differs from the hierarchy of the release"),
            );
        }
    }
    for (column, hierarchy) in attributes {
        // A hierarchy that the statement adds to a column without a hierarchy in the release is not
        // drift.
        if manifest.hierarchy_of(column).is_some() && !manifest.used(column, hierarchy)? {
            let name = hierarchy.name();
            let text = format!(
                "hierarchy {name} of sensitive column {column} differs from the hierarchy of the \
                                release"
            );
            found.push(Drift::new(DriftKind::Hierarchy, vec![column.clone()], text));
        }
    }
    let named = |column: &String| quasi_identifiers.iter().any(|q| q.column == *column);
    for column in manifest.node.keys().filter(|column| !named(column)) {
        let text = format!("{column} was a quasi-identifier of the release, and is not a quasi-identifier now");
        found.push(Drift::new(DriftKind::Schema, vec![column.clone()], text));
    }
    Ok(found)
}

/// Returns the error for a release whose levels cannot be applied to these quasi-identifiers.
fn refused(folder: &str, manifest: &Manifest, quasi_identifiers: &[QuasiIdentifier], attributes: &Attributes) -> Error {
    let quasi = quasi_identifiers.iter().map(|q| (&q.column, &q.hierarchy));
    let quasi = quasi.filter(|(column, _)| manifest.node.contains_key(*column));
    let sensitive = attributes.iter().map(|(column, hierarchy)| (column, hierarchy));
    let sensitive = sensitive.filter(|(column, _)| manifest.hierarchy_of(column).is_some());
    for (column, hierarchy) in quasi.chain(sensitive) {
        if let Err(e) = manifest.require_hierarchy(column, hierarchy, "leave the manifest out") {
            return Error::new(ErrorKind::Drift, e.message()).context(format!("USING MANIFEST {folder:?}"));
        }
    }
    let known = || quasi_identifiers.iter().map(|q| q.column.as_str());
    let missing = manifest
        .node
        .keys()
        .find(|column| known().all(|known| known != *column));
    match missing {
        Some(column) => Error::unknown("quasi-identifier", column, known()),
        None => {
            let new = known().filter(|column| !manifest.node.contains_key(*column));
            Error::usage(format!(
                "the release in {folder} has no level for {}; write ON DRIFT SEARCH, which searches for a node of all \
                 columns",
                new.collect::<Vec<_>>().join(", ")
            ))
        }
    }
}

/// Returns the levels of a release in the order of the given quasi-identifiers. Each of them must
/// have a level in the manifest.
fn levels(manifest: &Manifest, quasi_identifiers: &[QuasiIdentifier]) -> Result<Vec<u8>> {
    let one = |q: &QuasiIdentifier| match manifest.node.get(&q.column) {
        Some(found) => level(u32::from(*found), &q.column),
        None => Err(Error::internal("a quasi-identifier without a level in the manifest")),
    };
    quasi_identifiers.iter().map(one).collect()
}
