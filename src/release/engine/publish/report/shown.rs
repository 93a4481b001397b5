//! The name of the source of a release, as a report shows it.

use crate::release::job::SourceTable;

/// Returns the name of the source for a report. The text of a query can contain values, so only the
/// files that the query reads are named.
pub(super) fn shown(source: &SourceTable) -> String {
    if let Some(path) = source.name.strip_prefix('\'').and_then(|n| n.strip_suffix('\'')) {
        return path.replace("''", "'");
    }
    if !source.name.starts_with('(') {
        return source.name.clone();
    }
    let names = source.files.iter().filter_map(|f| f.file_name());
    let names: Vec<String> = names.map(|n| n.to_string_lossy().into_owned()).collect();
    match names.as_slice() {
        [] => "a query".into(),
        [one] => format!("a query over {one}"),
        [one, .., last] => format!("a query over {} files, {one} to {last}", names.len()),
    }
}
