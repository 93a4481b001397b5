//! Staging and swap: at every moment the target is either unchanged or complete.
//!
//! A run writes to a hidden folder beside the target and moves it to the target in one system call.
//! The folder of a killed run is hidden, not held by any process, and removed by the next run for
//! the same target.
//!
//! # The protocol
//!
//! The name of a stage is `.anonsql-staging-`, 16 hex digits of a hash of the target's name, and 32
//! random hex digits. Stages of different targets or processes therefore cannot be confused. A run
//! *holds* its stage by a lock on the folder itself. The lock stays with the folder wherever the
//! folder is moved, and ends with the process. A run
//!
//! 1. examines every stage of its target. A stage that the run can hold is abandoned, and the run
//!    discards it (below);
//! 2. creates a folder that only its owner can open, holds it, and checks that the name still
//!    belongs to the folder that it holds. If another run took the folder for abandoned before it
//!    was held, this step begins again;
//! 3. writes and recounts;
//! 4. syncs everything, gives the folder the permissions that a new folder has, renames the stage
//!    to a name that begins with `.anonsql-swapping-`, and from there to the target, which fails if
//!    the target exists. With OVERWRITE the run then checks whether the target may be replaced, and
//!    exchanges the two names. If the target vanished in the meantime, this step begins again;
//! 5. releases the lock on the folder that is now the target, and discards the old target under the
//!    other name.
//!
//! A run exchanges two names only while it holds the folder that is the target at this moment, so
//! no two runs exchange names at the same time. With APPEND, the run then checks once more whether
//! this folder has the manifest with which the run began. Another manifest belongs to the release
//! of another run. This run then fails, because it may not add its rows to another release.
//!
//! To *discard* a folder, a run holds it, gives it another name with the same prefix, and removes
//! it. A `-staging-` folder belongs to one run alone and is removed whole. In a `-swapping-`
//! folder, only the files named in its manifest are removed, one by one. The folder may be an old
//! target, and another file may have been added between the last check and the exchange. A folder
//! with another file is moved to a visible name beside the target. The name alone shows the kind of
//! a folder, because a folder that is being removed loses its files in any order.
//!
//! A kill before the rename or the exchange leaves the old target, and a kill after it leaves the
//! new target. Beside the target, a kill leaves an unfinished folder, a finished folder, or the old
//! target or a part of it. The next run discards all of these. If two runs write to one target, the
//! second run finds a target in step 4. The second run is refused, or replaces the first run's
//! release. Neither run ever removes a folder that the other run holds.
//!
//! A file, or a folder that COPY writes, is staged inside a `-staging-` folder and renamed from
//! there. The staging folder belongs to one run alone.
//!
//! The locks are `flock` locks. On file systems that several hosts share, a host may not see the
//! locks of another host, and may take that host's stages for abandoned. It then moves these stages
//! away before it removes anything, so the other run finds no stage to publish and fails. No
//! incomplete release is published in this case either.

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::pool::blocking;
use crate::data::folder::{Manifest, Replacing, check_folder, check_replaceable, create_private, hold, remove};
use crate::release::job::target_exists;
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The prefix of folders that only their own run writes to.
const STAGING: &str = ".anonsql-staging-";
/// The prefix of folders that are about to become the target, and of replaced targets.
const SWAPPING: &str = ".anonsql-swapping-";
/// The maximum number of attempts to create a stage. An attempt fails if another run takes the new
/// folder for abandoned.
const ATTEMPTS: usize = 100;

/// The maximum number of attempts to hold the target.
const TRIES: usize = 300;
/// The time that a run waits between two attempts to hold the target.
const BETWEEN: Duration = Duration::from_millis(100);

/// A folder that becomes the target when it is complete.
#[derive(Debug)]
pub struct Stage {
    target: PathBuf,
    names: Names,
    folder: PathBuf,
    /// The lock on the folder; `None` once the folder is the target.
    held: Option<File>,
    /// The permissions of the folder once it is the target.
    permissions: fs::Permissions,
}

