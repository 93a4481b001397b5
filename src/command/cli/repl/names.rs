//! The names of the objects in a session, for completion.

use super::sources::StatementSource;
use crate::language::session::{AnonContext, Registry};
use crate::language::sql::Expectation;
use arrow::datatypes::SchemaRef;
use datafusion::catalog::SchemaProvider;
use datafusion::common::TableReference;
use datafusion::error::Result;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::timeout;

/// The maximum time for which a completion waits for the columns of a source.
const PATIENCE: Duration = Duration::from_secs(1);

/// The names of the objects in a session.
pub struct Names {
    context: AnonContext,
    handle: Handle,
}

impl Names {
    /// Provides the names of the session `context`. Tables are looked up on the runtime of
    /// `handle`.
    pub fn new(context: AnonContext, handle: Handle) -> Self {
        Self { context, handle }
    }

    /// Returns the registry with the entries that statements can name.
    pub(super) fn registry(&self) -> Arc<Registry> {
        self.context.registry()
    }

    /// Returns the names of the session's hierarchies.
    pub(super) fn hierarchies(&self) -> Vec<String> {
        self.context.hierarchies()
    }

    /// Returns the names of the session's policies.
    pub(super) fn policies(&self) -> Vec<String> {
        self.context.policies()
    }

    pub(super) fn schema(&self) -> Option<Arc<dyn SchemaProvider>> {
        let session = self.context.session();
        let names = session.copied_config().options().catalog.clone();
        session.catalog(&names.default_catalog)?.schema(&names.default_schema)
    }

    /// Returns the names of the tables in the default schema, sorted.
    pub fn tables(&self) -> Vec<String> {
        let mut names = self.schema().map(|s| s.table_names()).unwrap_or_default();
        names.sort();
        names
    }

    /// Returns what the parser expects at the end of an unfinished text.
    pub(super) fn expected(&self, text: &str) -> Vec<Expectation> {
        self.context.expected(text)
    }

    /// Returns the names of all functions, sorted.
    pub(super) fn functions(&self) -> Vec<String> {
        let session = self.context.session();
        let state = session.state_ref();
        let state = state.read();
        let mut names: Vec<String> = state.scalar_functions().keys().cloned().collect();
        names.extend(state.aggregate_functions().keys().cloned());
        names.extend(state.window_functions().keys().cloned());
        names.sort();
        names
    }

    /// Returns the columns of a table or a path; empty if it does not exist, or if the lookup takes
    /// longer than [`PATIENCE`].
    pub(super) fn columns(&self, name: &str) -> Vec<String> {
        let session = self.context.session();
        let parsed = match name.contains(['/', '*']) || Path::new(name).exists() {
            true => TableReference::bare(name),
            false => TableReference::parse_str(name),
        };
        self.within_patience(session.table_provider(parsed), |table| table.schema())
    }

    /// Returns the columns of a source in a statement; empty in the same cases as
    /// [`Names::columns`].
    pub(super) fn columns_of(&self, source: &StatementSource) -> Vec<String> {
        match source {
            StatementSource::Named(name) => self.columns(name),
            StatementSource::Query(query) => {
                // The query is planned, but not executed.
                let planned = self.context.session().state();
                let plan = async move { planned.create_logical_plan(query).await };
                self.within_patience(plan, |plan| Arc::clone(plan.schema().inner()))
            }
        }
    }

    fn within_patience<T>(
        &self,
        found: impl Future<Output = Result<T>>,
        schema: impl Fn(T) -> SchemaRef,
    ) -> Vec<String> {
        match self.handle.block_on(async { timeout(PATIENCE, found).await }) {
            Ok(Ok(found)) => schema(found).fields().iter().map(|f| f.name().clone()).collect(),
            _ => vec![],
        }
    }
}
