//! Delta tables as sources: `delta.'path'`, and a path at which there is one.

use super::format::Format;
use crate::delta::{At, LOG, Place, Table, check_built};
use crate::error::{Error, Result};
use crate::lake::Release;
use crate::location::{expanded, is_of_web, is_url};
use crate::pool::blocking;
use crate::source::DeltaRows;
use crate::store::is_pattern;
use datafusion::dataframe::DataFrame;
use datafusion::execution::SessionState;
use datafusion::prelude::SessionContext;
use std::path::Path;
use std::sync::Arc;

/// Reads a version of the Delta table at a path. Fails with `ErrorKind::Usage` if there is none.
pub(super) async fn read_delta(session: &SessionContext, path: &str, at: &At) -> Result<DataFrame> {
    check_built(&format!("delta.{path:?}"))?;
    let state = session.state();
    let table = Table::find(&place(&state, path).await?, at).await?;
    let table = table.ok_or_else(|| {
        Error::usage(format!(
            "delta.{path:?}: there is no Delta table, which has a folder {LOG}; a file or a folder of files stands without delta."
        ))
    })?;
    rows(session, table)
}

/// Returns the rows of a version as a table of the session.
pub(super) fn rows(session: &SessionContext, table: Table) -> Result<DataFrame> {
    let rows = DeltaRows::new(table, &session.state())?;
    Ok(session.read_table(Arc::new(rows))?)
}

/// Returns the place of a path as it is written.
async fn place(state: &SessionState, path: &str) -> Result<Place> {
    let whole = expanded(path)?.into_owned();
    if is_of_web(&whole) {
        return Err(Error::usage(format!(
            "delta.{path:?}: a web server has no list of the files of a table; copy the table to a folder or a store"
        )));
    }
    Place::of(state, &whole).await
}

/// Returns the place at an expanded path if there may be a Delta table: a folder with a log, or a prefix that is neither a
/// file nor a pattern.
pub(super) async fn place_with_log(state: &SessionState, path: &str) -> Result<Option<Place>> {
    if !is_url(path) {
        let log = Path::new(path).join(LOG);
        let has_log = blocking("looking for a log", move || Ok(log.is_dir())).await?;
        return match has_log {
            true => Place::of(state, path).await.map(Some),
            false => Ok(None),
        };
    }
    if is_of_web(path) || is_pattern(path) || Format::of_name(path).0.is_some() {
        return Ok(None);
    }
    Place::of(state, path).await.map(Some)
}

/// Returns the release that is a version of the Delta table at an expanded path; `None` if there is no table, or if anonsql
/// did not write it.
pub(super) async fn release_in_table(state: &SessionState, path: &str, at: &At) -> Result<Option<Release>> {
    match place_with_log(state, path).await? {
        Some(place) => Release::in_table(place, at).await,
        None => Ok(None),
    }
}
