//! Staging and swap: the target is as it was, or complete, at every moment.
//!
//! A run writes to a hidden folder beside the target, holds a lock on it while it lives, and at the end exchanges the
//! two names in one system call. What a killed run leaves is hidden, unlocked, and removed by the next run.

use super::job::target_exists;
use crate::error::{Error, Result};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

const PREFIX: &str = ".anonsql-staging-";
const LOCK: &str = ".lock";

/// A folder that becomes the target when it is complete.
#[derive(Debug)]
pub struct Stage {
    target: PathBuf,
    folder: PathBuf,
    lock: Option<File>,
}

impl Stage {
    /// Opens a stage beside `target`, after removing what killed runs for the same target left.
    pub fn open(target: &Path) -> Result<Self> {
        let (parent, name) = split(target)?;
        fs::create_dir_all(&parent).map_err(|e| Error::io(format!("cannot create {}", parent.display()), e))?;
        let prefix = format!("{PREFIX}{name}-");
        remove_abandoned(&parent, &prefix)?;
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        let folder = parent.join(format!("{prefix}{}-{nanos:x}", std::process::id()));
        fs::create_dir(&folder).map_err(|e| Error::io(format!("cannot write beside {}", target.display()), e))?;
        let lock =
            File::create(folder.join(LOCK)).map_err(|e| Error::io(format!("cannot lock {}", folder.display()), e))?;
        lock.lock()
            .map_err(|e| Error::io(format!("cannot lock {}", folder.display()), e))?;
        Ok(Self {
            target: target.to_path_buf(),
            folder,
            lock: Some(lock),
        })
    }

    /// The folder to write to.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes the stage the target. An existing target is replaced only when `overwrite`.
    pub fn publish(mut self, overwrite: bool) -> Result<()> {
        sync_all(&self.folder)?;
        fs::remove_file(self.folder.join(LOCK)).map_err(|e| Error::io("cannot unlock the staged release", e))?;
        let failed = |e: std::io::Error| {
            Error::io(
                format!("cannot put the release in place of {}", self.target.display()),
                e,
            )
        };
        if overwrite && self.target.exists() {
            exchange(&self.folder, &self.target).map_err(failed)?;
        } else {
            rename_new(&self.folder, &self.target).map_err(|e| match e.kind() {
                std::io::ErrorKind::AlreadyExists => target_exists(&self.target),
                _ => failed(e),
            })?;
        }
        if let Some(parent) = self.target.parent().filter(|p| !p.as_os_str().is_empty()) {
            File::open(parent)
                .and_then(|f| f.sync_all())
                .map_err(|e| Error::io("cannot sync the target's folder", e))?;
        }
        self.lock = None;
        // What is now under the staging name is the old target, if there was one; dropping removes it.
        Ok(())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // A failure here leaves a hidden folder that the next run removes.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The target's folder and name.
fn split(target: &Path) -> Result<(PathBuf, String)> {
    let name = target.file_name().and_then(|n| n.to_str()).ok_or_else(|| {
        Error::usage(format!(
            "the target {:?} does not name a folder",
            target.display().to_string()
        ))
    })?;
    let parent = target
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    Ok((parent.to_path_buf(), name.to_string()))
}

fn remove_abandoned(parent: &Path, prefix: &str) -> Result<()> {
    let entries = fs::read_dir(parent).map_err(|e| Error::io(format!("cannot read {}", parent.display()), e))?;
    for entry in entries.flatten() {
        if !entry.file_name().to_str().is_some_and(|n| n.starts_with(prefix)) {
            continue;
        }
        // A folder without a lock file was about to be swapped in, or is an old target: nobody holds it any more.
        let abandoned = match File::open(entry.path().join(LOCK)) {
            Ok(lock) => lock.try_lock().is_ok(),
            Err(_) => !is_running(&entry.file_name().to_string_lossy(), prefix),
        };
        if abandoned {
            fs::remove_dir_all(entry.path()).map_err(|e| {
                Error::io(
                    format!("cannot remove what a killed run left in {}", parent.display()),
                    e,
                )
            })?;
        }
    }
    Ok(())
}

/// Whether the process whose number is in a stage's name still runs: it may be between unlocking and swapping.
fn is_running(name: &str, prefix: &str) -> bool {
    let pid = name[prefix.len()..].split('-').next().unwrap_or_default();
    pid != std::process::id().to_string() && Path::new("/proc").join(pid).exists()
}

fn sync_all(folder: &Path) -> Result<()> {
    let failed = |e: std::io::Error| Error::io("cannot sync the staged release", e);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            sync_all(&path)?;
        } else {
            File::open(&path).and_then(|f| f.sync_all()).map_err(failed)?;
        }
    }
    File::open(folder).and_then(|f| f.sync_all()).map_err(failed)
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

/// Without an atomic exchange the old target is moved aside first: a kill in between leaves it under a hidden name.
#[cfg(not(target_os = "linux"))]
fn exchange(a: &Path, b: &Path) -> std::io::Result<()> {
    let aside = a.with_extension("old");
    fs::rename(b, &aside)?;
    fs::rename(a, b)?;
    fs::rename(aside, a)
}

#[cfg(not(target_os = "linux"))]
fn rename_new(from: &Path, to: &Path) -> std::io::Result<()> {
    if to.exists() {
        return Err(std::io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(from, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_stage_appears_whole_or_not_at_all() {
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("release");
        let stage = Stage::open(&target).unwrap();
        fs::write(stage.folder().join("a"), "1").unwrap();
        assert!(!target.exists());
        drop(stage);
        assert_eq!(
            names(scratch.path()),
            Vec::<String>::new(),
            "a failed run leaves nothing"
        );

        let stage = Stage::open(&target).unwrap();
        fs::write(stage.folder().join("a"), "1").unwrap();
        stage.publish(false).unwrap();
        assert_eq!(
            (names(scratch.path()), names(&target)),
            (vec!["release".into()], vec!["a".into()])
        );

        let stage = Stage::open(&target).unwrap();
        fs::write(stage.folder().join("b"), "2").unwrap();
        let refused = stage.publish(false).unwrap_err();
        assert_eq!(refused.exit_code(), 5);
        assert_eq!(names(&target), ["a"]);

        let stage = Stage::open(&target).unwrap();
        fs::write(stage.folder().join("b"), "2").unwrap();
        stage.publish(true).unwrap();
        assert_eq!(
            (names(scratch.path()), names(&target)),
            (vec!["release".into()], vec!["b".into()])
        );
    }

    #[test]
    fn what_a_killed_run_left_is_removed_and_a_living_one_is_not() {
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("release");
        let alive = Stage::open(&target).unwrap();
        let dead = scratch.path().join(format!("{PREFIX}release-4294967295-0"));
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join(LOCK), "").unwrap();
        let other = scratch.path().join(format!("{PREFIX}another-4294967295-0"));
        fs::create_dir(&other).unwrap();
        let next = Stage::open(&target).unwrap();
        assert!(alive.folder().exists() && next.folder().exists() && other.exists() && !dead.exists());
    }
}
