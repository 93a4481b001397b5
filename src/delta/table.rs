//! One version of a table: its files, its properties and its rows.

use super::at::{At, time};
use super::change::{MANIFEST_TEXT, RELEASE};
use super::entry::commit_info;
use super::error::{failed, of_transaction};
use super::place::Place;
use crate::error::{Error, Result};
use datafusion::catalog::TableProvider;
use datafusion::execution::SessionState;
use datafusion::object_store::{self, ObjectMeta, ObjectStoreExt};
use deltalake_core::DeltaTable;
use deltalake_core::delta_datafusion::{DeltaScanConfig, DeltaScanNext};
use deltalake_core::kernel::transaction::PROTOCOL;
use deltalake_core::kernel::{EagerSnapshot, Remove};
use deltalake_core::logstore::{LogStoreRef, StorageConfig, default_logstore};
use futures::{StreamExt, TryStreamExt, stream};
use object_store::prefix::PrefixStore;
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use url::Url;

/// The files whose state is looked up at once.
const AT_ONCE: usize = 16;

/// This build reads and writes Delta tables.
pub(crate) fn check_built(_: &str) -> Result<()> {
    Ok(())
}

/// One version of a Delta table. A later commit changes nothing in it.
#[derive(Clone)]
pub(crate) struct Table {
    place: Place,
    pub(super) snapshot: Arc<EagerSnapshot>,
    /// The data files with their sizes, by their paths relative to the table.
    files: Vec<(String, u64)>,
    deletes_rows: bool,
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@v{}", self.place.url, self.version())
    }
}

/// Opens the log of a table, or of one that is to be.
pub(super) fn log(place: &Place) -> Result<LogStoreRef> {
    let url = Url::parse(&place.url).map_err(|_| Error::usage(format!("{} is no URL", place.url)))?;
    let inside = PrefixStore::new(Arc::clone(&place.store), place.path.clone());
    Ok(default_logstore(
        Arc::new(inside),
        Arc::clone(&place.store),
        &url,
        &StorageConfig::default(),
    ))
}

impl Table {
    /// Opens a version of the table at a place; `None` if there is no table. Fails with `ErrorKind::Usage` if there is no
    /// such version, and with `ErrorKind::Data` if the table has features that the crate does not read.
    pub(crate) async fn find(place: &Place, at: &At) -> Result<Option<Self>> {
        if !place.has_log().await? {
            return Ok(None);
        }
        let doing = format!("cannot read the Delta table {}", place.url);
        let log = log(place)?;
        let newest = EagerSnapshot::try_new(&log, None).await;
        let newest = newest.map_err(|e| failed(&doing, &e))?;
        let version = match at {
            At::Newest => newest.version(),
            At::Version(number) => *number,
            At::Timestamp(text) => at_time(&log, text, &doing).await?,
        };
        if version > newest.version() {
            return Err(Error::usage(format!(
                "{doing}: it has no version {version}, and the newest is {}",
                newest.version()
            )));
        }
        let snapshot = match version == newest.version() {
            true => newest,
            false => EagerSnapshot::try_new(&log, Some(version)).await.map_err(|_| {
                Error::usage(format!(
                    "{doing}: version {version} cannot be read any more; its entry in the log was cleaned up or is damaged"
                ))
            })?,
        };
        let readable = PROTOCOL.can_read_from_protocol(snapshot.protocol());
        readable.map_err(|e| of_transaction(&doing, &e))?;
        let views = snapshot.try_log_data().map_err(|e| failed(&doing, &e))?;
        let (mut files, mut deletes_rows) = (vec![], false);
        for view in views.iter() {
            files.push((view.path().into_owned(), view.size().unsigned_abs()));
            deletes_rows |= view.deletion_vector_descriptor().is_some();
        }
        files.sort();
        Ok(Some(Self {
            place: place.clone(),
            snapshot: Arc::new(snapshot),
            files,
            deletes_rows,
        }))
    }

    /// Returns where the table is.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Returns the number of the version.
    pub(crate) fn version(&self) -> u64 {
        self.snapshot.version()
    }

    /// Returns the properties of the table.
    pub(crate) fn properties(&self) -> &HashMap<String, String> {
        self.snapshot.metadata().configuration()
    }

