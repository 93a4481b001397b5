//! Counts the released rows, or people, that are unique by their quasi-identifiers and kept
//! columns.

use super::sketch::ValueSketch;
use crate::base::error::{Error, Result};
use crate::data::recode::{ColumnTreatment, Released};
use crate::method::warning::Links;
use crate::release::engine::apply::{plan, recoding_among};
use crate::release::engine::decide::Decision;
use crate::release::job::Job;
use arrow::array::{ArrayRef, RecordBatch};
use datafusion::common::hash_utils::{HLL_RANDOM_STATE, create_hashes};
use datafusion::physical_plan::execute_stream_partitioned;
use futures::StreamExt;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::task::JoinSet;

/// The maximum number of combinations in the sample.
const MOST: usize = 1 << 16;

/// The holder of a combination: one row or person, or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    Row,
    Person(u64),
    Several,
}

impl Holder {
    /// Adds another occurrence of the combination, in another row.
    fn meet(&mut self, other: Holder) {
        if *self == Holder::Row || *self != other {
            *self = Holder::Several;
        }
    }
}

/// Counts, in one scan, the combinations of quasi-identifiers and kept `columns` that only one
/// released row has, or only one person if the job has an entity.
pub(super) async fn links(
    job: &Job,
    decision: &Decision,
    columns: Vec<String>,
    progress: &Arc<AtomicU64>,
) -> Result<Links> {
    let entity = job.input.entity.clone();
    let hidden = entity.iter().filter(|e| !columns.contains(e));
    let read = columns.iter().chain(hidden).map(|name| Released {
        name: name.clone(),
        treatment: ColumnTreatment::Keep,
    });
    // The order key determines the class of a row. Suppressed rows are left out.
    let recoding = Arc::new(recoding_among(
        &job.roles,
        decision,
        &decision.verdict.kept,
        false,
        read.collect(),
    )?);
    let rows = plan::recoded(&job.input.source.rows, recoding).await?;
    let streams =
        execute_stream_partitioned(rows, Arc::new(job.input.source.rows.task_ctx())).map_err(Error::from_data)?;
    let sketch = Arc::new(Mutex::new(ValueSketch::new(MOST)));
    let mut tasks = JoinSet::new();
    for mut stream in streams {
        let (sketch, progress) = (Arc::clone(&sketch), Arc::clone(progress));
        let entity = entity.clone().map(|entity| (columns.contains(&entity), entity));
        tasks.spawn(async move {
            while let Some(batch) = stream.next().await {
                let batch = batch.map_err(Error::from_data)?;
                add(&sketch, &batch, entity.as_ref())?;
                progress.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
                tokio::task::consume_budget().await;
            }
            Ok::<_, Error>(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.map_err(|e| Error::from_task("a scan task", &e))??;
    }
    let sketch = sketch.lock();
    Ok(Links {
        // An estimate may exceed the number of rows.
        alone: sketch
            .count(|holder| *holder != Holder::Several)
            .min(decision.verdict.released),
        of_people: entity.is_some(),
        rows: decision.verdict.released,
        estimated: !sketch.is_complete(),
        columns,
    })
}

/// Adds the rows of one batch to the sample.
fn add(sketch: &Mutex<ValueSketch<Holder>>, batch: &RecordBatch, entity: Option<&(bool, String)>) -> Result<()> {
    let (combinations, people) = hashes(batch, entity)?;
    let mut sketch = sketch.lock();
    for (row, hash) in combinations.into_iter().enumerate() {
        let holder = people.get(row).map_or(Holder::Row, |person| Holder::Person(*person));
        sketch.add(hash, || holder, |held| held.meet(holder));
    }
    Ok(())
}

/// Returns the hash of each row's class and kept columns, and the hash of each row's person if the
/// job has an entity. An entity that is not a kept column is not part of the combination.
fn hashes(batch: &RecordBatch, entity: Option<&(bool, String)>) -> Result<(Vec<u64>, Vec<u64>)> {
    let hashed = |arrays: Vec<&ArrayRef>| -> Result<Vec<u64>> {
        let mut hashes = vec![0; batch.num_rows()];
        create_hashes(arrays, &HLL_RANDOM_STATE, hashes.as_mut_slice())?;
        Ok(hashes)
    };
    let position = entity.map(|(_, name)| batch.schema().index_of(name)).transpose()?;
    let left_out = entity.filter(|(is_kept, _)| !is_kept).and(position);
    let own = (0..batch.num_columns()).filter(|i| Some(*i) != left_out);
    let people = match position {
        Some(position) => hashed(vec![batch.column(position)])?,
        None => vec![],
    };
    Ok((hashed(own.map(|i| batch.column(i)).collect())?, people))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_row_is_another_holder_and_the_same_person_is_not() {
        let mut rows = Holder::Row;
        rows.meet(Holder::Row);
        assert_eq!(rows, Holder::Several);
        let mut people = Holder::Person(1);
        people.meet(Holder::Person(1));
        assert_eq!(people, Holder::Person(1));
        people.meet(Holder::Person(2));
        assert_eq!(people, Holder::Several);
    }
}
