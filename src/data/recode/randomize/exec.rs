//! The operator that adds the randomized columns to the other columns.

use super::contingency::{ContingencyTable, Spread, mutual_information};
use super::grouped;
use super::numbering::Numbering;
use super::sequence;
use super::{Order, Permutation};
use crate::base::error::{Error, Result};
use crate::base::operator::{InputPartitions, Operator, OperatorExec, Rows};
use crate::base::spill::SpillSpace;
use crate::data::recode::ORDER_PREFIX;
use crate::data::recode::distinct_rows::DistinctRows;
use arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch, UInt32Array};
use arrow::compute::{filter, take};
use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use futures::{StreamExt, stream};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// For each released randomized column, its mutual information with the classes, in bits. The
/// values are set once all rows have been returned.
pub type MeasuredInformation = Arc<Mutex<Vec<f64>>>;

/// Adds the randomized columns to rows that lack them. The rows are in release order.
#[derive(Debug)]
pub struct Randomize {
    permutations: Arc<Vec<Arc<Permutation>>>,
    /// Where each released column comes from.
    columns: Arc<Vec<From>>,
    numbering: Arc<Numbering>,
    measured: Option<MeasuredInformation>,
}

/// [`Randomize`] as an operator.
pub type RandomizeExec = OperatorExec<Randomize>;

#[derive(Debug, Clone, Copy)]
enum From {
    Input(usize),
    Permutation(usize),
}

impl RandomizeExec {
    /// Adds the columns of `permutations` to `input`, which must have a single partition and the
    /// columns of the order key. The columns are released in the order of `source`.
    pub fn over_ordered(
        input: Arc<dyn ExecutionPlan>,
        source: &Schema,
        permutations: Arc<Vec<Arc<Permutation>>>,
        numbering: Arc<Numbering>,
        measured: Option<MeasuredInformation>,
    ) -> Self {
        let schema = input.schema();
        let (mut fields, mut columns) = (vec![], vec![]);
        for field in source.fields() {
            if let Some(i) = permutations.iter().position(|d| d.column == *field.name()) {
                fields.push(Field::new(
                    field.name(),
                    permutations[i].values.data_type().clone(),
                    true,
                ));
                columns.push(From::Permutation(i));
            } else if let Ok(i) = schema.index_of(field.name()) {
                fields.push(schema.field(i).clone());
                columns.push(From::Input(i));
            }
        }
        for (i, field) in schema.fields().iter().enumerate() {
            if field.name().starts_with(ORDER_PREFIX) {
                fields.push(field.as_ref().clone());
                columns.push(From::Input(i));
            }
        }
        let step = Randomize {
            permutations,
            columns: Arc::new(columns),
            numbering,
            measured,
        };
        Self::over(input, step, Arc::new(Schema::new(fields)))
    }
}

impl fmt::Display for Randomize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<&str> = self.permutations.iter().map(|d| d.column.as_str()).collect();
        write!(f, "columns=[{}]", columns.join(", "))
    }
}

impl Operator for Randomize {
    const NAME: &'static str = "RandomizeExec";
    const INPUT: InputPartitions = InputPartitions::Ordered;

    fn run(&self, input: SendableRecordBatchStream, schema: SchemaRef, context: &Arc<TaskContext>) -> Result<Rows> {
        let spill_space = SpillSpace::of(context);
        let readers = self
            .permutations
            .iter()
            .map(|d| Reader::new(d))
            .collect::<Result<Vec<_>>>()?;
        let tables = self
            .permutations
            .iter()
            .filter(|_| self.measured.is_some())
            .map(|_| ContingencyTable::new(&spill_space));
        let run = Run {
            permutations: Arc::clone(&self.permutations),
            columns: Arc::clone(&self.columns),
            numbering: Arc::clone(&self.numbering),
            schema,
            tables: tables.collect(),
            readers,
            measured: self.measured.clone(),
        };
        let rows = stream::try_unfold((input, Some(run)), |(mut input, run)| async move {
            let Some(mut run) = run else {
                return Ok(None);
            };
            match input.next().await.transpose()? {
                Some(batch) => {
                    let batch = run.add(&batch)?;
                    Ok(Some((batch, (input, Some(run)))))
                }
                None => {
                    run.finish()?;
                    Ok(None)
                }
            }
        });
        Ok(rows.boxed())
    }

