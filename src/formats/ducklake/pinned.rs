//! What statements do with a snapshot of a DuckLake table.

use super::error::failed_scan;
use super::line::ENTRY;
use super::table::Table;
use crate::error::{Error, Result};
use crate::formats::pinned::{Asked, PinnedFile, PinnedTable};
use crate::pool::blocking;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::execution::SessionState;
use datafusion::object_store::path::Path;
use datafusion::object_store::{self, ObjectStoreExt};
use datafusion::physical_plan::ExecutionPlan;
use futures::{StreamExt, TryStreamExt, stream};
use std::path::PathBuf;
use std::sync::Arc;

/// The files whose state is looked up at once.
const AT_ONCE: usize = 16;

#[async_trait]
impl PinnedTable for Table {
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

    /// Fails also if the snapshot is gone, or has other files by now.
    async fn files(&self) -> Result<Vec<PinnedFile>> {
        let own = self.clone();
        blocking("reading a catalog", move || own.check_unchanged()).await?;
        let told = || format!("snapshot {} of the DuckLake table {}", self.snapshot, self.address);
        let look = |(path, bytes): (String, u64)| async move {
            let name = self.called(&path);
            let meta = match self.store.head(&Path::from(path.as_str())).await {
                Err(object_store::Error::NotFound { .. }) => {
                    return Err(Error::data(format!(
                        "{} names the file {name:?}, which is gone: its snapshot was expired in the meantime, or the lake \
                         is not whole; read a newer snapshot",
                        told()
                    )));
                }
                found => found.map_err(|e| Error::of_store(format_args!("cannot read {name}"), &e))?,
            };
            if meta.size != bytes {
                return Err(Error::data(format!(
                    "{} says of the file {name:?} that it has {bytes} bytes, and it has {}; it was replaced or damaged",
                    told(),
                    meta.size
                )));
            }
            let local = self.is_local().then(|| PathBuf::from(&path));
            Ok(PinnedFile { name, local, meta })
        };
        let files = self.files.clone();
        stream::iter(files).map(look).buffered(AT_ONCE).try_collect().await
    }

    fn rows(&self, _: &SessionState) -> Result<Arc<dyn TableProvider>> {
        Ok(Arc::clone(&self.rows) as _)
    }

    /// Filters stay outside: with them, the crate leaves files out by bounds that the catalog says.
    async fn scan(
        &self,
        rows: &dyn TableProvider,
        session: &dyn Session,
        asked: Asked<'_>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = rows.scan(session, asked.projection, &[], None).await;
        plan.map_err(|e| failed_scan(&format!("cannot read {self:?}"), e))
    }
}
