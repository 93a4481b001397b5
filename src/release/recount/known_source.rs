//! Some columns of a source, read in one scan. Nothing of a release is needed to read them.

use super::number_columns::{KnownColumn, KnownNumbers, NumberColumns};
use super::session::coded_plan;
use super::sql::{type_of, with_one_zero};
use crate::base::error::{Error, Result};
use crate::base::pool::Pool;
use crate::base::quoting::quote;
use crate::base::spill::SpillSpace;
use crate::data::frequency::Marginals;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_plan::ExecutionPlan;
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
        let context = session.task_ctx();
        let spill_space = SpillSpace::of(&context);
        let (numbers, others) = NumberColumns::apart(plan, context, keeps_rows)?;
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
        let pool = Pool::of(&session.copied_config());
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
    use arrow::datatypes::Int64Type;
    use datafusion::datasource::MemTable;

    /// Returns the columns of six rows in two partitions.
    async fn known(keeps_rows: bool) -> KnownSource {
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
        let found = KnownSource::of_plan(&session, plan, &["city", "pay"], keeps_rows).await;
        found.unwrap().unwrap()
    }

    #[tokio::test]
    async fn every_column_has_its_values_and_their_rows() {
        for keeps_rows in [false, true] {
            let source = known(keeps_rows).await;
            let city = source.column("city").unwrap();
            let names: Vec<Option<&str>> = city.values.as_string::<i32>().iter().collect();
            assert_eq!(names, [Some("Bonn"), Some("Jena"), Some("Ulm")]);
            assert_eq!((city.counts.as_slice(), city.rows.is_none()), (&[2, 1, 3][..], true));
            let pay = source.column("pay").unwrap();
            let amounts: Vec<Option<i64>> = pay.values.as_primitive::<Int64Type>().iter().collect();
            assert_eq!(amounts, [Some(-5), Some(7), Some(30), None]);
            assert_eq!(pay.counts.as_slice(), [1, 1, 3, 1]);
            let rows = pay.rows.as_ref().map(|rows| rows.to_vec());
            assert_eq!(rows, keeps_rows.then(|| vec![2, 3, 0, 2, 1, 2]));
            assert!(source.column("name").is_none());
        }
    }
}
