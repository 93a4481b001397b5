//! Files that the workers of a cluster write into the folder of a run.
//!
//! The name of a file contains a part of its checksum. If a file is written again because the first
//! copy was considered lost, both copies have the same bytes and the same name. Files that the
//! driver did not accept are deleted before the run commits.

use super::names::Layout;
use super::outbox::summed;
use super::prefix::Prefix;
use super::run::PrefixRun;
use super::upload::{StagedFile, upload};
use crate::base::error::Result;
use crate::base::store::listing_url;
use crate::data::folder::FileSummary;
use crate::data::formats::Place;
use bytes::Bytes;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::object_store::path::Path;
use datafusion::object_store::{self, ObjectMeta, ObjectStore, ObjectStoreExt};
use futures::future::BoxFuture;
use futures::{FutureExt, TryFutureExt};
use parquet::arrow::async_reader::MetadataFetch;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaDataReader;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::File;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::watch;

/// The folder of a run, in a form that can be sent to workers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Landing {
    /// The URL of the prefix, which ends in a slash.
    url: String,
    run: String,
}

impl Landing {
    /// Returns the name of a file, relative to the prefix. `partition` is empty or ends in a slash.
    pub(crate) fn name(&self, (partition, number): (&str, usize), sha256: &str) -> String {
        Layout::Runs.file(&self.run, partition, number, sha256, "parquet")
    }

    /// Opens the store of the URL and uploads a file to it. Returns the summary of the file, with
    /// its name relative to the prefix.
    pub(crate) async fn send(
        &self,
        environment: &RuntimeEnv,
        file: File,
        place: (&str, usize),
        rows: u64,
    ) -> Result<FileSummary> {
        let at = listing_url(&self.url)?;
        let prefix = Prefix::at(Place {
            store: environment.object_store(&at)?,
            path: at.prefix().clone(),
            url: self.url.clone(),
        });
        let (file, mut summary) = summed(file, rows).await?;
        summary.name = self.name(place, &summary.sha256);
        let path = prefix.file(&summary.name)?;
        if let Some(there) = found(&prefix, &path).await?.filter(|there| there.size == summary.bytes) {
            return Ok(tagged(summary, there.e_tag, there.version));
        }
        let what = format!("cannot write {}{}", self.url, summary.name);
        // The upload is cancelled only if its task is dropped.
        let (_goes_on, mut stop) = watch::channel(());
        let staged = StagedFile {
            file,
            bytes: summary.bytes,
        };
        let put = upload(prefix.store(), &path, staged, &mut stop, &what).await?;
        Ok(tagged(summary, put.e_tag, put.version))
    }
}

/// An object in a store, as a source for its Parquet footer.
struct Object<'a>(&'a Arc<dyn ObjectStore>, &'a Path);

impl MetadataFetch for Object<'_> {
    fn fetch(&mut self, range: Range<u64>) -> BoxFuture<'_, parquet::errors::Result<Bytes>> {
        let read = self.0.get_range(self.1, range);
        read.map_err(|e| ParquetError::External(Box::new(e))).boxed()
    }
}

fn tagged(summary: FileSummary, e_tag: Option<String>, version: Option<String>) -> FileSummary {
    FileSummary {
        e_tag,
        version,
        ..summary
    }
}

async fn found(prefix: &Prefix, path: &Path) -> Result<Option<ObjectMeta>> {
    match prefix.store().head(path).await {
        Ok(meta) => Ok(Some(meta)),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(e) => Err(prefix.failed("cannot read", &e)),
    }
}

impl PrefixRun {
    /// Returns the folder of the run, so that workers can write into it. Returns `None` if the run
    /// has no folder of its own, or if its prefix is a local folder, which other machines cannot
    /// access.
    pub(crate) fn landing(&self) -> Option<Landing> {
        let shared = &self.shared;
        if shared.layout != Layout::Runs || shared.prefix.is_local() {
            return None;
        }
        shared.is_lent.store(true, Ordering::Relaxed);
        Some(Landing {
            url: shared.prefix.url().to_string(),
            run: shared.run.clone(),
        })
    }

    /// Returns true if a file in the store matches the report of the worker that wrote it,
    /// including the number of rows.
    pub(crate) async fn has_landed(&self, file: &FileSummary) -> Result<bool> {
        let prefix = &self.shared.prefix;
        let path = prefix.file(&file.name)?;
        let there = found(prefix, &path).await?;
        if there.is_none_or(|there| there.size != file.bytes || there.e_tag != file.e_tag) {
            return Ok(false);
        }
        let object = Object(prefix.store(), &path);
        let Ok(metadata) = ParquetMetaDataReader::new().load_and_finish(object, file.bytes).await else {
            return Ok(false);
        };
        let rows = u64::try_from(metadata.file_metadata().num_rows()).ok();
        Ok(rows.is_some() && rows == file.rows)
    }

    /// Deletes the files that workers wrote, except those named in `accepted`.
    pub(crate) async fn keep_landed(&self, accepted: &[&str]) -> Result<()> {
        let prefix = &self.shared.prefix;
        let accepted: BTreeSet<Path> = accepted.iter().map(|name| prefix.file(name)).collect::<Result<_>>()?;
        self.shared.written.lock().extend(accepted.iter().cloned());
        for path in self.shared.landed().await? {
            if !accepted.contains(&path) {
                let deleted = prefix.store().delete(&path).await;
                deleted.map_err(|e| prefix.failed("cannot delete from", &e))?;
            }
        }
        Ok(())
    }
}
