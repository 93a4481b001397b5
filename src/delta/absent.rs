//! What a build without the feature `delta` does: it finds a table, and refuses it.

use super::at::At;
use super::change::{Change, Verdict};
use super::place::Place;
use crate::error::{Error, Result};
use datafusion::catalog::TableProvider;
use datafusion::execution::SessionState;
use datafusion::object_store::ObjectMeta;
use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

/// A version of a Delta table, of which this build has none.
#[derive(Debug, Clone)]
pub(crate) enum Table {}

/// Fails with `ErrorKind::Usage`: this build reads and writes no Delta tables.
pub(crate) fn check_built(what: &str) -> Result<()> {
    Err(Error::usage(format!(
        "{what}: this build of anonsql neither reads nor writes Delta tables; use a release of it, or build it with \
         --features delta"
    )))
}

impl Table {
    /// Returns `None` if there is no table. Fails with `ErrorKind::Usage` if there is one.
    pub(crate) async fn find(place: &Place, _: &At) -> Result<Option<Self>> {
        match place.has_log().await? {
            true => check_built(&format!("{} is a Delta table", place.url)).map(|()| None),
            false => Ok(None),
        }
    }

    pub(crate) fn place(&self) -> &Place {
        match *self {}
    }

    pub(crate) fn version(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn properties(&self) -> &HashMap<String, String> {
        match *self {}
    }

    pub(crate) fn partition_columns(&self) -> &[String] {
        match *self {}
    }

    pub(crate) fn data_files(&self) -> &[(String, u64)] {
        match *self {}
    }

    pub(crate) fn deletes_rows(&self) -> bool {
        match *self {}
    }

    pub(crate) async fn listed(&self) -> Result<Vec<(String, Option<PathBuf>, ObjectMeta)>> {
        match *self {}
    }

    pub(crate) async fn manifest_in_log(&self, _: &str) -> Result<Option<String>> {
        match *self {}
    }

    pub(crate) fn rows(&self, _: &SessionState) -> Result<Arc<dyn TableProvider>> {
        match *self {}
    }
}

/// Is never called, because nothing is written to a Delta table.
pub(crate) async fn commit(_: &Place, _: Option<&Table>, _: Change) -> Verdict {
    Verdict::Failed(Error::internal("a commit without the feature delta"))
}

/// Is never called, because nothing is written to a Delta table.
pub(crate) fn statistics(_: &File) -> Result<String> {
    Err(Error::internal("statistics without the feature delta"))
}
