//! The operator that sorts the rows of a release.
//!
//! Most columns of a release have few distinct values compared to the number of rows. Therefore the
//! operator packs each row into a few machine words whose order is the order of the rows. Numbers
//! are packed directly, and other values as their ranks among the values of the column. The words
//! determine the row, so only words are sorted, merged and written to spill files, and finally the
//! columns are restored from the words. Ranks are known only once all rows have been read. Until
//! then, rows are stored with the codes of a dictionary, packed batch by batch.
//!
//! Rows that cannot be packed (because of nested columns, or of more values than fit in memory) are
//! sorted by DataFusion instead, in the same order: see [`general`].

mod codes;
mod general;
mod layout;
mod packing;
mod runs;

use super::fold::{table_bytes, typed};
use crate::base::error::{Error, Result};
use crate::base::operator::{InputPartitions, Operator, OperatorExec, Rows};
use crate::base::pool::{Pool, blocking, check_cancelled, map, threads};
use crate::base::spill::SpillSpace;
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use codes::{Coder, Coding};
pub(crate) use codes::{numbers, of_codes};
use datafusion::error::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryLimit, MemoryReservation};
use datafusion::physical_plan::execution_plan::reset_plan_states;
use datafusion::physical_plan::{ExecutionPlan, execute_stream, execute_stream_partitioned};
use futures::{StreamExt, TryStreamExt, stream};
use packing::{PackedBatch, Packing};
use parking_lot::Mutex;
use runs::{MachineWords, Merge, Store, sort};
use std::fmt;
use std::sync::Arc;
use tokio::task::JoinSet;

/// The number of bytes of rows that a thread sorts at a time if memory is not limited.
const RUN: usize = 1 << 23;
/// The memory limit divided by this number is the maximum number of bytes of rows that a thread
/// sorts at a time.
const PART: usize = 64;

/// Returns a plan that sorts rows without packing them. For the parameters, see
/// [`PackedSortExec::over_rows`].
pub(crate) fn unpacked(
    input: Arc<dyn ExecutionPlan>,
    columns: &[usize],
    schema: &SchemaRef,
) -> Result<Arc<dyn ExecutionPlan>> {
    general::sorted(input, columns, schema)
}

/// Sorts rows by columns, ascending, with NULL last.
#[derive(Debug)]
pub struct PackedSort {
    /// The indices of all columns, the most significant first.
    pub(super) columns: Vec<usize>,
}

/// [`PackedSort`] as an operator.
pub type PackedSortExec = OperatorExec<PackedSort>;

impl PackedSortExec {
    /// Sorts the rows of all partitions of `input` by `columns`, which contains all columns, the
    /// most significant first. The output has the schema `schema`; a column that is a dictionary in
    /// `input` may be plain in `schema`.
    pub fn over_rows(input: Arc<dyn ExecutionPlan>, columns: Vec<usize>, schema: SchemaRef) -> Self {
        Self::over(input, PackedSort { columns }, schema)
    }
}

impl fmt::Display for PackedSort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "columns={}", self.columns.len())
    }
}

impl Operator for PackedSort {
    const NAME: &'static str = "PackedSortExec";
    const INPUT: InputPartitions = InputPartitions::Whole;

    fn run_whole(&self, input: &Arc<dyn ExecutionPlan>, schema: SchemaRef, context: &Arc<TaskContext>) -> Result<Rows> {
        let (input, context, columns) = (Arc::clone(input), Arc::clone(context), self.columns.clone());
        let sorted = async move {
            let scan = Arc::clone(&input);
            if let Some(rows) = packed(scan, columns.clone(), &schema, &context).await? {
                return Ok(rows);
            }
            let plan = general::sorted(reset_plan_states(input)?, &columns, &without_dictionaries(&schema))?;
            let context = general::sorting_context(&context, plan.as_ref());
            let rows = execute_stream(plan, context)?;
            let rows = rows.map(move |batch| Ok::<_, DataFusionError>(typed(batch?.columns(), &schema)?));
            Ok::<_, DataFusionError>(rows.boxed())
        };
        Ok(stream::once(sorted).try_flatten().boxed())
    }

    fn estimate(&self, input: Option<usize>) -> Option<usize> {
        input
    }
}

/// Returns the schema with the values of dictionaries in place of the dictionaries. A sort of
/// batches reserves the memory of a dictionary again for each batch that shares it.
fn without_dictionaries(schema: &Schema) -> SchemaRef {
    let field = |f: &Arc<Field>| match f.data_type() {
        DataType::Dictionary(_, values) => Arc::new(f.as_ref().clone().with_data_type(values.as_ref().clone())),
        _ => Arc::clone(f),
    };
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()))
}

