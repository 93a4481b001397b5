//! The list of table formats.

use super::at::At;
use super::entry::Entry;
use super::pinned::LoggedTable;
use super::place::Place;
use super::{delta, ducklake};
use crate::error::Result;
use std::sync::Arc;

/// Every table format, including those that this build does not have.
pub static FORMATS: &[Entry] = &[delta::ENTRY, ducklake::ENTRY];

/// Returns the formats to whose tables releases are committed.
pub(crate) fn written() -> impl Iterator<Item = &'static Entry> {
    FORMATS.iter().filter(|entry| entry.is_written())
}

/// Returns true if a folder with this name has the log of a table.
pub(crate) fn is_log(folder: &str) -> bool {
    written().any(|entry| entry.log_folder() == Some(folder))
}

/// Opens a version of the table at a place, whatever its format; `None` if there is no table. Fails
/// with `ErrorKind::Usage` if there is no such version, or if this build does not have the format.
pub(crate) async fn find(place: &Place, at: &At) -> Result<Option<Arc<dyn LoggedTable>>> {
    for entry in FORMATS {
        let Some(log) = entry.log else { continue };
        if place.has(log.folder).await? {
            let format = entry.committing(format_args!("{} is a {}", place.url, log.table))?;
            return format.at(place, at).await.map(Some);
        }
    }
    Ok(None)
}

/// Returns true if an input with this name in a manifest is a table, and not a file.
pub(crate) fn is_table(name: &str) -> bool {
    FORMATS.iter().any(|entry| (entry.is_table)(name))
}
