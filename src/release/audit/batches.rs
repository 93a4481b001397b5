//! Checks that each batch of a release that grew satisfies the models as a separate table. A reader
//! who had the release before a batch can identify the rows that the batch added.

use super::check::none_of;
use super::evidence::ReleaseEvidence;
use super::verification::Verification;
use crate::base::error::Result;
use crate::data::folder::Check;
use crate::method::canonical::spelled_once;
use crate::release::recount::{Answers, Promise, ReleasedTable};
use datafusion::prelude::{ParquetReadOptions, SessionContext};

/// The table name of the rows of one batch.
const BATCH: &str = "batch";

/// Counts, for each promise, the batches that do not satisfy the promise on their own. A
/// distribution is compared with the distribution of the batch's own rows. Returns an empty vector
/// for a release that did not grow. Adds a gap to `found` if the batches cannot be checked.
pub(super) async fn check(
    session: &SessionContext,
    released: &ReleasedTable,
    promises: &[Promise<'_>],
    evidence: &ReleaseEvidence,
    found: &mut Verification,
) -> Result<Vec<Check>> {
    if !evidence.grew() {
        return Ok(vec![]);
    }
    let Some(batches) = evidence.batches().await? else {
        found.gap("each batch alone (its files are partitioned, or not all there)".into());
        return Ok(vec![]);
    };
    let mut broken = vec![0; promises.len()];
    for files in batches {
        let rows = session.read_parquet(files, ParquetReadOptions::default()).await?;
        session.deregister_table(BATCH)?;
        session.register_table(BATCH, spelled_once(rows)?.into_view())?;
        let batch = ReleasedTable {
            name: BATCH.into(),
            whole: None,
            answers: Answers::default(),
            ..released.clone()
        };
        let checks = batch.check(session, promises).await?;
        broken
            .iter_mut()
            .zip(checks)
            .for_each(|(n, check)| *n += u64::from(!check.ok));
    }
    let names = promises
        .iter()
        .map(|p| format!("batches that do not satisfy {} on their own", p.name));
    Ok(names.zip(broken).map(|(name, n)| none_of(name, n)).collect())
}