/// Returns the sorted rows; `None` if the rows cannot be packed.
async fn packed(
    input: Arc<dyn ExecutionPlan>,
    columns: Vec<usize>,
    schema: &SchemaRef,
    context: &Arc<TaskContext>,
) -> Result<Option<Rows>> {
    let read = input.schema();
    let (space, pool) = (SpillSpace::of(context), Pool::of(context.session_config()));
    let Some(scan) = Scan::try_new(&columns, &read, &space, context)? else {
        return Ok(None);
    };
    let scan = Arc::new(scan);
    let mut tasks = JoinSet::new();
    for mut rows in execute_stream_partitioned(input, Arc::clone(context))? {
        let mut partition = Partition::new(&scan)?;
        tasks.spawn(async move {
            while let Some(batch) = rows.next().await {
                let Some((chunk, words)) = partition.pack(&batch.map_err(Error::from_data)?)? else {
                    return Ok(None);
                };
                partition.keep(chunk, words).await?;
                tokio::task::consume_budget().await;
            }
            Ok::<_, Error>(Some(partition.held))
        });
    }
    // The memory of the values stays reserved until the values are sorted.
    let mut held = vec![];
    while let Some(done) = tasks.join_next().await {
        match done.map_err(|e| Error::from_task("a scan task", &e))?? {
            Some(values) => held.push(values),
            None => return Ok(None),
        }
    }
    let Some(scan) = Arc::into_inner(scan) else {
        return Err(Error::internal("a scan goes on after its end"));
    };
    let sorted = pool.compute("sorting rows", move || scan.sorted()).await?;
    drop(held);
    let Some(sorted) = sorted else {
        return Ok(None);
    };
    let (size, schema) = (context.session_config().batch_size(), Arc::clone(schema));
    let batches = stream::try_unfold(sorted, move |mut sorted| {
        let (columns, schema, pool) = (columns.clone(), Arc::clone(&schema), pool.clone());
        async move {
            let next = move || {
                let batches = sorted.next(size, &columns, &schema)?;
                Ok((!batches.is_empty()).then(|| (stream::iter(batches.into_iter().map(Ok)), sorted)))
            };
            Ok::<_, DataFusionError>(pool.compute("merging sorted rows", next).await?)
        }
    });
    Ok(Some(batches.try_flatten().boxed()))
}

/// The rows of all partitions, which are packed as they are read.
struct Scan {
    columns: Vec<usize>,
    codings: Vec<Coding>,
    chunks: Mutex<Vec<(PackedBatch, MachineWords)>>,
    store: Store,
    space: SpillSpace,
    /// The memory that sorting needs in addition to the rows.
    work: MemoryReservation,
    /// The number of bytes of rows that each thread sorts at a time.
    run: usize,
}

/// The sorted rows.
struct Sorted {
    merge: Merge,
    packing: Packing,
    /// Merged rows that do not yet fill a batch.
    rest: Vec<u64>,
    _held: MemoryReservation,
}

impl Sorted {
    /// Returns the next rows in batches of `size` rows, which are created in parallel. Only the
    /// very last batch may have fewer rows. Returns an empty list after the last row.
    fn next(&mut self, size: usize, columns: &[usize], schema: &SchemaRef) -> Result<Vec<RecordBatch>> {
        let batch = size.max(1) * self.packing.words();
        let mut rows = std::mem::take(&mut self.rest);
        let mut more = self.merge.next()?;
        while !more.is_empty() {
            rows.append(&mut more);
            if rows.len() >= batch {
                self.rest = rows.split_off(rows.len() / batch * batch);
                break;
            }
            more = self.merge.next()?;
        }
        let batches: Vec<&[u64]> = rows.chunks(batch).collect();
        let made = map(batches.len(), |i| self.packing.batch(batches[i], columns, schema));
        made.into_iter().collect()
    }
}

impl Scan {
    /// Creates a scan. Returns `None` if rows with the schema `schema` cannot be packed, or if
    /// there is not enough memory to sort them.
    fn try_new(columns: &[usize], schema: &Schema, space: &SpillSpace, context: &TaskContext) -> Result<Option<Self>> {
        let fields: Vec<&Field> = columns.iter().map(|column| schema.field(*column)).collect();
        let run = match context.memory_pool().memory_limit() {
            MemoryLimit::Finite(limit) => RUN.min(limit / PART),
            _ => RUN,
        };
        let work = space.reservation("anonsql sorting");
        // The rows that are being sorted need memory twice: with the codes of the scan, and with
        // the ranks.
        let bytes = 2 * run * context.session_config().target_partitions();
        if !fields.iter().all(|f| Coding::is_possible(f.data_type())) || work.try_grow(bytes).is_err() {
            return Ok(None);
        }
        Ok(Some(Self {
            codings: fields.into_iter().map(Coding::of).collect::<Result<_>>()?,
            columns: columns.to_vec(),
            chunks: Mutex::default(),
            store: Store::new(space),
            space: space.clone(),
            work,
            run,
        }))
    }

