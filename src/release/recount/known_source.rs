//! Some columns of a source, read in one scan. Nothing of a release is needed to read them.

use super::copied_columns::CopiedColumns;
use super::number_columns::{KnownColumn, KnownNumbers, NumberColumns};
use super::session::coded_plan;
use super::sql::{type_of, with_one_zero};
use crate::base::error::{Error, Result};
use crate::base::pool::Pool;
use crate::base::quoting::quote;
use crate::base::spill::SpillSpace;
use crate::data::frequency::Marginals;
use arrow::datatypes::Schema;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::{ExecutionPlan, execute_stream_partitioned};
use datafusion::prelude::SessionContext;
use std::collections::HashMap;
use std::sync::Arc;

/// The columns of a source that were read.
pub(crate) struct KnownSource {
    columns: HashMap<String, KnownColumn>,
    /// The memory reservation for the columns.
    _held: MemoryReservation,
}

impl KnownSource {
    /// Reads columns of a table like [`KnownSource::of_plan`].
    pub(crate) async fn read(
        session: &SessionContext,
        table: &str,
        names: &[&str],
        keeps_rows: bool,
    ) -> Result<Option<Self>> {
        let mut cells = vec![];
        for (i, name) in names.iter().enumerate() {
            let data_type = type_of(session, table, name).await?;
            cells.push(format!("{} AS c{i}", with_one_zero(&quote(name), &data_type)));
        }
        let sql = format!("SELECT {} FROM {}", cells.join(", "), quote(table));
        let plan = coded_plan(session, session.copied_config().target_partitions(), &sql).await?;
        Self::of_plan(session, plan, names, keeps_rows).await
    }

    /// Reads the rows of a plan. `names` are the names of its columns. The row of each number is
    /// kept if `keeps_rows` is true. Returns `None` if the code of a number needs more than 64
    /// bits. Fails with `ErrorKind::Resources` if the columns do not fit in memory.
    pub(crate) async fn of_plan(
        session: &SessionContext,
        plan: Arc<dyn ExecutionPlan>,
        names: &[&str],
        keeps_rows: bool,
    ) -> Result<Option<Self>> {
        let (context, schema) = (session.task_ctx(), plan.schema());
        let streams = execute_stream_partitioned(plan, Arc::clone(&context)).map_err(Error::from_data)?;
        Self::of_streams(&context, (schema.as_ref(), streams), names, keeps_rows).await
    }

    /// Reads copies of columns like [`KnownSource::of_plan`]. If not all rows are copied, the
    /// result is that of the copied rows.
    pub(crate) async fn of_copies(
        context: &TaskContext,
        copied: CopiedColumns,
        names: &[&str],
        keeps_rows: bool,
    ) -> Result<Option<Self>> {
        Self::of_streams(context, (copied.schema.as_ref(), copied.streams), names, keeps_rows).await
    }

    async fn of_streams(
        context: &TaskContext,
        rows: (&Schema, Vec<SendableRecordBatchStream>),
        names: &[&str],
        keeps_rows: bool,
    ) -> Result<Option<Self>> {
        let spill_space = SpillSpace::of(context);
        let (numbers, others) = NumberColumns::of_streams(rows, &spill_space, keeps_rows)?;
        let marginals = Marginals::read(others.dictionaries, others.streams, spill_space.pool()).await?;
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let finish = move || {
            let places = numbers.others().to_vec();
            let Some(KnownNumbers { mut columns, held }) = numbers.finish()? else {
                return Ok(None);
            };
            let counted = marginals.take()?.into_iter().map(|(values, counts)| KnownColumn {
                values,
                counts: Arc::new(counts),
                ranks: None,
                rows: None,
            });
            columns.extend(places.into_iter().zip(counted));
            let bytes: usize = columns.iter().map(|(_, column)| column.bytes()).sum();
            held.try_resize(bytes).map_err(Error::from_data)?;
            let named = columns.into_iter().map(|(i, column)| (names[i].clone(), column));
            Ok(Some(Self {
                columns: named.collect(),
                _held: held,
            }))
        };
        let pool = Pool::of(context.session_config());
        pool.compute("ordering the values of the source", finish).await
    }

