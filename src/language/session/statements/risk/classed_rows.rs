//! The rows of a table with their classes and sampling weights, in the order of the table.

use super::spec::RiskSpec;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::quoting::quote;
use crate::data::source::stored;
use crate::method::risk::Weighed;
use crate::release::recount::{ReleasedTable, with_one_zero};
use arrow::array::{Array, ArrayRef, AsArray, new_empty_array};
use arrow::buffer::NullBuffer;
use arrow::compute::concat;
use arrow::datatypes::{DataType, Field, Float64Type};
use arrow::record_batch::RecordBatch;
use arrow::row::{RowConverter, SortField};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// The rows of a table with their classes.
pub(super) struct ClassedRows {
    /// The index of each row's class in `classes`, in the order of the table; `None` for a
    /// suppressed row.
    pub(super) class_of: Vec<Option<u32>>,
    /// For each quasi-identifier, the code of its value in each class.
    pub(super) columns: Vec<Vec<u32>>,
    /// For each class, the number of its rows and the sum of their weights.
    pub(super) classes: Vec<Weighed>,
    /// For each row, a number that identifies its household, which is the value of ENTITY; `None`
    /// if the statement has no ENTITY.
    pub(super) household_of: Option<Vec<u32>>,
    /// The columns of KEEP, with their values in the order of the table.
    pub(super) kept: Vec<(Arc<Field>, ArrayRef)>,
    /// The memory reservation for this value and for the figures that are computed from it.
    memory: MemoryReservation,
}

/// Concatenates the batches of a KEEP column into one array.
fn whole(name: &str, batches: &[ArrayRef], data_type: &DataType) -> Result<(Arc<Field>, ArrayRef)> {
    let batches: Vec<&dyn Array> = batches.iter().map(AsRef::as_ref).collect();
    let column = match batches.is_empty() {
        true => new_empty_array(data_type),
        false => concat(&batches)?,
    };
    let field = Field::new(name, column.data_type().clone(), true);
    Ok((Arc::new(field), column))
}

/// The approximate memory for a row, in bytes: the index of its class, and the results for the row.
const ROW: usize = 64;
/// The approximate memory for a class, in bytes, without its codes: an entry in a hash map here,
/// another entry during the search for special uniques, and its figures.
const CLASS: usize = 256;
/// The approximate memory for an entry of a hash map, in bytes, without the text of the entry.
const ENTRY: usize = 64;

impl ClassedRows {
    /// Reads the rows of a table. `session` must read them in the order of the table. If the
    /// statement has no WEIGHT, every row has weight 1. Fails with `ErrorKind::Data` if the weight
    /// of a row that is not suppressed is NULL, not finite or below 1.
    pub(super) async fn read(session: &SessionContext, table: &ReleasedTable, statement: &RiskSpec) -> Result<Self> {
        let mut rows = stored(session, &query(session, table, statement).await?).await?;
        let columns = statement.quasi_identifiers.len();
        let fields = rows.schema().fields().clone();
        let mut codes: Vec<Numbered> = fields.iter().take(columns).map(Numbered::of).collect::<Result<_>>()?;
        let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut found = Self {
            class_of: vec![],
            columns: vec![vec![]; columns],
            classes: vec![],
            household_of: statement.entity.is_some().then(Vec::new),
            kept: vec![],
            memory: MemoryConsumer::new("anonsql rows").register(session.task_ctx().memory_pool()),
        };
        // The query selects two columns after the quasi-identifiers: the weight, and whether the
        // row is suppressed.
        let (mut unfit, behind) = (0u64, columns + 2);
        let mut households = statement
            .entity
            .as_ref()
            .map(|_| Numbered::of(&fields[behind]))
            .transpose()?;
        let first_kept = behind + usize::from(households.is_some());
        let mut kept: Vec<Vec<ArrayRef>> = vec![vec![]; statement.keep.len()];
        while let Some(batch) = rows.next().await {
            let batch = batch.map_err(Error::from_data)?;
            let (mut bytes, classes) = (batch.num_rows() * ROW, found.classes.len());
            let mut of_rows = vec![];
            for (codes, column) in codes.iter_mut().zip(batch.columns()) {
                let (numbers, more) = codes.numbers(column, None)?;
                of_rows.push(numbers);
                bytes += more;
            }
            unfit += found.add_rows(&batch, &of_rows, &mut known);
            if let (Some(households), Some(household_of)) = (&mut households, &mut found.household_of) {
                // A row with NULL in ENTITY forms a household of its own, because its real
                // household is unknown.
                let alone = batch.column(behind).logical_nulls();
                let (numbers, more) = households.numbers(batch.column(behind), alone.as_ref())?;
                household_of.extend(numbers);
                bytes += more + batch.num_rows() * size_of::<u32>();
            }
            for (kept, column) in kept.iter_mut().zip(batch.columns().iter().skip(first_kept)) {
                bytes += 2 * column.get_array_memory_size();
                kept.push(Arc::clone(column));
            }
            bytes += (found.classes.len() - classes) * (CLASS + 12 * columns);
            found.reserve(bytes)?;
        }
        for ((name, batches), field) in statement.keep.iter().zip(&kept).zip(fields.iter().skip(first_kept)) {
            found.kept.push(whole(name, batches, field.data_type())?);
        }
        match (unfit, &statement.weight) {
            (1.., Some(weight)) => Err(Error::data(format!(
                "WEIGHT ({weight}): {unfit} rows have no weight of at least 1; a weight counts the row itself and the \
                 people of the population that it represents"
            ))),
            _ => Ok(found),
        }
    }

