//! Checks that the files of a table's version exist, and have the sizes that the description of the
//! version states.

use super::pinned::PinnedFile;
use crate::base::error::{Error, Result};
use datafusion::object_store::path::Path;
use datafusion::object_store::{self, ObjectStore, ObjectStoreExt};
use futures::{StreamExt, TryStreamExt, stream};
use std::path::PathBuf;
use std::sync::Arc;

/// The maximum number of files that are checked at the same time.
const AT_ONCE: usize = 16;

/// A file that the description of a table's version names.
#[derive(Debug)]
pub(super) struct NamedFile {
    /// The name of the file in error messages, as it is written in the description.
    pub(super) called: String,
    /// The path of a local file, or the URL of an object.
    pub(super) name: String,
    /// The path of the file in its store.
    pub(super) path: Path,
    /// The local path of the file; `None` in an object store.
    pub(super) local: Option<PathBuf>,
    /// The size of the file in bytes.
    pub(super) bytes: u64,
}

/// Returns the current metadata of `files`, in the same order. Fails with `ErrorKind::Data` if a
/// file does not exist or has another size. In errors, `version` is the name of the version, and
/// `gone` is a possible reason for a missing file.
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
                    "{version} names the file {called:?}, which is missing: {gone}"
                )));
            }
            found => found.map_err(|e| Error::of_store(format_args!("cannot read {name}"), &e))?,
        };
        if meta.size != bytes {
            return Err(Error::data(format!(
                "{version} lists the file {called:?} with {bytes} bytes, but it has {}; it was replaced or damaged",
                meta.size
            )));
        }
        Ok(PinnedFile { name, local, meta })
    };
    stream::iter(files).map(look).buffered(AT_ONCE).try_collect().await
}
