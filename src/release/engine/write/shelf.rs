//! The destination of finished files: they stay in the staging folder, or are uploaded to an object
//! store.

use super::sink::{WRITING, failed};
use crate::base::error::Result;
use crate::base::pool::blocking;
use crate::base::spill::SpillSpace;
use crate::data::folder::FileSummary;
use crate::data::lake::{OnWay, Outbox};
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

/// A written file, with its summary if it is already known.
#[derive(Debug, Clone)]
pub(in crate::release::engine) struct WrittenFile {
    /// The path of the file relative to the folder or prefix.
    pub(in crate::release::engine) path: String,
    /// The number of rows in the file.
    pub(in crate::release::engine) rows: u64,
    /// The summary that was reported by the upload to an object store, or by a worker.
    pub(in crate::release::engine) object: Option<FileSummary>,
    /// The description of the file for the log of a Delta table.
    pub(in crate::release::engine) in_table: Option<InTable>,
}

/// The description of a file in the log of a Delta table, besides its name and size.
#[derive(Debug, Clone)]
pub(in crate::release::engine) struct InTable {
    /// The value of each partition column, as text.
    pub(in crate::release::engine) partition: Vec<(String, Option<String>)>,
    /// Counts and bounds, in the form of the log.
    pub(in crate::release::engine) statistics: String,
}

/// The destination of a release's files while the release is written.
#[derive(Clone)]
pub(super) enum Shelf {
    /// A folder that is not visible yet.
    Folder(PathBuf),
    /// An object store. The name of an object contains a part of its checksum, so each file is
    /// first written to a file without a name.
    Store(Outbox, SpillSpace),
}

/// The place of a file among the files of a release.
#[derive(Clone, Copy)]
pub(super) struct FilePlace<'a> {
    /// The folder of the file's partition: empty, or with a slash at the end.
    pub(super) partition: &'a str,
    pub(super) number: usize,
    pub(super) extension: &'static str,
}

impl FilePlace<'_> {
    /// Returns the path of the file relative to the folder of the release.
    fn path(self) -> String {
        name(self.partition, self.number, self.extension)
    }
}

/// A finished file, which is in the staging folder or is being uploaded to an object store.
pub(super) enum Put {
    /// The file is in the staging folder.
    There(WrittenFile),
    /// The file is being uploaded.
    OnWay(OnWay, u64, Option<InTable>),
}

impl Shelf {
    /// Creates the file that will be at `place`.
    pub(super) async fn create(&self, place: FilePlace<'_>) -> Result<File> {
        match self {
            Self::Folder(folder) => {
                let (mut folder, path) = (folder.clone(), folder.join(place.path()));
                let partition = place.partition.to_string();
                let create = move || {
                    // Folders are created one by one, so that a stage that was removed in the
                    // meantime is not created again.
                    for part in partition.split_terminator('/') {
                        folder.push(part);
                        match fs::create_dir(&folder) {
                            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(failed(e)),
                            _ => (),
                        }
                    }
                    File::create(&path).map_err(failed)
                };
                blocking(WRITING, create).await
            }
            Self::Store(_, space) => {
                let space = space.clone();
                blocking(WRITING, move || space.unnamed()).await
            }
        }
    }

    /// Leaves a finished file of `rows` rows in the folder, or starts its upload.
    pub(super) fn put(&self, file: File, place: FilePlace<'_>, rows: u64, in_table: Option<InTable>) -> Put {
        match self {
            Self::Folder(_) => Put::There(WrittenFile {
                path: place.path(),
                rows,
                object: None,
                in_table,
            }),
            Self::Store(outbox, _) => {
                let way = outbox.send(file, (place.partition, place.number), place.extension, rows);
                Put::OnWay(way, rows, in_table)
            }
        }
    }
}

impl Put {
    /// Waits until the file is at its destination.
    pub(super) async fn done(self) -> Result<WrittenFile> {
        match self {
            Self::There(file) => Ok(file),
            Self::OnWay(way, rows, in_table) => {
                let summary = way.arrived().await?;
                Ok(WrittenFile {
                    path: summary.name.clone(),
                    rows,
                    object: Some(summary),
                    in_table,
                })
            }
        }
    }
}

/// Returns the path of a file relative to the folder.
pub(in crate::release::engine) fn name(partition: &str, number: usize, extension: &str) -> String {
    format!("{partition}part-{number:05}.{extension}")
}
