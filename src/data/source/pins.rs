//! Pins: the state of a source at the start of a run, for comparison with its state at the end.
//!
//! A run reads its source more than once, and also computes the checksums of its files. The results
//! describe the same table only if nothing changed in the meantime: no file was added, removed or
//! replaced, and no row was added to a table in memory.

use super::files::FileTable;
use super::pinned::PinnedRows;
use crate::base::error::{Error, Result};
use crate::base::pool::blocking;
use crate::base::store::Files;
use crate::data::formats::{PinnedFile, PinnedTable, is_log};
use arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::listing::{ListingTable, ListingTableUrl};
use datafusion::datasource::memory::PartitionData;
use datafusion::datasource::{MemTable, source_as_provider};
use datafusion::execution::SessionState;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::logical_expr::{LogicalPlan, TableScan};
use datafusion::object_store::path::Path;
use datafusion::object_store::{self, ObjectMeta, ObjectStore, ObjectStoreExt};
use futures::TryStreamExt;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The prefix of the names of folders in which releases are being written.
const STAGED: &str = ".anonsql-staging-";

/// The files and in-memory tables of a query, in their state at the start of a run.
#[derive(Debug, Clone, Default)]
pub struct Pins {
    folders: Vec<Folder>,
    versions: Vec<Arc<dyn PinnedTable>>,
    files: BTreeMap<String, File>,
    tables: Vec<Table>,
}

/// The URL of a folder or a file, and the way in which its files are listed.
#[derive(Clone)]
struct Folder {
    store: Arc<dyn ObjectStore>,
    url: ListingTableUrl,
    listed: Listed,
}

/// The way in which the files of a folder are listed.
#[derive(Clone)]
enum Listed {
    /// As in DataFusion's table over the folder.
    Table { extension: String, without_folders: bool },
    /// As in the table over a path.
    Path(Box<Files>),
}

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.url.as_str())
    }
}

/// The metadata that distinguishes a file from other files with the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct File {
    meta: ObjectMeta,
    path: Option<PathBuf>,
    /// The time of the last change to a local file or its metadata. Programs cannot set this time
    /// back.
    changed: Option<(i64, i64)>,
}

/// A table in memory, with its batches at the start of the run.
#[derive(Debug, Clone)]
struct Table {
    name: String,
    partitions: Vec<PartitionData>,
    batches: Vec<Vec<RecordBatch>>,
}

impl Pins {
    /// Records the files and in-memory tables that a query reads, including those in views and
    /// subqueries.
    pub async fn of(state: &SessionState, plan: &LogicalPlan) -> Result<Self> {
        // The session's cached listings may be outdated.
        forget_files(state.runtime_env());
        let mut scans = vec![];
        scanned(plan, &mut scans)?;
        let mut pins = Self::default();
        for scan in scans {
            let provider = source_as_provider(&scan.source)?;
            let mut pin = |url: &ListingTableUrl, listed| -> Result<()> {
                let store = state.runtime_env().object_store(url)?;
                let url = url.clone();
                pins.folders.push(Folder { store, url, listed });
                Ok(())
            };
            if let Some(listing) = (provider.as_ref() as &dyn Any).downcast_ref::<ListingTable>() {
                for url in listing.table_paths() {
                    let listed = Listed::Table {
                        extension: listing.options().file_extension.clone(),
                        without_folders: state.config_options().execution.listing_table_ignore_subdirectory,
                    };
                    pin(url, listed)?;
                }
            }
            if let Some(table) = (provider.as_ref() as &dyn Any).downcast_ref::<FileTable>() {
                for files in table.places() {
                    pin(files.url(), Listed::Path(Box::new(files.clone())))?;
                }
            }
            if let Some(rows) = (provider.as_ref() as &dyn Any).downcast_ref::<PinnedRows>() {
                pins.versions.push(Arc::clone(rows.table()));
            }
            if let Some(table) = (provider.as_ref() as &dyn Any).downcast_ref::<MemTable>() {
                pins.tables.push(Table {
                    name: scan.table_name.to_string(),
                    batches: batches(&table.batches).await,
                    partitions: table.batches.clone(),
                });
            }
        }
        // A manifest lists the tables of each format together.
        pins.versions.sort_by_key(|table| table.format());
        pins.files = pins.list().await?;
        Ok(pins)
    }

