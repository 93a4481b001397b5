//! Lists the files of a snapshot.

use super::catalog::Catalog;
use super::error::failed;
use crate::base::error::{Error, Result};
use datafusion_ducklake::DuckLakeFileData;
use datafusion_ducklake::path_resolver::resolve_path;
use std::collections::BTreeMap;

/// Returns the data files and the delete files of a snapshot: their paths in the store, with their
/// sizes in bytes. Fails with `ErrorKind::Data` for an encrypted file, and for a file that
/// `datafusion-ducklake` would search in the wrong store.
pub(super) fn files(
    catalog: &Catalog,
    (table, folder): (i64, &str),
    snapshot: i64,
    is_local: bool,
) -> Result<BTreeMap<String, u64>> {
    let listed = catalog.provider.get_table_files_for_select(table, snapshot);
    let listed = listed.map_err(|e| failed(&catalog.doing, &e))?;
    let all = listed
        .into_iter()
        .flat_map(|file| [Some(file.file), file.delete_file])
        .flatten();
    let place = |file: DuckLakeFileData| {
        if file.encryption_key.as_deref().is_some_and(|key| !key.is_empty()) {
            return Err(catalog.encrypted());
        }
        let path = inside(catalog, folder, (&file.path, file.path_is_relative), is_local)?;
        let bytes = u64::try_from(file.file_size_bytes);
        let bytes = bytes.map_err(|_| Error::data(format!("{}: a file has a negative size", catalog.doing)))?;
        Ok((path, bytes))
    };
    all.map(place).collect()
}

/// Converts a path in the catalog, which is absolute or relative to `folder`, to a path in the
/// store of the lake. `datafusion-ducklake` searches for absolute paths in that store too, so a
/// path into another store is refused.
pub(super) fn inside(catalog: &Catalog, folder: &str, path: (&str, bool), is_local: bool) -> Result<String> {
    let (path, is_relative) = path;
    let is_known = is_relative || (is_local && path.starts_with('/'));
    if !is_known {
        return Err(Error::data(format!(
            "{}: its catalog names a file outside of the data path of the lake, which is not read",
            catalog.doing
        )));
    }
    resolve_path(folder, path, is_relative).map_err(|e| failed(&catalog.doing, &e))
}
