//! The list of table formats.

use super::at::At;
use super::entry::{Entry, TableLog};
use super::pinned::LoggedTable;
use super::place::Place;
use super::{delta, ducklake};
use crate::base::error::Result;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// All table formats, including formats that this build lacks.
pub static FORMATS: &[Entry] = &[delta::ENTRY, ducklake::ENTRY];

/// Returns the formats to whose tables releases can be committed.
pub(crate) fn written() -> impl Iterator<Item = &'static Entry> {
    FORMATS.iter().filter(|entry| entry.is_written())
}

/// Returns the keywords after STORED AS, one for each format to whose tables releases can be
/// committed.
pub(crate) fn keywords() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().filter_map(Entry::keyword)
}

/// Replaces the placeholders in a syntax text: `<tables>` with the tables of all formats,
/// `<written>` with the tables to which releases can be committed, and `<formats>` with their
/// keywords.
pub(crate) fn with_formats(syntax: &str) -> String {
    syntax
        .replace("<tables>", &choice(FORMATS.iter()))
        .replace("<written>", &choice(written()))
        .replace("<formats>", &keywords().collect::<Vec<_>>().join(" | "))
}

fn choice(formats: impl Iterator<Item = &'static Entry>) -> String {
    let tables: Vec<String> = formats.map(Entry::shown).collect();
    match tables.len() {
        1 => tables.concat(),
        _ => format!("{{ {} }}", tables.join(" | ")),
    }
}

fn logs() -> impl Iterator<Item = TableLog> {
    FORMATS.iter().filter_map(|entry| entry.log)
}

/// Returns the format whose tables have a log with this name.
pub(crate) fn format_of_log(name: &str) -> Option<&'static Entry> {
    written().find(|entry| entry.log.is_some_and(|log| log.marker.name == name))
}

/// Returns true if a file or folder with this name is the log of a table.
pub(crate) fn is_log(name: &str) -> bool {
    format_of_log(name).is_some()
}

/// Returns the name of a table's format in errors, such as `Delta table`.
pub(crate) fn kind_of(table: &dyn LoggedTable) -> &'static str {
    let entry = FORMATS.iter().find(|entry| entry.word == table.format());
    entry.map_or("table", Entry::table)
}

/// Returns the names of the tables to which releases can be committed, as errors list them.
pub(crate) fn written_tables() -> String {
    let tables: Vec<&str> = written().map(Entry::table).collect();
    tables.join(" or ")
}

/// Returns true if a local folder may be a table with a log.
pub(crate) fn may_be_table(folder: &Path) -> bool {
    logs().any(|log| log.marker.may_be_in(folder))
}

/// Returns true if a log of the table in a local folder names files of a run, or if an entry that
/// named them may have been removed from the log.
pub(crate) fn may_name(table: &Path, run: &str) -> io::Result<bool> {
    for log in logs() {
        if (log.may_name)(table, run)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Opens a version of the table at `place`, in any format; `None` if `place` has no table. Fails
/// with `ErrorKind::Usage` if the version does not exist, or this build lacks the format.
pub(crate) async fn find(place: &Place, at: &At) -> Result<Option<Arc<dyn LoggedTable>>> {
    for entry in FORMATS {
        let Some(log) = entry.log else { continue };
        if log.marker.is_at(place).await? {
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
