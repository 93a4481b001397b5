//! The order of the rows by the values of a column, for masks that rank the rows.

use super::places::ValuePlaces;
use crate::base::error::{Error, Result};
use crate::base::pool::{Pool, blocking, join, map};
use crate::data::recode::{RecodingPlan, RowLabeller};
use crate::data::source::{select_columns, source_plan};
use crate::method::masks::{RowIds, Survey};
use crate::release::job::Input;
use arrow::array::{UInt32Array, UInt64Array};
use arrow::compute::nullif;
use datafusion::physical_plan::execute_stream_partitioned;
use futures::StreamExt;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tokio::task::JoinSet;

/// The number of parts whose ids are ordered in parallel.
const PARTS: usize = 64;

/// Returns the ids of the rows with a value in a column, ordered by this value and then by the id.
/// `survey` contains the distinct values of the column and their numbers of rows. `suppressing` is
/// the recoding plan that suppresses rows, `None` if no row is suppressed. If `are_hidden` is true,
/// the suppressed rows are left out. Reads the source once.
pub(super) async fn ids_by_value(
    input: &Input,
    survey: &Survey,
    ids: &Arc<RowIds>,
    suppressing: Option<&Arc<RecodingPlan>>,
    are_hidden: bool,
) -> Result<Vec<u64>> {
    let names: Vec<&str> = ids.columns().iter().map(String::as_str).collect();
    let rows = select_columns(&input.source.rows, &names)?
        .create_physical_plan()
        .await?;
    let rows = source_plan(rows).await?;
    let (place, seen) = (rows.schema().index_of(&survey.column)?, Arc::new(ids.scan()));
    let context = Arc::new(input.source.rows.task_ctx());
    let pool = Pool::of(context.session_config());
    let (values, counts) = (Arc::clone(&survey.values), survey.counts.clone());
    let prepare = move || {
        let places = Arc::new(ValuePlaces::new(&values)?);
        Ok::<_, Error>((places, Arc::new(RankedIds::new(&counts))))
    };
    let (places, ranked) = blocking("preparing the order of the rows", prepare).await?;
    let mut tasks = JoinSet::new();
    for mut rows in execute_stream_partitioned(rows, context).map_err(Error::from_data)? {
        let (ids, seen) = (Arc::clone(ids), Arc::clone(&seen));
        let (places, ranked) = (Arc::clone(&places), Arc::clone(&ranked));
        let mut labeller = suppressing.map(RowLabeller::new).transpose()?;
        tasks.spawn(async move {
            while let Some(batch) = rows.next().await {
                let batch = batch.map_err(Error::from_data)?;
                let suppressed = labeller.as_mut().map(|labeller| labeller.suppressed(&batch));
                let suppressed = suppressed.transpose()?;
                let values = match suppressed.as_ref().filter(|_| are_hidden) {
                    Some(suppressed) => nullif(batch.column(place), suppressed)?,
                    None => Arc::clone(batch.column(place)),
                };
                // A suppressed row gets its id like any other, as in the scan that writes the rows.
                let ids = ids.of(batch.columns(), suppressed.as_ref(), &seen)?;
                ranked.add(&places.of(&values)?, &ids)?;
                tokio::task::consume_budget().await;
            }
            Ok::<_, Error>(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.map_err(|e| Error::from_task("a scan task", &e))??;
    }
    drop((places, seen));
    pool.compute("ordering the rows by a value", move || ranked.sorted())
        .await
}

/// The ids of the rows with a value, ordered by this value. Several threads may add rows at the
/// same time.
struct RankedIds {
    /// The id of the row with each rank; 0 if the row was not added yet.
    ids: Vec<AtomicU64>,
    /// For each value, the rank of its first row. One more entry is the number of rows.
    starts: Vec<usize>,
    /// For each value, the rank of the next row that is added.
    next: Vec<AtomicUsize>,
}

impl RankedIds {
    /// Creates the ranks for as many rows of each value as `counts` says.
    fn new(counts: &[u64]) -> Self {
        let (mut starts, mut rows) = (Vec::with_capacity(counts.len() + 1), 0_usize);
        starts.push(rows);
        for count in counts {
            rows += *count as usize;
            starts.push(rows);
        }
        Self {
            ids: (0..rows).map(|_| AtomicU64::new(0)).collect(),
            next: starts[..counts.len()].iter().copied().map(AtomicUsize::new).collect(),
            starts,
        }
    }

    /// Adds the rows of a batch. `places` contains the index of each row's value; NULL for a row
    /// without a value. Fails with `ErrorKind::Data` if a value has more rows than were counted.
    fn add(&self, places: &UInt32Array, ids: &UInt64Array) -> Result<()> {
        // Several reads, or several writes, can wait for memory at the same time. So the ranks of
        // all rows are read before one is changed, and all are changed before an id is written.
        let ahead = places
            .iter()
            .flatten()
            .map(|place| self.next[place as usize].load(Ordering::Relaxed));
        black_box(ahead.fold(0, |all, rank| all ^ rank));
        let mut ranked = Vec::with_capacity(places.len());
        for (place, id) in places.iter().zip(ids.values()) {
            let Some(place) = place.map(|place| place as usize) else {
                continue;
            };
            let rank = self.next[place].fetch_add(1, Ordering::Relaxed);
            if rank >= self.starts[place + 1] {
                return Err(changed());
            }
            ranked.push((rank, *id));
        }
        for (rank, id) in ranked {
            self.ids[rank].store(id, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Returns the ids, ordered by the value of the row and then by the id. Fails with
    /// `ErrorKind::Data` if a value has fewer rows than were counted.
    fn sorted(&self) -> Result<Vec<u64>> {
        let mut ends = self.next.iter().zip(&self.starts[1..]);
        if !ends.all(|(next, end)| next.load(Ordering::Relaxed) == *end) {
            return Err(changed());
        }
        // All rows with the same value are in the same part.
        let first = |part: usize| {
            let rank = (self.ids.len() as u128 * part as u128 / PARTS as u128) as usize;
            self.starts.partition_point(|start| *start < rank)
        };
        let sorted = |part: usize| {
            let starts = &self.starts[first(part)..=first(part + 1)];
            let (from, to) = (starts[0], starts[starts.len() - 1]);
            let ids = self.ids[from..to].iter();
            let mut ids: Vec<u64> = ids.map(|id| id.load(Ordering::Relaxed)).collect();
            let values = starts.windows(2);
            values.for_each(|value| ids[value[0] - from..value[1] - from].sort_unstable());
            ids
        };
        Ok(join(map(PARTS, sorted)))
    }
}

fn changed() -> Error {
    Error::data("the source changed during the run")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::ErrorKind;
    use proptest::prelude::*;

    /// Adds rows, each given by its place and its id, in batches of `size` rows. Returns the
    /// ordered ids.
    fn sorted(counts: &[u64], rows: &[(Option<u32>, u64)], size: usize) -> Result<Vec<u64>> {
        let ranked = RankedIds::new(counts);
        for rows in rows.chunks(size) {
            let places: UInt32Array = rows.iter().map(|(place, _)| *place).collect();
            let ids: UInt64Array = rows.iter().map(|(_, id)| *id).collect();
            ranked.add(&places, &ids)?;
        }
        ranked.sorted()
    }

    fn counts(rows: &[(Option<u32>, u64)]) -> Vec<u64> {
        let count = |value: u32| rows.iter().filter(|(place, _)| *place == Some(value)).count() as u64;
        (0..9).map(count).collect()
    }

    proptest! {
        /// The ids are in the order of the sorted pairs of a value and an id, for any batch size
        /// and any number of threads, even if some values have no rows.
        #[test]
        fn ids_are_ordered_by_value(
            rows in prop::collection::vec((prop::option::of(0u32..9), any::<u64>()), 0..300),
            size in 1usize..20,
            threads in 1usize..4,
        ) {
            let mut pairs: Vec<(u32, u64)> = rows.iter().filter_map(|(place, id)| Some(((*place)?, *id))).collect();
            pairs.sort_unstable();
            let wanted: Vec<u64> = pairs.into_iter().map(|(_, id)| id).collect();
            let found = Pool::new(threads).install(|| sorted(&counts(&rows), &rows, size));
            prop_assert_eq!(found.unwrap(), wanted);
        }

        #[test]
        fn another_number_of_rows_is_refused(
            rows in prop::collection::vec((prop::option::of(0u32..9), any::<u64>()), 0..60),
            value in 0usize..9,
            other in 0usize..9,
        ) {
            let mut more = counts(&rows);
            more[value] += 1;
            let mut refused = vec![sorted(&more, &rows, 7)];
            let mut fewer = counts(&rows);
            if fewer[value] > 0 {
                fewer[value] -= 1;
                refused.push(sorted(&fewer, &rows, 7));
                // As many rows as before, but not of each value.
                fewer[other] += 1;
                refused.extend((other != value).then(|| sorted(&fewer, &rows, 7)));
            }
            for found in refused {
                prop_assert_eq!(found.unwrap_err().kind(), ErrorKind::Data);
            }
        }
    }

    #[test]
    fn threads_add_rows_of_one_value() {
        let ranked = RankedIds::new(&[4_000, 0, 4]);
        std::thread::scope(|scope| {
            for thread in 0..4_u64 {
                let ranked = &ranked;
                scope.spawn(move || {
                    let ids: UInt64Array = (0..1_001).map(|row| row * 4 + thread).collect();
                    let places: UInt32Array = (0..1_001).map(|row| if row < 1_000 { 0_u32 } else { 2 }).collect();
                    ranked.add(&places, &ids).unwrap();
                });
            }
        });
        assert!(ranked.sorted().unwrap().into_iter().eq(0..4_004));
    }
}
