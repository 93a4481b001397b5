//! Finds and reads Delta tables, and commits to them.

use super::commit::commit;
use super::log::{LOG, MARKER};
use super::statistics::statistics;
use super::table::DeltaVersion;
use crate::base::error::{Error, Result};
use crate::base::location::{expanded, is_of_web};
use crate::data::formats::at::At;
use crate::data::formats::change::{Change, CommitOutcome};
use crate::data::formats::entry::TableFormat;
use crate::data::formats::pinned::{LogFormat, LoggedTable, PinnedTable};
use crate::data::formats::place::Place;
use async_trait::async_trait;
use datafusion::execution::SessionState;
use std::fs::File;
use std::sync::Arc;

/// The Delta format.
#[derive(Debug)]
pub(super) struct Delta;

#[async_trait]
impl TableFormat for Delta {
    async fn open(&self, state: &SessionState, path: &str, at: &At) -> Result<Arc<dyn PinnedTable>> {
        let whole = expanded(path)?.into_owned();
        if is_of_web(&whole) {
            return Err(Error::usage(format!(
                "delta.{path:?}: a web server has no list of the files of a table; copy the table to a folder or a store"
            )));
        }
        let place = Place::of(state, &whole).await?;
        match MARKER.is_at(&place).await? {
            true => Ok(Arc::new(DeltaVersion::at(&place, at).await?)),
            false => Err(Error::usage(format!(
                "delta.{path:?}: there is no Delta table, which has a folder {LOG}; write a file or a folder of \
                files without delta."
            ))),
        }
    }
}

#[async_trait]
impl LogFormat for Delta {
    async fn at(&self, place: &Place, at: &At) -> Result<Arc<dyn LoggedTable>> {
        Ok(Arc::new(DeltaVersion::at(place, at).await?))
    }

    async fn create(&self, place: &Place, change: Change) -> CommitOutcome {
        commit(place, None, change).await
    }

    fn statistics(&self, file: &File) -> Result<String> {
        statistics(file)
    }
}
