//! The labels of a released column with the values of the source that they cover.

use crate::audit::bind;
use crate::error::{Error, ErrorKind, Result};
use crate::folder::Manifest;
use crate::hierarchy::{Cover, Hierarchy, Lookup};
use crate::session::context::AnonContext;
use crate::sql::clause::QuasiIdentifierClause;
use crate::utility::Column;
use arrow::array::StringArray;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// The hierarchy by which the labels of a column are read.
pub(super) struct Reading {
    hierarchy: Arc<Hierarchy>,
    /// Whether the statement names it, so that it must fit.
    is_named: bool,
}

impl AnonContext {
    /// Returns the hierarchy of a column: the one that the statement names, or the one of this session that the manifest
    /// names. Without either, a label is a value of the source, a range of such values, or `*`.
    pub(super) fn reading(
        &self,
        column: &str,
        named: &[QuasiIdentifierClause],
        manifest: Option<&Manifest>,
    ) -> Result<Reading> {
        let of_manifest = manifest.filter(|m| m.hierarchy_of(column).is_some());
        let name = named
            .iter()
            .find(|q| q.column == column)
            .and_then(|q| q.hierarchy.as_ref());
        if let Some(name) = name {
            let hierarchy = self.hierarchy(name)?;
            of_manifest.map_or(Ok(()), |m| m.require_hierarchy(column, &hierarchy))?;
            return Ok(Reading {
                hierarchy,
                is_named: true,
            });
        }
        let recorded = of_manifest
            .and_then(|m| m.hierarchy_of(column))
            .map(|h| h.name.as_str());
        let known = recorded.and_then(|name| self.hierarchies.read().get(name).cloned());
        let hierarchy = match (known, of_manifest) {
            (Some(hierarchy), Some(manifest)) if manifest.used(column, &hierarchy)? => hierarchy,
            _ => Hierarchy::suppression_of(column)?,
        };
        Ok(Reading {
            hierarchy,
            is_named: false,
        })
    }
}

impl Reading {
    /// Binds the hierarchy to the values of a column of `table`. Returns why the column cannot be compared, if it cannot.
    pub(super) async fn bind(
        &self,
        session: &SessionContext,
        table: &str,
        column: &str,
    ) -> Result<std::result::Result<Lookup, String>> {
        match bind(session, table, column, &self.hierarchy).await {
            Ok((_, lookup)) => Ok(Ok(lookup)),
            // The column's type or its values have no labels: all other columns can be compared.
            Err(e) if !self.is_named && is_of_data(&e) => Ok(Err(e.message().to_string())),
            Err(e) => Err(e),
        }
    }
}

fn is_of_data(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Data | ErrorKind::Usage)
}

/// Returns the values of a column whose labels were bound.
pub(super) fn column(name: &str, lookup: &Lookup) -> Column {
    let numbers = lookup.level(0).extents.as_ref().map(|extents| {
        let number = |(low, high): &(f64, f64)| (low <= high).then_some(*low);
        extents.iter().map(number).collect()
    });
    Column {
        name: name.to_string(),
        values: lookup.values().len(),
        numbers,
    }
}

/// Returns for each label the values of the source that it covers. Fails with the reason if a label covers none.
pub(super) fn covered(
    column: &str,
    lookup: Lookup,
    labels: StringArray,
    is_in_source: &[bool],
) -> Result<std::result::Result<Vec<Vec<u32>>, String>> {
    let mut covered = Cover::new(Arc::new(lookup), labels)?.covered();
    covered
        .iter_mut()
        .for_each(|values| values.retain(|v| is_in_source[*v as usize]));
    let unread = covered.iter().filter(|values| values.is_empty()).count();
    Ok(match unread {
        0 => Ok(covered),
        n => Err(format!(
            "labels ({n}) stand for no value of the source; name the hierarchy that they are of: QUASI IDENTIFIERS ({column} \
             USING hierarchy)"
        )),
    })
}
