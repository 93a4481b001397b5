//! The first scan on workers.
//!
//! A worker counts equal rows of its slice of the source, and sends each distinct row once with its
//! count. The driver, which runs the session, reads these rows like the rows of a source and adds
//! up the counts. The classes therefore depend neither on the slices nor on their order.

use super::session::Workers;
use crate::base::error::Result;
use crate::base::operator::OperatorExec;
use crate::data::recode::FoldExec;
use crate::release::cluster::{Gathered, Sent, TaskOutput, slices};
use crate::release::observe::Observer;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{TryStreamExt, stream};
use std::sync::Arc;
use tokio::sync::Mutex;

/// The note for a source that workers do not read.
const READ_HERE: &str = "workers do not read this source, so this machine reads it; workers read Parquet files in a folder or store that \
                         all of them reach, with some columns, computed columns and conditions. To share the work, \
                         write the source to Parquet first";

/// The number of slices of the source for each thread of a worker. With several slices per thread,
/// a fast worker can take more slices than a slow worker.
const SLICES: usize = 4;

impl Workers {
    /// Returns the distinct rows of a source with their counts, counted by workers. Returns `None`
    /// if the source can only be read on this machine.
    pub(super) async fn counted(
        &self,
        plan: &Arc<dyn ExecutionPlan>,
        observer: Option<&dyn Observer>,
    ) -> Result<Option<Vec<SendableRecordBatchStream>>> {
        let (cluster, state) = (&self.cluster, &self.state);
        let members = cluster.greet().await?;
        let threads: usize = members.iter().map(|member| member.threads.get()).sum();
        let Some(slices) = slices(plan, threads * SLICES, state.config()) else {
            if let Some(observer) = observer {
                observer.advised(READ_HERE);
            }
            return Ok(None);
        };
        let counting = |slice| {
            let folded = FoldExec::over_rows(Sent::over(slice), &plan.schema());
            Arc::new(OperatorExec::looking(Arc::new(folded), TaskOutput)) as Arc<dyn ExecutionPlan>
        };
        let plans: Vec<_> = slices.into_iter().map(counting).collect();
        let Some(schema) = plans.first().map(|plan| plan.schema()) else {
            return Ok(None);
        };
        let gathered = Arc::new(Mutex::new(cluster.gather(&members, plans)));
        let stream = |_| {
            let rows = stream::try_unfold(Arc::clone(&gathered), |gathered| async move {
                let next = Gathered::next(&mut *gathered.lock().await).await?;
                Ok::<_, DataFusionError>(next.map(|batches| (stream::iter(batches.into_iter().map(Ok)), gathered)))
            });
            Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&schema), rows.try_flatten()))
                as SendableRecordBatchStream
        };
        Ok(Some((0..state.config().target_partitions()).map(stream).collect()))
    }
}