    /// Sorts the rows. Returns `None` if a column needs more than 64 bits.
    fn sorted(self) -> Result<Option<Sorted>> {
        let chunks = self.chunks.into_inner();
        let Some(packing) = Packing::of(&self.codings, chunks.iter().map(|(chunk, _)| chunk))? else {
            return Ok(None);
        };
        let words = packing.words();
        let rows: usize = chunks.iter().map(|(chunk, _)| chunk.rows()).sum();
        // Each thread gets the same number of runs, so that no thread is idle while others sort.
        let runs = (rows * words * 8).div_ceil(self.run).next_multiple_of(threads());
        let groups: Vec<_> = divided(chunks, rows.div_ceil(runs.max(1)))
            .into_iter()
            .map(|group| Mutex::new(Some(group)))
            .collect();
        let runs = map(groups.len(), |i| {
            let mut run = vec![];
            for (chunk, own) in groups[i].lock().take().into_iter().flatten() {
                check_cancelled()?;
                packing.append(&chunk, &self.store.take(own)?, &mut run);
            }
            sort(&mut run, words);
            match self.store.hold(run) {
                Ok(held) => Ok(held),
                Err(run) => self.store.write(&run),
            }
        });
        let runs = runs.into_iter().collect::<Result<Vec<_>>>()?;
        let held = self.work;
        held.try_resize(self.run + packing.bytes())
            .or_else(|_| held.try_resize(self.run))
            .map_err(Error::from_data)?;
        // A batch takes about three times the memory of its packed rows.
        Ok(Some(Sorted {
            merge: Merge::new(Arc::new(self.store), words, runs, self.run / 4),
            packing,
            rest: vec![],
            _held: held,
        }))
    }
}

/// Divides chunks into groups of about `rows` rows.
fn divided(chunks: Vec<(PackedBatch, MachineWords)>, rows: usize) -> Vec<Vec<(PackedBatch, MachineWords)>> {
    let mut groups: Vec<Vec<_>> = vec![];
    let mut left = 0;
    for (chunk, words) in chunks {
        if left == 0 {
            groups.push(vec![]);
            left = rows;
        }
        left = left.saturating_sub(chunk.rows());
        if let Some(group) = groups.last_mut() {
            group.push((chunk, words));
        }
    }
    groups
}

/// One partition of the input.
struct Partition {
    scan: Arc<Scan>,
    coders: Vec<Coder>,
    /// The memory reservation for the values of the columns.
    held: MemoryReservation,
    /// The maximum number of bytes for the values of the columns.
    most: usize,
}

impl Partition {
    fn new(scan: &Arc<Scan>) -> Result<Self> {
        Ok(Self {
            coders: scan.codings.iter().map(Coding::coder).collect::<Result<_>>()?,
            held: scan.space.reservation("anonsql values of rows"),
            most: table_bytes(scan.space.pool().as_ref()),
            scan: Arc::clone(scan),
        })
    }

    /// Packs a batch. Returns `None` if the batch cannot be packed, or if the memory for its values
    /// is not available.
    fn pack(&mut self, batch: &RecordBatch) -> Result<Option<(PackedBatch, Vec<u64>)>> {
        let mut codes = vec![];
        for (column, coder) in self.scan.columns.iter().zip(&mut self.coders) {
            match coder.encode(batch.column(*column))? {
                Some(encoded) => codes.push(encoded),
                None => return Ok(None),
            }
        }
        let own: usize = self.coders.iter().map(Coder::bytes).sum();
        let shared: usize = self.scan.codings.iter().map(Coding::bytes).sum();
        let has_room = own.max(shared) <= self.most && self.held.try_resize(own + shared).is_ok();
        Ok(if has_room { PackedBatch::pack(&codes) } else { None })
    }

    /// Stores a packed batch in memory, or in a spill file if the memory is not available.
    async fn keep(&self, chunk: PackedBatch, words: Vec<u64>) -> Result<()> {
        let words = match self.scan.store.hold(words) {
            Ok(held) => held,
            Err(words) => {
                let scan = Arc::clone(&self.scan);
                blocking("writing packed rows", move || scan.store.write(&words)).await?
            }
        };
        self.scan.chunks.lock().push((chunk, words));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
