//! Fetches rows from other workers.

use super::answer::{Pulse, lost};
use super::key::{TaskIdentifier, headers, partition_of};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::operator::{Operator, Parcel, Rows, Travels};
use arrow::datatypes::SchemaRef;
use datafusion::error::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion_distributed::get_distributed_channel_resolver;
use futures::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use url::Url;

/// A source that fetches one partition from each of several tasks of other workers. The rows are in
/// any order.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Fetch {
    /// The tasks, each with the address of its worker.
    pub(super) from: Vec<(Url, TaskIdentifier)>,
    /// The index of the partition to fetch.
    pub(super) partition: usize,
    /// True once the rows have been fetched. They cannot be fetched again, because workers do not
    /// keep rows that they have sent.
    #[serde(skip)]
    pub(super) fetched: Fetched,
}

/// A shared flag that is true once the rows have been fetched.
#[derive(Debug, Clone, Default)]
pub(super) struct Fetched(Arc<AtomicBool>);

/// The error for a second request for the same rows, for example by a sort that spills and starts
/// again.
pub(crate) const FETCHED_ONCE: &str = "rows of other workers can be fetched only once";

impl fmt::Display for Fetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tasks={}", self.from.len())
    }
}

impl Operator for Fetch {
    const NAME: &'static str = "FetchExec";

    fn run(&self, _: SendableRecordBatchStream, _: SchemaRef, context: &Arc<TaskContext>) -> Result<Rows> {
        if self.fetched.0.swap(true, Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Resources, FETCHED_ONCE));
        }
        let pulse = Pulse::of(context);
        let mut parts = vec![];
        for (url, key) in self.from.clone() {
            let (context, partition) = (Arc::clone(context), self.partition);
            let open = async move {
                let channels = get_distributed_channel_resolver(&context);
                let mut client = channels.get_worker_client_for_url(&url).await?;
                let (request, metrics) = (partition_of(key, partition)?, ExecutionPlanMetricsSet::new());
                let opened = client.execute_task(headers(), request, metrics, &context).await?;
                Ok::<_, DataFusionError>(stream::iter(opened).flatten())
            };
            parts.push(stream::once(open).try_flatten().boxed());
        }
        let rows = stream::select_all(parts).map(move |batch| {
            pulse.beat();
            batch.map_err(|e| lost(&e))
        });
        Ok(rows.boxed())
    }
}

impl Travels for Fetch {
    fn pack(&self) -> Result<Parcel> {
        Parcel::new(self)
    }

    fn unpack(parcel: Parcel) -> Result<Self> {
        parcel.header().map_err(|e: Error| e.context("rows of other workers"))
    }
}
