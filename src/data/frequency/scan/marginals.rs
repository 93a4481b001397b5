//! The number of rows with each value of some columns, counted in one scan.

use crate::base::error::{Error, ErrorKind, Result};
use crate::data::frequency::encode::{Dictionary, Local, Shared};
use arrow::array::ArrayRef;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::{ExecutionPlan, execute_stream_partitioned};
use futures::StreamExt;
use std::sync::Arc;
use tokio::task::JoinSet;

/// The number of rows with each value of some columns.
#[derive(Debug)]
pub(crate) struct Marginals {
    columns: Vec<Arc<Shared>>,
    /// The counts, by column and by code of the column's dictionary.
    counts: Vec<Vec<u64>>,
}

impl Marginals {
    /// Counts the rows of a plan by the values of each of its columns. Fails with
    /// `ErrorKind::Resources` if the values do not fit in memory.
    pub(crate) async fn of_plan(plan: Arc<dyn ExecutionPlan>, context: Arc<TaskContext>) -> Result<Self> {
        let schema = plan.schema();
        let columns = schema.fields().iter();
        let columns = columns.map(|field| Ok(Arc::new(Shared::new(field.name(), field.data_type())?)));
        let columns: Vec<Arc<Shared>> = columns.collect::<Result<_>>()?;
        let streams = execute_stream_partitioned(plan, Arc::clone(&context)).map_err(Error::from_data)?;
        Self::read(columns, streams, context.memory_pool()).await
    }

    /// Counts the rows of `streams`, each in its own task. `columns` contains the dictionaries for
    /// the columns of the streams, in the same order. Fails with `ErrorKind::Resources` if the
    /// values do not fit in memory.
    pub(crate) async fn read(
        columns: Vec<Arc<Shared>>,
        streams: Vec<SendableRecordBatchStream>,
        pool: &Arc<dyn MemoryPool>,
    ) -> Result<Self> {
        let mut tasks = JoinSet::new();
        for mut stream in streams {
            let mut locals = Local::views(&columns, false)?;
            let held = MemoryConsumer::new("anonsql marginals").register(pool);
            tasks.spawn(async move {
                let mut counts: Vec<Vec<u64>> = vec![vec![]; locals.len()];
                while let Some(batch) = stream.next().await {
                    let batch = batch.map_err(Error::from_data)?;
                    for ((local, counts), array) in locals.iter_mut().zip(&mut counts).zip(batch.columns()) {
                        count(&local.encode(array)?, counts);
                    }
                    let bytes = locals.iter().zip(&counts);
                    let bytes = bytes.map(|(local, counts)| 2 * local.memory() + 8 * counts.capacity());
                    held.try_resize(bytes.sum()).map_err(|_| {
                        let text = "the values of the columns do not fit the memory limit; raise --memory-limit";
                        Error::new(ErrorKind::Resources, text)
                    })?;
                    tokio::task::yield_now().await;
                }
                Ok::<_, Error>(counts)
            });
        }
        let mut counts: Vec<Vec<u64>> = vec![vec![]; columns.len()];
        while let Some(done) = tasks.join_next().await {
            let part = done.map_err(|e| Error::from_task("a scan task", &e))??;
            for (sum, part) in counts.iter_mut().zip(part) {
                sum.resize(sum.len().max(part.len()), 0);
                sum.iter_mut().zip(part).for_each(|(sum, rows)| *sum += rows);
            }
        }
        Ok(Self { columns, counts })
    }

    /// Returns the values of a column in ascending order with NULL last, and the number of rows
    /// with each value. If a value occurs only in another scan with the same dictionary, its number
    /// of rows is 0.
    pub(crate) fn of(&self, column: usize) -> Result<(ArrayRef, Vec<u64>)> {
        Ok(self.ranked(column, self.columns[column].finish()?))
    }

    /// Returns the values and counts of each column like [`Marginals::of`], and removes the values
    /// from the dictionaries. This takes less time if no other scan uses the dictionaries.
    pub(crate) fn take(&self) -> Result<Vec<(ArrayRef, Vec<u64>)>> {
        let columns = self.columns.iter().enumerate();
        columns.map(|(i, column)| Ok(self.ranked(i, column.take()?))).collect()
    }

    /// Returns the values of a dictionary, and the number of rows with each value.
    fn ranked(&self, column: usize, dictionary: Dictionary) -> (ArrayRef, Vec<u64>) {
        let Dictionary { values, ranks } = dictionary;
        let mut counts = vec![0; values.len()];
        for (rank, rows) in ranks.iter().zip(&self.counts[column]) {
            counts[*rank as usize] = *rows;
        }
        (values, counts)
    }
}

/// Adds one row to the count of each of these codes.
fn count(codes: &[u32], counts: &mut Vec<u64>) {
    let most = codes.iter().max().map_or(0, |most| *most as usize + 1);
    counts.resize(counts.len().max(most), 0);
    codes.iter().for_each(|code| counts[*code as usize] += 1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::frequency::distinct_values;
    use arrow::array::{Float64Array, RecordBatch, StringArray};
    use datafusion::datasource::MemTable;
    use datafusion::prelude::SessionContext;
    use proptest::prelude::*;

    type Row = (Option<u8>, Option<i8>);

    fn batch(rows: &[Row]) -> RecordBatch {
        let texts: StringArray = rows.iter().map(|row| row.0.map(|v| v.to_string())).collect();
        let numbers: Float64Array = rows.iter().map(|row| row.1.map(|v| f64::from(v) * 0.5)).collect();
        let columns: [(&str, ArrayRef, bool); 2] = [("x", Arc::new(texts), true), ("y", Arc::new(numbers), true)];
        RecordBatch::try_from_iter_with_nullable(columns).unwrap()
    }

    proptest! {
        /// The counts of a scan with several partitions equal the counts of a GROUP BY for each
        /// column.
        #[test]
        fn counts_are_those_of_queries(
            parts in prop::collection::vec(prop::collection::vec((prop::option::of(0u8..5), prop::option::of(-3i8..3)), 0..9), 1..4),
        ) {
            let session = SessionContext::new();
            let parts: Vec<Vec<RecordBatch>> = parts.iter().map(|part| vec![batch(part)]).collect();
            let table = MemTable::try_new(parts[0][0].schema(), parts).unwrap();
            session.register_table("t", Arc::new(table)).unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async {
                let plan = session.table("t").await.unwrap().create_physical_plan().await.unwrap();
                let found = Marginals::of_plan(plan, session.task_ctx()).await.unwrap();
                let counted = [found.of(0).unwrap(), found.of(1).unwrap()];
                let taken = found.take().unwrap();
                assert_eq!(taken.len(), 2);
                for ((counted, taken), name) in counted.iter().zip(&taken).zip(["x", "y"]) {
                    let (expected, rows) = distinct_values(&session, name, "t").await.unwrap();
                    for (values, counts) in [counted, taken] {
                        assert_eq!((values.as_ref(), counts), (expected.as_ref(), &rows));
                    }
                }
            });
        }
    }
}
