//! Entries of the list of table formats. A build without the feature of a format still has its
//! entry.

use super::at::At;
use super::marker::Marker;
use super::pinned::{LogFormat, PinnedTable};
use crate::base::error::{Error, Result};
use arrow::datatypes::DataType;
use async_trait::async_trait;
use datafusion::execution::SessionState;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A table format.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The keyword before a table in a statement: `delta.'path'`.
    pub word: &'static str,
    /// The placeholder for the name of a table after the keyword, in syntax texts: `path`.
    pub(super) named: &'static str,
    /// The cargo feature of the format.
    pub(super) feature: &'static str,
    /// The operations that a build without the feature lacks, as an error describes them.
    pub(super) lacks: &'static str,
    /// Checks the name after the keyword, and returns it in the form that errors quote.
    pub(super) called: fn(&str) -> Result<String>,
    /// Returns true if a name in a manifest is that of a table in this format, and not that of a
    /// file.
    pub(super) is_table: fn(&str) -> bool,
    /// The reader for tables of the format; `None` in a build without the feature.
    pub(super) format: Option<&'static dyn TableFormat>,
    /// The log of the format's tables; `None` if releases cannot be committed to them.
    pub(super) log: Option<TableLog>,
}

/// The log of a format's tables.
#[derive(Clone, Copy)]
pub(super) struct TableLog {
    /// The keyword after STORED AS: `DELTA`.
    pub(super) keyword: &'static str,
    /// The file or folder by which a table is recognized. It is a part of the log.
    pub(super) marker: Marker,
    /// The name of the format's tables in errors, such as `Delta table`.
    pub(super) table: &'static str,
    /// Returns the type with which a table stores values of the given type.
    pub(super) stored: fn(&DataType) -> DataType,
    /// Checks that a table can have a column with this name and type and, if the last argument is
    /// true, be partitioned by it. Fails with `ErrorKind::Usage` if not.
    pub(super) check_column: fn(&str, &DataType, bool) -> Result<()>,
    /// Returns true if the log of the table in a local folder names files of a run, or if an entry
    /// that named them may have been removed from the log.
    pub(super) may_name: fn(&Path, &str) -> io::Result<bool>,
    /// The interface for reading tables and committing to them; `None` in a build without the
    /// feature.
    pub(super) format: Option<&'static dyn LogFormat>,
}

/// Opens tables of a format for statements.
#[async_trait]
pub(crate) trait TableFormat: Send + Sync {
    /// Opens a version of a table by its name in a statement. Fails with `ErrorKind::Usage` if the
    /// table or the version does not exist.
    async fn open(&self, state: &SessionState, name: &str, at: &At) -> Result<Arc<dyn PinnedTable>>;
}

impl Entry {
    /// Opens a version of a table by its name in a statement. Fails with `ErrorKind::Usage` if the
    /// table or the version does not exist, or this build lacks the format.
    pub(crate) async fn open(&self, state: &SessionState, name: &str, at: &At) -> Result<Arc<dyn PinnedTable>> {
        let called = (self.called)(name)?;
        let format = self
            .format
            .ok_or_else(|| self.missing(format_args!("{}.{called:?}", self.word)));
        format?.open(state, name, at).await
    }

    /// Returns true if releases can be committed to tables of the format.
    pub fn is_written(&self) -> bool {
        self.log.is_some()
    }

    /// Returns a table of the format as syntax texts show it: `delta.'path'`.
    pub(crate) fn shown(&self) -> String {
        format!("{}.'{}'", self.word, self.named)
    }

    /// Returns the keyword after STORED AS; `None` if releases cannot be committed to tables of the
    /// format.
    pub(crate) fn keyword(&self) -> Option<&'static str> {
        self.log.map(|log| log.keyword)
    }

    /// Returns the name of the format's tables in errors, such as `Delta table`; the keyword of the
    /// format if releases cannot be committed to its tables.
    pub(crate) fn table(&self) -> &'static str {
        self.log.map_or(self.word, |log| log.table)
    }

    /// Returns the type with which a table stores values of `data_type`. Returns `data_type` if
    /// releases cannot be committed to tables of the format.
    pub(crate) fn stored(&self, data_type: &DataType) -> DataType {
        self.log
            .map_or_else(|| data_type.clone(), |log| (log.stored)(data_type))
    }

    /// Checks that a table can have a column with this name and type and, if `is_partition` is
    /// true, be partitioned by it. Fails with `ErrorKind::Usage` if not, or if releases cannot be
    /// committed to tables of the format.
    pub(crate) fn check_column(&self, name: &str, data_type: &DataType, is_partition: bool) -> Result<()> {
        match self.log {
            Some(log) => (log.check_column)(name, data_type, is_partition),
            None => Err(self.missing(format_args!("column {name:?}"))),
        }
    }

    /// Returns the interface for commits to tables of the format. Fails with `ErrorKind::Usage` if
    /// this build lacks the format, or releases cannot be committed to its tables. The message
    /// begins with `what`.
    pub(crate) fn committing(&self, what: impl fmt::Display) -> Result<&'static dyn LogFormat> {
        let log = self.log.and_then(|log| log.format);
        log.ok_or_else(|| self.missing(what))
    }

    fn missing(&self, what: impl fmt::Display) -> Error {
        Error::usage(format!(
            "{what}: this build of anonsql {}; use a release of it, or build it with --features {}",
            self.lacks, self.feature
        ))
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word)
    }
}

impl Eq for Entry {}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_error_of_a_missing_format_names_its_feature() {
        let entry = Entry {
            word: "made_up",
            named: "name",
            feature: "made_up_tables",
            lacks: "reads no made-up tables",
            called: |name| Ok(name.to_string()),
            is_table: |_| false,
            format: None,
            log: None,
        };
        let state = datafusion::prelude::SessionContext::new().state();
        let opened = entry.open(&state, "a", &At::Newest).await.unwrap_err().to_string();
        assert_eq!(
            opened,
            "made_up.\"a\": this build of anonsql reads no made-up tables; use a release of it, or build it with --features \
             made_up_tables"
        );
        let refused = entry.committing("TO 'a'").map(|_| ()).unwrap_err();
        assert!(
            refused.to_string().starts_with("TO 'a': this build of anonsql"),
            "{refused}"
        );
    }
}
