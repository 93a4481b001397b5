//! The operator that generalizes sensitive values class by class, and then drops the limit column.

use super::recount::Recount;
use super::{LabelTree, protect};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::operator::{InputPartitions, Operator, OperatorExec, Rows};
use crate::data::frequency::Encoder;
use crate::data::recode::{ORDER_PREFIX, RowOutcome};
use crate::method::hierarchy::{Lookup, plain_type};
use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray, Int32Array, RecordBatch, StringArray, UInt32Array};
use arrow::compute::{SortOptions, cast, concat_batches, take, take_record_batch};
use arrow::datatypes::{DataType, Field, Float64Type, Int32Type, Schema, SchemaRef, UInt64Type};
use arrow::row::{RowConverter, SortField};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use futures::{StreamExt, stream};
use parking_lot::Mutex;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The minimum number of rows that are processed together. Classes are collected until they have
/// this number of rows.
const CHUNK: usize = 1 << 13;

/// The parameters of the operator.
#[derive(Debug)]
pub struct PersonalColumns {
    /// The sensitive attribute.
    pub attribute: String,
    /// The values of the attribute, bound to its hierarchy.
    pub lookup: Lookup,
    /// The hierarchy of the attribute as a tree.
    pub tree: LabelTree,
    /// The column with the limit of each row. It is not released.
    pub limit: String,
    /// The minimum number of rows required in a released class.
    pub least_rows: usize,
}

/// Converts rows with their original sensitive values and limits to released rows. The rows are in
/// the order of their classes.
#[derive(Debug)]
pub struct Personal {
    columns: Arc<PersonalColumns>,
    outcome: Arc<Mutex<Option<RowOutcome>>>,
}

/// [`Personal`] as an operator.
pub type PersonalExec = OperatorExec<Personal>;

impl PersonalExec {
    /// Creates the operator over `input`, which must have a single partition and the columns of the
    /// order key. The rows must be in the order of a release without generalization of the
    /// attribute, and rows that are equal in this order must be ordered by the limit.
    pub fn over_classes(
        input: Arc<dyn ExecutionPlan>,
        columns: Arc<PersonalColumns>,
        outcome: Arc<Mutex<Option<RowOutcome>>>,
    ) -> Self {
        let fields = input.schema();
        let fields = fields
            .fields()
            .iter()
            .filter(|f| *f.name() != columns.limit)
            .map(|field| match *field.name() == columns.attribute {
                true => Field::new(
                    field.name(),
                    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
                    true,
                ),
                false => field.as_ref().clone(),
            });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Self::over(input, Personal { columns, outcome }, schema)
    }
}

impl fmt::Display for Personal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "attribute={}, limit={}", self.columns.attribute, self.columns.limit)
    }
}

impl Operator for Personal {
    const NAME: &'static str = "PersonalExec";
    const INPUT: InputPartitions = InputPartitions::Ordered;

    fn run(&self, input: SendableRecordBatchStream, schema: SchemaRef, context: &Arc<TaskContext>) -> Result<Rows> {
        let columns = Arc::clone(&self.columns);
        let run = Run {
            encoder: Encoder::new(&columns.attribute, columns.lookup.values())?,
            recount: Recount::new(&columns.lookup)?,
            labels: Arc::new(columns.tree.texts().clone()),
            // Values of other types are released as strings, which have another order.
            is_ordered: plain_type(columns.lookup.values().data_type()).is_string(),
            outcome: RowOutcome {
                levels: vec![0; columns.tree.levels()],
                ..RowOutcome::default()
            },
            reservation: MemoryConsumer::new("anonsql class").register(context.memory_pool()),
            input: input.schema(),
            schema,
            held: vec![],
            rows: 0,
            columns,
        };
        let done = Arc::clone(&self.outcome);
        let rows = stream::try_unfold((input, Some(run), done), |(mut input, run, done)| async move {
            let Some(mut run) = run else {
                return Ok(None);
            };
            while let Some(batch) = input.next().await.transpose()? {
                if let Some(released) = run.add(batch)? {
                    return Ok(Some((released, (input, Some(run), done))));
                }
            }
            let rest = run.release(run.rows)?;
            *done.lock() = Some(run.outcome);
            Ok(rest.map(|rest| (rest, (input, None, done))))
        });
        Ok(rows.boxed())
    }

    fn estimate(&self, input: Option<usize>) -> Option<usize> {
        input
    }
}

/// One execution of [`Personal`].
struct Run {
    columns: Arc<PersonalColumns>,
    encoder: Encoder,
    recount: Recount,
    labels: ArrayRef,
    /// True if rows whose values are not generalized are already in release order.
    is_ordered: bool,
    outcome: RowOutcome,
    reservation: MemoryReservation,
    input: SchemaRef,
    schema: SchemaRef,
    held: Vec<RecordBatch>,
    rows: usize,
}

