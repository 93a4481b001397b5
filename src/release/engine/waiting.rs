//! The rows of a batch that are not released. They are held back, unchanged from the source, for a
//! later batch (APPEND).

use super::apply::{plan, recoding_among};
use super::decide::Decision;
use crate::base::error::{Error, ErrorKind, Result};
use crate::data::folder::{FileSummary, Manifest, parse_manifest};
use crate::data::recode::{ColumnTreatment, Released, SUPPRESSED};
use crate::release::job::{Job, Taken, Target, Waiting, WaitingRows};
use arrow::array::AsArray;
use arrow::compute::filter_record_batch;
use arrow::datatypes::Schema;
use datafusion::physical_plan::execute_stream;
use futures::TryStreamExt;
use std::sync::Arc;

/// Stores the rows of a batch that are not released, for the release whose manifest has the text
/// `text`. Returns the store of the rows with the checksum of the manifest, or `None` if the target
/// does not hold rows back. Once the release is published, other files in the store are not needed.
/// Fails with `ErrorKind::Verification` if the number of these rows is not `suppressed`.
pub(super) async fn put_rest(
    (job, target): (&Job, &Target),
    decision: &Decision,
    text: &str,
    suppressed: Option<u64>,
) -> Result<Option<(Waiting, String)>> {
    let Some(waiting) = &target.waiting else {
        return Ok(None);
    };
    let rest = rest(job, decision).await?;
    let rows: u64 = rest.batches.iter().map(|batch| batch.num_rows() as u64).sum();
    if suppressed != Some(rows) {
        return Err(Error::new(
            ErrorKind::Verification,
            format!("{rows} rows wait, which is not the number of suppressed rows; nothing was published"),
        ));
    }
    let (manifest, _) = parse_manifest(text.as_bytes(), "the manifest")?;
    waiting.put(&manifest.sha256, rest).await?;
    Ok(Some((waiting.clone(), manifest.sha256)))
}

/// Stores all rows of a batch beside the rows that were held back earlier, because no row of the
/// batch could be added to the existing release.
pub(super) async fn put_all(
    job: &Job,
    (target, standing): (&Target, &Manifest),
    input: Vec<FileSummary>,
) -> Result<()> {
    let Some(waiting) = &target.waiting else {
        return Ok(());
    };
    let mut taken = waiting
        .rows
        .as_ref()
        .map_or_else(Taken::default, |rows| rows.taken.clone());
    taken.inputs.extend(input.iter().filter_map(FileSummary::identity));
    taken
        .sources
        .extend(FileSummary::source_sha256(&job.output.statement_sha256, &input));
    let schema = Arc::new(job.input.source.rows.schema().as_arrow().clone());
    let batches = job
        .input
        .source
        .rows
        .clone()
        .collect()
        .await
        .map_err(Error::from_data)?;
    // The rows of a plan may have a different string type than the plan declares.
    let schema = batches.first().map_or(schema, |batch| batch.schema());
    let rows = WaitingRows { schema, batches, taken };
    job.input.check_unchanged().await?;
    waiting.put(&standing.sha256, rows).await
}

/// Returns the rows of the source that are in no released class.
async fn rest(job: &Job, decision: &Decision) -> Result<WaitingRows> {
    let names = job.input.source.columns();
    let keep = |name: &&str| Released {
        name: name.to_string(),
        treatment: ColumnTreatment::Keep,
    };
    let columns = names.iter().map(keep).collect();
    let marked = recoding_among(&job.roles, decision, &decision.verdict.kept, true, columns)?;
    let marked = plan::recoded(&job.input.source.rows, Arc::new(marked)).await?;
    let own: Vec<usize> = (0..names.len()).collect();
    let schema: Arc<Schema> = Arc::new(marked.schema().project(&own)?);
    let mark = marked.schema().index_of(SUPPRESSED)?;
    let mut rows = execute_stream(marked, job.input.source.rows.task_ctx().into())?;
    let mut batches = vec![];
    while let Some(batch) = rows.try_next().await.map_err(Error::from_data)? {
        let rest = filter_record_batch(&batch.project(&own)?, batch.column(mark).as_boolean())?;
        if rest.num_rows() > 0 {
            batches.push(rest);
        }
    }
    Ok(WaitingRows {
        schema,
        batches,
        taken: Taken::default(),
    })
}
