//! The columns that are folder names: `column=value`.

use arrow::datatypes::DataType;
use std::path::{Path, PathBuf};

/// Returns the columns whose values are folder names (`column=value`) under a local folder, outermost first, all as
/// text.
pub(super) fn partitions(folder: &Path) -> Vec<(String, DataType)> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return vec![];
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(|p| p.is_dir()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
        // Readers skip names that begin with `.` or `_`.
        let name = name.as_deref().filter(|n| !n.starts_with(['.', '_']));
        if let Some((column, _)) = name.and_then(|n| n.split_once('=')) {
            let mut found = vec![(column.to_string(), DataType::Utf8)];
            found.extend(partitions(&path));
            return found;
        }
    }
    vec![]
}

/// Returns the names of the columns whose values are folder names under a folder.
pub(in crate::session) fn partition_columns(folder: &Path) -> Vec<String> {
    partitions(folder).into_iter().map(|(column, _)| column).collect()
}
