//! The hierarchies that the manifest of a release defines.

use super::create_hierarchy;
use crate::base::error::Result;
use crate::data::folder::Manifest;
use crate::language::session::context::AnonContext;
use crate::method::hierarchy::Hierarchy;
use arrow::array::new_empty_array;
use datafusion::dataframe::DataFrame;
use std::collections::BTreeMap;
use std::sync::Arc;

impl AnonContext {
    /// Builds the hierarchies that a manifest defines, by the name of the column that uses them.
    /// `against` is the source. A hierarchy that cannot label the type of the source's column is
    /// left out, because the release cannot have used it.
    pub(super) async fn defined(
        &self,
        manifest: &Manifest,
        against: Option<&DataFrame>,
    ) -> Result<BTreeMap<String, Arc<Hierarchy>>> {
        let fits = |hierarchy: &Hierarchy, column: &str| {
            let field = against.and_then(|rows| rows.schema().field_with_unqualified_name(column).ok());
            field.is_none_or(|field| hierarchy.bind(new_empty_array(field.data_type())).is_ok())
        };
        let mut made = BTreeMap::new();
        for column in &manifest.columns {
            let Some((name, definition)) = column
                .hierarchy
                .as_ref()
                .and_then(|h| Some((&h.name, h.definition.as_ref()?)))
            else {
                continue;
            };
            if let Some(hierarchy) = create_hierarchy::defined(self, name, definition).await?
                && fits(&hierarchy, &column.name)
            {
                made.insert(column.name.clone(), Arc::new(hierarchy));
            }
        }
        Ok(made)
    }

    /// Returns the hierarchies by which the columns of a release were generalized, by the name of
    /// the column. Such a hierarchy is the session's hierarchy of the name in the manifest or, if
    /// that one has another definition or does not exist, the hierarchy that the manifest defines.
    /// A column is left out if neither is the hierarchy of the release. The result is empty without
    /// a manifest. `source` is the source of the release.
    pub(super) async fn hierarchies_of(
        &self,
        manifest: Option<&Manifest>,
        source: &DataFrame,
    ) -> Result<BTreeMap<String, Arc<Hierarchy>>> {
        let Some(manifest) = manifest else {
            return Ok(BTreeMap::new());
        };
        let defined = self.defined(manifest, Some(source)).await?;
        let known = self.hierarchies.read();
        let mut released = BTreeMap::new();
        for column in &manifest.columns {
            let of_session = column.hierarchy.as_ref().and_then(|h| known.get(&h.name));
            for hierarchy in defined.get(&column.name).into_iter().chain(of_session) {
                if manifest.used(&column.name, hierarchy)? {
                    released.insert(column.name.clone(), Arc::clone(hierarchy));
                }
            }
        }
        Ok(released)
    }
}
