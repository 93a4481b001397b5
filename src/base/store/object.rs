//! Reads small objects, such as manifests, hierarchies and leases, into memory.

use crate::base::error::{Error, Result};
use datafusion::object_store::path::Path;
use datafusion::object_store::{self, ObjectMeta, ObjectStore, ObjectStoreExt};
use futures::TryStreamExt;

/// A small object. Its metadata distinguishes it from later objects with the same name.
#[derive(Debug, Clone)]
pub(crate) struct FoundObject {
    /// The whole content of the object.
    pub(crate) bytes: Vec<u8>,
    /// The size, the e_tag and the version of the object.
    pub(crate) meta: ObjectMeta,
}

/// Reads a whole object. Returns `None` if the object does not exist. Fails with `ErrorKind::Data`
/// if the object has more than `most` bytes. Error messages begin with `what`.
pub(crate) async fn read_small(
    store: &dyn ObjectStore,
    path: &Path,
    most: u64,
    what: &str,
) -> Result<Option<FoundObject>> {
    let failed = |e: object_store::Error| Error::of_store(what, &e);
    let got = match store.get(path).await {
        Err(object_store::Error::NotFound { .. }) => return Ok(None),
        got => got.map_err(failed)?,
    };
    let meta = got.meta.clone();
    let mut chunks = got.into_stream();
    let mut bytes = vec![];
    while let Some(chunk) = chunks.try_next().await.map_err(failed)? {
        if (bytes.len() + chunk.len()) as u64 > most {
            return Err(Error::data(format!("{what}: it has more than {} MB", most >> 20)));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Some(FoundObject { bytes, meta }))
}
