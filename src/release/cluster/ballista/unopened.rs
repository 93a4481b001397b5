//! The object stores of a scheduler. A scheduler decodes plans whose scans look up object stores,
//! but it never opens a file.

use datafusion::error::Result;
use datafusion::execution::object_store::ObjectStoreRegistry;
use datafusion::object_store::ObjectStore;
use datafusion::object_store::memory::InMemory;
use std::sync::Arc;
use url::Url;

/// A registry that returns the same empty store for every URL, so that a scheduler needs no
/// credentials.
#[derive(Debug, Default)]
pub(super) struct Unopened(Arc<InMemory>);

impl ObjectStoreRegistry for Unopened {
    fn register_store(&self, _: &Url, _: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        None
    }

    fn get_store(&self, _: &Url) -> Result<Arc<dyn ObjectStore>> {
        Ok(Arc::clone(&self.0) as _)
    }
}
