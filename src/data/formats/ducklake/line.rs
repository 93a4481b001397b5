//! The entry of DuckLake in the list of table formats.

use super::address::{Address, TABLE};
use crate::data::formats::entry::Entry;

#[cfg(feature = "ducklake")]
use super::format::DuckLake;

/// The entry of DuckLake in the list of table formats.
pub(crate) const ENTRY: Entry = Entry {
    word: "ducklake",
    named: "catalog#table",
    feature: "ducklake",
    lacks: "reads no DuckLake tables",
    // A text that does not name a table may contain a password, and is therefore not quoted.
    called: |name| Ok(Address::of(name)?.to_string()),
    is_table: |name| name.contains(TABLE),
    #[cfg(feature = "ducklake")]
    format: Some(&DuckLake),
    #[cfg(not(feature = "ducklake"))]
    format: None,
    log: None,
};
