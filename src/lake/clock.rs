//! The clock of a store. What is old is told by it alone: that of this machine may be an hour off.

use super::names::OWN;
use super::prefix::Prefix;
use crate::error::Result;
use chrono::{DateTime, Utc};
use datafusion::object_store::ObjectStoreExt;

impl Prefix {
    /// Returns what the clock of the store says: when an object was put that is put and deleted for
    /// it.
    pub(super) async fn clock(&self) -> Result<DateTime<Utc>> {
        let path = self.inside(&format!("{OWN}/clock-{:032x}", rand::random::<u128>()));
        let put = self.store().put(&path, Vec::new().into()).await;
        put.map_err(|e| self.failed("cannot write to", &e))?;
        let found = self.store().head(&path).await;
        // An empty object that stays is in nobody's way.
        let _ = self.store().delete(&path).await;
        let found = found.map_err(|e| self.failed("cannot read", &e))?;
        Ok(found.last_modified)
    }
}
