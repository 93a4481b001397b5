//! Keeps rows that are held back (APPEND) in a folder that the statement names, so that the next
//! batch includes them.
//!
//! The held-back rows have all columns of the source. So the folder is beside the source, and never
//! in the release or in a folder that the source reads. For each state of the release, the folder
//! has a separate file, named after the checksum of the release's manifest:
//!
//! - A run reads the file of the existing release, and adds the rows in the file to those of the
//!   source.
//! - Before a run commits, it stores the file of the new release. The file has no effect before the
//!   commit. A run that is killed, or loses to another run, leaves a file that belongs to no
//!   release.
//! - If no row can be added, the release is unchanged, and so is the name of the file. The file is
//!   replaced in a single operation.
//! - After the commit, the files that were there before are deleted. A run that stored one of these
//!   files began before the commit, and can no longer commit.

use crate::base::error::{Error, Result};
use crate::base::location::expanded;
use crate::base::pool::blocking;
use crate::base::store::read_small;
use crate::data::folder::{Manifest, check_folder, create_private, sha256};
use crate::data::formats::Place;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use datafusion::execution::SessionState;
use datafusion::object_store::ObjectStoreExt;
use datafusion::object_store::path::Path;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// The start of the name of a file.
const START: &str = "waiting-";
/// The number of hex digits of a checksum in a name.
const DIGITS: usize = 32;
/// The key in the footer of a file under which [`Taken`] is stored.
const TAKEN: &str = "anonsql.waiting";

/// The folder for the rows that are held back for a release.
#[derive(Debug, Clone)]
pub struct Waiting {
    place: Place,
    /// The start of the file names for this release.
    start: String,
    /// The names of the files that were there when the request was bound.
    names: Vec<String>,
    /// The rows that are held back for the existing release; `None` if there are none.
    pub(crate) rows: Option<Arc<WaitingRows>>,
}

/// Rows that are held back for a later APPEND.
#[derive(Debug)]
pub(crate) struct WaitingRows {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Vec<RecordBatch>,
    /// The batches that were read since the last change of the release, but of which no row was
    /// added.
    pub(crate) taken: Taken,
}

/// Batches that have no row in the release. The manifest therefore does not name these batches.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Taken {
    /// The identities of the contents of their files.
    pub(crate) inputs: Vec<String>,
    /// For each batch, the checksum of its statement and of the files that the statement read.
    pub(crate) sources: Vec<String>,
}

impl Waiting {
    /// Opens the folder `path`, and reads the rows that are held back for the release `standing`.
    /// `own` is the URL of the target. Fails with `ErrorKind::Usage` if one of the two folders is
    /// inside the other, and with a data error if rows were held back before a batch that was added
    /// without this option.
    pub(crate) async fn open(state: &SessionState, path: &str, own: &str, standing: Option<&Manifest>) -> Result<Self> {
        let place = Place::of(state, &expanded(path)?).await?;
        if own.starts_with(&place.url) || place.url.starts_with(own) {
            return Err(Error::usage(format!(
                "option waiting: {path} and the target are in one another. Rows that wait are rows of the source with all their columns: \
                 keep them beside the source, and not with the release"
            )));
        }
        if let Some(folder) = place.local() {
            let check = move || check_folder(&folder).map_err(|e| e.context("option waiting"));
            blocking("looking at a path", check).await?;
        }
        let mut waiting = Self {
            place,
            start: format!("{START}{}-", &sha256(own)[..DIGITS / 2]),
            names: vec![],
            rows: None,
        };
        waiting.names = waiting.listed().await?;
        let Some(standing) = standing else {
            return Ok(waiting);
        };
        let name = waiting.name(&standing.sha256);
        waiting.rows = waiting.read(&name).await?.map(Arc::new);
        let states = standing.batches.iter().filter_map(|batch| batch.after.as_deref());
        let earlier = states.map(|state| waiting.name(state));
        let earlier: Vec<String> = earlier.filter(|name| waiting.names.contains(name)).collect();
        if let (None, Some(name)) = (&waiting.rows, earlier.last()) {
            return Err(Error::data(format!(
                "option waiting: {}{name} has rows that wait since before the last batch, which was added without this option. Add them \
                 as a batch of their own, or to the source of this one, and delete the file",
                waiting.place.url
            )));
        }
        // These files were left by a run that was killed after its commit.
        waiting.delete(&earlier).await;
        Ok(waiting)
    }

