//! The clock of an object store. All ages are measured by this clock, because the clock of this
//! machine may be wrong.

use super::names::OWN;
use super::prefix::Prefix;
use crate::base::error::Result;
use chrono::{DateTime, Utc};
use datafusion::object_store::ObjectStoreExt;

impl Prefix {
    /// Returns the current time by the clock of the store: the modification time of an object that
    /// is written for this purpose and then deleted.
    pub(super) async fn clock(&self) -> Result<DateTime<Utc>> {
        let path = self.inside(&format!("{OWN}/clock-{:032x}", rand::random::<u128>()));
        let put = self.store().put(&path, Vec::new().into()).await;
        put.map_err(|e| self.failed("cannot write to", &e))?;
        let found = self.store().head(&path).await;
        // It does no harm if the empty object cannot be deleted.
        let _ = self.store().delete(&path).await;
        let found = found.map_err(|e| self.failed("cannot read", &e))?;
        Ok(found.last_modified)
    }
}
