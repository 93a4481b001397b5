//! Makes a quoted path usable as a table name: `SELECT * FROM 'lake/patients_k5/'`.
//!
//! DataFusion's own path tables take the format of the first file of a folder, which in a release may be the manifest.

use super::listing::NO_FILE;
use super::read::read_path;
use crate::source::reading;
use crate::sql::path_options::divided;
use crate::store::{Stores, is_pattern};
use async_trait::async_trait;
use datafusion::catalog::{DynamicFileCatalog, TableProvider, UrlTableFactory};
use datafusion::error::Result;
use datafusion::prelude::SessionContext;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The same session, in which a file, folder, glob or URL in quotes is a table.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> anonsql::error::Result<()> {
/// use anonsql::{AnonContext, enable_path_tables};
/// use datafusion::prelude::SessionContext;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let file = folder.path().join("people.csv");
/// # std::fs::write(&file, "age\n31\n34\n").unwrap();
/// # let file = file.display();
/// let anon = AnonContext::new(enable_path_tables(SessionContext::new()));
/// let rows = anon.sql(&format!("SELECT * FROM '{file}'")).await?;
/// assert_eq!(rows[0].num_rows(), 2);
/// # Ok(())
/// # }
/// ```
pub fn enable_path_tables(session: SessionContext) -> SessionContext {
    Stores::set(session.state_ref().write().config_mut());
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
        let (path, options) = divided(path)?.unwrap_or_else(|| (path.to_string(), vec![]));
        let path = path.as_str();
        // A plain word names a table that does not exist; DataFusion reports that error.
        let is_word = !path.contains(['/', '.']) && !is_pattern(path);
        if is_word && !Path::new(path).exists() {
            return Ok(None);
        }
        let read = async { Ok(read_path(&self.0, path, &options).await) };
        match reading(&format!("{path:?}"), read).await? {
            // A folder of something else, such as reports, leaves its name to a table.
            Err(e) if is_word && e.message().ends_with(NO_FILE) => Ok(None),
            rows => Ok(Some(rows?.into_view())),
        }
    }
}
