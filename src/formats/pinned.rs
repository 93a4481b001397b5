//! One version of a table. Later commits do not change it.

use super::at::At;
use super::change::{Change, CommitOutcome};
use super::place::Place;
use crate::error::Result;
use arrow::datatypes::Schema;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::execution::SessionState;
use datafusion::logical_expr::Expr;
use datafusion::object_store::ObjectMeta;
use datafusion::physical_plan::ExecutionPlan;
use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

/// A file of a table.
#[derive(Debug)]
pub(crate) struct PinnedFile {
    /// The path of a local file, or the URL of an object.
    pub(crate) name: String,
    /// The path of a local file.
    pub(crate) local: Option<PathBuf>,
    /// The metadata that distinguishes the file from another with the same name.
    pub(crate) meta: ObjectMeta,
}

/// The request for a scan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) projection: Option<&'a Vec<usize>>,
    pub(crate) filters: &'a [Expr],
    pub(crate) limit: Option<usize>,
}

/// One version of a table.
#[async_trait]
pub(crate) trait PinnedTable: fmt::Debug + Send + Sync {
    /// Returns the word that names the format in a statement.
    fn format(&self) -> &'static str;

    /// Returns the local path or the URL of the table, or the path of its catalog with the name of
    /// the table there.
    fn name(&self) -> String;

    /// Returns the name of the table in a manifest.
    fn input(&self) -> String {
        self.name()
    }

    /// Returns the number of the version.
    fn version(&self) -> u64;

    /// Returns the total size of all files.
    fn bytes(&self) -> u64;

    /// Returns a checksum of the rows that are not in a file; `None` if all rows are in files.
    fn tag(&self) -> Option<&str> {
        None
    }

    /// Returns true if the table has a file with this name.
    fn has_file(&self, name: &str) -> bool;

    /// Looks up the state of each file. Fails with `ErrorKind::Data` if a file is gone, or is not
    /// that of this version.
    async fn files(&self) -> Result<Vec<PinnedFile>>;

    /// Returns the rows of the version as a table of the session.
    fn rows(&self, state: &SessionState) -> Result<Arc<dyn TableProvider>>;

    /// Plans a scan of `rows`, which are those of [`Self::rows`].
    async fn scan(
        &self,
        rows: &dyn TableProvider,
        session: &dyn Session,
        asked: Asked<'_>,
    ) -> Result<Arc<dyn ExecutionPlan>>;

    /// Returns true if the table's information about its files alone decides whether a row in them
    /// can pass a filter. The rows have this schema. A filter that is not decided is applied
    /// outside of the scan.
    fn decides(&self, filter: &Expr, schema: &Schema) -> bool {
        let _ = (filter, schema);
        false
    }

    /// Returns true if the plan of a scan finds rows by their places in files, so that its readers
    /// may not be changed.
    fn reads_by_place(&self) -> bool {
        false
    }

    /// Returns true if several threads may share the files of a scan.
    fn is_divided(&self) -> bool {
        false
    }
}

/// One version of a table that releases are committed to.
#[async_trait]
pub(crate) trait LoggedTable: PinnedTable {
    /// Returns where the table is.
    fn place(&self) -> &Place;

    /// Returns the properties of the table.
    fn properties(&self) -> &HashMap<String, String>;

    /// Returns the data files with their sizes, by their paths relative to the table, sorted.
    fn data_files(&self) -> &[(String, u64)];

    /// Returns true if rows of the files are deleted in this version.
    fn deletes_rows(&self) -> bool;

    /// Returns the text of the manifest of the release that a run committed; `None` if the log no
    /// longer has it.
    async fn manifest_in_log(&self, run: &str) -> Result<Option<String>>;

    /// Commits a change as the version after this one.
    async fn commit(&self, change: Change) -> CommitOutcome;
}

/// How tables with a log are found and made.
#[async_trait]
pub(crate) trait LogFormat: fmt::Debug + Send + Sync {
    /// Opens a version of the table at a place with a log. Fails with `ErrorKind::Usage` if there
    /// is no such version.
    async fn at(&self, place: &Place, at: &At) -> Result<Arc<dyn LoggedTable>>;

    /// Commits a change as the first version of the table at a place.
    async fn create(&self, place: &Place, change: Change) -> CommitOutcome;

    /// Returns the statistics of a written file in the form of the log: counts and bounds.
    fn statistics(&self, file: &File) -> Result<String>;
}
