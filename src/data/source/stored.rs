//! Reads files in their stored form: the rows in their stored order, and the header of a CSV file.

use crate::base::error::Result;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlanProperties;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use std::io::Read;

/// Returns the rows that a query produces, one partition after another. The rows are in their
/// stored order if the session has a single target partition.
pub(crate) async fn stored(session: &SessionContext, sql: &str) -> Result<SendableRecordBatchStream> {
    let plan = session.sql(sql).await?.create_physical_plan().await?;
    let partitions = 0..plan.output_partitioning().partition_count();
    let streams = partitions.map(|partition| plan.execute(partition, session.task_ctx()));
    let streams = streams.collect::<datafusion::error::Result<Vec<_>>>()?;
    let rows = futures::stream::iter(streams).flatten();
    Ok(Box::pin(RecordBatchStreamAdapter::new(plan.schema(), rows)))
}

/// Returns true if the header of a CSV file consists of exactly these names.
pub(crate) fn has_header(file: impl Read, names: &[&str]) -> bool {
    let header = csv::ReaderBuilder::new().from_reader(file).headers().ok().cloned();
    header.is_some_and(|header| header.iter().eq(names.iter().copied()))
}
