//! The rows of a scan as codes.

use super::encoded::{EncodedPart, encoded};
use crate::base::error::Result;
use crate::base::pool::{check_cancelled, map};
use crate::data::frequency::encode::{Dictionary, Shared};
use arrow::array::{ArrayRef, RecordBatch};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::MemoryPool;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;
use futures::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The codes of the rows of some streams. Equal rows are not counted together, unlike in a
/// [`Scan`](super::Scan). This takes less time if nearly all rows differ.
#[derive(Debug)]
pub(crate) struct CodedRows {
    columns: Vec<Arc<Shared>>,
    parts: Vec<EncodedPart<u32>>,
}

/// A column of [`CodedRows`]: its distinct values in ascending order with NULL last, and the index
/// of the value of each row.
pub(crate) type RankedColumn = (ArrayRef, Vec<u32>);

impl CodedRows {
    /// Reads the rows of `streams`, each in its own task. `columns` contains the dictionaries for
    /// the columns of the streams, in the same order. Returns `None` if there are more than `most`
    /// rows. Fails with `ErrorKind::Resources` if the rows do not fit in memory.
    pub(crate) async fn read(
        columns: Vec<Arc<Shared>>,
        streams: Vec<SendableRecordBatchStream>,
        pool: &Arc<dyn MemoryPool>,
        most: usize,
    ) -> Result<Option<Self>> {
        let rows = Arc::new(AtomicUsize::new(0));
        let streams = streams.into_iter().map(|stream| limited(stream, &rows, most)).collect();
        let parts = encoded(&columns, streams, pool, |local, array, codes| {
            codes.extend(local.encode(array)?);
            Ok(())
        });
        let parts = parts.await?;
        Ok((rows.load(Ordering::Relaxed) <= most).then_some(Self { columns, parts }))
    }

    /// Returns the columns. The rows of the streams follow one another.
    pub(crate) fn ranked(self) -> Result<Vec<RankedColumn>> {
        let columns = map(self.columns.len(), |column| {
            check_cancelled()?;
            let Dictionary { values, ranks } = self.columns[column].take()?;
            let codes = self.parts.iter().flat_map(|part| &part.columns[column]);
            Ok((values, codes.map(|code| ranks[*code as usize]).collect()))
        });
        columns.into_iter().collect()
    }
}

/// Returns the batches of a stream, and adds the number of their rows to `rows`, which counts the
/// rows of all streams. The stream ends before the batch with which there are more than `most`
/// rows.
fn limited(stream: SendableRecordBatchStream, rows: &Arc<AtomicUsize>, most: usize) -> SendableRecordBatchStream {
    let (schema, rows) = (stream.schema(), Arc::clone(rows));
    let stream = stream.take_while(move |batch| {
        let own = batch.as_ref().map_or(0, RecordBatch::num_rows);
        ready(rows.fetch_add(own, Ordering::Relaxed) + own <= most)
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, stream))
}

#[cfg(test)]
mod tests {
    use super::super::encoded::dictionaries;
    use super::*;
    use arrow::array::{AsArray, Int64Array};
    use arrow::datatypes::Int64Type;
    use datafusion::datasource::MemTable;
    use datafusion::physical_plan::execute_stream_partitioned;
    use datafusion::prelude::SessionContext;

    #[tokio::test]
    async fn rows_are_read_as_they_are_up_to_a_number() {
        let batch = |rows: Vec<(i64, Option<i64>)>| {
            let (x, y): (Vec<i64>, Vec<Option<i64>>) = rows.into_iter().unzip();
            let columns: [(&str, ArrayRef, bool); 2] = [
                ("x", Arc::new(Int64Array::from(x)), true),
                ("y", Arc::new(Int64Array::from(y)), true),
            ];
            RecordBatch::try_from_iter_with_nullable(columns).unwrap()
        };
        let parts = [
            vec![(7, Some(1)), (3, None)],
            vec![(3, None), (5, Some(2)), (3, Some(1))],
        ];
        let table: Vec<Vec<RecordBatch>> = parts.iter().map(|part| vec![batch(part.clone())]).collect();
        let session = SessionContext::new();
        let table = MemTable::try_new(table[0][0].schema(), table).unwrap();
        session.register_table("t", Arc::new(table)).unwrap();
        for most in [4, 5] {
            let plan = session.table("t").await.unwrap().create_physical_plan().await.unwrap();
            let columns = dictionaries(plan.as_ref()).unwrap();
            let streams = execute_stream_partitioned(plan, session.task_ctx()).unwrap();
            let pool = &session.runtime_env().memory_pool;
            let found = CodedRows::read(columns, streams, pool, most).await.unwrap();
            assert_eq!(found.is_some(), most == 5);
            let Some(found) = found else { continue };
            let columns = found.ranked().unwrap();
            let shown = |(values, codes): &RankedColumn| -> Vec<Option<i64>> {
                let values: Vec<Option<i64>> = values.as_primitive::<Int64Type>().iter().collect();
                assert!(values.is_sorted_by_key(|value| (value.is_none(), *value)));
                codes.iter().map(|code| values[*code as usize]).collect()
            };
            let (x, y) = (shown(&columns[0]), shown(&columns[1]));
            let rows: Vec<(Option<i64>, Option<i64>)> = x.into_iter().zip(y).collect();
            let expected: Vec<_> = parts.iter().flatten().map(|(x, y)| (Some(*x), *y)).collect();
            assert_eq!(rows, expected);
        }
    }
}
