//! Uploads the files of a run to its store.

use super::prefix::Prefix;
use super::release::is_same;
use super::shared::SharedRun;
use super::upload::{StagedFile, Stopped, upload};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::pool::blocking;
use crate::data::folder::FileSummary;
use datafusion::object_store::ObjectStoreExt;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Uploads the finished files of a run.
#[derive(Debug, Clone)]
pub(crate) struct Outbox {
    pub(super) shared: Arc<SharedRun>,
    pub(super) stop: Stopped,
    /// The sender that keeps the channel `busy` of the background task open. Each part of a run
    /// that may still write has a clone.
    pub(super) _busy: mpsc::Sender<()>,
}

/// A file that is being uploaded. If this value is dropped, the upload continues until the run
/// ends.
#[derive(Debug)]
pub(crate) struct OnWay(JoinHandle<Result<FileSummary>>);

impl OnWay {
    /// Waits until the file is in the store. Returns the summary of the file, with its name
    /// relative to the prefix.
    pub(crate) async fn arrived(self) -> Result<FileSummary> {
        self.0.await.map_err(|e| Error::from_task("an upload", &e))?
    }
}

/// Computes the size and the checksum of a staged file. The name in the summary is empty.
pub(super) async fn summed(mut file: File, rows: u64) -> Result<(File, FileSummary)> {
    blocking("summing up a file", move || {
        let failed = |e| Error::io("cannot read a staged file", e);
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let summary = FileSummary::read(&file, String::new(), Some(rows), failed)?;
        Ok((file, summary))
    })
    .await
}

impl Outbox {
    /// Starts the upload of a file with `rows` rows. `partition` is empty or ends in a slash.
    pub(crate) fn send(
        &self,
        file: File,
        (partition, number): (&str, usize),
        extension: &'static str,
        rows: u64,
    ) -> OnWay {
        let (mut outbox, partition) = (self.clone(), partition.to_string());
        let send = async move {
            let (file, summary) = summed(file, rows).await?;
            let shared = &outbox.shared;
            let name = shared
                .layout
                .file(&shared.run, &partition, number, &summary.sha256, extension);
            let path = shared.at.file(&name)?;
            // The path is recorded before the upload, so that the file is deleted even if the
            // outcome of the upload is unknown.
            shared.written.lock().insert(path.clone());
            let (store, what) = (
                shared.prefix.store(),
                format!("cannot write {}{name}", shared.prefix.url()),
            );
            let staged = StagedFile {
                file,
                bytes: summary.bytes,
            };
            let put = upload(store, &path, staged, &mut outbox.stop, &what).await?;
            Ok(FileSummary {
                name,
                e_tag: put.e_tag,
                version: put.version,
                ..summary
            })
        };
        OnWay(tokio::spawn(send))
    }

    /// Returns the first `most` bytes of a written file, or the whole file if it is smaller.
    pub(crate) async fn beginning(&self, name: &str, most: u64) -> Result<Vec<u8>> {
        let prefix = &self.shared.at;
        let failed = |e| prefix.failed("cannot read the files written to", &e);
        let path = prefix.file(name)?;
        let size = prefix.store().head(&path).await.map_err(failed)?.size;
        let bytes = prefix.store().get_range(&path, 0..size.min(most)).await;
        Ok(bytes.map_err(failed)?.to_vec())
    }

    /// Fails with `ErrorKind::Io` if the files of the existing release differ from `files`. In a
    /// local folder, the e_tags are ignored, because each copy of a file has its own e_tag.
    pub(crate) async fn confirm_standing(&self, files: &[FileSummary]) -> Result<()> {
        let untagged = |file: &FileSummary| FileSummary {
            e_tag: None,
            ..file.clone()
        };
        match self.shared.prefix.is_local() {
            true => {
                self.confirm_at(&files.iter().map(untagged).collect::<Vec<_>>(), &self.shared.prefix)
                    .await
            }
            false => self.confirm_at(files, &self.shared.prefix).await,
        }
    }

    /// Fails with `ErrorKind::Io` if the files that the run wrote differ from `files`.
    pub(crate) async fn confirm(&self, files: &[FileSummary]) -> Result<()> {
        self.confirm_at(files, &self.shared.at).await
    }

    async fn confirm_at(&self, files: &[FileSummary], at: &Prefix) -> Result<()> {
        for file in files {
            let path = at.file(&file.name)?;
            let head = at.store().head(&path).await;
            let meta = head.map_err(|e| at.failed("cannot read the files written to", &e))?;
            if !is_same(file, &meta) {
                return Err(Error::new(
                    ErrorKind::Io,
                    format!(
                        "{}{} differs from the file that this run wrote; nothing was published, run the statement \
                         again",
                        at.url(),
                        file.name
                    ),
                ));
            }
        }
        Ok(())
    }
}
