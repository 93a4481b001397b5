//! The operators before and after the sort of a release, which let the sort process equal rows only
//! once.
//!
//! Equal rows of a release are interchangeable. They are also frequent, because the rows of a class
//! have the same labels, and the other columns usually have few values. [`FoldExec`] counts equal
//! rows before the sort, which then compares, moves and spills each distinct row only once.
//! [`RepeatExec`] repeats the rows after the sort. Folding is an optimization and need not find all
//! equal rows: those that are not folded are sorted next to each other. Therefore, a stream counts
//! rows in a small table. When the table is full, the stream returns the content of the table and
//! starts a new one. It stops folding if equal rows are rare.

use super::distinct_rows::DistinctRows;
use crate::base::error::{Error, Result};
use crate::base::operator::{InputPartitions, Operator, OperatorExec, Rows};
use crate::data::frequency::ROWS;
use arrow::array::{ArrayRef, AsArray, UInt32Array, UInt64Array};
use arrow::compute::{cast, take_record_batch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt64Type};
use arrow::record_batch::RecordBatch;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use futures::{StreamExt, stream};
use std::fmt;
use std::sync::Arc;

/// The size in bytes of the table of a stream if memory is not limited: a few hundred thousand
/// rows.
const TABLE: usize = 1 << 26;
/// The memory limit divided by this number is the maximum size of the table of a stream.
const PART: usize = 16;

/// Returns the memory in bytes that each stream of a [`FoldExec`] reserves in `pool`.
pub(super) fn table_bytes(pool: &dyn MemoryPool) -> usize {
    match pool.memory_limit() {
        MemoryLimit::Finite(limit) => TABLE.min(limit / PART),
        _ => TABLE,
    }
}

/// Returns the total memory in bytes that the [`FoldExec`] operators in `plan` reserve in `pool`
/// during execution.
pub(super) fn set_aside(plan: &dyn ExecutionPlan, pool: &dyn MemoryPool) -> usize {
    let own = match plan.is::<FoldExec>() {
        true => plan.output_partitioning().partition_count() * table_bytes(pool),
        false => 0,
    };
    let below = plan.children().into_iter().map(|child| set_aside(child.as_ref(), pool));
    own + below.sum::<usize>()
}

/// Replaces equal rows with distinct rows and their counts. The counts are in the last column,
/// [`ROWS`].
#[derive(Debug)]
pub struct Fold {
    /// True if equal rows are folded. If false, each row gets the count 1.
    pub(super) folds: bool,
}

/// [`Fold`] as an operator.
pub type FoldExec = OperatorExec<Fold>;

impl FoldExec {
    /// Folds the rows of `input` if grouping preserves the values of all columns. The output has
    /// the columns of `schema` and [`ROWS`]; a column that is a dictionary in `input` may be plain
    /// in `schema`.
    pub fn over_rows(input: Arc<dyn ExecutionPlan>, schema: &Schema) -> Self {
        let folds = schema.fields().iter().all(|f| is_kept_by_grouping(f.data_type()));
        Self::over(input, Fold { folds }, with_rows(schema))
    }
}

/// Returns `schema` with the column [`ROWS`] at the end.
fn with_rows(schema: &Schema) -> SchemaRef {
    let rows = Arc::new(Field::new(ROWS, DataType::UInt64, false));
    let fields = schema.fields().iter().cloned().chain([rows]);
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Returns true if equal values of this type are always identical. This is false for floats, which
/// have two zeros and many NaNs.
fn is_kept_by_grouping(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_kept_by_grouping(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::Boolean => true,
        DataType::Interval(_) => false,
        other => other.is_primitive() && !other.is_floating(),
    }
}

impl fmt::Display for Fold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("equal rows")
    }
}

impl Operator for Fold {
    const NAME: &'static str = "FoldExec";

    fn run(&self, input: SendableRecordBatchStream, schema: SchemaRef, context: &Arc<TaskContext>) -> Result<Rows> {
        let pool = context.memory_pool();
        let (held, room) = (
            MemoryConsumer::new("anonsql equal rows").register(pool),
            table_bytes(pool.as_ref()),
        );
        // If the memory is not available, rows are not folded.
        let table = match self.folds && held.try_grow(room).is_ok() {
            true => Some(Table::new(Arc::clone(&schema), room)?),
            false => None,
        };
        let size = context.session_config().batch_size();
        let folding = Folding {
            input,
            schema,
            table,
            held,
            size,
            ready: None,
        };
        let rows = stream::try_unfold(folding, |mut folding| async move {
            let next = folding.next().await?;
            Ok(next.map(|batch| (batch, folding)))
        });
        Ok(rows.boxed())
    }
}

/// Distinct rows with their counts.
struct Table {
    schema: SchemaRef,
    distinct: DistinctRows,
    counts: Vec<u64>,
    rows: usize,
    room: usize,
}

impl Table {
    fn new(schema: SchemaRef, room: usize) -> Result<Self> {
        Ok(Self {
            distinct: DistinctRows::of_fields(schema.fields().iter().filter(|f| f.name() != ROWS))?,
            counts: vec![],
            rows: 0,
            room,
            schema,
        })
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let rows = self.distinct.intern(batch.columns())?;
        self.counts.resize(self.distinct.len(), 0);
        rows.iter().for_each(|row| self.counts[*row as usize] += 1);
        self.rows += rows.len();
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.distinct.bytes() + self.counts.capacity() * 8 >= self.room
    }

    /// Returns true if so few rows were equal that sorting all rows costs no more than folding
    /// them.
    fn is_idle(&self) -> bool {
        self.rows - self.counts.len() < self.rows / 5
    }

