//! Opening one version of a table.

use super::error::{failed, of_transaction};
use crate::error::{Error, Result};
use crate::formats::at::{At, time};
use crate::formats::place::Place;
use datafusion::object_store::prefix::PrefixStore;
use deltalake_core::DeltaTable;
use deltalake_core::kernel::transaction::PROTOCOL;
use deltalake_core::kernel::{EagerSnapshot, Remove};
use deltalake_core::logstore::{LogStoreRef, StorageConfig, default_logstore};
use std::fmt;
use std::sync::Arc;
use url::Url;

/// One version of a Delta table. A later commit changes nothing in it.
#[derive(Clone)]
pub(super) struct Table {
    pub(super) place: Place,
    pub(super) snapshot: Arc<EagerSnapshot>,
    /// The data files with their sizes, by their paths relative to the table, sorted.
    pub(super) files: Vec<(String, u64)>,
    /// True if rows of the files are deleted in this version.
    pub(super) deletes_rows: bool,
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@v{}", self.place.url, self.snapshot.version())
    }
}

/// Opens the log of a table, or of a table that is to be created.
pub(super) fn log(place: &Place) -> Result<LogStoreRef> {
    let url = Url::parse(&place.url).map_err(|_| Error::usage(format!("{} is not a URL", place.url)))?;
    let inside = PrefixStore::new(Arc::clone(&place.store), place.path.clone());
    Ok(default_logstore(
        Arc::new(inside),
        Arc::clone(&place.store),
        &url,
        &StorageConfig::default(),
    ))
}

impl Table {
    /// Opens a version of the table at a place. Fails with `ErrorKind::Usage` if there is no such
    /// version, and with `ErrorKind::Data` if the table has features that `deltalake-core` does not
    /// read.
    pub(super) async fn at(place: &Place, at: &At) -> Result<Self> {
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
        Ok(Self {
            place: place.clone(),
            snapshot: Arc::new(snapshot),
            files,
            deletes_rows,
        })
    }

    /// Returns the entries of the log that remove all data files.
    pub(super) fn removals(&self) -> Vec<Remove> {
        let views = self.snapshot.log_data();
        views.iter().map(|view| view.remove_action(true)).collect()
    }
}

/// Returns the version that was the newest at the given time. Fails with `ErrorKind::Usage` if
/// there was none yet.
async fn at_time(log: &LogStoreRef, text: &str, doing: &str) -> Result<u64> {
    let time = time(text)?;
    let mut table = DeltaTable::new(Arc::clone(log));
    let loaded = table.load_with_datetime(time).await;
    loaded.map_err(|e| failed(doing, &e))?;
    let state = table.snapshot().map_err(|e| failed(doing, &e))?;
    let version = state.version();
    // For a time before the oldest version, `deltalake-core` returns the oldest version.
    let is_younger = |since: i64| since > time.timestamp_millis();
    if state.version_timestamp(version).is_some_and(is_younger) {
        return Err(Error::usage(format!(
            "{doing}: at {text:?} it did not exist, or the entries of its log from then were cleaned up"
        )));
    }
    Ok(version)
}
