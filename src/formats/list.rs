//! The list of table formats.

use super::at::At;
use super::entry::Entry;
use super::pinned::LoggedTable;
use super::place::Place;
use super::{delta, ducklake};
use crate::error::Result;
use std::sync::Arc;

/// All table formats, including formats that this build lacks.
pub static FORMATS: &[Entry] = &[delta::ENTRY, ducklake::ENTRY];

/// Returns the formats to whose tables releases can be committed.
pub(crate) fn written() -> impl Iterator<Item = &'static Entry> {
    FORMATS.iter().filter(|entry| entry.is_written())
}

/// Returns true if a folder with this name is the log of a table.
pub(crate) fn is_log(folder: &str) -> bool {
    written().any(|entry| entry.log_folder() == Some(folder))
}

/// Opens a version of the table at `place`, in any format; `None` if `place` has no table. Fails
/// with `ErrorKind::Usage` if the version does not exist, or this build lacks the format.
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

/// Returns true if the name of an input in a manifest is that of a table, and not that of a file.
pub(crate) fn is_table(name: &str) -> bool {
    FORMATS.iter().any(|entry| (entry.is_table)(name))
}
