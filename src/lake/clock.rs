//! The clock of a store. Ages are measured by this clock alone, because the clock of this machine
//! may be an hour off.

use super::names::OWN;
use super::prefix::Prefix;
use crate::error::Result;
use chrono::{DateTime, Utc};
use datafusion::object_store::ObjectStoreExt;

impl Prefix {
    /// Returns the time by the clock of the store: the time of an object that is put for this
    /// purpose, and then deleted.
    pub(super) async fn clock(&self) -> Result<DateTime<Utc>> {
        let path = self.inside(&format!("{OWN}/clock-{:032x}", rand::random::<u128>()));
        let put = self.store().put(&path, Vec::new().into()).await;
        put.map_err(|e| self.failed("cannot write to", &e))?;
        let found = self.store().head(&path).await;
        // An empty object that is left behind does no harm.
        let _ = self.store().delete(&path).await;
        let found = found.map_err(|e| self.failed("cannot read", &e))?;
        Ok(found.last_modified)
    }
}
