//! Tables with a log, at a path for which the statement names no table format. The path is a folder
//! or a prefix.

use super::format::DataFormat;
use crate::base::error::Result;
use crate::base::location::{is_of_web, is_url};
use crate::base::pool::blocking;
use crate::base::store::is_pattern;
use crate::data::formats::{At, Place, may_be_table};
use crate::data::lake::StoredRelease;
use datafusion::execution::SessionState;
use std::path::PathBuf;

/// Returns the location at an expanded path if it may be a table with a log: a folder with a log,
/// or a prefix that is neither a file nor a pattern.
pub(super) async fn place_with_log(state: &SessionState, path: &str) -> Result<Option<Place>> {
    if !is_url(path) {
        let folder = PathBuf::from(path);
        let has_log = blocking("looking for a log", move || Ok(may_be_table(&folder))).await?;
        return match has_log {
            true => Place::of(state, path).await.map(Some),
            false => Ok(None),
        };
    }
    if is_of_web(path) || is_pattern(path) || DataFormat::of_name(path).0.is_some() {
        return Ok(None);
    }
    Place::of(state, path).await.map(Some)
}

/// Returns the release that the version `at` of a table contains. `path` is the expanded path of
/// the table, which has a log. Returns `None` if there is no table, or if anonsql did not write the
/// version.
pub(super) async fn release_in_table(state: &SessionState, path: &str, at: &At) -> Result<Option<StoredRelease>> {
    match place_with_log(state, path).await? {
        Some(place) => StoredRelease::in_table(place, at).await,
        None => Ok(None),
    }
}