    /// Returns the content of the table as a batch and empties the table.
    fn take(&mut self) -> Result<RecordBatch> {
        let empty = Self::new(Arc::clone(&self.schema), self.room)?;
        let full = std::mem::replace(self, empty);
        let mut columns = full.distinct.into_values()?;
        columns.push(Arc::new(UInt64Array::from(full.counts)));
        typed(&columns, &self.schema)
    }
}

/// Casts the columns to the types of `schema`.
pub(super) fn typed(columns: &[ArrayRef], schema: &SchemaRef) -> Result<RecordBatch> {
    let typed = columns.iter().zip(schema.fields()).map(|(c, f)| cast(c, f.data_type()));
    Ok(RecordBatch::try_new(
        Arc::clone(schema),
        typed.collect::<Result<_, _>>()?,
    )?)
}

/// One execution of [`Fold`].
struct Folding {
    input: SendableRecordBatchStream,
    schema: SchemaRef,
    table: Option<Table>,
    held: MemoryReservation,
    size: usize,
    /// The batch that is being returned, and the number of its rows that were already returned.
    ready: Option<(RecordBatch, usize)>,
}

impl Folding {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(part) = self.part()? {
                return Ok(Some(part));
            }
            let batch = self.input.next().await.transpose().map_err(Error::from_data)?;
            let Some(table) = &mut self.table else {
                return batch.map(|b| single(&b, &self.schema)).transpose();
            };
            match batch {
                Some(batch) => {
                    table.add(&batch)?;
                    if table.is_full() {
                        let stops = table.is_idle();
                        self.ready = Some((table.take()?, 0));
                        if stops {
                            self.table = None;
                        }
                    }
                }
                None => {
                    self.ready = Some((table.take()?, 0));
                    self.table = None;
                }
            }
        }
    }

    /// Returns a copy of the next rows of the ready batch, so that an output batch does not keep
    /// the memory of all rows.
    fn part(&mut self) -> Result<Option<RecordBatch>> {
        let Some((batch, done)) = self.ready.as_mut().filter(|(b, done)| *done < b.num_rows()) else {
            self.ready = None;
            if self.table.is_none() {
                self.held.free();
            }
            return Ok(None);
        };
        let end = batch.num_rows().min(*done + self.size);
        let rows: UInt32Array = (*done as u32..end as u32).collect();
        *done = end;
        Ok(Some(take_record_batch(batch, &rows)?))
    }
}

/// Returns the rows without folding, each with the count 1.
fn single(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let ones: ArrayRef = Arc::new(UInt64Array::from(vec![1; batch.num_rows()]));
    let columns: Vec<ArrayRef> = batch.columns().iter().cloned().chain([ones]).collect();
    typed(&columns, schema)
}

/// Repeats each folded row as many times as its count.
#[derive(Debug)]
pub struct Repeat;

/// [`Repeat`] as an operator.
pub type RepeatExec = OperatorExec<Repeat>;

impl RepeatExec {
    /// Repeats each folded row of `input` as many times as its count, and keeps the order. The
    /// output has the schema `schema`, which is the schema of the input without [`ROWS`].
    pub fn over_ordered(input: Arc<dyn ExecutionPlan>, schema: SchemaRef) -> Self {
        Self::over(input, Repeat, schema)
    }
}

impl fmt::Display for Repeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("equal rows")
    }
}

impl Operator for Repeat {
    const NAME: &'static str = "RepeatExec";
    const INPUT: InputPartitions = InputPartitions::Ordered;

    fn run(&self, input: SendableRecordBatchStream, schema: SchemaRef, context: &Arc<TaskContext>) -> Result<Rows> {
        let size = context.session_config().batch_size();
        let rows = input.map(move |batch| Repeated::new(&batch?, &schema, size));
        let repeated = rows.flat_map(|repeated| match repeated {
            Ok(repeated) => stream::iter(repeated.map(|b| b.map_err(Into::into))).boxed(),
            Err(e) => stream::iter([Err(e.into())]).boxed(),
        });
        Ok(repeated.boxed())
    }
}

/// The state of repeating one batch of folded rows. The output consists of batches of at most
/// `size` rows.
struct Repeated {
    distinct: RecordBatch,
    counts: UInt64Array,
    size: usize,
    /// The index of the current row.
    row: usize,
    /// The number of times that the current row was already returned.
    done: u64,
}

impl Repeated {
    fn new(folded: &RecordBatch, schema: &SchemaRef, size: usize) -> Result<Self> {
        let column = |name: &str| {
            let found = folded.column_by_name(name);
            found
                .cloned()
                .ok_or_else(|| Error::internal(format!("folded rows lack {name}")))
        };
        let columns = schema.fields().iter().map(|f| column(f.name()));
        Ok(Self {
            distinct: RecordBatch::try_new(Arc::clone(schema), columns.collect::<Result<_>>()?)?,
            counts: column(ROWS)?.as_primitive::<UInt64Type>().clone(),
            size,
            row: 0,
            done: 0,
        })
    }
}

impl Iterator for Repeated {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut rows: Vec<u32> = vec![];
        while rows.len() < self.size && self.row < self.counts.len() {
            let left = self.counts.value(self.row) - self.done;
            let room = self.size - rows.len();
            let run = usize::try_from(left).unwrap_or(room).min(room);
            rows.extend(std::iter::repeat_n(self.row as u32, run));
            self.done += run as u64;
            if self.done == self.counts.value(self.row) {
                (self.row, self.done) = (self.row + 1, 0);
            }
        }
        if rows.is_empty() {
            return None;
        }
        Some(take_record_batch(&self.distinct, &UInt32Array::from(rows)).map_err(Error::from))
    }
}

#[cfg(test)]
mod tests;
