//! Makes a quoted path usable as a table name: `SELECT * FROM 'lake/patients_k5/'`.
//!
//! DataFusion's own path tables take the format of the first file of a folder, which in a release may be the manifest.

use super::source::read_path;
use async_trait::async_trait;
use datafusion::catalog::{DynamicFileCatalog, TableProvider, UrlTableFactory};
use datafusion::error::Result;
use datafusion::prelude::SessionContext;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The same session, in which a file, folder, glob or URL in quotes is a table.
pub fn enable_path_tables(session: SessionContext) -> SessionContext {
    let factory = Arc::new(PathTables(session.clone()));
    let catalogs = Arc::clone(session.state().catalog_list());
    let id = session.session_id();
    let builder = session.into_state_builder().with_session_id(id);
    let state = builder.with_catalog_list(Arc::new(DynamicFileCatalog::new(catalogs, factory)));
    SessionContext::from(state.build())
}

struct PathTables(SessionContext);

impl fmt::Debug for PathTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PathTables")
    }
}

#[async_trait]
impl UrlTableFactory for PathTables {
    async fn try_new(&self, path: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        // A plain word names a table that does not exist; DataFusion reports that error.
        if !path.contains(['/', '.', '*']) && !Path::new(path).exists() {
            return Ok(None);
        }
        Ok(Some(read_path(&self.0, path).await?.into_view()))
    }
}