    /// Adds the rows of a batch. `codes` contains the codes of each quasi-identifier for these
    /// rows, and `known` maps the codes of each known class to its index. Returns the number of
    /// rows without a finite weight of at least 1.
    fn add_rows(&mut self, batch: &RecordBatch, codes: &[Vec<u32>], known: &mut HashMap<Vec<u32>, u32>) -> u64 {
        let weights = batch.column(codes.len()).as_primitive::<Float64Type>();
        let is_starred = batch.column(codes.len() + 1).as_boolean();
        let mut unfit = 0;
        for row in 0..batch.num_rows() {
            if is_starred.value(row) {
                self.class_of.push(None);
                continue;
            }
            let weight = weights.is_valid(row).then(|| weights.value(row));
            let weight = weight.filter(|w| *w >= 1.0 && w.is_finite());
            unfit += u64::from(weight.is_none());
            let key: Vec<u32> = codes.iter().map(|codes| codes[row]).collect();
            let class = number(known, key);
            self.add(class, codes.iter().map(|codes| codes[row]), weight.unwrap_or(0.0));
        }
        unfit
    }

    /// Adds a row to the class at index `class`. If this is the next unused index, adds a new class
    /// with the codes in `key`.
    fn add(&mut self, class: u32, key: impl Iterator<Item = u32>, weight: f64) {
        if class as usize == self.classes.len() {
            let columns = self.columns.iter_mut().zip(key);
            columns.for_each(|(column, code)| column.push(code));
            self.classes.push(Weighed { rows: 0, weight: 0.0 });
        }
        let of_class = &mut self.classes[class as usize];
        of_class.rows += 1;
        of_class.weight += weight;
        self.class_of.push(Some(class));
    }

    fn reserve(&self, bytes: usize) -> Result<()> {
        self.memory.try_grow(bytes).map_err(|_| {
            Error::new(
                ErrorKind::Resources,
                format!(
                    "the classes of {} rows do not fit the memory limit; raise --memory-limit, name fewer QUASI IDENTIFIERS, \
                     or generalize them in a query",
                    self.class_of.len()
                ),
            )
        })
    }

    /// Returns the estimated fraction of the population that the rows represent, according to their
    /// weights; `None` if there are no rows.
    pub(super) fn fraction(&self) -> Option<f64> {
        let rows: u64 = self.classes.iter().map(|c| c.rows).sum();
        let weight: f64 = self.classes.iter().map(|c| c.weight).sum();
        (rows > 0).then(|| (rows as f64 / weight).min(1.0))
    }
}

/// Returns the query for the rows. It selects, as columns `c0`, `c1` and so on, the
/// quasi-identifiers, the weight, whether the row is suppressed, ENTITY (if given) and the columns
/// of KEEP.
async fn query(session: &SessionContext, table: &ReleasedTable, statement: &RiskSpec) -> Result<String> {
    let schema = session.table(table.name.as_str()).await?.schema().as_arrow().clone();
    let mut selected = vec![];
    for q in &statement.quasi_identifiers {
        let data_type = schema.field_with_name(&q.column)?.data_type();
        selected.push(with_one_zero(&quote(&q.column), data_type));
    }
    selected.push(match &statement.weight {
        None => "1.0".into(),
        Some(weight) => match schema.field_with_name(weight)?.data_type() {
            t if t.is_numeric() => format!("arrow_cast({}, 'Float64')", quote(weight)),
            other => {
                return Err(Error::usage(format!(
                    "WEIGHT ({weight}): a sampling weight must be a number, but the column is {other}; cast it in a \
                     query"
                )));
            }
        },
    });
    selected.push(format!("({}) IS TRUE", table.is_starred_row()));
    let beside = statement.entity.iter().chain(&statement.keep);
    selected.extend(beside.map(|column| quote(column)));
    let selected = selected.iter().enumerate().map(|(i, c)| format!("{c} AS c{i}"));
    let selected: Vec<String> = selected.collect();
    Ok(format!("SELECT {} FROM {}", selected.join(", "), quote(&table.name)))
}

/// The distinct values of a column, numbered in the order of their first occurrence.
struct Numbered {
    texts: RowConverter,
    known: HashMap<Vec<u8>, u32>,
    next: u32,
}

impl Numbered {
    fn of(field: &Arc<Field>) -> Result<Self> {
        Ok(Self {
            texts: RowConverter::new(vec![SortField::new(field.data_type().clone())])?,
            known: HashMap::new(),
            next: 0,
        })
    }

    /// For each value, returns the number that identifies it. Also returns the approximate memory
    /// in bytes for new values. Each value that is NULL in `alone` gets a separate number.
    fn numbers(&mut self, values: &ArrayRef, alone: Option<&NullBuffer>) -> Result<(Vec<u32>, usize)> {
        let texts = self.texts.convert_columns(&[Arc::clone(values)])?;
        let before = self.next;
        let mut next = || {
            self.next += 1;
            self.next - 1
        };
        let mut numbers = Vec::with_capacity(values.len());
        for (row, text) in texts.iter().enumerate() {
            numbers.push(match alone.is_some_and(|alone| alone.is_null(row)) {
                true => next(),
                false => *self.known.entry(text.data().to_vec()).or_insert_with(&mut next),
            });
        }
        let new = (self.next - before) as usize;
        Ok((numbers, new * (ENTRY + texts.size() / values.len().max(1))))
    }
}

fn number<K: Hash + Eq>(known: &mut HashMap<K, u32>, key: K) -> u32 {
    let next = known.len() as u32;
    *known.entry(key).or_insert(next)
}