    /// Returns the number of files that are not empty.
    pub(crate) fn files_read(&self) -> u64 {
        self.files.values().filter(|file| file.meta.size > 0).count() as u64
    }

    /// Returns the paths of all local files, sorted.
    pub fn local_files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = self.files.values().filter_map(|f| f.path.clone()).collect();
        files.sort();
        files
    }

    /// Returns the URLs of all files that are not local, sorted. Each URL comes with the metadata
    /// that distinguishes its file from other files with the same name.
    pub(crate) fn objects(&self) -> impl Iterator<Item = (&str, &ObjectMeta)> {
        let objects = self.files.iter().filter(|(_, file)| file.path.is_none());
        objects.map(|(name, file)| (name.as_str(), &file.meta))
    }

    /// Returns the versions of tables that the query reads. Their files are among
    /// [`Self::local_files`] and [`Self::objects`].
    pub(crate) fn versions(&self) -> impl Iterator<Item = &dyn PinnedTable> {
        self.versions.iter().map(|table| -> &dyn PinnedTable { table.as_ref() })
    }

    /// Returns true if a later run of the same query would read a file at this URL or local path,
    /// or would find the file in a folder that the query lists.
    pub(crate) fn would_read(&self, file: &str) -> bool {
        let Ok(file) = ListingTableUrl::parse(file) else {
            return false;
        };
        let is_in = |folder: &Folder| {
            let is_there = folder.url.object_store() == file.object_store();
            is_there
                && folder
                    .place_of(file.prefix())
                    .is_some_and(|place| folder.is_read(&place))
        };
        self.folders.iter().any(is_in)
    }

    /// Fails with `ErrorKind::Data` if a file or a table has changed since the start of the run.
    pub async fn check(&self) -> Result<()> {
        let now = self.list().await?;
        let differs = |name: &&String| now.get(*name) != self.files.get(*name);
        if let Some(name) = self.files.keys().chain(now.keys()).find(differs) {
            let how = match (self.files.contains_key(name), now.contains_key(name)) {
                (true, true) => "was replaced",
                (true, false) => "was removed",
                (false, _) => "was added",
            };
            return Err(changed(&format!("{name} {how}")));
        }
        for table in &self.tables {
            if !is_same(&table.batches, &batches(&table.partitions).await) {
                return Err(changed(&format!("the rows of table {} have changed", table.name)));
            }
        }
        Ok(())
    }

    /// Returns the current files by their names.
    async fn list(&self) -> Result<BTreeMap<String, File>> {
        let mut listed = vec![];
        for folder in &self.folders {
            let is_local = folder.url.scheme() == "file";
            for meta in folder.list().await? {
                let path = is_local.then(|| PathBuf::from(format!("/{}", meta.location)));
                let name = match &path {
                    Some(path) => path.display().to_string(),
                    None => format!("{}{}", folder.url.object_store(), meta.location),
                };
                listed.push(PinnedFile {
                    name,
                    local: path,
                    meta,
                });
            }
        }
        for version in &self.versions {
            listed.extend(version.files().await?);
        }
        let look = move || {
            let files = listed.into_iter().map(
                |PinnedFile {
                     name,
                     local: path,
                     meta,
                 }| {
                    let changed = path.as_deref().and_then(last_changed);
                    (name, File { meta, path, changed })
                },
            );
            Ok(files.collect())
        };
        blocking("looking at the files of the source", look).await
    }
}

