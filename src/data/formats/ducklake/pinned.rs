//! Implements the operations of statements for a snapshot of a DuckLake table.

use super::error::failed_scan;
use super::line::ENTRY;
use super::table::TableSnapshot;
use crate::base::error::Result;
use crate::base::pool::blocking;
use crate::data::formats::heads::{NamedFile, looked_up};
use crate::data::formats::pinned::{PinnedFile, PinnedTable, ScanParameters};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::execution::SessionState;
use datafusion::object_store::path::Path;
use datafusion::physical_plan::ExecutionPlan;
use std::path::PathBuf;
use std::sync::Arc;

#[async_trait]
impl PinnedTable for TableSnapshot {
    fn format(&self) -> &'static str {
        ENTRY.word
    }

    fn name(&self) -> String {
        self.address.to_string()
    }

    fn version(&self) -> u64 {
        self.snapshot.unsigned_abs()
    }

    fn bytes(&self) -> u64 {
        self.files.values().sum()
    }

    fn tag(&self) -> Option<&str> {
        self.inlined.as_deref()
    }

    fn has_file(&self, name: &str) -> bool {
        self.files.keys().any(|path| self.called(path) == name)
    }

    /// Also fails with `ErrorKind::Data` if the snapshot has expired, or now consists of other
    /// files.
    async fn files(&self) -> Result<Vec<PinnedFile>> {
        let own = self.clone();
        blocking("reading a catalog", move || own.check_unchanged()).await?;
        let named = |(path, bytes): (&String, &u64)| NamedFile {
            called: self.called(path),
            name: self.called(path),
            path: Path::from(path.as_str()),
            local: self.is_local().then(|| PathBuf::from(path)),
            bytes: *bytes,
        };
        let files = self.files.iter().map(named).collect();
        let version = format!("snapshot {} of the DuckLake table {}", self.snapshot, self.address);
        let gone = "its snapshot was expired in the meantime, or the lake is not whole; read a newer snapshot";
        looked_up(&self.store, files, &version, gone).await
    }

    fn rows(&self, _: &SessionState) -> Result<Arc<dyn TableProvider>> {
        Ok(Arc::clone(&self.rows) as _)
    }

    /// Filters are not passed to `datafusion-ducklake`, which would use them to skip files by the
    /// bounds in the catalog.
    async fn scan(
        &self,
        rows: &dyn TableProvider,
        session: &dyn Session,
        asked: ScanParameters<'_>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = rows.scan(session, asked.projection, &[], None).await;
        plan.map_err(|e| failed_scan(&format!("cannot read {self:?}"), e))
    }
}
