//! Delta and DuckLake tables in queries: `FROM delta.'path'` and `FROM ducklake.'catalog#table'`.

use crate::base::error::Result;
use crate::data::formats::{At, Entry, FORMATS, PinnedTable};
use crate::data::source::{PinnedRows, reading};
use async_trait::async_trait;
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::dataframe::DataFrame;
use datafusion::error::Result as DfResult;
use datafusion::execution::SessionState;
use datafusion::prelude::SessionContext;
use parking_lot::RwLock;
use std::fmt;
use std::sync::{Arc, Weak};

/// Opens a version of the table `name` in a lake.
pub(super) async fn read_lake(session: &SessionContext, lake: &Entry, name: &str, at: &At) -> Result<DataFrame> {
    pinned(session, lake.open(&session.state(), name, at).await?)
}

/// Returns a data frame that scans one version of a table.
pub(super) fn pinned(session: &SessionContext, table: Arc<dyn PinnedTable>) -> Result<DataFrame> {
    let rows = PinnedRows::new(table, &session.state())?;
    Ok(session.read_table(Arc::new(rows))?)
}

/// Makes `delta.'path'` and `ducklake.'catalog#table'` usable as tables in queries, unless the
/// session has schemas of these names.
pub(in crate::language::session) fn enable_lakes(session: &SessionContext) {
    let state = session.state();
    let Some(catalog) = session.catalog(&state.config_options().catalog.default_catalog) else {
        return;
    };
    for lake in FORMATS {
        if catalog.schema(lake.word).is_none() {
            let session = session.state_weak_ref();
            // A caller's catalog may not accept new schemas. ANONYMIZE delta.'path' works even
            // then.
            let _ = catalog.register_schema(lake.word, Arc::new(Tables { lake, session }));
        }
    }
}

/// A schema that contains the tables of one kind of lake. The session owns the schema, so the
/// schema has only a weak reference to the session.
struct Tables {
    lake: &'static Entry,
    session: Weak<RwLock<SessionState>>,
}

impl fmt::Debug for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.lake)
    }
}

#[async_trait]
impl SchemaProvider for Tables {
    fn table_names(&self) -> Vec<String> {
        vec![]
    }

    async fn table(&self, name: &str) -> DfResult<Option<Arc<dyn TableProvider>>> {
        let Some(state) = self.session.upgrade() else {
            return Ok(None);
        };
        let session = SessionContext::new_with_state(state.read().clone());
        let (path, at) = At::of_name(name);
        let called = format!("{}.{path:?}", self.lake.word);
        let table = reading(&called, read_lake(&session, self.lake, path, &at)).await?;
        Ok(Some(table.into_view()))
    }

    fn table_exist(&self, _: &str) -> bool {
        false
    }
}
