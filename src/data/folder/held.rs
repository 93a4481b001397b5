//! Folders that a process locks. The lock ends with the process.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

/// Locks a folder. Returns `None` if another process holds the lock, the folder does not exist, or
/// the path now names another folder.
pub(crate) fn hold(folder: &Path) -> io::Result<Option<File>> {
    let file = match File::open(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(e)) => return Err(e),
        Ok(()) => (),
    }
    match fs::symlink_metadata(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        named => Ok(is_same(&named?, &file.metadata()?).then_some(file)),
    }
}

#[cfg(unix)]
fn is_same(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn is_same(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    a.file_type() == b.file_type()
}

/// Creates a folder for private contents, which only its owner can open.
pub(crate) fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