impl Folder {
    /// Lists the files as the table does, but without a cache.
    async fn list(&self) -> Result<Vec<ObjectMeta>> {
        if let Listed::Path(files) = &self.listed {
            return files.list(self.store.as_ref(), is_log).await;
        }
        let prefix = self.url.prefix();
        let unreadable = |e| Error::from(datafusion::error::DataFusionError::ObjectStore(Box::new(e)));
        let found = match self.url.is_collection() {
            true => None,
            false => match self.store.head(prefix).await {
                Ok(meta) => Some(vec![meta]),
                Err(object_store::Error::NotFound { .. }) => None,
                Err(e) => return Err(unreadable(e)),
            },
        };
        let found = match found {
            Some(found) => found,
            None => self.store.list(Some(prefix)).try_collect().await.map_err(unreadable)?,
        };
        Ok(found.into_iter().filter(|meta| self.is_read(&meta.location)).collect())
    }

    /// Returns the path by which this folder contains `file`; `None` if `file` is not inside the
    /// folder. The two paths may differ, because the path of a local folder may contain symbolic
    /// links.
    fn place_of(&self, file: &Path) -> Option<Path> {
        let prefix = self.url.prefix();
        let of_link = || {
            let folder = PathBuf::from(format!("/{prefix}")).canonicalize().ok()?;
            let file = PathBuf::from(format!("/{file}"));
            let inside = file.strip_prefix(folder).ok()?.to_str()?.to_string();
            Path::parse(format!("{prefix}/{inside}")).ok()
        };
        let place = match self.url.scheme() {
            "file" => of_link().unwrap_or_else(|| file.clone()),
            _ => file.clone(),
        };
        (place.prefix_matches(prefix) && place != *prefix).then_some(place)
    }

    /// Returns true if the table would read a file at this location.
    fn is_read(&self, location: &Path) -> bool {
        match &self.listed {
            Listed::Path(files) => files.would_see(location),
            Listed::Table {
                extension,
                without_folders,
            } => {
                location.as_ref().ends_with(extension)
                    && self.url.contains(location, *without_folders)
                    && !location.parts().any(|part| part.as_ref().starts_with(STAGED))
            }
        }
    }
}

/// Collects the scans of all tables that a query reads, including those in views.
fn scanned(plan: &LogicalPlan, scans: &mut Vec<TableScan>) -> datafusion::error::Result<()> {
    plan.apply_with_subqueries(|plan| {
        if let LogicalPlan::TableScan(scan) = plan {
            match scan.source.get_logical_plan() {
                Some(view) => scanned(&view, scans)?,
                None => scans.push(scan.clone()),
            }
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

/// Clears the file caches of a session, so that it lists and opens files again.
pub(crate) fn forget_files(environment: &RuntimeEnv) {
    let caches = &environment.cache_manager;
    caches.get_list_files_cache().iter().for_each(|cache| cache.clear());
    caches.get_file_statistic_cache().iter().for_each(|cache| cache.clear());
    caches.get_file_metadata_cache().clear();
}

async fn batches(partitions: &[PartitionData]) -> Vec<Vec<RecordBatch>> {
    let mut all = vec![];
    for partition in partitions {
        all.push(partition.read().await.clone());
    }
    all
}

/// Returns true if both sides share the same arrays in memory. Distinct arrays with equal values do
/// not count as the same.
fn is_same(before: &[Vec<RecordBatch>], now: &[Vec<RecordBatch>]) -> bool {
    let same = |(a, b): (&RecordBatch, &RecordBatch)| {
        let columns = || a.columns().iter().zip(b.columns());
        a.num_rows() == b.num_rows() && a.num_columns() == b.num_columns() && columns().all(|(a, b)| Arc::ptr_eq(a, b))
    };
    let partitions = before.iter().zip(now);
    before.len() == now.len()
        && partitions
            .into_iter()
            .all(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(same))
}

#[cfg(unix)]
fn last_changed(path: &std::path::Path) -> Option<(i64, i64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.ctime(), metadata.ctime_nsec()))
}

#[cfg(not(unix))]
fn last_changed(_: &std::path::Path) -> Option<(i64, i64)> {
    None
}

fn changed(what: &str) -> Error {
    Error::data(format!(
        "the source changed during the run: {what}; nothing was released. Run it again when no program writes to the \
        source"
    ))
}