impl Stage {
    /// Opens a stage beside `target`, after removing the stages of killed runs for the same target.
    pub fn open(target: &Path) -> Result<Self> {
        let (parent, name) = split(target)?;
        check_folder(&parent)?;
        fs::create_dir_all(&parent).map_err(|e| Error::io(format!("cannot create {}", parent.display()), e))?;
        // The path is resolved now, because symbolic links in it may change while the release is
        // written.
        let parent = parent.canonicalize().map_err(|e| Error::io(parent.display(), e))?;
        let names = Names::new(parent, name);
        names.discard_abandoned()?;
        let failed = |e| Error::io(format!("cannot write beside {}", target.display()), e);
        for _ in 0..ATTEMPTS {
            let folder = names.another(STAGING);
            create_private(&folder).map_err(failed)?;
            let Some(held) = hold(&folder).map_err(failed)? else {
                continue;
            };
            let permissions = usual_permissions(&folder).map_err(|e| {
                let _ = fs::remove_dir_all(&folder);
                failed(e)
            })?;
            return Ok(Self {
                permissions,
                target: names.target(),
                names,
                folder,
                held: Some(held),
            });
        }
        Err(failed(io::Error::other("other runs remove the folders here")))
    }

    /// Returns the folder to write to.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the path inside the stage for a file or folder that becomes the target by itself,
    /// without the rest of the stage: see [`Self::publish_output`].
    pub fn output(&self) -> PathBuf {
        self.folder.join(&self.names.target)
    }

    /// Makes [`Self::output`] the target. Does nothing if there is no output. If the target exists,
    /// fails unless the output is a file and `replace` is true.
    pub fn publish_output(self, replace: bool) -> Result<()> {
        let output = self.output();
        let written = match fs::symlink_metadata(&output) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            written => written.map_err(|e| Error::io(format!("cannot read {}", output.display()), e))?,
        };
        sync_all(&self.folder).map_err(|e| Error::io(format!("cannot sync {}", self.target.display()), e))?;
        let placed = match replace && !written.is_dir() {
            true => fs::rename(&output, &self.target),
            false => rename_new(&output, &self.target),
        };
        placed.map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => target_exists(&self.target),
            _ => Error::io(format!("cannot put {} in place", self.target.display()), e),
        })?;
        self.sync_parent()
    }

    /// Syncs the parent folder, so that the published target survives a power cut.
    fn sync_parent(&self) -> Result<()> {
        let what = format!("{} is in place, but may not outlast a power cut", self.target.display());
        sync(&self.names.parent).map_err(|e| Error::io(what, e))
    }

    /// Makes the stage the target. Fails with the error `late` if the target exists and is not an
    /// empty folder.
    pub fn publish_new(self, late: Error) -> Result<()> {
        self.exchanged(Replaced::None, Some(late))
    }

    /// Makes the stage the target. An existing target is replaced if it is a release.
    pub fn publish_over(self) -> Result<()> {
        self.exchanged(Replaced::Any, None)
    }

    /// Makes the stage the target in place of the release with the manifest `standing`. Fails with
    /// the error `late` if the target has another manifest.
    pub fn publish_after(self, standing: &Manifest, late: Error) -> Result<()> {
        self.exchanged(Replaced::Only(standing), Some(late))
    }

    fn exchanged(mut self, replaced: Replaced<'_>, late: Option<Error>) -> Result<()> {
        let failed = |e| Error::io("cannot sync the staged release", e);
        sync_all(&self.folder).map_err(failed)?;
        fs::set_permissions(&self.folder, self.permissions.clone()).map_err(failed)?;
        self.call(SWAPPING).map_err(failed)?;
        let replaced = self.swap(replaced, late)?;
        self.held = None;
        self.sync_parent()?;
        match replaced.then(|| self.names.discard(SWAPPING, &self.folder)) {
            Some(Ok(Some(kept))) => Err(self.names.kept(&kept)),
            // A failure here leaves a hidden folder that the next run removes.
            _ => Ok(()),
        }
    }

    /// Renames the stage to a new name. `kind` is the prefix of the new name.
    fn call(&mut self, kind: &str) -> io::Result<()> {
        let folder = self.names.another(kind);
        fs::rename(&self.folder, &folder)?;
        self.folder = folder;
        Ok(())
    }

    /// Moves the stage to the target. Returns true if a target existed. The old target then has the
    /// stage's former name.
    fn swap(&self, replaced: Replaced<'_>, late: Option<Error>) -> Result<bool> {
        let failed = |e| {
            Error::io(
                format!("cannot put the release in place of {}", self.target.display()),
                e,
            )
        };
        loop {
            if !matches!(replaced, Replaced::Only(_)) {
                match rename_new(&self.folder, &self.target) {
                    Ok(()) => return Ok(false),
                    Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(failed(e)),
                    Err(_) if matches!(replaced, Replaced::None) => match fs::remove_dir(&self.target) {
                        // The target was an empty folder, which may be replaced.
                        Ok(()) => continue,
                        Err(_) => return Err(late.unwrap_or_else(|| target_exists(&self.target))),
                    },
                    Err(_) => {}
                }
            }
            let replacing = match replaced {
                Replaced::Only(_) => Replacing::Append,
                Replaced::None | Replaced::Any => Replacing::Overwrite,
            };
            check_replaceable(&self.target, replacing)?;
            let held = self.hold_target().map_err(failed)?;
            if let Replaced::Only(standing) = replaced
                && (held.is_none() || Manifest::read(&self.target)?.as_ref() != Some(standing))
            {
                return Err(late.unwrap_or_else(|| target_exists(&self.target)));
            }
            match exchange(&self.folder, &self.target) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => (),
                exchanged => return exchanged.map(|()| true).map_err(failed),
            }
        }
    }

    /// Holds the folder that is the target, so that no other run exchanges it. Returns `None` if
    /// the target does not exist.
    fn hold_target(&self) -> io::Result<Option<File>> {
        for _ in 0..TRIES {
            if let Some(held) = hold(&self.target)? {
                return Ok(Some(held));
            }
            match fs::symlink_metadata(&self.target) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
                _ => std::thread::sleep(BETWEEN),
            }
        }
        Err(io::Error::other("another process holds a lock on it"))
    }
}

