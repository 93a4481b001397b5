//! The working folder of an executor, which contains the files of its jobs.

use crate::base::error::{Error, Result};
use crate::data::folder::{create_private, hold};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use uuid::Uuid;

const PREFIX: &str = ".anonsql-executor-";

/// The working folder of an executor, locked for as long as this value exists.
pub(super) struct Work {
    path: PathBuf,
    _held: File,
}

impl Work {
    /// Creates and locks the working folder of an executor inside `parent`. Also removes the
    /// folders of killed executors from `parent`.
    pub(super) fn create(parent: &Path) -> Result<Self> {
        for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
            let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
            // A folder of another user cannot be locked, and is left in place.
            if let (true, Ok(Some(_held))) = (is_ours, hold(&entry.path())) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let failed = |path: &Path, e| Error::io(format!("cannot use {}", path.display()), e);
        loop {
            let path = parent.join(format!("{PREFIX}{}", Uuid::new_v4().simple()));
            create_private(&path).map_err(|e| failed(&path, e))?;
            // Another executor may have considered the new folder abandoned, and locked or removed
            // it.
            if let Some(held) = hold(&path).map_err(|e| failed(&path, e))? {
                return Ok(Self { path, _held: held });
            }
        }
    }

    /// Returns the path of the folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the folder.
    pub(super) fn remove(self) -> Result<()> {
        fs::remove_dir_all(&self.path).map_err(|e| Error::io(format!("cannot remove {}", self.path.display()), e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_executor_left_is_removed_and_no_more() {
        let scratch = tempfile::tempdir().unwrap();
        let names = || {
            let names = fs::read_dir(scratch.path()).unwrap();
            let mut names: Vec<_> = names.map(|entry| entry.unwrap().path()).collect();
            names.sort();
            names
        };
        let left = scratch.path().join(".anonsql-executor-50051");
        fs::create_dir_all(left.join("job/1")).unwrap();
        let other = scratch.path().join("other");
        fs::create_dir(&other).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&other, scratch.path().join(".anonsql-executor-link")).unwrap();
        let first = Work::create(scratch.path()).unwrap();
        let second = Work::create(scratch.path()).unwrap();
        assert!(!left.exists() && other.exists());
        assert!(first.path().exists() && second.path().exists());
        second.remove().unwrap();
        first.remove().unwrap();
        assert!(names().iter().all(|path| *path == other || path.is_symlink()));
    }
}
