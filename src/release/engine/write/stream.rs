//! Writes the rows of a release on this machine.

use super::files::{FileDestination, write};
use super::written::Writers;
use crate::base::error::{Error, Result};
use crate::release::engine::executor::{Done, ToWrite};
use datafusion::common::runtime::SpawnedTask;
use datafusion::execution::SendableRecordBatchStream;
use std::sync::atomic::Ordering;

/// Writes the rows of a release to its stage, in a task of the current runtime, so that no more
/// threads work at once than were requested.
pub(in crate::release::engine) async fn write_rows(
    release: ToWrite<'_>,
    rows: SendableRecordBatchStream,
) -> Result<Done> {
    let (shelf, target) = (release.staging.shelf(&release.job.input), release.target.clone());
    let (footer, columns) = (release.footer.clone(), release.columns.clone());
    let (spool, progress) = (release.spool, release.progress);
    let written = SpawnedTask::spawn(async move {
        let count = |rows| {
            progress.fetch_add(rows, Ordering::Relaxed);
        };
        let to = FileDestination {
            shelf: &shelf,
            target: &target,
            footer: &footer,
            columns: &columns,
        };
        write(rows, spool, to, count).await
    });
    let written = written.join().await.map_err(|e| Error::from_task("writing", &e))?;
    let (files, spool) = written.map_err(|e: Error| e.context("writing the release"))?;
    Ok(Done {
        files,
        spool,
        writers: Writers::Here,
    })
}
