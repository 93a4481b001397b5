//! Encodes the columns of several streams, each in its own task.

use crate::base::error::{Error, ErrorKind, Result};
use crate::data::frequency::encode::{Local, Shared};
use arrow::array::ArrayRef;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use datafusion::physical_plan::ExecutionPlan;
use futures::StreamExt;
use std::sync::Arc;
use tokio::task::JoinSet;

/// What was collected from one stream.
#[derive(Debug)]
pub(super) struct EncodedPart<T> {
    /// The collected items, by column.
    pub(super) columns: Vec<Vec<T>>,
    /// The memory reservation for the items.
    _held: MemoryReservation,
}

/// Returns an empty dictionary for each column of a plan.
pub(super) fn dictionaries(plan: &dyn ExecutionPlan) -> Result<Vec<Arc<Shared>>> {
    let schema = plan.schema();
    let columns = schema.fields().iter();
    let columns = columns.map(|field| Ok(Arc::new(Shared::new(field.name(), field.data_type())?)));
    columns.collect()
}

/// Reads the streams, and calls `add` with each array, the view of its dictionary, and the items
/// collected so far from this column of the stream. `columns` contains the dictionaries for the
/// columns of the streams, in the same order. Returns the items by stream. Fails with
/// `ErrorKind::Resources` if the values do not fit in memory.
pub(super) async fn encoded<T: Send + 'static>(
    columns: &[Arc<Shared>],
    streams: Vec<SendableRecordBatchStream>,
    pool: &Arc<dyn MemoryPool>,
    add: impl Fn(&mut Local, &ArrayRef, &mut Vec<T>) -> Result<()> + Copy + Send + 'static,
) -> Result<Vec<EncodedPart<T>>> {
    let mut tasks = JoinSet::new();
    for (number, mut stream) in streams.into_iter().enumerate() {
        let mut locals = Local::views(columns, false)?;
        let held = MemoryConsumer::new("anonsql encoded columns").register(pool);
        tasks.spawn(async move {
            let mut items: Vec<Vec<T>> = locals.iter().map(|_| vec![]).collect();
            while let Some(batch) = stream.next().await {
                let batch = batch.map_err(Error::from_data)?;
                for ((local, items), array) in locals.iter_mut().zip(&mut items).zip(batch.columns()) {
                    add(local, array, items)?;
                }
                let bytes = locals.iter().zip(&items);
                let bytes = bytes.map(|(local, items)| 2 * local.memory() + size_of::<T>() * items.capacity());
                held.try_resize(bytes.sum()).map_err(|_| {
                    let text = "the values of the columns do not fit the memory limit; raise --memory-limit";
                    Error::new(ErrorKind::Resources, text)
                })?;
                tokio::task::yield_now().await;
            }
            let part = EncodedPart {
                columns: items,
                _held: held,
            };
            Ok::<_, Error>((number, part))
        });
    }
    let mut parts = vec![];
    while let Some(done) = tasks.join_next().await {
        parts.push(done.map_err(|e| Error::from_task("a scan task", &e))??);
    }
    parts.sort_by_key(|(number, _)| *number);
    Ok(parts.into_iter().map(|(_, part)| part).collect())
}
