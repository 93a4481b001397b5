//! The staging of a release: a hidden folder beside a local target, or a separate run for an object
//! store or a Delta table.

use super::shelf::{Shelf, WrittenFile};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::location::folder_url;
use crate::base::pool::blocking;
use crate::base::spill::SpillSpace;
use crate::data::folder::{FileSummary, MANIFEST, Manifest};
use crate::data::formats::Change;
use crate::data::lake::{Keeper, PrefixRun, folder_of_run};
use crate::release::job::{Existing, Format, Input, Job, Target};
use crate::release::staging::Stage;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// The maximum number of bytes of the names of all columns together.
const HEADER: u64 = 16 << 20;

/// A release that is being written and is not visible yet. Dropping the staging removes the written
/// files.
#[derive(Debug)]
pub(in crate::release::engine) enum Staging {
    /// The folder that becomes the target.
    Folder(Stage),
    /// The run whose files become the release.
    Store(PrefixRun),
}

impl Staging {
    /// Opens the staging of a target. Returns `None` if the target exists and is kept.
    pub(in crate::release::engine) async fn open(job: &Arc<Job>, target: &Target) -> Result<Option<Self>> {
        let (own, path, is_stored) = (Arc::clone(job), target.path.clone(), target.stored.is_some());
        // The target may have been created after the request was checked.
        let open = move || match (own.keeps_target()?, is_stored) {
            (true, _) => Ok(None),
            (false, true) => Ok(Some(None)),
            (false, false) => Ok(Some(Some(Stage::open(&path)?))),
        };
        Ok(match (blocking("staging the release", open).await?, &target.stored) {
            (None, _) => None,
            (Some(Some(stage)), _) => Some(Self::Folder(stage)),
            (Some(None), Some(stored)) => {
                let keeper = Keeper::of(job.input.source.state().config());
                Some(Self::Store(
                    PrefixRun::begin(&stored.prefix, stored.layout, &keeper).await?,
                ))
            }
            (Some(None), None) => return Err(Error::internal("a target without a stage")),
        })
    }

    /// Returns the destination of the files.
    pub(super) fn shelf(&self, input: &Input) -> Shelf {
        match self {
            Self::Folder(stage) => Shelf::Folder(stage.folder().to_path_buf()),
            Self::Store(run) => Shelf::Store(run.outbox(), SpillSpace::of(&input.source.rows.task_ctx())),
        }
    }

    /// Returns the local folder of the files, if there is one.
    pub(in crate::release::engine) fn folder(&self) -> Option<&Path> {
        match self {
            Self::Folder(stage) => Some(stage.folder()),
            Self::Store(_) => None,
        }
    }

    /// Returns the run whose files become the release, in an object store.
    pub(in crate::release::engine) fn run(&self) -> Option<&PrefixRun> {
        match self {
            Self::Folder(_) => None,
            Self::Store(run) => Some(run),
        }
    }

    /// Returns the keeper of the staging. A caller uses the keeper to wait until the files that are
    /// to be removed are deleted from the object store.
    pub(in crate::release::engine) fn keeper(&self) -> Keeper {
        self.run().map_or_else(Keeper::default, PrefixRun::keeper)
    }

    /// Returns the locations from which a reader reads the written files: each file in an object
    /// store, or the folder that contains all files. `one_by_one` must be false if folder names
    /// encode partition columns, because a reader that is given single files does not find these
    /// columns.
    pub(in crate::release::engine) async fn places(
        &self,
        files: &[WrittenFile],
        one_by_one: bool,
    ) -> Result<Vec<String>> {
        match self {
            Self::Folder(stage) => Ok(vec![folder_url(stage.folder())]),
            Self::Store(run) => {
                run.outbox().confirm(&self.outputs(files).await?).await?;
                Ok(match one_by_one {
                    true => files.iter().map(|file| run.url(&file.path)).collect(),
                    false => vec![run.folder()],
                })
            }
        }
    }

    /// Puts the files of the existing release in `target` beside the written files, and returns the
    /// locations from which a reader reads all files, like [`Self::places`]. Fails with
    /// `ErrorKind::Data` if the files of the release are not the files that its manifest names.
    pub(in crate::release::engine) async fn places_of_all(
        &self,
        target: &Target,
        files: &[WrittenFile],
    ) -> Result<Vec<String>> {
        let own = target.grows.as_ref().map_or(&[][..], |standing| &standing.output);
        let (one_by_one, own) = (target.partitioned_by.is_empty(), own.to_vec());
        match self {
            Self::Folder(stage) => {
                let (stage, names) = (stage.taking_over(), own);
                blocking("taking over the files that stand", move || stage.take_over(&names)).await?;
                self.places(files, one_by_one).await
            }
            Self::Store(run) => {
                run.outbox().confirm_standing(&own).await?;
                let mut places = self.places(files, one_by_one).await?;
                let names = own.iter().map(|file| file.name.as_str());
                let others = names.map(|name| match one_by_one {
                    true => run.url_of_standing(name),
                    false => run.url_of_standing(&folder_of_run(name)),
                });
                for other in others {
                    if !places.contains(&other) {
                        places.push(other);
                    }
                }
                Ok(places)
            }
        }
    }

