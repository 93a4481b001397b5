//! An object that a statement writes in one request, such as a report.

use super::{Stores, listing_url};
use crate::base::error::{Error, Result};
use crate::base::location::check_written;
use crate::base::sealed::{is_sealed, not_ours};
use datafusion::execution::SessionState;
use datafusion::object_store::path::Path;
use datafusion::object_store::{self, ObjectStore, ObjectStoreExt, PutMode};
use std::fmt;
use std::sync::Arc;

/// An object that a statement writes in one request.
#[derive(Clone)]
pub(crate) struct SingleObject {
    store: Arc<dyn ObjectStore>,
    path: Path,
    url: String,
    /// The URL of the store, which ends in a slash.
    root: String,
}

impl fmt::Debug for SingleObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url)
    }
}

impl SingleObject {
    /// Opens the store of the object that an expanded URL names. Fails with `ErrorKind::Usage` for
    /// a pattern, and for a web server, because anonsql does not write to web servers.
    pub(crate) fn open(state: &SessionState, url: &str) -> Result<Self> {
        check_written(url)?;
        let place = listing_url(url)?;
        Ok(Self {
            store: Stores::open(state, place.get_url())?,
            path: place.prefix().clone(),
            url: url.into(),
            root: place.object_store().as_str().into(),
        })
    }

    /// Returns the URL as the statement writes it.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns true if the object is in `store` and its path begins with `path`.
    pub(crate) fn is_below(&self, store: &Arc<dyn ObjectStore>, path: &Path) -> bool {
        Arc::ptr_eq(&self.store, store) && self.path.prefix_matches(path)
    }

    /// Returns true if `is_it` returns true for at least one segment of the path: the name of a
    /// folder or of the object itself.
    pub(crate) fn has_folder(&self, is_it: impl Fn(&str) -> bool) -> bool {
        self.path.parts().any(|part| is_it(part.as_ref()))
    }

    /// Returns the URL of the object in the form that a listing of the store uses.
    pub(crate) fn listed(&self) -> String {
        format!("{}{}", self.root, self.path)
    }

    /// Fails if the store cannot be reached, so that the error is reported before the work begins.
    /// Read permission is not needed. If `overwrite` is false, also fails with
    /// `ErrorKind::TargetExists` if the existing object was not written by anonsql.
    pub(crate) async fn reach(&self, overwrite: bool) -> Result<()> {
        if !overwrite {
            return self.may_replace().await.map(drop);
        }
        match self.store.head(&self.path).await {
            Ok(_) | Err(object_store::Error::NotFound { .. } | object_store::Error::PermissionDenied { .. }) => Ok(()),
            Err(e) => Err(self.failed(&e)),
        }
    }

    /// Writes the object. Unless `overwrite` is true, fails with `ErrorKind::TargetExists` if the
    /// existing object was not written by anonsql.
    pub(crate) async fn put(&self, text: String, overwrite: bool) -> Result<()> {
        let replaces = overwrite || self.may_replace().await?;
        if !replaces {
            let created = self
                .store
                .put_opts(&self.path, text.clone().into(), PutMode::Create.into())
                .await;
            match created {
                Ok(_) => return Ok(()),
                Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => {
                    return Err(not_ours(&self.url));
                }
                // The store does not support conditional writes.
                Err(object_store::Error::NotImplemented { .. } | object_store::Error::NotSupported { .. }) => {}
                Err(e) => return Err(self.failed(&e)),
            }
        }
        let put = self.store.put(&self.path, text.into()).await;
        put.map(drop).map_err(|e| self.failed(&e))
    }

    /// Returns true if the object exists and anonsql wrote it. Returns false if there is no object,
    /// or if the object cannot be read. Fails with `ErrorKind::TargetExists` if the existing object
    /// was not written by anonsql.
    async fn may_replace(&self) -> Result<bool> {
        let content = match self.store.get(&self.path).await {
            Ok(found) => found.bytes().await,
            Err(e) => Err(e),
        };
        match content {
            Ok(content) if is_sealed(&content) => Ok(true),
            Ok(_) => Err(not_ours(&self.url)),
            Err(object_store::Error::NotFound { .. } | object_store::Error::PermissionDenied { .. }) => Ok(false),
            Err(e) => Err(self.failed(&e)),
        }
    }

    fn failed(&self, error: &object_store::Error) -> Error {
        Error::of_store(format_args!("cannot write {}", self.url), error)
    }
}
