//! Memory reservations, and spill files for data that does not fit in the memory pool.
//!
//! Spill files contain codes of values, and never text. In sorted rows, a number serves as its own
//! code. The files have no name, and are removed when the process exits, even if it is killed.

use crate::base::error::{Error, ErrorKind, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};
use datafusion::execution::{DiskManager, TaskContext};
use parking_lot::Mutex;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder for a session's unnamed temporary files. It is stored in the session's configuration
/// because it cannot be derived from the files, which have no path.
#[derive(Debug)]
pub(crate) struct TemporaryFolder {
    /// The folder that contains the files.
    pub(crate) path: PathBuf,
    /// The disk manager that creates the files.
    pub(crate) disk: Arc<DiskManager>,
}

/// The memory pool for reservations, and the folder for spill files.
#[derive(Debug, Clone)]
pub struct SpillSpace {
    pool: Arc<dyn MemoryPool>,
    /// The folder for spill files; `None` if the session does not allow files.
    folder: Option<PathBuf>,
}

impl SpillSpace {
    /// Returns the spill space with the memory pool and the temporary folder of a task.
    pub fn of(context: &TaskContext) -> Self {
        let disk = &context.runtime_env().disk_manager;
        let remembered = context.session_config().get_extension::<TemporaryFolder>();
        let folder = || match remembered {
            Some(folder) => folder.path.clone(),
            None => disk
                .temp_dir_paths()
                .into_iter()
                .next()
                .unwrap_or_else(std::env::temp_dir),
        };
        Self {
            pool: Arc::clone(context.memory_pool()),
            folder: disk.tmp_files_enabled().then(folder),
        }
    }

    /// Returns true if spill files are allowed.
    pub fn has_files(&self) -> bool {
        self.folder.is_some()
    }

    /// Returns the memory pool.
    pub fn pool(&self) -> &Arc<dyn MemoryPool> {
        &self.pool
    }

    /// Returns the number of bytes that are not reserved; `None` if memory is not limited.
    pub(crate) fn left(&self) -> Option<usize> {
        match self.pool.memory_limit() {
            MemoryLimit::Finite(limit) => Some(limit.saturating_sub(self.pool.reserved())),
            _ => None,
        }
    }

    /// Creates an empty memory reservation with the name `name`.
    pub(crate) fn reservation(&self, name: &str) -> MemoryReservation {
        MemoryConsumer::new(name).register(&self.pool)
    }

    /// Creates an unnamed spill file. Fails with `ErrorKind::Resources` if files are not allowed;
    /// `doing` describes the work in the error message. Also fails if the file cannot be created.
    pub(crate) fn overflow(&self, doing: &str) -> Result<Overflow> {
        let folder = self.folder.as_ref().ok_or_else(|| {
            Error::new(
                ErrorKind::Resources,
                format!(
                    "the memory limit was reached while {doing}, and the session does not allow temporary files; raise \
                     the limit, or allow temporary files"
                ),
            )
        })?;
        Overflow::create(folder)
    }

    /// Creates an unnamed file for released rows that will be uploaded to an object store. Fails
    /// with `ErrorKind::Resources` if files are not allowed.
    pub(crate) fn unnamed(&self) -> Result<File> {
        let folder = self.folder.as_ref().ok_or_else(|| {
            Error::new(
                ErrorKind::Resources,
                "files for an object store are written to temporary files first, and the session does not allow them; \
                 allow temporary files",
            )
        })?;
        tempfile::tempfile_in(folder).map_err(|e| Error::io("cannot create a temporary file", e))
    }
}

#[cfg(test)]
impl SpillSpace {
    /// Creates a spill space with the memory of `pool`, without files.
    pub(crate) fn memory(pool: Arc<dyn MemoryPool>) -> Self {
        Self { pool, folder: None }
    }

    pub(crate) fn unlimited() -> Self {
        Self::limited(usize::MAX)
    }

    pub(crate) fn limited(bytes: usize) -> Self {
        Self {
            pool: Arc::new(datafusion::execution::memory_pool::GreedyMemoryPool::new(bytes)),
            folder: Some(std::env::temp_dir()),
        }
    }
}

/// An unnamed file that is written sequentially and read at any offset.
#[derive(Debug)]
pub(crate) struct Overflow {
    file: Mutex<File>,
}

impl Overflow {
    /// The number of rows that are collected before they are written.
    pub(crate) const ROWS: usize = 1 << 16;

    pub(crate) fn create(folder: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(folder).map_err(|e| Error::io("cannot create a temporary file", e))?;
        Ok(Self { file: Mutex::new(file) })
    }

    pub(crate) fn append(&self, bytes: &[u8]) -> Result<()> {
        let mut file = self.file.lock();
        let written = file.seek(SeekFrom::End(0)).and_then(|_| file.write_all(bytes));
        written.map_err(|e| Error::io("cannot write a temporary file", e))
    }

    pub(crate) fn read(&self) -> Result<Vec<u8>> {
        let (mut file, mut bytes) = (self.file.lock(), vec![]);
        file.seek(SeekFrom::Start(0)).map_err(unreadable)?;
        file.read_to_end(&mut bytes).map_err(unreadable)?;
        Ok(bytes)
    }

    /// Fills `bytes` with the content of the file, starting at `offset`.
    pub(crate) fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let mut file = self.file.lock();
        file.seek(SeekFrom::Start(offset)).map_err(unreadable)?;
        file.read_exact(bytes).map_err(unreadable)
    }

    /// Reads up to `most` bytes at `offset`. Returns an empty vector only at the end of the file.
    pub(crate) fn read_some(&self, offset: u64, most: usize) -> Result<Vec<u8>> {
        let (mut file, mut bytes) = (self.file.lock(), Vec::with_capacity(most));
        file.seek(SeekFrom::Start(offset)).map_err(unreadable)?;
        (&mut *file)
            .take(most as u64)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        Ok(bytes)
    }
}

fn unreadable(e: std::io::Error) -> Error {
    Error::io("cannot read a temporary file", e)
}
