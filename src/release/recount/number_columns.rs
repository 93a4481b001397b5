//! The columns of numbers of a plan, which are collected apart from its other columns.

use super::number_counter::{CountRuns, NumberCounter, NumberCounts};
use super::number_ranks::NumberRanks;
use super::number_rows::{NumberCollector, RowCodes};
use super::number_sort::bytes_to_sort;
use crate::base::error::{Error, Result};
use crate::base::pool::{check_cancelled, map};
use crate::base::spill::SpillSpace;
use crate::data::frequency::Shared;
use crate::data::recode::of_codes;
use crate::method::canonical::plain;
use arrow::array::{Array, ArrayRef, RecordBatch, new_empty_array};
use arrow::datatypes::{DataType, Schema};
use datafusion::error::Result as DfResult;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, execute_stream_partitioned};
use futures::StreamExt;
use parking_lot::Mutex;
use std::sync::Arc;

/// A column of a table, after all its rows were read.
#[derive(Clone)]
pub(crate) struct KnownColumn {
    /// The distinct values, in ascending order with NULL last. Numbers whose rows were not kept
    /// have no values here, because their ranks are enough to find them.
    pub(crate) values: ArrayRef,
    /// The number of rows with each value.
    pub(crate) counts: Arc<Vec<u64>>,
    /// The ranks of the values, if the values are numbers.
    pub(crate) ranks: Option<Arc<NumberRanks>>,
    /// The index of the value of each row, if the values are numbers and their rows were kept.
    pub(crate) rows: Option<Arc<Vec<u32>>>,
}

impl KnownColumn {
    /// Returns true if the values are here, and not only their ranks.
    pub(super) fn has_values(&self) -> bool {
        self.values.len() == self.counts.len()
    }

    /// Returns the memory of the column in bytes.
    pub(super) fn bytes(&self) -> usize {
        let ranks = self.ranks.as_ref().map_or(0, |ranks| ranks.bytes());
        let rows = self.rows.as_ref().map_or(0, |rows| 4 * rows.capacity());
        self.values.get_array_memory_size() + 8 * self.counts.capacity() + ranks + rows
    }
}

/// Collects the numbers of a column in one stream.
enum Collected {
    /// Only the number of rows with each number is known at the end.
    Counts(NumberCounter),
    /// The number of each row is known at the end.
    Rows(NumberCollector),
}

impl Collected {
    fn add(&mut self, column: &ArrayRef) -> DfResult<()> {
        match self {
            Self::Counts(counter) => counter.add(column),
            Self::Rows(collector) => collector.add(column),
        }
    }
}

type Collector = Arc<Mutex<Collected>>;

/// The columns of numbers of a plan. They are collected while the other columns are read.
pub(super) struct NumberColumns {
    /// The index and the type of each column of numbers.
    columns: Vec<(usize, DataType)>,
    /// The indices of the other columns.
    others: Vec<usize>,
    /// The collectors of each stream, one for each column of numbers.
    parts: Vec<Vec<Collector>>,
    keeps_rows: bool,
    held: MemoryReservation,
}

/// The columns of numbers of a plan, after all rows were read.
pub(super) struct KnownNumbers {
    /// The columns with their indices, in ascending order of the indices.
    pub(super) columns: Vec<(usize, KnownColumn)>,
    /// The memory reservation for the columns.
    pub(super) held: MemoryReservation,
}

/// The columns of a plan that are not numbers.
pub(super) struct OtherColumns {
    /// An empty dictionary for each column.
    pub(super) dictionaries: Vec<Arc<Shared>>,
    /// The rows of the columns.
    pub(super) streams: Vec<SendableRecordBatchStream>,
}

impl NumberColumns {
    /// Executes a plan. Returns its columns like [`NumberColumns::of_streams`].
    pub(super) fn apart(
        plan: Arc<dyn ExecutionPlan>,
        context: Arc<TaskContext>,
        keeps_rows: bool,
    ) -> Result<(Self, OtherColumns)> {
        let (schema, spill_space) = (plan.schema(), SpillSpace::of(&context));
        let streams = execute_stream_partitioned(plan, context).map_err(Error::from_data)?;
        Self::of_streams((schema.as_ref(), streams), &spill_space, keeps_rows)
    }

    /// Returns the columns of numbers of streams with this schema, and their other columns, which
    /// the caller reads to the end. The order of the rows is kept if `keeps_rows` is true, and
    /// otherwise rows with the same number are counted together.
    pub(super) fn of_streams(
        (schema, streams): (&Schema, Vec<SendableRecordBatchStream>),
        spill_space: &SpillSpace,
        keeps_rows: bool,
    ) -> Result<(Self, OtherColumns)> {
        let is_number = |i: &usize| NumberRanks::is_possible(schema.field(*i).data_type());
        let (numbers, others): (Vec<usize>, Vec<usize>) = (0..schema.fields().len()).partition(is_number);
        let dictionary = |i: &usize| {
            let field = schema.field(*i);
            Ok(Arc::new(Shared::new(field.name(), field.data_type())?))
        };
        let dictionaries = others.iter().map(dictionary).collect::<Result<_>>()?;
        let typed = |i: usize| (i, plain(schema.field(i).data_type()));
        let mut own = Self {
            columns: numbers.into_iter().map(typed).collect(),
            others,
            parts: vec![],
            keeps_rows,
            held: spill_space.reservation("anonsql columns of numbers"),
        };
        let streams = streams
            .into_iter()
            .map(|stream| own.without_numbers(stream, spill_space));
        let streams = streams.collect::<Result<_>>()?;
        Ok((own, OtherColumns { dictionaries, streams }))
    }

