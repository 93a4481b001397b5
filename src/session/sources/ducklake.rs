//! DuckLake tables as sources: `ducklake.'catalog#table'`.

use crate::delta::At;
use crate::ducklake::{Address, Table};
use crate::error::Result;
use crate::source::DuckLakeRows;
use datafusion::dataframe::DataFrame;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// Reads a snapshot of the DuckLake table that is called so. Fails with `ErrorKind::Usage` if there is none.
pub(super) async fn read_ducklake(session: &SessionContext, name: &str, at: &At) -> Result<DataFrame> {
    let table = Table::open(&session.state(), Address::of(name)?, at).await?;
    Ok(session.read_table(Arc::new(DuckLakeRows::new(table)))?)
}