    fn estimate(&self, input: Option<usize>) -> Option<usize> {
        input
    }
}

/// A reader for the permuted values of one column.
enum Reader {
    Rows(sequence::Reader),
    Classes(grouped::Reader),
    Groups {
        columns: Vec<String>,
        distinct: DistinctRows,
        reader: grouped::Reader,
    },
}

impl Reader {
    fn new(permutation: &Permutation) -> Result<Self> {
        Ok(match &permutation.order {
            Order::Rows(sequence) => Reader::Rows(sequence::Reader::new(Arc::clone(sequence))),
            Order::Classes(grouped) => Reader::Classes(grouped::Reader::new(Arc::clone(grouped))),
            Order::Groups { columns, keys, grouped } => {
                let mut distinct = DistinctRows::new(keys.iter().map(|k| k.data_type()))?;
                // Keys are distinct, so the index that each key gets is its position in `keys`.
                distinct.intern(keys)?;
                Reader::Groups {
                    columns: columns.clone(),
                    distinct,
                    reader: grouped::Reader::new(Arc::clone(grouped)),
                }
            }
        })
    }

    /// Returns the codes for those rows of a batch that are not starred. `live` is true for these
    /// rows; it is `None` if no row is starred. `classes` contains the class of each of these rows.
    fn next(&mut self, batch: &RecordBatch, live: Option<&BooleanArray>, classes: &[u32]) -> Result<Vec<u32>> {
        match self {
            Reader::Rows(reader) => reader.next(classes.len()),
            Reader::Classes(reader) => reader.next(classes),
            Reader::Groups {
                columns,
                distinct,
                reader,
            } => {
                let column = |name: &String| {
                    let column = batch.column_by_name(name).ok_or_else(super::sequence::changed)?;
                    Ok::<_, Error>(match live {
                        Some(live) => filter(column, live)?,
                        None => Arc::clone(column),
                    })
                };
                let columns = columns.iter().map(column).collect::<Result<Vec<ArrayRef>>>()?;
                reader.next(&distinct.intern(&columns)?)
            }
        }
    }
}

/// One execution of [`Randomize`].
struct Run {
    permutations: Arc<Vec<Arc<Permutation>>>,
    columns: Arc<Vec<From>>,
    numbering: Arc<Numbering>,
    schema: SchemaRef,
    readers: Vec<Reader>,
    tables: Vec<ContingencyTable>,
    measured: Option<MeasuredInformation>,
}

impl Run {
    fn add(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let numbers = self.numbering.of(batch)?;
        let classes: Vec<u32> = numbers.iter().copied().flatten().collect();
        // A starred row has no value in a sensitive column and is not part of the permutation.
        let live = (classes.len() < numbers.len())
            .then(|| numbers.iter().map(|n| Some(n.is_some())).collect::<BooleanArray>());
        let mut randomized = vec![];
        for (i, permutation) in self.permutations.iter().enumerate() {
            let codes = self.readers[i].next(batch, live.as_ref(), &classes)?;
            if let Some(table) = self.tables.get_mut(i) {
                table.add(&classes, &codes)?;
            }
            let places: UInt32Array = match &live {
                None => codes.into(),
                Some(live) => {
                    let mut codes = codes.into_iter();
                    live.values()
                        .iter()
                        .map(|live| if live { codes.next() } else { None })
                        .collect()
                }
            };
            randomized.push(take(&permutation.values, &places, None)?);
        }
        let columns = self.columns.iter().map(|from| match from {
            From::Input(i) => Arc::clone(batch.column(*i)),
            From::Permutation(i) => Arc::clone(&randomized[*i]),
        });
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns.collect())?)
    }

    fn finish(self) -> Result<()> {
        let Some(measured) = self.measured else {
            return Ok(());
        };
        let mut bits = vec![];
        for (table, permutation) in self.tables.into_iter().zip(self.permutations.iter()) {
            let groups = Spread::of(table.groups());
            let mut pairs = Spread::default();
            table.pairs(|_, _, n| pairs.add(n))?;
            bits.push(mutual_information(&groups, &Spread::of(&permutation.counts), &pairs));
        }
        *measured.lock() = bits;
        Ok(())
    }
}
