//! Binds how the released node or partition is found: a recoding, a search, a named node, or the node of a manifest.

use super::roles::level;
use crate::catalogue::Call;
use crate::error::{Error, Result};
use crate::folder::{MANIFEST, Manifest};
use crate::job::{Choice, QuasiIdentifier};
use crate::location::expanded;
use crate::pool::blocking;
use crate::search;
use crate::session::registry::Registry;
use crate::sql::clause::{ChoiceClause, RecodingClause};
use std::path::Path;

/// Binds the recoding with its search, or the node that AT NODE or USING MANIFEST names.
pub(super) async fn choice(
    registry: &Registry,
    recoding: Option<RecodingClause>,
    choice: &ChoiceClause,
    quasi_identifiers: &[QuasiIdentifier],
) -> Result<Choice> {
    let local = recoding == Some(RecodingClause::Local);
    let levels = match choice {
        ChoiceClause::Default if local => return Choice::local(),
        ChoiceClause::Default => return registry.search(&Call::bare(search::DEFAULT)),
        ChoiceClause::Search(call) => return searched(registry, recoding, call),
        ChoiceClause::Node(_) | ChoiceClause::Manifest(_) if local => {
            return Err(Error::usage(
                "AT NODE and USING MANIFEST give one level per column, which is RECODING GLOBAL; leave RECODING LOCAL \
                 out, or them",
            ));
        }
        ChoiceClause::Node(levels) => levels.clone(),
        ChoiceClause::Manifest(path) => {
            let (path, quasi_identifiers) = (path.clone(), quasi_identifiers.to_vec());
            blocking("reading a manifest", move || manifest_levels(&path, &quasi_identifiers)).await?
        }
    };
    for (column, _) in &levels {
        if !quasi_identifiers.iter().any(|q| q.column == *column) {
            return Err(Error::unknown(
                "quasi-identifier",
                column,
                quasi_identifiers.iter().map(|q| q.column.as_str()),
            ));
        }
    }
    let one = |q: &QuasiIdentifier| match levels
        .iter()
        .filter(|(column, _)| *column == q.column)
        .collect::<Vec<_>>()[..]
    {
        [(_, l)] => level(*l, &q.column),
        [] => Err(Error::usage(format!(
            "AT NODE gives no level for {}; name every quasi-identifier",
            q.column
        ))),
        _ => Err(Error::usage(format!("AT NODE gives {} two levels", q.column))),
    };
    Ok(Choice::Node(quasi_identifiers.iter().map(one).collect::<Result<_>>()?))
}

/// Binds the search that a statement names. Fails if it is one of the other recoding.
fn searched(registry: &Registry, recoding: Option<RecodingClause>, call: &Call) -> Result<Choice> {
    let choice = registry.search(call)?;
    let is_local = matches!(choice, Choice::Partition(_));
    let Some(recoding) = recoding.filter(|r| (*r == RecodingClause::Local) != is_local) else {
        return Ok(choice);
    };
    let of = if is_local {
        RecodingClause::Local
    } else {
        RecodingClause::Global
    };
    let global: Vec<&str> = registry.searches.names().collect();
    let local: Vec<&str> = registry.partitioners.names().collect();
    Err(Error::usage(format!(
        "SEARCH USING {} is RECODING {of}, and RECODING {recoding} is asked for; global: {}; local: {}",
        call.name,
        global.join(", "),
        local.join(", ")
    )))
}

/// Reads the levels of an earlier release from its manifest. Fails if that release is local recoding, or if one of the
/// columns had another hierarchy.
fn manifest_levels(path: &str, quasi_identifiers: &[QuasiIdentifier]) -> Result<Vec<(String, u32)>> {
    let path = expanded(path)?;
    let path = Path::new(path.as_ref());
    let folder = match path.file_name() {
        Some(name) if name == MANIFEST => path.parent().unwrap_or(Path::new("")),
        _ => path,
    };
    let manifest = Manifest::read(folder)?.ok_or_else(|| {
        Error::usage(format!(
            "there is no {MANIFEST} in {}; USING MANIFEST takes the folder of a release, or its manifest",
            folder.display()
        ))
    })?;
    if manifest.partition.is_some() {
        return Err(Error::usage(format!(
            "the release in {} is local recoding ({}), and a manifest holds no data value and so none of its groups; \
             run the statement again, with SEARCH USING {}",
            folder.display(),
            manifest.search.algorithm,
            manifest.search.algorithm
        )));
    }
    for q in quasi_identifiers
        .iter()
        .filter(|q| manifest.node.contains_key(&q.column))
    {
        manifest
            .require_hierarchy(&q.column, &q.hierarchy)
            .map_err(|e| e.context(format!("USING MANIFEST {:?}", folder.display().to_string())))?;
    }
    Ok(manifest
        .node
        .into_iter()
        .map(|(column, level)| (column, u32::from(level)))
        .collect())
}
