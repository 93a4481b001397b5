//! Memory that is asked for, and files for what is not granted.
//!
//! The files hold ranks of values, never a value, and have no name: they are gone with the process, however it ends.

use crate::error::{Error, ErrorKind, Result};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use parking_lot::Mutex;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Where memory and files come from.
#[derive(Debug, Clone)]
pub struct Scratch {
    pool: Arc<dyn MemoryPool>,
    /// `None` where the session allows no files.
    folder: Option<PathBuf>,
}

impl Scratch {
    /// The memory and the temporary folder of a task.
    pub fn of(context: &TaskContext) -> Self {
        let disk = &context.runtime_env().disk_manager;
        let folder = || {
            disk.temp_dir_paths()
                .into_iter()
                .next()
                .unwrap_or_else(std::env::temp_dir)
        };
        Self {
            pool: Arc::clone(context.memory_pool()),
            folder: disk.tmp_files_enabled().then(folder),
        }
    }

    /// A reservation of nothing so far.
    pub fn reservation(&self) -> MemoryReservation {
        MemoryConsumer::new("anonsql permutation").register(&self.pool)
    }

    /// A file without a name.
    pub(super) fn overflow(&self) -> Result<Overflow> {
        let folder = self.folder.as_ref().ok_or_else(|| {
            Error::new(
                ErrorKind::Resources,
                "the memory limit is reached while values are put into random order, and the session allows no temporary \
                 files; raise the limit or allow them",
            )
        })?;
        let file = tempfile::tempfile_in(folder).map_err(|e| Error::io("cannot create a temporary file", e))?;
        Ok(Overflow { file: Mutex::new(file) })
    }
}

#[cfg(test)]
impl Scratch {
    pub(super) fn unlimited() -> Self {
        Self::limited(usize::MAX)
    }

    pub(super) fn limited(bytes: usize) -> Self {
        Self {
            pool: Arc::new(datafusion::execution::memory_pool::GreedyMemoryPool::new(bytes)),
            folder: Some(std::env::temp_dir()),
        }
    }
}

/// A file that is written once and read as a whole.
#[derive(Debug)]
pub(super) struct Overflow {
    file: Mutex<File>,
}

impl Overflow {
    /// Rows that are worth a write.
    pub(super) const ROWS: usize = 1 << 16;

    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let file = self.file.get_mut();
        file.write_all(bytes)
            .map_err(|e| Error::io("cannot write a temporary file", e))
    }

    pub(super) fn read(&self) -> Result<Vec<u8>> {
        let failed = |e| Error::io("cannot read a temporary file", e);
        let (mut file, mut bytes) = (self.file.lock(), vec![]);
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        file.read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }
}
