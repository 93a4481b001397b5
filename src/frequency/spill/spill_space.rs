//! Memory reservations, and spill files for data that the memory pool refuses.
//!
//! The files hold codes of values, never a value, and have no name: they are gone with the process, however it ends.

use crate::error::{Error, ErrorKind, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};
use datafusion::execution::{DiskManager, TaskContext};
use parking_lot::Mutex;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the settings of a session remember of its temporary files where those have no name, so that no path tells it.
#[derive(Debug)]
pub(crate) struct TemporaryFolder {
    /// The folder that they are in.
    pub(crate) path: PathBuf,
    /// What makes them.
    pub(crate) disk: Arc<DiskManager>,
}

/// Where memory reservations and spill files come from.
#[derive(Debug, Clone)]
pub struct SpillSpace {
    pool: Arc<dyn MemoryPool>,
    /// `None` where the session allows no files.
    folder: Option<PathBuf>,
}

impl SpillSpace {
    /// The memory and the temporary folder of a task.
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

    /// Memory of `pool`, and no files.
    pub fn memory(pool: Arc<dyn MemoryPool>) -> Self {
        Self { pool, folder: None }
    }

    /// The same memory, and no files.
    pub fn without_files(&self) -> Self {
        Self::memory(Arc::clone(&self.pool))
    }

    /// Whether there may be files.
    pub fn has_files(&self) -> bool {
        self.folder.is_some()
    }

    /// The memory.
    pub fn pool(&self) -> &Arc<dyn MemoryPool> {
        &self.pool
    }

    /// What of the memory nothing has reserved; `None` where it is not limited.
    pub(crate) fn left(&self) -> Option<usize> {
        match self.pool.memory_limit() {
            MemoryLimit::Finite(limit) => Some(limit.saturating_sub(self.pool.reserved())),
            _ => None,
        }
    }

    /// A reservation of nothing so far, for what `name` says.
    pub(crate) fn reservation(&self, name: &str) -> MemoryReservation {
        MemoryConsumer::new(name).register(&self.pool)
    }

    /// A file without a name, for what did not fit while `doing` was done.
    pub(crate) fn overflow(&self, doing: &str) -> Result<Overflow> {
        let folder = self.folder.as_ref().ok_or_else(|| {
            Error::new(
                ErrorKind::Resources,
                format!(
                    "the memory limit is reached while {doing}, and the session allows no temporary files; raise the \
                     limit or allow them"
                ),
            )
        })?;
        Overflow::create(folder)
    }
}

#[cfg(test)]
impl SpillSpace {
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

/// A file without a name that is written from its beginning to its end, and read.
#[derive(Debug)]
pub(crate) struct Overflow {
    file: Mutex<File>,
}

impl Overflow {
    /// Rows that are worth a write.
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

    /// Fills `bytes` with what is at `offset`.
    pub(crate) fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let mut file = self.file.lock();
        file.seek(SeekFrom::Start(offset)).map_err(unreadable)?;
        file.read_exact(bytes).map_err(unreadable)
    }

    /// What is at `offset`: at most so many bytes, and none only at the end.
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
