//! Opens one snapshot of a DuckLake table.

use super::address::Address;
use super::catalog::Catalog;
use super::error::failed;
use super::files::{files, inside};
use crate::base::error::{Error, Result};
use crate::base::pool::blocking;
use crate::base::store::Stores;
use crate::data::formats::at::At;
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::execution::SessionState;
use datafusion::object_store::ObjectStore;
use datafusion_ducklake::DuckLakeTable;
use datafusion_ducklake::path_resolver::parse_object_store_url;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use url::Url;

/// One snapshot of a DuckLake table. Later commits do not change it.
#[derive(Clone)]
pub(super) struct TableSnapshot {
    pub(super) address: Address,
    catalog: Catalog,
    pub(super) snapshot: i64,
    table: i64,
    /// The path of the table's files in the store.
    folder: String,
    url: ObjectStoreUrl,
    pub(super) store: Arc<dyn ObjectStore>,
    /// The sizes of the files in bytes, by their paths in the store.
    pub(super) files: BTreeMap<String, u64>,
    /// The checksum of inlined and deleted rows; see [`Catalog::check_inlined`].
    pub(super) inlined: Option<String>,
    pub(super) rows: Arc<DuckLakeTable>,
}

impl fmt::Debug for TableSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@v{}", self.address, self.snapshot)
    }
}

/// The description of a table, as read from its catalog.
struct Opened {
    snapshot: i64,
    table: i64,
    folder: String,
    url: ObjectStoreUrl,
    files: BTreeMap<String, u64>,
    inlined: Option<String>,
    rows: DuckLakeTable,
}

impl TableSnapshot {
    /// Opens a snapshot of a table. Fails with `ErrorKind::Usage` if the table or the snapshot does
    /// not exist. Fails with `ErrorKind::Data` if `datafusion-ducklake` would not read the rows
    /// correctly: the files are encrypted or outside the lake, the version of the format is not
    /// supported, or inlined rows were written before a change of the columns.
    pub(super) async fn open(state: &SessionState, address: Address, at: &At) -> Result<Self> {
        let catalog = Catalog::open(&address).await?;
        let (own, named, at) = (catalog.clone(), address.clone(), at.clone());
        let opened = blocking("reading a catalog", move || opened(&own, &named, &at)).await?;
        let store = Url::parse(opened.url.as_str());
        let store = store.map_err(|_| Error::data(format!("{}: its data path is not a URL", catalog.doing)))?;
        let store = Stores::open(state, &store)?;
        Ok(Self {
            address,
            catalog,
            snapshot: opened.snapshot,
            table: opened.table,
            folder: opened.folder,
            url: opened.url,
            store,
            files: opened.files,
            inlined: opened.inlined,
            rows: Arc::new(opened.rows),
        })
    }

    pub(super) fn is_local(&self) -> bool {
        is_local(&self.url)
    }

    /// Returns the path of a local file, or the URL of an object in a store.
    pub(super) fn called(&self, path: &str) -> String {
        match self.is_local() {
            true => path.to_string(),
            false => format!("{}{}", self.url.as_str(), path.trim_start_matches('/')),
        }
    }

    /// Fails with `ErrorKind::Data` if the snapshot has expired, or if its rows are now in other
    /// files.
    pub(super) fn check_unchanged(&self) -> Result<()> {
        let now = files(
            &self.catalog,
            (self.table, &self.folder),
            self.snapshot,
            self.is_local(),
        )?;
        match now == self.files && self.catalog.has_snapshot(self.snapshot)? {
            true => Ok(()),
            false => Err(Error::data(format!(
                "{}: snapshot {} was expired or compacted in the meantime; run the statement again",
                self.catalog.doing, self.snapshot
            ))),
        }
    }
}

fn is_local(url: &ObjectStoreUrl) -> bool {
    url.as_str().starts_with("file:")
}

/// Reads the description of a table from its catalog.
fn opened(catalog: &Catalog, address: &Address, at: &At) -> Result<Opened> {
    catalog.check_format()?;
    let failed = |e| failed(&catalog.doing, &e);
    let snapshot = catalog.snapshot(at)?;
    let (schema, table) = catalog.find(address, snapshot)?;
    let path = catalog.provider.get_data_path().map_err(failed)?;
    if let Some(refused) = Url::parse(&path).ok().and_then(|url| Error::of_credentials(&url)) {
        return Err(refused.context(format_args!("{}: its data path", catalog.doing)));
    }
    let (url, root) = parse_object_store_url(&path).map_err(failed)?;
    let is_local = is_local(&url);
    let folder = inside(catalog, &root, (&schema.path, schema.path_is_relative), is_local)?;
    let folder = inside(catalog, &folder, (&table.path, table.path_is_relative), is_local)?;
    let files = files(catalog, (table.table_id, &folder), snapshot, is_local)?;
    let inlined = catalog.check_inlined(table.table_id, snapshot)?;
    let rows = DuckLakeTable::new(
        table.table_id,
        table.table_name,
        Arc::clone(&catalog.provider),
        snapshot,
        Arc::new(url.clone()),
        folder.clone(),
    );
    Ok(Opened {
        snapshot,
        table: table.table_id,
        folder,
        url,
        files,
        inlined,
        rows: rows.map_err(failed)?,
    })
}
