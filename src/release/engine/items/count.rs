//! Counts the distinct sets of items of the released rows, in memory.

use crate::base::error::{Error, ErrorKind, Result};
use crate::data::frequency::{Interner, ranked};
use crate::data::recode::{ColumnTreatment, Items, Released, item_type};
use crate::method::items::ItemSets;
use crate::release::engine::apply::{plan, recoding_among};
use crate::release::engine::decide::Decision;
use crate::release::job::Job;
use arrow::array::ArrayRef;
use arrow::record_batch::RecordBatch;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_plan::execute_stream_partitioned;
use futures::StreamExt;
use hashbrown::HashMap;
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::task::JoinSet;

/// The approximate number of bytes of a set without its items: its entries in the hash table, in
/// the sorted list, and under a cut.
const ENTRY: usize = 160;
/// The number of bytes of one item of a set: in the set, in the list of sets that contain the item,
/// and for its label.
const ITEM: usize = 12;

/// The distinct sets of items of a column, with their rows.
pub(super) struct Counted {
    /// The distinct items in ascending order. The index of an item is its code.
    pub(super) items: ArrayRef,
    pub(super) sets: ItemSets,
    /// The number of items that are NULL.
    pub(super) nulls: u64,
    /// The memory reservation for the sets.
    pub(super) memory: MemoryReservation,
}

/// Counts all columns of sets in one scan. Fails with `ErrorKind::Resources` if the sets do not fit
/// within the memory limit.
pub(super) async fn count(job: &Job, decision: &Decision) -> Result<Vec<Counted>> {
    let columns = job.roles.item_sets.iter().map(|s| Released {
        name: s.column.clone(),
        treatment: ColumnTreatment::Keep,
    });
    // Suppressed rows are left out, even if they are written in the release.
    let recoding = recoding_among(&job.roles, decision, &decision.verdict.kept, false, columns.collect())?;
    let rows = plan::recoded(&job.input.source.rows, Arc::new(recoding)).await?;
    let context = Arc::new(job.input.source.rows.task_ctx());
    let schema = rows.schema();
    let tallies = job.roles.item_sets.iter().map(|s| {
        let item = item_type(schema.field_with_name(&s.column)?.data_type())?;
        Ok(Mutex::new(Tally {
            column: s.column.clone(),
            items: Interner::new(&item)?,
            sets: HashMap::new(),
            bytes: 0,
            nulls: 0,
            memory: MemoryConsumer::new("anonsql items").register(context.memory_pool()),
        }))
    });
    let tallies = Arc::new(tallies.collect::<Result<Vec<_>>>()?);
    let streams = execute_stream_partitioned(rows, context).map_err(Error::from_data)?;
    let mut tasks = JoinSet::new();
    for mut stream in streams {
        let tallies = Arc::clone(&tallies);
        tasks.spawn(async move {
            while let Some(batch) = stream.next().await {
                let batch = batch.map_err(Error::from_data)?;
                tallies.iter().try_for_each(|tally| tally.lock().add(&batch))?;
                tokio::task::consume_budget().await;
            }
            Ok::<_, Error>(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.map_err(|e| Error::from_task("a scan task", &e))??;
    }
    let tallies = Arc::into_inner(tallies).ok_or_else(|| Error::internal("a scan goes on after its end"))?;
    tallies.into_iter().map(|tally| tally.into_inner().finish()).collect()
}

struct Tally {
    column: String,
    items: Interner,
    /// The number of rows of each set of codes. The codes of a set ascend.
    sets: HashMap<Vec<u32>, u64>,
    bytes: usize,
    nulls: u64,
    memory: MemoryReservation,
}

impl Tally {
    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let lists = batch.column_by_name(&self.column);
        let lists = lists.ok_or_else(|| Error::internal("a counted column is missing"))?;
        let Items { items, counts, nulls } = Items::of(lists, |_| true)?;
        self.nulls += nulls;
        let codes = self.items.intern(&items)?;
        let mut start = 0;
        for count in counts.into_iter().flatten() {
            let mut set = codes[start..start + count].to_vec();
            start += count;
            set.sort_unstable();
            set.dedup();
            let size = ENTRY + ITEM * set.len();
            let rows = self.sets.entry(set).or_insert_with(|| {
                self.bytes += size;
                0
            });
            *rows += 1;
        }
        // Sorting copies the items, so their bytes count twice.
        let held = self.memory.try_resize(self.bytes + 2 * self.items.bytes());
        held.map_err(|_| too_many(&self.column))
    }

    fn finish(self) -> Result<Counted> {
        let values = self.items.into_values()?;
        let (sorted, ranks) = ranked(std::slice::from_ref(&values))?;
        let sets = self.sets.into_iter().map(|(set, rows)| {
            let mut set: Vec<u32> = set.iter().map(|code| ranks[*code as usize]).collect();
            set.sort_unstable();
            (set, rows)
        });
        Ok(Counted {
            sets: ItemSets::new(sets.collect()),
            items: sorted.into_iter().next().unwrap_or(values),
            nulls: self.nulls,
            memory: self.memory,
        })
    }
}

/// Returns the error for sets that do not fit within the memory limit.
pub(super) fn too_many(column: &str) -> Error {
    Error::new(
        ErrorKind::Resources,
        format!(
            "column {column}: its distinct sets of items, and the combinations that km_anonymity counts in them, are held in \
             memory, and the memory limit is reached; raise the limit, ask for a smaller m, or release fewer items a row"
        ),
    )
}