/// The target that a stage may replace.
#[derive(Debug, Clone, Copy)]
enum Replaced<'a> {
    /// No release: the target must not exist, or must be an empty folder.
    None,
    /// Any release.
    Any,
    /// The release with this manifest.
    Only(&'a Manifest),
}

/// Returns the staged value together with the value of `found`. If `found` is an error, removes the
/// staged files on a blocking thread, and then returns the error. A stage that is only dropped is
/// removed on the thread that drops it.
pub(crate) async fn or_removed<S: Send + 'static, T>(staged: S, found: Result<T>) -> Result<(S, T)> {
    match found {
        Ok(found) => Ok((staged, found)),
        Err(e) => {
            removed(staged).await?;
            Err(e)
        }
    }
}

/// Removes staged files on a blocking thread, and waits until they are removed.
pub(crate) async fn removed<S: Send + 'static>(staged: S) -> Result<()> {
    let remove = move || {
        drop(staged);
        Ok(())
    };
    blocking("removing what was staged", remove).await
}

impl Drop for Stage {
    fn drop(&mut self) {
        if self.held.is_some() {
            // If the run was dropped while it created a file, this file may appear in the folder
            // during the removal. The removal is then tried once more. A failure here leaves a
            // hidden folder that the next run removes.
            let remove = |folder: &Path| fs::remove_dir_all(folder).or_else(|_| fs::remove_dir_all(folder));
            let _ = self.call(STAGING).and_then(|()| remove(&self.folder));
        }
    }
}

/// A target with the names of its stages.
#[derive(Debug)]
struct Names {
    parent: PathBuf,
    target: String,
    /// The hash of the target's name, which follows the prefix in every stage name.
    digest: String,
}

impl Names {
    fn new(parent: PathBuf, target: String) -> Self {
        let digest = hex::encode(Sha256::digest(target.as_bytes()));
        let digest = format!("{}-", &digest[..16]);
        Self { parent, target, digest }
    }

    fn target(&self) -> PathBuf {
        self.parent.join(&self.target)
    }