    /// Returns a column; `None` if it was not read.
    pub(crate) fn column(&self, name: &str) -> Option<&KnownColumn> {
        self.columns.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
    use arrow::datatypes::{DataType, Int64Type};
    use datafusion::datasource::MemTable;
    use datafusion::physical_plan::execution_plan::reset_plan_states;
    use futures::TryStreamExt;

    /// Returns a session, and a plan that reads six rows in two partitions.
    async fn people() -> (SessionContext, Arc<dyn ExecutionPlan>) {
        let batch = |pay: Vec<Option<i64>>, city: Vec<&str>| {
            let columns: [(&str, ArrayRef, bool); 2] = [
                ("city", Arc::new(StringArray::from(city)), true),
                ("pay", Arc::new(Int64Array::from(pay)), true),
            ];
            RecordBatch::try_from_iter_with_nullable(columns).unwrap()
        };
        let parts = vec![
            vec![
                batch(vec![Some(30), None], vec!["Ulm", "Ulm"]),
                batch(vec![Some(-5)], vec!["Bonn"]),
            ],
            vec![batch(vec![Some(30), Some(7), Some(30)], vec!["Ulm", "Bonn", "Jena"])],
        ];
        let session = SessionContext::new();
        let table = MemTable::try_new(parts[0][0].schema(), parts).unwrap();
        session.register_table("t", Arc::new(table)).unwrap();
        let plan = session.table("t").await.unwrap().create_physical_plan().await.unwrap();
        (session, plan)
    }

    fn copied(plan: &Arc<dyn ExecutionPlan>) -> (Arc<dyn ExecutionPlan>, CopiedColumns) {
        let columns = [
            ("city".to_string(), DataType::Utf8),
            ("pay".to_string(), DataType::Int64),
        ];
        CopiedColumns::of(plan, &columns).unwrap().unwrap()
    }

    /// Returns the number of rows of a plan whose partitions are read one after the other.
    async fn rows(session: &SessionContext, plan: Arc<dyn ExecutionPlan>) -> usize {
        let mut rows = 0;
        for stream in execute_stream_partitioned(plan, session.task_ctx()).unwrap() {
            let batches: Vec<RecordBatch> = stream.try_collect().await.unwrap();
            rows += batches.iter().map(RecordBatch::num_rows).sum::<usize>();
        }
        rows
    }

    /// Returns the columns of the six rows. They are read by a plan of their own, or copied while
    /// another reader reads them.
    async fn known(keeps_rows: bool, is_copied: bool) -> KnownSource {
        let (session, plan) = people().await;
        let names = ["city", "pay"];
        let found = match is_copied {
            false => KnownSource::of_plan(&session, plan, &names, keeps_rows).await,
            true => {
                let (plan, copied) = copied(&plan);
                let (context, copying) = (session.task_ctx(), Arc::clone(&copied.copying));
                assert!(!copying.is_complete());
                let copies = KnownSource::of_copies(&context, copied, &names, keeps_rows);
                let (found, rows) = tokio::join!(copies, rows(&session, plan));
                assert_eq!((rows, copying.is_complete()), (6, true));
                found
            }
        };
        found.unwrap().unwrap()
    }

    #[tokio::test]
    async fn only_the_first_execution_is_copied_and_only_whole() {
        let (session, plan) = people().await;
        // The second execution of a plan returns the same rows, although nobody reads copies.
        let (plan, copies) = copied(&plan);
        let again = reset_plan_states(Arc::clone(&plan)).unwrap();
        assert_eq!(rows(&session, again).await, 6);
        assert!(!copies.copying.is_complete());
        // Only the first partition is read, and one that has not begun is not waited for.
        let context = session.task_ctx();
        let first = plan.execute(0, Arc::clone(&context)).unwrap();
        let copying = Arc::clone(&copies.copying);
        let part = async {
            let batches: Vec<RecordBatch> = first.try_collect().await.unwrap();
            copying.stop();
            batches.len()
        };
        let reading = KnownSource::of_copies(&context, copies, &["city", "pay"], true);
        let (read, batches) = tokio::join!(reading, part);
        assert!(read.is_ok());
        assert_eq!((batches, copying.is_complete()), (2, false));
        // Rows are passed on if the reader of the copies has stopped.
        let (_, plan) = people().await;
        let (plan, copies) = copied(&plan);
        drop(copies.streams);
        assert_eq!(rows(&session, plan).await, 6);
        assert!(!copies.copying.is_complete());
    }

    #[tokio::test]
    async fn every_column_has_its_values_and_their_rows() {
        for (keeps_rows, is_copied) in [(false, false), (true, false), (false, true), (true, true)] {
            let source = known(keeps_rows, is_copied).await;
            let city = source.column("city").unwrap();
            let names: Vec<Option<&str>> = city.values.as_string::<i32>().iter().collect();
            assert_eq!(names, [Some("Bonn"), Some("Jena"), Some("Ulm")]);
            assert_eq!((city.counts.as_slice(), city.rows.is_none()), (&[2, 1, 3][..], true));
            let pay = source.column("pay").unwrap();
            let amounts: Vec<Option<i64>> = pay.values.as_primitive::<Int64Type>().iter().collect();
            let kept = [Some(-5), Some(7), Some(30), None];
            assert_eq!(amounts, if keeps_rows { &kept[..] } else { &[] });
            assert_eq!(pay.counts.as_slice(), [1, 1, 3, 1]);
            let rows = pay.rows.as_ref().map(|rows| rows.to_vec());
            assert_eq!(rows, keeps_rows.then(|| vec![2, 3, 0, 2, 1, 2]));
            assert!(source.column("name").is_none());
        }
    }
}
