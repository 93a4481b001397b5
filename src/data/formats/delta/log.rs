//! The folder of the log, and the search for names of files in its entries. A build without the
//! feature `delta` also contains this code, because it recognizes tables, and deletes files of
//! killed runs that no entry names.

use crate::data::formats::marker::Marker;
use std::fs;
use std::io;
use std::path::Path;

/// The folder that contains the log of a table.
pub(super) const LOG: &str = "_delta_log";
/// The folder of the log as the marker of a table.
pub(super) const MARKER: Marker = Marker {
    name: LOG,
    is_folder: true,
};
/// The name of the first log entry. While this entry exists, no entry has been removed from the
/// log.
const FIRST: &str = "00000000000000000000.json";

/// Returns true if a log entry of the table in a local folder names files of a run, or if such an
/// entry may have been removed by a cleanup of the log.
pub(super) fn may_name(table: &Path, run: &str) -> io::Result<bool> {
    let log = table.join(LOG);
    if !log.is_dir() {
        return Ok(false);
    }
    if !log.join(FIRST).is_file() {
        return Ok(true);
    }
    for entry in fs::read_dir(log)? {
        let path = entry?.path();
        let is_entry = path.extension().is_some_and(|e| e == "json");
        if is_entry && String::from_utf8_lossy(&fs::read(&path)?).contains(run) {
            return Ok(true);
        }
    }
    Ok(false)
}
