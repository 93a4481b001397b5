//! Puts the files of a growing release into the stage of its next batch.

use super::Stage;
use crate::base::error::{Error, Result};
use crate::data::folder::FileSummary;
use std::fs;
use std::io;
use std::path::PathBuf;

/// The folders of a stage and its target, for use on a blocking thread.
pub(crate) struct TakingOver {
    target: PathBuf,
    folder: PathBuf,
}

impl Stage {
    /// Returns the folders of the stage and its target, for taking over files.
    pub(crate) fn taking_over(&self) -> TakingOver {
        TakingOver {
            target: self.target.clone(),
            folder: self.folder.clone(),
        }
    }
}

impl TakingOver {
    /// Puts the files of the target's release into the stage, beside the stage's own files. Fails
    /// with `ErrorKind::Data` if a file does not have the size that the release's manifest states.
    pub(crate) fn take_over(&self, files: &[FileSummary]) -> Result<()> {
        for file in files {
            let (from, to) = (self.target.join(&file.name), self.folder.join(&file.name));
            let failed = |e| Error::io(format!("cannot take over {}", from.display()), e);
            let found = fs::symlink_metadata(&from).map_err(failed)?;
            if !found.is_file() || found.len() != file.bytes {
                return Err(Error::data(format!(
                    "{} is not the file that the manifest of its release describes; VERIFY the release, \
                     and release its rows anew",
                    from.display()
                )));
            }
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent).map_err(failed)?;
            }
            // A hard link needs no copy, but not every file system supports hard links.
            match fs::hard_link(&from, &to) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Err(failed(e)),
                Err(_) => drop(fs::copy(&from, &to).map_err(failed)?),
                Ok(()) => (),
            }
        }
        Ok(())
    }
}