/// Returns the order key of a row.
fn key(batch: &RecordBatch, row: usize) -> Vec<u64> {
    let schema = batch.schema();
    let words = (0..batch.num_columns()).filter(|i| schema.field(*i).name().starts_with(ORDER_PREFIX));
    words
        .map(|i| batch.column(i).as_primitive::<UInt64Type>().value(row))
        .collect()
}

impl Run {
    /// Adds a batch. If the complete classes have at least [`CHUNK`] rows, returns these rows.
    /// Fails with [`ErrorKind::Resources`] if a class does not fit in memory.
    fn add(&mut self, batch: RecordBatch) -> Result<Option<RecordBatch>> {
        if batch.num_rows() == 0 {
            return Ok(None);
        }
        self.rows += batch.num_rows();
        let held = self.reservation.size() + bytes(&batch);
        self.reservation.try_resize(held).map_err(|_| {
            Error::new(
                ErrorKind::Resources,
                format!(
                    "the memory limit is reached with {} rows of one class, which are processed together to protect {}; \
                     raise --memory-limit",
                    self.rows, self.columns.attribute
                ),
            )
        })?;
        // The last rows belong to a class that may continue in the next batch.
        let open = classes(&batch).last().map_or(0, |class| class.len());
        let goes_on = |before: &RecordBatch| key(before, before.num_rows() - 1) == key(&batch, 0);
        let is_new = open < batch.num_rows() || !self.held.last().is_some_and(goes_on);
        self.held.push(batch);
        match is_new && self.rows - open >= CHUNK {
            true => self.release(self.rows - open),
            false => Ok(None),
        }
    }

    /// Converts the first `rows` collected rows to released rows. These rows must belong to
    /// complete classes.
    fn release(&mut self, rows: usize) -> Result<Option<RecordBatch>> {
        if rows == 0 {
            return Ok(None);
        }
        let held = concat_batches(&self.input, &std::mem::take(&mut self.held))?;
        let rest = held.slice(rows, held.num_rows() - rows);
        self.rows = rest.num_rows();
        let chunk = held.slice(0, rows);
        if self.rows > 0 {
            // The remaining rows are copied, so that the memory of the processed rows is freed.
            let own: UInt32Array = (0..self.rows as u32).collect();
            self.held.push(take_record_batch(&rest, &own)?);
        }
        let released = self.protect(&chunk)?;
        let left = self.held.iter().map(bytes).sum();
        // The reservation becomes smaller, so the resize cannot fail.
        let _ = self.reservation.try_resize(left);
        Ok(Some(released))
    }

    fn protect(&mut self, chunk: &RecordBatch) -> Result<RecordBatch> {
        let values = self.encoder.encode(self.column(chunk, &self.columns.attribute)?)?;
        let limits = self.limits(chunk)?;
        let (mut rows, mut nodes) = (vec![], vec![]);
        let (mut kept, mut unordered): (Vec<Range<usize>>, Vec<Range<usize>>) = (vec![], vec![]);
        for class in classes(chunk) {
            let start = rows.len();
            let (rows_of_class, first) = (class.len(), class.start);
            let released = self.class(class, &values, &limits);
            if released.len() < rows_of_class {
                let lost = (rows_of_class - released.len()) as u64;
                self.outcome.lost.insert(key(chunk, first), lost);
            }
            let is_raised = released.iter().any(|(_, level)| *level > 0);
            for (row, level) in released {
                rows.push(row as u32);
                nodes.push(self.columns.tree.node(values[row], level) as i32);
                self.outcome.levels[usize::from(level)] += 1;
            }
            kept.push(start..rows.len());
            if is_raised || !self.is_ordered {
                unordered.push(start..rows.len());
            }
        }
        let null = |node: &i32| (!self.labels.is_null(*node as usize)).then_some(*node);
        let keys: Int32Array = nodes.iter().map(null).collect();
        let released = DictionaryArray::<Int32Type>::try_new(keys, Arc::clone(&self.labels))?;
        let texts = cast(&released, &DataType::Utf8)?;
        let texts: &StringArray = texts.as_string();
        for class in &kept {
            let pick = |row: &u32| (values[*row as usize], limits[*row as usize]);
            let (own, limits): (Vec<u32>, Vec<f64>) = rows[class.clone()].iter().map(pick).unzip();
            let texts = texts.slice(class.start, class.len());
            self.outcome.above += self.recount.above(&own, &texts, &limits);
        }
        let taken = (rows.len() < chunk.num_rows()).then(|| UInt32Array::from(rows));
        let mut columns: Vec<ArrayRef> = vec![];
        for field in self.schema.fields() {
            columns.push(match (*field.name() == self.columns.attribute, &taken) {
                (true, _) => Arc::new(released.clone()),
                (false, Some(taken)) => take(self.column(chunk, field.name())?, taken, None)?,
                (false, None) => Arc::clone(self.column(chunk, field.name())?),
            });
        }
        self.sorted(RecordBatch::try_new(Arc::clone(&self.schema), columns)?, &unordered)
    }

