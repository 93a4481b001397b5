//! The location of a table: a local folder, or a prefix of an object store.

use crate::base::error::{Error, Result};
use crate::base::location::{folder_url, is_url, resolved};
use crate::base::pool::blocking;
use crate::base::store::{Stores, listing_url};
use datafusion::execution::SessionState;
use datafusion::object_store::ObjectStore;
use datafusion::object_store::path::Path;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The location of a table.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) store: Arc<dyn ObjectStore>,
    /// The path of the table in its store.
    pub(crate) path: Path,
    /// The URL of the table, which ends in a slash.
    pub(crate) url: String,
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url)
    }
}

impl Place {
    /// Opens the store of the folder or prefix that an expanded path names.
    pub(crate) async fn of(state: &SessionState, path: &str) -> Result<Self> {
        let own = PathBuf::from(path);
        let url = match is_url(path) {
            true => format!("{}/", path.trim_end_matches('/')),
            false => folder_url(&blocking("looking at a path", move || resolved(&own)).await?),
        };
        let place = listing_url(&url)?;
        if url.starts_with("file:") && place.prefix().as_ref().contains('%') {
            return Err(Error::usage(format!(
                "{path:?}: other programs read a % in the path of a folder as the start of an escape sequence; choose \
                 a path without %"
            )));
        }
        Ok(Self {
            store: Stores::open(state, place.get_url())?,
            path: place.prefix().clone(),
            url,
        })
    }

    /// Returns the path of the local folder; `None` in an object store.
    pub(crate) fn local(&self) -> Option<PathBuf> {
        let is_local = self.url.starts_with("file:");
        is_local.then(|| PathBuf::from(format!("/{}", self.path)))
    }

    /// Returns the path of a local folder, or the URL of a prefix in an object store. Both end in a
    /// slash.
    pub(crate) fn name(&self) -> String {
        match self.local() {
            Some(folder) => format!("{}/", folder.display()),
            None => self.url.clone(),
        }
    }

    /// Returns the path in the store for a file name relative to the table. Fails with
    /// `ErrorKind::Data` if the name leads out of the table.
    pub(super) fn file(&self, name: &str) -> Result<Path> {
        let refused = || {
            Error::data(format!(
                "the table {} names a file outside its folder; copy the table, and read the copy",
                self.url
            ))
        };
        if is_url(name) || name.starts_with('/') {
            return Err(refused());
        }
        let inside = Path::parse(name).map_err(|_| refused())?;
        Ok(Path::from_iter(self.path.parts().chain(inside.parts())))
    }
}