    /// Returns the URL of the folder.
    pub(crate) fn url(&self) -> &str {
        &self.place.url
    }

    /// Returns the path of the folder; `None` if the folder is not on this machine.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        self.place.local()
    }

    fn name(&self, manifest: &str) -> String {
        format!("{}{}.parquet", self.start, &manifest[..manifest.len().min(DIGITS)])
    }

    fn path(&self, name: &str) -> Path {
        Path::from_iter(self.place.path.parts().chain([name.into()]))
    }

    async fn listed(&self) -> Result<Vec<String>> {
        let listed = self.place.store.list_with_delimiter(Some(&self.place.path)).await;
        let listed = listed.map_err(|e| Error::of_store(format_args!("cannot list {}", self.place.url), &e))?;
        let names = listed.objects.iter().filter_map(|meta| meta.location.filename());
        let own = names.filter(|name| name.starts_with(&self.start));
        Ok(own.map(String::from).collect())
    }

    async fn read(&self, name: &str) -> Result<Option<WaitingRows>> {
        let what = format!("cannot read {}{name}", self.place.url);
        let Some(found) = read_small(self.place.store.as_ref(), &self.path(name), u64::MAX, &what).await? else {
            return Ok(None);
        };
        let read = move || {
            let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(found.bytes))?;
            let told = reader.metadata().file_metadata().key_value_metadata();
            let told = told.into_iter().flatten().find(|told| told.key == TAKEN);
            let taken = told.and_then(|told| serde_json::from_str(told.value.as_deref()?).ok());
            let taken = taken.ok_or_else(|| Error::data(format!("{what}: it does not hold rows that wait")))?;
            let schema = Arc::clone(reader.schema());
            let batches = reader.build()?.collect::<Result<Vec<_>, _>>()?;
            Ok(Some(WaitingRows { schema, batches, taken }))
        };
        blocking("reading rows that wait", read).await
    }

    /// Stores the rows that are held back for the release whose manifest has the checksum
    /// `manifest`.
    pub(crate) async fn put(&self, manifest: &str, rows: WaitingRows) -> Result<()> {
        let (place, name) = (self.place.clone(), self.name(manifest));
        let write = move || {
            if let Some(folder) = place.local() {
                let failed = |e| Error::io(format!("cannot create {}", folder.display()), e);
                folder
                    .parent()
                    .map_or(Ok(()), std::fs::create_dir_all)
                    .map_err(failed)?;
                match create_private(&folder) {
                    Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                    created => created.map_err(failed)?,
                }
            }
            let taken =
                serde_json::to_string(&rows.taken).map_err(|_| Error::internal("rows that wait without a footer"))?;
            let told = KeyValue::new(TAKEN.to_string(), taken);
            let properties = WriterProperties::builder()
                .set_key_value_metadata(Some(vec![told]))
                .build();
            let mut writer = ArrowWriter::try_new(vec![], rows.schema, Some(properties))?;
            for batch in &rows.batches {
                writer.write(batch)?;
            }
            Ok(writer.into_inner()?)
        };
        let bytes = blocking("writing rows that wait", write).await?;
        let what = format!("cannot write {}{name}", self.place.url);
        let put = self.place.store.put(&self.path(&name), bytes.into()).await;
        put.map_err(|e| Error::of_store(what, &e))?;
        let Some(folder) = self.place.local() else {
            return Ok(());
        };
        let file = folder.join(name);
        let sync = move || {
            let synced = std::fs::File::open(&file).and_then(|file| file.sync_all());
            synced.map_err(|e| Error::io(format!("cannot sync {}", file.display()), e))
        };
        blocking("syncing rows that wait", sync).await
    }

    /// Deletes the files that existed when the request was bound, except the file for the release
    /// whose manifest has the checksum `manifest`. A run that was killed before its commit may have
    /// written a file with the same name and the same rows.
    pub(crate) async fn clear(&self, manifest: &str) {
        let own = self.name(manifest);
        let others = self.names.iter().filter(|name| **name != own);
        self.delete(&others.cloned().collect::<Vec<_>>()).await;
    }

    /// Deletes files. A file that cannot be deleted is deleted by a later run.
    async fn delete(&self, names: &[String]) {
        for name in names {
            let _ = self.place.store.delete(&self.path(name)).await;
        }
    }
}
