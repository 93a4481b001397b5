//! The marker of a table: the file or folder by which the folder of a table is recognized.

use super::place::Place;
use crate::base::error::{Error, Result};
use datafusion::object_store::{self, ObjectStoreExt};
use futures::TryStreamExt;
use std::path::Path;

/// The file or folder by which the folder of a table is recognized.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marker {
    /// The name inside the folder of the table.
    pub(super) name: &'static str,
    /// True if the marker is a folder, false if it is a file.
    pub(super) is_folder: bool,
}

impl Marker {
    /// Returns true if `place` contains the marker, and therefore a table. A folder is a marker
    /// only if it contains a file.
    pub(super) async fn is_at(&self, place: &Place) -> Result<bool> {
        let path = place.path.clone().join(self.name);
        let found = match self.is_folder {
            true => place
                .store
                .list(Some(&path))
                .try_next()
                .await
                .map(|first| first.is_some()),
            false => match place.store.head(&path).await {
                Err(object_store::Error::NotFound { .. }) => Ok(false),
                found => found.map(|_| true),
            },
        };
        found.map_err(|e| Error::of_store(format_args!("cannot list {}", place.url), &e))
    }

    /// Returns true if a local folder contains the marker, and therefore may be a table. The marker
    /// may be an empty folder.
    pub(super) fn may_be_in(&self, folder: &Path) -> bool {
        let path = folder.join(self.name);
        match self.is_folder {
            true => path.is_dir(),
            false => path.is_file(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::prelude::SessionContext;
    use std::fs;

    #[tokio::test]
    async fn a_marker_is_a_file_or_a_folder_with_files() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path();
        let place = Place::of(&SessionContext::new().state(), folder.to_str().unwrap()).await;
        let place = place.unwrap();
        let marker = |is_folder| Marker {
            name: "_log",
            is_folder,
        };
        for is_folder in [true, false] {
            assert!(!marker(is_folder).is_at(&place).await.unwrap());
            assert!(!marker(is_folder).may_be_in(folder));
        }
        fs::write(folder.join("_log"), "a").unwrap();
        assert!(marker(false).is_at(&place).await.unwrap() && marker(false).may_be_in(folder));
        assert!(!marker(true).may_be_in(folder));
        fs::remove_file(folder.join("_log")).unwrap();
        fs::create_dir(folder.join("_log")).unwrap();
        assert!(!marker(true).is_at(&place).await.unwrap() && marker(true).may_be_in(folder));
        fs::write(folder.join("_log/a"), "a").unwrap();
        assert!(marker(true).is_at(&place).await.unwrap() && marker(true).may_be_in(folder));
        assert!(!marker(false).is_at(&place).await.unwrap() && !marker(false).may_be_in(folder));
    }
}