    /// Returns the rows of a stream with the other columns. The columns of numbers are collected
    /// when a batch is read.
    fn without_numbers(
        &mut self,
        stream: SendableRecordBatchStream,
        spill_space: &SpillSpace,
    ) -> Result<SendableRecordBatchStream> {
        let collector = |_: &(usize, DataType)| {
            let held = spill_space.reservation("anonsql numbers");
            Arc::new(Mutex::new(match self.keeps_rows {
                true => Collected::Rows(NumberCollector::new(held)),
                false => Collected::Counts(NumberCounter::new(held)),
            }))
        };
        let collectors: Vec<Collector> = self.columns.iter().map(collector).collect();
        let columns = self.columns.iter().map(|(i, _)| *i);
        let collected: Vec<(usize, Collector)> = columns.zip(collectors.iter().cloned()).collect();
        let others = self.others.clone();
        let schema = Arc::new(stream.schema().project(&others)?);
        self.parts.push(collectors);
        let rows = stream.map(move |batch: DfResult<RecordBatch>| -> DfResult<RecordBatch> {
            let batch = batch?;
            for (i, collector) in &collected {
                collector.lock().add(batch.column(*i))?;
            }
            Ok(batch.project(&others)?)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }

    /// Returns the indices of the other columns.
    pub(super) fn others(&self) -> &[usize] {
        &self.others
    }

    /// Returns the columns. The rows of the streams follow one another. Returns `None` if the code
    /// of a number needs more than 64 bits.
    pub(super) fn finish(self) -> Result<Option<KnownNumbers>> {
        let found = map(self.columns.len(), |number| {
            check_cancelled()?;
            self.column(number)
        });
        let found = found.into_iter().collect::<Result<Vec<Option<KnownColumn>>>>()?;
        let Some(found) = found.into_iter().collect::<Option<Vec<KnownColumn>>>() else {
            return Ok(None);
        };
        let bytes: usize = found.iter().map(KnownColumn::bytes).sum();
        self.held.try_resize(bytes).map_err(Error::from_data)?;
        let indices = self.columns.into_iter().map(|(i, _)| i);
        Ok(Some(KnownNumbers {
            columns: indices.zip(found).collect(),
            held: self.held,
        }))
    }

    /// Returns the column of numbers with the index `number` among the columns of numbers.
    fn column(&self, number: usize) -> Result<Option<KnownColumn>> {
        let (mut counts, mut parts) = (CountRuns::default(), vec![]);
        for part in &self.parts {
            match &mut *part[number].lock() {
                Collected::Counts(counter) => match counter.finish().map_err(Error::from_data)? {
                    Some(own) => counts.add(own),
                    None => return Ok(None),
                },
                Collected::Rows(collector) => match collector.finish() {
                    Some(rows) => parts.push(rows),
                    None => return Ok(None),
                },
            }
        }
        let rows: usize = parts.iter().map(RowCodes::len).sum();
        let counts = match self.keeps_rows {
            true => {
                // While the rows are ranked, their codes are in memory a second time.
                let bytes = (8 + 4) * rows + bytes_to_sort(rows);
                self.held.try_grow(bytes).map_err(Error::from_data)?;
                NumberCounts::of_rows(&parts)
            }
            false => counts.whole(),
        };
        self.held
            .try_grow((16 + 3 * 8) * counts.rows_of_codes.len())
            .map_err(Error::from_data)?;
        let has_null = counts.nulls > 0;
        let (codes, mut rows_of_values): (Vec<u64>, Vec<u64>) = counts.rows_of_codes.into_iter().unzip();
        rows_of_values.extend(has_null.then_some(counts.nulls));
        let (ranks, null) = (NumberRanks::new(&codes, has_null), codes.len() as u32);
        let ranked = self.keeps_rows.then(|| {
            let mut ranked = Vec::with_capacity(rows);
            parts.iter().for_each(|part| part.rank(&ranks, null, &mut ranked));
            Arc::new(ranked)
        });
        let data_type = &self.columns[number].1;
        Ok(Some(KnownColumn {
            values: match self.keeps_rows {
                true => of_codes(data_type, codes, has_null)?,
                false => new_empty_array(data_type),
            },
            counts: Arc::new(rows_of_values),
            ranks: Some(Arc::new(ranks)),
            rows: ranked,
        }))
    }
}