    /// Returns the partition columns.
    pub(crate) fn partition_columns(&self) -> &[String] {
        self.snapshot.metadata().partition_columns()
    }

    /// Returns the data files with their sizes, by their paths relative to the table, sorted.
    pub(crate) fn data_files(&self) -> &[(String, u64)] {
        &self.files
    }

    /// Returns true if rows of the files are deleted in this version.
    pub(crate) fn deletes_rows(&self) -> bool {
        self.deletes_rows
    }

    /// Looks up the state of each data file: its URL or path, and what tells it from another of its name. Fails with
    /// `ErrorKind::Data` if one is gone or of another size than the log says.
    pub(crate) async fn listed(&self) -> Result<Vec<(String, Option<PathBuf>, ObjectMeta)>> {
        let look = |(name, bytes): (String, u64)| async move {
            let path = self.place.file(&name)?;
            let told = || format!("version {} of the Delta table {}", self.version(), self.place.url);
            let meta = match self.place.store.head(&path).await {
                Err(object_store::Error::NotFound { .. }) => {
                    return Err(Error::data(format!(
                        "{} names the file {name:?}, which is gone: the table was vacuumed in the meantime, or is not whole; \
                         read a newer version",
                        told()
                    )));
                }
                found => found.map_err(|e| Error::of_store(format_args!("cannot read {}", self.place.url), &e))?,
            };
            if meta.size != bytes {
                return Err(Error::data(format!(
                    "{} says of the file {name:?} that it has {bytes} bytes, and it has {}; it was replaced or damaged",
                    told(),
                    meta.size
                )));
            }
            let local = self.place.local().map(|_| PathBuf::from(format!("/{path}")));
            let called = match &local {
                Some(local) => local.display().to_string(),
                None => format!("{}{name}", self.place.url),
            };
            Ok((called, local, meta))
        };
        let files = self.files.clone();
        stream::iter(files).map(look).buffered(AT_ONCE).try_collect().await
    }

    /// Returns the rows of the version as a table of the session.
    pub(crate) fn rows(&self, state: &SessionState) -> Result<Arc<dyn TableProvider>> {
        let config = DeltaScanConfig::new_from_session(state).with_wrap_partition_values(false);
        let scan = DeltaScanNext::new(Arc::clone(&self.snapshot), config)?;
        Ok(Arc::new(scan))
    }

    /// Returns the text of the manifest of the release that a run committed, from the entry of its commit; `None` if the log
    /// does not have it any more.
    pub(crate) async fn manifest_in_log(&self, run: &str) -> Result<Option<String>> {
        let log = log(&self.place)?;
        for version in (0..=self.version()).rev() {
            let entry = log.read_commit_entry(version).await;
            let entry = entry.map_err(|e| failed(format!("cannot read the log of {}", self.place.url), &e))?;
            let Some(told) = entry.as_deref().and_then(commit_info) else {
                // What was cleaned up is older than the rest.
                break;
            };
            if told.get(RELEASE).and_then(Value::as_str) == Some(run) {
                return Ok(told.get(MANIFEST_TEXT).and_then(Value::as_str).map(String::from));
            }
        }
        Ok(None)
    }

    /// Returns the entries of the log that remove all data files.
    pub(super) fn removals(&self) -> Vec<Remove> {
        let views = self.snapshot.log_data();
        views.iter().map(|view| view.remove_action(true)).collect()
    }
}

/// Returns the version that was the newest at a time. Fails with `ErrorKind::Usage` if there was none yet.
async fn at_time(log: &LogStoreRef, text: &str, doing: &str) -> Result<u64> {
    let time = time(text)?;
    let mut table = DeltaTable::new(Arc::clone(log));
    let loaded = table.load_with_datetime(time).await;
    loaded.map_err(|e| failed(doing, &e))?;
    let state = table.snapshot().map_err(|e| failed(doing, &e))?;
    let version = state.version();
    // The crate takes the oldest version for a time before it.
    let is_younger = |since: i64| since > time.timestamp_millis();
    if state.version_timestamp(version).is_some_and(is_younger) {
        return Err(Error::usage(format!(
            "{doing}: at {text:?} it did not exist, or the entries of its log from then were cleaned up"
        )));
    }
    Ok(version)
}
