//! Makes a quoted path usable as a table name: `SELECT * FROM 'lake/patients_k5/'`.
//!
//! DataFusion has such a feature, but determines the format from the first file in a folder. In the
//! folder of a release, this file may be the manifest.

use super::read::read_path;
use crate::base::store::Stores;
use crate::data::source::reading;
use crate::language::sql::path_options::divided;
use crate::language::sql::paths::is_word;
use async_trait::async_trait;
use datafusion::catalog::{DynamicFileCatalog, TableProvider, UrlTableFactory};
use datafusion::error::Result;
use datafusion::execution::SessionState;
use datafusion::prelude::SessionContext;
use parking_lot::RwLock;
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

/// Returns the same session, extended so that a quoted file, folder, glob or URL is a table.
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
    let factory = Arc::new(PathTables(OnceLock::new()));
    let catalogs = Arc::clone(session.state().catalog_list());
    let id = session.session_id();
    let builder = session.into_state_builder().with_session_id(id);
    let urls = Arc::clone(&factory);
    let state = builder.with_catalog_list(Arc::new(DynamicFileCatalog::new(catalogs, urls)));
    let session = SessionContext::from(state.build());
    factory.0.get_or_init(|| session.state_weak_ref());
    session
}

/// A factory of tables for paths. It needs the current settings of the session. Its reference to
/// the session is weak, because the session owns the factory.
struct PathTables(OnceLock<Weak<RwLock<SessionState>>>);

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
        // A name without a slash, a dot or a wildcard is not a path. DataFusion then reports that
        // the table does not exist.
        if is_word(path) {
            return Ok(None);
        }
        let Some(state) = self.0.get().and_then(Weak::upgrade) else {
            return Ok(None);
        };
        let session = SessionContext::new_with_state(state.read().clone());
        let read = async { Ok(read_path(&session, path, &options).await) };
        let rows = reading(&format!("{path:?}"), read).await??;
        Ok(Some(rows.into_view()))
    }
}
