//! Opens DuckLake tables for statements.

use super::address::Address;
use super::table::TableSnapshot;
use crate::base::error::Result;
use crate::data::formats::at::At;
use crate::data::formats::entry::TableFormat;
use crate::data::formats::pinned::PinnedTable;
use async_trait::async_trait;
use datafusion::execution::SessionState;
use std::sync::Arc;

/// The DuckLake format.
pub(super) struct DuckLake;

#[async_trait]
impl TableFormat for DuckLake {
    async fn open(&self, state: &SessionState, name: &str, at: &At) -> Result<Arc<dyn PinnedTable>> {
        Ok(Arc::new(TableSnapshot::open(state, Address::of(name)?, at).await?))
    }
}