    /// Returns a new stage name with a random suffix.
    fn another(&self, kind: &str) -> PathBuf {
        let name = format!("{kind}{}{:032x}", self.digest, rand::random::<u128>());
        self.parent.join(name)
    }

    /// Returns the prefix of `name`, which shows the kind of the stage; `None` if the name does not
    /// belong to a stage of this target.
    fn kind(&self, name: &OsStr) -> Option<&'static str> {
        let rest = |kind: &str| name.to_str()?.strip_prefix(kind)?.strip_prefix(&self.digest);
        [STAGING, SWAPPING].into_iter().find(|kind| rest(kind).is_some())
    }

    /// Discards the stages of this target that no process holds.
    fn discard_abandoned(&self) -> Result<()> {
        let failed = |what: &str, e| Error::io(format!("cannot {what} {}", self.parent.display()), e);
        for entry in fs::read_dir(&self.parent).map_err(|e| failed("read", e))? {
            let entry = entry.map_err(|e| failed("read", e))?;
            let kind = self.kind(&entry.file_name());
            if let Some(kind) = kind.filter(|_| entry.file_type().is_ok_and(|t| t.is_dir())) {
                // A stage that cannot be removed because it belongs to another user is hidden and
                // does no harm.
                if let Ok(Some(kept)) = self.discard(kind, &entry.path()) {
                    return Err(self.kept(&kept));
                }
            }
        }
        Ok(())
    }

    /// Discards a folder, unless a process holds it. Files that no run wrote are kept. Returns the
    /// visible name of the folder that then contains them; `None` if no files are kept.
    fn discard(&self, kind: &str, folder: &Path) -> io::Result<Option<PathBuf>> {
        let Some(_held) = hold(folder)? else {
            return Ok(None);
        };
        let aside = self.another(kind);
        fs::rename(folder, &aside)?;
        if kind == STAGING {
            return fs::remove_dir_all(&aside).map(|()| None);
        }
        if remove(&aside)? {
            return Ok(None);
        }
        let kept = self
            .parent
            .join(format!("{}.kept-{:08x}", self.target, rand::random::<u32>()));
        rename_new(&aside, &kept).map(|()| Some(kept))
    }

    fn kept(&self, kept: &Path) -> Error {
        Error::new(
            ErrorKind::Io,
            format!(
                "{} is in place; files that were put there while it was replaced are kept in {}",
                self.target().display(),
                kept.display()
            ),
        )
    }
}

/// Splits the path of a target into its parent folder and its name.
fn split(target: &Path) -> Result<(PathBuf, String)> {
    let name = target.file_name().and_then(|n| n.to_str()).ok_or_else(|| {
        Error::usage(format!(
            "the target {:?} does not name a folder or a file; write a path that ends in a name",
            target.display().to_string()
        ))
    })?;
    let parent = target
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    Ok((parent.to_path_buf(), name.to_string()))
}

/// Returns the permissions that a new folder in `folder` gets by default.
fn usual_permissions(folder: &Path) -> io::Result<fs::Permissions> {
    let probe = folder.join(".permissions");
    fs::create_dir(&probe)?;
    let permissions = fs::metadata(&probe)?.permissions();
    fs::remove_dir(&probe)?;
    Ok(permissions)
}

fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

fn sync_all(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => sync_all(&entry.path())?,
            false => sync(&entry.path())?,
        }
    }
    sync(folder)
}

#[cfg(target_os = "linux")]
fn exchange(a: &Path, b: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

#[cfg(target_os = "linux")]
fn rename_new(from: &Path, to: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
}

/// Without an atomic exchange, the old target is moved aside first. A kill in between leaves the
/// old target under a hidden name.
#[cfg(not(target_os = "linux"))]
fn exchange(a: &Path, b: &Path) -> std::io::Result<()> {
    let aside = a.with_extension("old");
    fs::rename(b, &aside)?;
    fs::rename(a, b)?;
    fs::rename(aside, a)
}

#[cfg(not(target_os = "linux"))]
fn rename_new(from: &Path, to: &Path) -> std::io::Result<()> {
    if fs::symlink_metadata(to).is_ok() {
        return Err(std::io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(from, to)
}

mod take_over;
#[cfg(test)]
mod tests;
