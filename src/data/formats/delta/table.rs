//! Opens one version of a Delta table.

use super::error::{failed, of_transaction};
use crate::base::error::{Error, Result};
use crate::data::formats::at::{At, time};
use crate::data::formats::place::Place;
use datafusion::object_store::prefix::PrefixStore;
use deltalake_core::DeltaTable;
use deltalake_core::kernel::transaction::PROTOCOL;
use deltalake_core::kernel::{EagerSnapshot, Remove};
use deltalake_core::logstore::{LogStoreRef, StorageConfig, default_logstore};
use std::fmt;
use std::sync::Arc;
use url::Url;

/// One version of a Delta table. Later commits do not change it.
#[derive(Clone)]
pub(super) struct DeltaVersion {
    pub(super) place: Place,
    pub(super) snapshot: Arc<EagerSnapshot>,
    /// The data files, sorted by path: each path relative to the table, with the size in bytes.
    pub(super) files: Vec<(String, u64)>,
    /// Whether deletion vectors delete rows of the files in this version.
    pub(super) deletes_rows: bool,
}

impl fmt::Debug for DeltaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@v{}", self.place.url, self.snapshot.version())
    }
}

/// Opens the log of a table, which need not exist yet.
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

impl DeltaVersion {
    /// Opens a version of the table at `place`. Fails with `ErrorKind::Usage` if the version does
    /// not exist, and with `ErrorKind::Data` if the table has features that `deltalake-core` cannot
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

    /// Returns the log entries that remove all data files of this version.
    pub(super) fn removals(&self) -> Vec<Remove> {
        let views = self.snapshot.log_data();
        views.iter().map(|view| view.remove_action(true)).collect()
    }
}

/// Returns the newest version at the given time. Fails with `ErrorKind::Usage` if the table had no
/// version yet.
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
