//! The check of a release's order: while the rows are returned, each row is compared with the row
//! before it.
//!
//! This file does not use order keys, levels or groups. It compares the released values themselves.
//! It therefore detects every wrong order, whatever the cause: for example, the order of the
//! source, or an order by values that are not released.

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::operator::{InputPartitions, Operator, OperatorExec, Rows};
use crate::base::operator::{Parcel, Travels};
use crate::data::recode::ORDER_PREFIX;
use crate::release::job::Roles;
use arrow::array::{Array, ArrayRef, AsArray, DynComparator, Float64Array, RecordBatch, make_comparator};
use arrow::compute::{SortOptions, cast};
use arrow::datatypes::{DataType, FieldRef, Float64Type, Int32Type, SchemaRef};
use arrow::row::{RowConverter, SortField};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use futures::StreamExt;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// Checks that no row of a release sorts before the row that it follows.
#[derive(Debug, Clone)]
pub(in crate::release::engine) struct Ascending {
    /// The columns to compare, the most significant first.
    columns: Vec<Compared>,
}

/// A column whose values are compared from row to row.
#[derive(Debug, Clone, Copy)]
struct Compared {
    column: usize,
    /// Whether zero and negative zero compare as equal, because they are one value of a
    /// quasi-identifier.
    as_value: bool,
}

/// `Ascending` as an operator of a DataFusion plan.
pub(in crate::release::engine) type AscendingExec = OperatorExec<Ascending>;

/// Returns the rows of `plan`, with an error of kind `Verification` in place of the first batch
/// that contains a row out of order. The rows must be ordered by the columns `first`, then by the
/// quasi-identifiers, then by the other released columns. Permuted columns are not compared.
pub(super) fn in_order(
    roles: &Roles,
    plan: Arc<dyn ExecutionPlan>,
    first: &[String],
    hidden: &[String],
) -> Result<Arc<dyn ExecutionPlan>> {
    let columns = compared(roles, &plan.schema(), first, hidden)?;
    Ok(Arc::new(AscendingExec::looking(plan, Ascending { columns })))
}

/// Returns the columns to compare in rows of this schema.
fn compared(roles: &Roles, schema: &SchemaRef, first: &[String], hidden: &[String]) -> Result<Vec<Compared>> {
    let named = |name: &str, as_value: bool| {
        let column = schema.index_of(name)?;
        Ok(Compared { column, as_value })
    };
    let is_other = |f: &&FieldRef| {
        let is_told = roles.quasi_identifier(f.name()).is_some() && !f.data_type().is_floating();
        !is_told
            && !hidden.contains(f.name())
            && roles.randomization(f.name()).is_none()
            && !f.name().starts_with(ORDER_PREFIX)
    };
    let first = first.iter().map(|name| named(name, false));
    let quasi_identifiers = roles.quasi_identifiers.iter().map(|q| named(&q.column, true));
    let others = schema.fields().iter().filter(is_other).map(|f| named(f.name(), false));
    first.chain(quasi_identifiers).chain(others).collect()
}

impl Ascending {
    /// Returns the check that the files in each folder of a release are in order. `schema` is the
    /// schema of the files.
    pub(in crate::release::engine) fn of_files(roles: &Roles, schema: &SchemaRef) -> Result<Self> {
        let columns = compared(roles, schema, &[], &[])?;
        Ok(Self { columns })
    }

    /// Fails with `ErrorKind::Verification` if rows are out of order.
    pub(in crate::release::engine) fn require(&self, rows: &[RecordBatch]) -> Result<()> {
        let mut order = self.begin();
        rows.iter().try_for_each(|batch| order.follow(batch))
    }
}

impl Travels for Ascending {
    fn pack(&self) -> Result<Parcel> {
        let columns = self.columns.iter().map(|c| (c.column, c.as_value));
        Parcel::new(&columns.collect::<Vec<_>>())
    }

    fn unpack(parcel: Parcel) -> Result<Self> {
        let columns: Vec<(usize, bool)> = parcel.header()?;
        let columns = columns.into_iter();
        Ok(Self {
            columns: columns
                .map(|(column, as_value)| Compared { column, as_value })
                .collect(),
        })
    }
}

impl fmt::Display for Ascending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "columns={}", self.columns.len())
    }
}

impl Operator for Ascending {
    const NAME: &'static str = "AscendingExec";
    const INPUT: InputPartitions = InputPartitions::Ordered;
    const ONLY_LOOKS: bool = true;

    fn run(&self, input: SendableRecordBatchStream, _: SchemaRef, _: &Arc<TaskContext>) -> Result<Rows> {
        let mut order = self.begin();
        let looked = input.map(move |batch| {
            let batch = batch?;
            order.follow(&batch)?;
            Ok(batch)
        });
        Ok(looked.boxed())
    }
}

impl Ascending {
    fn begin(&self) -> Order {
        Order {
            columns: self.columns.clone(),
            last: None,
        }
    }
}

/// The state of the comparison, which includes the last row seen.
struct Order {
    columns: Vec<Compared>,
    last: Option<RecordBatch>,
}

