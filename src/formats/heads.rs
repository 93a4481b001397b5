//! Looks up the files of a version of a table: they must exist with the sizes in its description.

use super::pinned::PinnedFile;
use crate::error::{Error, Result};
use datafusion::object_store::path::Path;
use datafusion::object_store::{self, ObjectStore, ObjectStoreExt};
use futures::{StreamExt, TryStreamExt, stream};
use std::path::PathBuf;
use std::sync::Arc;

/// The number of files whose state is looked up at the same time.
const AT_ONCE: usize = 16;

/// A file in the description of a version.
#[derive(Debug)]
pub(super) struct NamedFile {
    /// The name of the file in errors.
    pub(super) called: String,
    /// The path of a local file, or the URL of an object.
    pub(super) name: String,
    /// The path in the store.
    pub(super) path: Path,
    /// The path of a local file.
    pub(super) local: Option<PathBuf>,
    /// The size in bytes.
    pub(super) bytes: u64,
}

/// Returns the state of files, in their order. For errors, `version` is the name of the version,
/// and `gone` a reason why one of its files may be gone. Fails with `ErrorKind::Data` if a file is
/// gone, or has another size.
pub(super) async fn looked_up(
    store: &Arc<dyn ObjectStore>,
    files: Vec<NamedFile>,
    version: &str,
    gone: &str,
) -> Result<Vec<PinnedFile>> {
    let look = |file: NamedFile| async move {
        let NamedFile {
            called,
            name,
            path,
            local,
            bytes,
        } = file;
        let meta = match store.head(&path).await {
            Err(object_store::Error::NotFound { .. }) => {
                return Err(Error::data(format!(
                    "{version} names the file {called:?}, which is gone: {gone}"
                )));
            }
            found => found.map_err(|e| Error::of_store(format_args!("cannot read {name}"), &e))?,
        };
        if meta.size != bytes {
            return Err(Error::data(format!(
                "{version} says of the file {called:?} that it has {bytes} bytes, and it has {}; it was replaced or damaged",
                meta.size
            )));
        }
        Ok(PinnedFile { name, local, meta })
    };
    stream::iter(files).map(look).buffered(AT_ONCE).try_collect().await
}
