//! The order of the rows by the values of a column, for masks that rank the rows.

use crate::error::{Error, Result};
use crate::job::Input;
use crate::masks::RowIds;
use crate::pool::blocking;
use crate::source::{select_columns, source_plan};
use arrow::array::{Array, ArrayRef, AsArray, UInt32Array, make_comparator};
use arrow::compute::{SortOptions, cast, take};
use arrow::datatypes::UInt32Type;
use datafusion::physical_plan::execute_stream_partitioned;
use futures::StreamExt;
use std::sync::Arc;
use tokio::task::JoinSet;

/// Returns the ids of the rows with a value in a column, ordered by this value and then by the id.
/// `values` contains the distinct values of the column in ascending order, without NULL. Reads the
/// source once.
pub(super) async fn ids_by_value(
    input: &Input,
    (column, values): (&str, &ArrayRef),
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
        let values = Arc::clone(values);
        tasks.spawn(async move {
            let mut found: Vec<(u32, u64)> = vec![];
            while let Some(batch) = rows.next().await {
                let batch = batch.map_err(Error::from_data)?;
                let codes = places(batch.column(place), &values)?;
                let ids = ids.of(batch.columns(), &seen)?;
                let pairs = codes.iter().zip(ids.values().iter().copied());
                found.extend(pairs.filter_map(|(code, id)| Some((code?, id))));
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
        let mut ids: Vec<u64> = found.into_iter().map(|(_, id)| id).collect();
        ids.shrink_to_fit();
        Ok(ids)
    };
    blocking("ordering the rows by a value", sort).await
}

/// Returns the index of each of `rows` among `values`, which are in ascending order. The index of
/// NULL is NULL. Fails with `ErrorKind::Data` if another value is not there.
fn places(rows: &ArrayRef, values: &ArrayRef) -> Result<UInt32Array> {
    // A dictionary may have values that no row has.
    let found = match rows.as_any_dictionary_opt() {
        Some(coded) if coded.values().len() <= rows.len() => {
            let found = take(&found(coded.values(), values)?, coded.keys(), None)?;
            found.as_primitive::<UInt32Type>().clone()
        }
        _ => found(rows, values)?,
    };
    match found.null_count() == rows.logical_null_count() {
        true => Ok(found),
        false => Err(Error::data("the source changed during the run")),
    }
}

/// Returns the index of each of `rows` among `values`; NULL if it is not there.
fn found(rows: &ArrayRef, values: &ArrayRef) -> Result<UInt32Array> {
    let rows = cast(rows, values.data_type())?;
    let nulls = rows.logical_nulls();
    let order = make_comparator(values.as_ref(), rows.as_ref(), SortOptions::default())?;
    let place = |row: usize| {
        if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return None;
        }
        let (mut low, mut high) = (0, values.len());
        while low < high {
            let middle = low.midpoint(high);
            match order(middle, row).is_lt() {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        (low < values.len() && order(low, row).is_eq()).then_some(low as u32)
    };
    Ok((0..rows.len()).map(place).collect())
}
