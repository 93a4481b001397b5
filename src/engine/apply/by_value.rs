//! The order of the rows by the values of a column, for masks that rank the rows.

use crate::error::{Error, Result};
use crate::frequency::Encoder;
use crate::job::Input;
use crate::masks::RowIds;
use crate::pool::blocking;
use crate::source::{select_columns, source_plan};
use arrow::array::ArrayRef;
use datafusion::physical_plan::execute_stream_partitioned;
use futures::StreamExt;
use std::sync::Arc;
use tokio::task::JoinSet;

/// Returns the ids of the rows with a value in a column, ordered by this value and then by the id.
/// `values` contains the distinct values of the column in ascending order, with NULL last, and
/// `known` is their number without NULL. Reads the source once.
pub(super) async fn ids_by_value(
    input: &Input,
    (column, values, known): (&str, &ArrayRef, usize),
    ids: &Arc<RowIds>,
) -> Result<Vec<u64>> {
    let names: Vec<&str> = ids.columns().iter().map(String::as_str).collect();
    let rows = select_columns(&input.source.rows, &names)?
        .create_physical_plan()
        .await?;
    let rows = source_plan(rows).await?;
    let (place, seen) = (rows.schema().index_of(column)?, Arc::new(ids.scan()));
    let context = Arc::new(input.source.rows.task_ctx());
    let mut tasks = JoinSet::new();
    for mut rows in execute_stream_partitioned(rows, context).map_err(Error::from_data)? {
        let (ids, seen) = (Arc::clone(ids), Arc::clone(&seen));
        let mut encoder = Encoder::new(column, values)?;
        tasks.spawn(async move {
            let mut found: Vec<(u32, u64)> = vec![];
            while let Some(batch) = rows.next().await {
                let batch = batch.map_err(Error::from_data)?;
                let codes = encoder.encode(batch.column(place))?;
                let ids = ids.of(batch.columns(), &seen)?;
                let pairs = codes.into_iter().zip(ids.values().iter().copied());
                found.extend(pairs.filter(|(code, _)| (*code as usize) < known));
                tokio::task::consume_budget().await;
            }
            Ok::<_, Error>(found)
        });
    }
    let mut found = vec![];
    while let Some(part) = tasks.join_next().await {
        found.append(&mut part.map_err(|e| Error::from_task("a scan task", &e))??);
    }
    drop(seen);
    let sort = move || {
        found.sort_unstable();
        Ok(found.into_iter().map(|(_, id)| id).collect())
    };
    blocking("ordering the rows by a value", sort).await
}