impl Order {
    fn follow(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        if let Some(last) = &self.last {
            let mut ordering = Ordering::Equal;
            for compared in &self.columns {
                let (before, after) = (compared.of(last)?, compared.of(batch)?);
                ordering = ordering.then(comparator(&before, &after)?(0, 0));
                if ordering.is_ne() {
                    break;
                }
            }
            require(ordering)?;
        }
        // The indices of the rows that equal the row before them in all columns compared so far.
        let mut alike: Vec<u32> = (1..batch.num_rows() as u32).collect();
        for compared in &self.columns {
            if alike.is_empty() {
                break;
            }
            let values = compared.of(batch)?;
            match indices(&values) {
                Some(indices) => narrow(&mut alike, |row| indices[row - 1].cmp(&indices[row]))?,
                None => {
                    let compare = comparator(&values, &values)?;
                    narrow(&mut alike, |row| compare(row - 1, row))?;
                }
            }
        }
        self.last = Some(batch.slice(batch.num_rows() - 1, 1));
        Ok(())
    }
}

/// Retains the rows that also equal the row before them in one more column. Fails if a row sorts
/// before the row that it follows.
fn narrow(alike: &mut Vec<u32>, compare: impl Fn(usize) -> Ordering) -> Result<()> {
    let mut worst = Ordering::Less;
    alike.retain(|row| {
        let ordering = compare(*row as usize);
        worst = worst.max(ordering);
        ordering.is_eq()
    });
    require(worst)
}

fn require(ordering: Ordering) -> Result<()> {
    match ordering {
        Ordering::Greater => Err(Error::new(
            ErrorKind::Verification,
            "the rows are not in the order of their released values; nothing was published",
        )),
        _ => Ok(()),
    }
}

impl Compared {
    fn of(self, batch: &RecordBatch) -> Result<ArrayRef> {
        let values = batch.column(self.column);
        if !self.as_value || !values.data_type().is_floating() {
            return Ok(Arc::clone(values));
        }
        let values = cast(values, &DataType::Float64)?;
        let positive: Float64Array = values.as_primitive::<Float64Type>().unary(|x| x + 0.0);
        Ok(Arc::new(positive))
    }
}

/// Returns the dictionary indices of labels if the indices sort as the labels do: the dictionary
/// ascends, and neither the dictionary nor the column contains NULL. Otherwise returns `None`.
fn indices(values: &ArrayRef) -> Option<&[i32]> {
    let labels = values.as_dictionary_opt::<Int32Type>()?;
    let texts = labels.values().as_string_opt::<i32>()?;
    let ascend = texts.null_count() == 0 && (1..texts.len()).all(|i| texts.value(i - 1) < texts.value(i));
    (ascend && labels.keys().null_count() == 0).then(|| labels.keys().values().as_ref())
}

fn comparator(before: &ArrayRef, after: &ArrayRef) -> Result<DynComparator> {
    let ascending = SortOptions {
        descending: false,
        nulls_first: false,
    };
    if !before.data_type().is_nested() {
        return Ok(make_comparator(before, after, ascending)?);
    }
    let field = SortField::new_with_options(before.data_type().clone(), ascending);
    let converter = RowConverter::new(vec![field])?;
    let before = converter.convert_columns(std::slice::from_ref(before))?;
    let after = converter.convert_columns(std::slice::from_ref(after))?;
    Ok(Box::new(move |i, j| before.row(i).cmp(&after.row(j))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{DictionaryArray, Int64Array, StringArray};
    use proptest::prelude::*;

    /// Returns true if the check accepts the rows as ordered. The rows have a column of labels and
    /// a column of numbers, and come in batches of `size`. `values` is the dictionary in its stored
    /// order.
    fn follows(rows: &[(Option<u8>, Option<i64>)], size: usize, values: [&str; 3]) -> bool {
        let names = ["a", "b", "c"];
        let mut order = Order {
            columns: [0, 1].map(|column| Compared { column, as_value: true }).to_vec(),
            last: None,
        };
        rows.chunks(size).all(|rows| {
            let place = |label: u8| values.iter().position(|v| *v == names[usize::from(label)]).unwrap() as i32;
            let keys = rows.iter().map(|(label, _)| label.map(place)).collect();
            let texts = Arc::new(StringArray::from(values.to_vec()));
            let labels = DictionaryArray::<Int32Type>::try_new(keys, texts).unwrap();
            let numbers: Int64Array = rows.iter().map(|(_, n)| *n).collect();
            let batch = [
                ("l", Arc::new(labels) as ArrayRef, true),
                ("n", Arc::new(numbers), true),
            ];
            order
                .follow(&RecordBatch::try_from_iter_with_nullable(batch).unwrap())
                .is_ok()
        })
    }

    proptest! {
        #[test]
        fn rows_out_of_order_are_found_wherever_they_are(
            mut rows in prop::collection::vec((prop::option::of(0u8..3), prop::option::of(0i64..4)), 1..40),
            size in 1usize..10,
            sorted: bool,
        ) {
            let key = |(a, b): &(Option<u8>, Option<i64>)| (a.is_none(), *a, b.is_none(), *b);
            if sorted {
                rows.sort_by_key(key);
            }
            let ascends = rows.is_sorted_by_key(key);
            for values in [["a", "b", "c"], ["c", "a", "b"]] {
                prop_assert_eq!(follows(&rows, size, values), ascends);
            }
        }
    }

    #[test]
    fn zeros_are_one_value_of_a_quasi_identifier() {
        let batch = |values: Vec<f64>| {
            let column: ArrayRef = Arc::new(Float64Array::from(values));
            RecordBatch::try_from_iter([("x", column)]).unwrap()
        };
        let follow = |as_value: bool, values: &[f64]| {
            let columns = vec![Compared { column: 0, as_value }];
            let mut order = Order { columns, last: None };
            order.follow(&batch(values.to_vec())).is_ok()
        };
        assert!(follow(true, &[0.0, -0.0, 1.0]) && !follow(false, &[0.0, -0.0, 1.0]));
        assert!(!follow(true, &[1.0, -0.0]));
    }
}
