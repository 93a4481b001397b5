//! The traits of table formats. A version of a table does not change with later commits.

use super::at::At;
use super::change::{Change, CommitOutcome};
use super::place::Place;
use crate::base::error::Result;
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
    /// The local path of the file; `None` in an object store.
    pub(crate) local: Option<PathBuf>,
    /// The metadata that distinguishes the file from other files with the same name.
    pub(crate) meta: ObjectMeta,
}

/// The parameters of a scan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScanParameters<'a> {
    pub(crate) projection: Option<&'a Vec<usize>>,
    pub(crate) filters: &'a [Expr],
    pub(crate) limit: Option<usize>,
}

/// One version of a table.
#[async_trait]
pub(crate) trait PinnedTable: fmt::Debug + Send + Sync {
    /// Returns the keyword that names the format in a statement.
    fn format(&self) -> &'static str;

    /// Returns the local path or the URL of the table. For a table in a catalog, returns the path
    /// of the catalog with the table's name.
    fn name(&self) -> String;

    /// Returns the name of the table in a manifest.
    fn input(&self) -> String {
        self.name()
    }

    /// Returns the number of the version.
    fn version(&self) -> u64;

    /// Returns the total size of all files in bytes.
    fn bytes(&self) -> u64;

    /// Returns a checksum of the rows that are not in a file; `None` if all rows are in files.
    fn tag(&self) -> Option<&str> {
        None
    }

    /// Returns true if the table has a file with this name.
    fn has_file(&self, name: &str) -> bool;

    /// Returns the current metadata of each file. Fails with `ErrorKind::Data` if a file does not
    /// exist, or is not the file of this version.
    async fn files(&self) -> Result<Vec<PinnedFile>>;

    /// Returns the rows of the version as a table for the session.
    fn rows(&self, state: &SessionState) -> Result<Arc<dyn TableProvider>>;

    /// Plans a scan of `rows`, the result of [`Self::rows`].
    async fn scan(
        &self,
        rows: &dyn TableProvider,
        session: &dyn Session,
        asked: ScanParameters<'_>,
    ) -> Result<Arc<dyn ExecutionPlan>>;

    /// Returns true if a scan may use the filter to exclude files, because the table's metadata
    /// contain the exact values or bounds that the filter needs. `schema` is the schema of the
    /// rows. Every filter is also applied to the rows outside of the scan.
    fn decides(&self, filter: &Expr, schema: &Schema) -> bool {
        let _ = (filter, schema);
        false
    }

    /// Returns true if the plan of a scan identifies rows by their positions in files, so that its
    /// readers must not be replaced.
    fn reads_by_place(&self) -> bool {
        false
    }

    /// Returns true if the files of a scan may be divided among several threads.
    fn is_divided(&self) -> bool {
        false
    }
}

/// One version of a table to which releases can be committed.
#[async_trait]
pub(crate) trait LoggedTable: PinnedTable {
    /// Returns the location of the table.
    fn place(&self) -> &Place;

    /// Returns the properties of the table.
    fn properties(&self) -> &HashMap<String, String>;

    /// Returns the path and the size in bytes of each data file, sorted by path. Paths are relative
    /// to the table.
    fn data_files(&self) -> &[(String, u64)];

    /// Returns true if deletion vectors delete rows of the files in this version.
    fn deletes_rows(&self) -> bool;

    /// Returns the text of the manifest that a run committed; `None` if the log no longer contains
    /// it.
    async fn manifest_in_log(&self, run: &str) -> Result<Option<String>>;

    /// Commits a change as the version after this version.
    async fn commit(&self, change: Change) -> CommitOutcome;
}

/// Opens and creates tables with a log.
#[async_trait]
pub(crate) trait LogFormat: fmt::Debug + Send + Sync {
    /// Opens a version of the table at `place`, which must have a log. Fails with
    /// `ErrorKind::Usage` if the version does not exist.
    async fn at(&self, place: &Place, at: &At) -> Result<Arc<dyn LoggedTable>>;

    /// Commits a change as the first version of a new table at `place`.
    async fn create(&self, place: &Place, change: Change) -> CommitOutcome;

    /// Returns the statistics of a written file in the format of the log: counts and bounds.
    fn statistics(&self, file: &File) -> Result<String>;
}