    /// Returns the released rows of one class, each with the level of its sensitive value.
    fn class(&mut self, class: Range<usize>, values: &[u32], limits: &[f64]) -> Vec<(usize, u8)> {
        let mut rows: Vec<usize> = class.clone().collect();
        loop {
            let of = |all: &[u32]| rows.iter().map(|r| all[*r]).collect::<Vec<_>>();
            let own_limits: Vec<f64> = rows.iter().map(|r| limits[*r]).collect();
            let (levels, unmet) = protect(&self.columns.tree, &of(values), &own_limits);
            if unmet.is_empty() {
                return rows.into_iter().zip(levels).collect();
            }
            self.outcome.unmet += unmet.len() as u64;
            self.outcome.suppressed += unmet.len() as u64;
            let mut place = 0;
            rows.retain(|_| {
                place += 1;
                unmet.binary_search(&(place - 1)).is_err()
            });
            if rows.len() < self.columns.least_rows.max(1) {
                self.outcome.suppressed += rows.len() as u64;
                self.outcome.classes += 1;
                return vec![];
            }
        }
    }

    /// Sorts the rows of these classes by their released values, because the order in which the
    /// rows were processed depends on the original values and would reveal them.
    fn sorted(&self, released: RecordBatch, classes: &[Range<usize>]) -> Result<RecordBatch> {
        if classes.is_empty() {
            return Ok(released);
        }
        let rows: UInt32Array = classes.iter().flat_map(|c| c.start as u32..c.end as u32).collect();
        let shown = released.columns().iter().zip(self.schema.fields());
        let shown = shown.filter(|(_, f)| !f.name().starts_with(ORDER_PREFIX));
        let shown = shown.map(|(column, _)| Ok(take(column, &rows, None)?));
        let shown: Vec<ArrayRef> = shown.collect::<Result<_>>()?;
        let ascending = SortOptions {
            descending: false,
            nulls_first: false,
        };
        let fields = shown
            .iter()
            .map(|c| SortField::new_with_options(c.data_type().clone(), ascending));
        let keys = RowConverter::new(fields.collect())?.convert_columns(&shown)?;
        let mut order: Vec<u32> = (0..released.num_rows() as u32).collect();
        let mut first = 0;
        for class in classes {
            let key = |row: u32| keys.row(first + row as usize - class.start);
            order[class.clone()].sort_by(|a, b| key(*a).cmp(&key(*b)));
            first += class.len();
        }
        Ok(take_record_batch(&released, &UInt32Array::from(order))?)
    }

    fn column<'a>(&self, batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
        let found = batch.column_by_name(name);
        found.ok_or_else(|| Error::internal(format!("the second scan lacks column {name}")))
    }

    fn limits(&self, chunk: &RecordBatch) -> Result<Vec<f64>> {
        let limits = cast(self.column(chunk, &self.columns.limit)?, &DataType::Float64)?;
        let limits = limits.as_primitive::<Float64Type>();
        // The limits were checked before the scan. If the source has changed, a row without a valid
        // limit would not be protected.
        let is_limit = |limit: Option<f64>| limit.is_some_and(|limit| (0.0..=1.0).contains(&limit));
        match limits.iter().all(is_limit) {
            true => Ok(limits.values().to_vec()),
            false => Err(Error::data(format!(
                "column {} changed while it was read: a row no longer has a limit from 0 to 1; run the statement again",
                self.columns.limit
            ))),
        }
    }
}

/// Returns the memory of the rows of a batch in bytes. Shared memory, such as labels and the
/// buffers of other batches of a sort, is not counted.
fn bytes(batch: &RecordBatch) -> usize {
    let of_column = |column: &ArrayRef| match column.data_type() {
        DataType::Dictionary(key, _) => column.len() * key.primitive_width().unwrap_or(4),
        DataType::Utf8View => {
            let apart = column
                .as_string_view()
                .lengths()
                .filter(|n| *n > 12)
                .map(|n| n as usize);
            column.len() * 16 + apart.sum::<usize>()
        }
        _ => column
            .to_data()
            .get_slice_memory_size()
            .unwrap_or_else(|_| column.get_array_memory_size()),
    };
    batch.columns().iter().map(of_column).sum()
}

/// Returns the ranges of rows with equal order keys.
fn classes(chunk: &RecordBatch) -> Vec<Range<usize>> {
    let schema = chunk.schema();
    let words: Vec<&[u64]> = (0..chunk.num_columns())
        .filter(|i| schema.field(*i).name().starts_with(ORDER_PREFIX))
        .map(|i| &chunk.column(i).as_primitive::<UInt64Type>().values()[..])
        .collect();
    let ends = (1..=chunk.num_rows())
        .filter(|row| *row == chunk.num_rows() || words.iter().any(|word| word[*row] != word[*row - 1]));
    let mut start = 0;
    ends.map(|end| std::mem::replace(&mut start, end)..end).collect()
}