    /// Returns the first bytes of the first written file.
    pub(in crate::release::engine) async fn beginning(&self, files: &[WrittenFile]) -> Result<Vec<u8>> {
        let first = files.first().ok_or_else(|| Error::internal("nothing was written"))?;
        let path = match self {
            Self::Folder(stage) => stage.folder().join(&first.path),
            Self::Store(run) => return run.outbox().beginning(&first.path, HEADER).await,
        };
        let read = move || {
            let failed = |e| Error::io("cannot read the staged release back", e);
            let mut bytes = vec![];
            let file = File::open(path).map_err(failed)?;
            file.take(HEADER).read_to_end(&mut bytes).map_err(failed)?;
            Ok(bytes)
        };
        blocking("reading the staged release", read).await
    }

    /// Returns the summaries of the written files.
    pub(in crate::release::engine) async fn outputs(&self, files: &[WrittenFile]) -> Result<Vec<FileSummary>> {
        let Some(folder) = self.folder().map(Path::to_path_buf) else {
            let summary = |file: &WrittenFile| {
                let summary = file.object.clone();
                summary.ok_or_else(|| Error::internal("a file of an object store was not uploaded"))
            };
            return files.iter().map(summary).collect();
        };
        let files = files.to_vec();
        let sum = move || {
            let summary = |w: &WrittenFile| {
                let found = FileSummary::of(&folder.join(&w.path), w.path.clone(), Some(w.rows))?;
                match w.object.as_ref().is_none_or(|told| *told == found) {
                    true => Ok(found),
                    false => Err(Error::new(
                        ErrorKind::Verification,
                        format!(
                            "the file {} differs from the file that a worker reported; nothing was published",
                            w.path
                        ),
                    )),
                }
            };
            files.iter().map(summary).collect()
        };
        blocking("summing up the output", sum).await
    }

    /// Makes the staged files the release of the target, and then calls `then`. `manifest` is the
    /// text of the release's manifest, and `change` is the description of the release for the log
    /// of a table.
    pub(in crate::release::engine) async fn publish(
        self,
        target: &Target,
        (manifest, change): (String, Option<Change>),
        then: impl FnOnce() -> Result<()> + Send + 'static,
    ) -> Result<()> {
        const PUBLISHING: &str = "putting the release in its place";
        match self {
            Self::Folder(stage) => {
                let (overwrite, standing) = (target.existing == Existing::Overwrite, target.grows.clone());
                let late = target.late();
                let publish = move || {
                    match standing {
                        Some(standing) => stage.publish_after(&standing, late),
                        None if overwrite => stage.publish_over(),
                        None => stage.publish_new(late),
                    }?;
                    then()
                };
                blocking(PUBLISHING, publish).await
            }
            Self::Store(run) => {
                let standing = target.stored.as_ref().and_then(|stored| stored.standing.as_deref());
                match (change, target.format) {
                    (Some(change), Format::Table(format)) => {
                        let change = (change, target.late());
                        run.commit_to_log(&manifest, standing, format, change).await?
                    }
                    _ => run.commit(&manifest, standing, target.late()).await?,
                }
                blocking(PUBLISHING, then).await
            }
        }
    }

    /// Writes the manifest beside the files, if they are in a local folder. In an object store, the
    /// commit writes the manifest.
    pub(in crate::release::engine) async fn write_manifest(&self, manifest: &Manifest) -> Result<String> {
        let text = manifest.text()?;
        if let Some(folder) = self.folder() {
            let (path, own) = (folder.join(MANIFEST), text.clone());
            let write = move || std::fs::write(path, own).map_err(|e| Error::io("cannot write the manifest", e));
            blocking("writing the manifest", write).await?;
        }
        Ok(text)
    }
}

/// A target, with the staging of the release that is written to it.
#[derive(Clone, Copy)]
pub(in crate::release::engine) struct StagedTarget<'a> {
    pub(in crate::release::engine) target: &'a Target,
    pub(in crate::release::engine) staging: &'a Staging,
}
