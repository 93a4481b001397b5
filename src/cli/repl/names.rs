//! The names of a session, for completion.

use crate::session::{AnonContext, Registry};
use datafusion::catalog::SchemaProvider;
use std::sync::Arc;
use tokio::runtime::Handle;

/// The names of a session.
pub struct Names {
    context: AnonContext,
    handle: Handle,
}

impl Names {
    /// Creates the names of `context`; tables are looked up on the runtime of `handle`.
    pub fn new(context: AnonContext, handle: Handle) -> Self {
        Self { context, handle }
    }

    /// Returns the registry of everything that statements can name.
    pub(super) fn registry(&self) -> Arc<Registry> {
        self.context.registry()
    }

    /// Returns the names of the session's hierarchies.
    pub(super) fn hierarchies(&self) -> Vec<String> {
        self.context.hierarchies()
    }

    pub(super) fn schema(&self) -> Option<Arc<dyn SchemaProvider>> {
        let session = self.context.session();
        let names = session.copied_config().options().catalog.clone();
        session.catalog(&names.default_catalog)?.schema(&names.default_schema)
    }

    /// Returns the tables of the default schema, sorted.
    pub fn tables(&self) -> Vec<String> {
        let mut names = self.schema().map(|s| s.table_names()).unwrap_or_default();
        names.sort();
        names
    }

    /// Returns the columns of a table; empty if there is no such table.
    pub(super) fn columns(&self, table: &str) -> Vec<String> {
        let Some(schema) = self.schema().filter(|s| s.table_exist(table)) else {
            return vec![];
        };
        match self.handle.block_on(schema.table(table)) {
            Ok(Some(table)) => table.schema().fields().iter().map(|f| f.name().clone()).collect(),
            _ => vec![],
        }
    }
}
