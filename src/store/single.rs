//! One object that a statement writes whole, such as a report.

use super::{Stores, listing_url};
use crate::error::{Error, Result};
use crate::location::check_written;
use datafusion::execution::SessionState;
use datafusion::object_store::path::Path;
use datafusion::object_store::{self, ObjectStore, ObjectStoreExt};
use std::fmt;
use std::sync::Arc;

/// An object that a statement writes whole.
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
    /// Opens the place of an object that an expanded URL names. Fails with `ErrorKind::Usage` for a pattern, and for a web
    /// server, which nothing is written to.
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

    /// Returns the URL as it was written.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns true if the object is below a path of this store.
    pub(crate) fn is_below(&self, store: &Arc<dyn ObjectStore>, path: &Path) -> bool {
        Arc::ptr_eq(&self.store, store) && self.path.prefix_matches(path)
    }

    /// Returns true if a folder with this name, or with this beginning of a name, is in the path.
    pub(crate) fn has_folder(&self, is_it: impl Fn(&str) -> bool) -> bool {
        self.path.parts().any(|part| is_it(part.as_ref()))
    }

    /// Returns the URL of the object as a listing spells it.
    pub(crate) fn listed(&self) -> String {
        format!("{}{}", self.root, self.path)
    }

    /// Fails if the store cannot be reached, so that it is known before there is something to write. Who may write there
    /// need not be allowed to read.
    pub(crate) async fn reach(&self) -> Result<()> {
        match self.store.head(&self.path).await {
            Ok(_) | Err(object_store::Error::NotFound { .. } | object_store::Error::PermissionDenied { .. }) => Ok(()),
            Err(e) => Err(Error::of_store(format_args!("cannot write {}", self.url), &e)),
        }
    }

    /// Writes the object, and replaces one that is there.
    pub(crate) async fn put(&self, text: String) -> Result<()> {
        let put = self.store.put(&self.path, text.into()).await;
        put.map(drop)
            .map_err(|e| Error::of_store(format_args!("cannot write {}", self.url), &e))
    }
}
