//! What a build without the feature `ducklake` does: it refuses a table.

use super::address::Address;
use crate::delta::At;
use crate::error::{Error, Result};
use datafusion::catalog::TableProvider;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionState;
use datafusion::object_store::ObjectMeta;
use std::path::PathBuf;
use std::sync::Arc;

/// A snapshot of a DuckLake table, of which this build has none.
#[derive(Debug, Clone)]
pub(crate) enum Table {}

impl Table {
    /// Fails with `ErrorKind::Usage`: this build reads no DuckLake tables.
    pub(crate) async fn open(_: &SessionState, address: Address, _: &At) -> Result<Self> {
        Err(Error::usage(format!(
            "ducklake.{:?}: this build of anonsql reads no DuckLake tables; use a release of it, or build it with --features \
             ducklake",
            address.to_string()
        )))
    }

    pub(crate) fn name(&self) -> String {
        match *self {}
    }

    pub(crate) fn version(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn bytes(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn inlined(&self) -> Option<&str> {
        match *self {}
    }

    pub(crate) fn has_file(&self, _: &str) -> bool {
        match *self {}
    }

    pub(crate) async fn listed(&self) -> Result<Vec<(String, Option<PathBuf>, ObjectMeta)>> {
        match *self {}
    }

    pub(crate) fn rows(&self) -> Arc<dyn TableProvider> {
        match *self {}
    }
}

/// Returns the error of a scan, which there is none of.
pub(crate) fn failed_scan(_: &str, error: DataFusionError) -> Error {
    Error::from_data(error)
}
