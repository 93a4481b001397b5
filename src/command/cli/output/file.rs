//! The file of `-o`, which is moved into place when it contains all results.

use crate::base::error::{Error, Result};
use crate::base::location::resolved;
use crate::release::staging::Stage;
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::sync::Arc;

/// A file in which results are collected before it is moved into place.
pub struct OutputFile {
    file: Arc<File>,
    /// The hidden file that is used until the results are complete; `None` for a device, which is
    /// written to directly.
    stage: Option<Stage>,
}

impl OutputFile {
    /// Prepares the output file for `path`. An existing file remains until [`OutputFile::publish`]
    /// is called.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |e| Error::io(format!("--output {}", path.display()), e);
        let is_device = std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
        if is_device {
            let file = OpenOptions::new().write(true).open(path).map_err(failed)?;
            return Ok(Self {
                file: Arc::new(file),
                stage: None,
            });
        }
        let folder = path.parent().filter(|f| *f != Path::new("") && !f.is_dir());
        if let Some(folder) = folder {
            return Err(Error::usage(format!(
                "--output: there is no folder {}",
                folder.display()
            )));
        }
        if path.is_dir() {
            return Err(Error::usage(format!("--output: {} is a folder", path.display())));
        }
        let stage = Stage::open(&resolved(path)?)?;
        let file = File::create(stage.output()).map_err(failed)?;
        Ok(Self {
            file: Arc::new(file),
            stage: Some(stage),
        })
    }

    /// Returns the file in which results are collected.
    pub fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Moves the file into place.
    pub fn publish(self) -> Result<()> {
        self.stage.map_or(Ok(()), |stage| stage.publish_output(true))
    }
}
