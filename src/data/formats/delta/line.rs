//! The entry of Delta in the list of table formats.

use super::log::{MARKER, may_name};
use super::types::{check_column, stored};
use crate::data::formats::entry::{Entry, TableLog};

#[cfg(feature = "delta")]
use super::format::Delta;

/// The entry of Delta in the list of table formats.
pub(crate) const ENTRY: Entry = Entry {
    word: "delta",
    named: "path",
    feature: "delta",
    lacks: "neither reads nor writes Delta tables",
    called: |path| Ok(path.to_string()),
    // Each table is a folder, so its name ends in a slash.
    is_table: |name| name.ends_with('/'),
    #[cfg(feature = "delta")]
    format: Some(&Delta),
    #[cfg(not(feature = "delta"))]
    format: None,
    log: Some(TableLog {
        keyword: "DELTA",
        marker: MARKER,
        table: "Delta table",
        stored,
        check_column,
        may_name,
        #[cfg(feature = "delta")]
        format: Some(&Delta),
        #[cfg(not(feature = "delta"))]
        format: None,
    }),
};
