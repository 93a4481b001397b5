//! Writes a release from its classes, without a second scan of the source.
//!
//! If only quasi-identifiers are released, all rows of a class are equal, and consist of the labels
//! of the class. The classes of the chosen node with their row counts then determine the release,
//! so that writing the classes in release order replaces the second scan.

use super::{ColumnTreatment, KeptClasses, RecodingPlan, Released};
use crate::base::error::Result;
use crate::base::operator::{Operator, OperatorExec, Rows};
use crate::base::pool::{check_cancelled, concat, map, sort_by};
use arrow::array::{Array, ArrayRef, DictionaryArray, Int32Array, UInt32Array};
use arrow::compute::{cast, take};
use arrow::datatypes::{Int32Type, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use futures::{StreamExt, stream};
use std::fmt;
use std::sync::Arc;

/// The rows of the kept classes, in release order.
#[derive(Debug)]
pub struct Classes {
    recoding: Arc<RecodingPlan>,
    /// For each released column, the index of the label of each class. Classes are in release
    /// order.
    codes: Arc<Vec<Vec<u32>>>,
    /// The number of rows of each class.
    rows: Arc<Vec<u64>>,
    /// The order keys of the classes, if requested.
    keys: Option<Arc<Vec<Vec<u64>>>>,
    schema: SchemaRef,
}

impl Classes {
    /// Prepares the released classes of `of`, ordered by the columns `first` and then by all
    /// quasi-identifiers. Returns `None` if the classes do not determine the release, because the
    /// release has other columns, or starred rows (suppressed rows that are released with `*`). If
    /// `keys` is true, the columns of the order key follow the released columns.
    pub fn try_new(
        recoding: Arc<RecodingPlan>,
        source: &Schema,
        of: KeptClasses<'_>,
        first: &[String],
        keys: bool,
    ) -> Result<Option<Self>> {
        let KeptClasses { classes, kept } = of;
        let position = |c: &Released| match &c.treatment {
            ColumnTreatment::Generalize(i) => Some(*i),
            _ => None,
        };
        let columns: Option<Vec<usize>> = recoding.columns.iter().map(position).collect();
        let Some(columns) = columns.filter(|_| !recoding.starred) else {
            return Ok(None);
        };
        let label = |class: usize, column: usize| recoding.place_of_class(classes, class, column);
        let mut order: Vec<usize> = recoding
            .columns
            .iter()
            .enumerate()
            .filter(|(_, c)| first.contains(&c.name))
            .map(|(i, _)| columns[i])
            .collect();
        order.sort_by_key(|i| first.iter().position(|f| *f == recoding.quasi_identifiers[*i]));
        order.extend(0..recoding.quasi_identifiers.len());
        let released: Vec<usize> = (0..classes.len()).filter(|i| kept[*i]).collect();
        let sort_keys = concat(released.len(), |piece| {
            let key = |class: &usize| order.iter().map(|column| label(*class, *column)).collect::<Vec<u32>>();
            released[piece].iter().flat_map(key).collect()
        });
        let sort_key = |i: &usize| &sort_keys[i * order.len()..(i + 1) * order.len()];
        let mut sorted: Vec<usize> = (0..released.len()).collect();
        sort_by(&mut sorted, |a, b| sort_key(a).cmp(sort_key(b)));
        check_cancelled()?;
        let sorted: Vec<usize> = sorted.into_iter().map(|i| released[i]).collect();

        let codes = map(columns.len(), |i| {
            sorted.iter().map(|class| label(*class, columns[i])).collect()
        });
        let rows = sorted.iter().map(|class| classes.counts()[*class]).collect();
        let key = |class: &usize| recoding.order_key(classes, *class);
        let keys = keys.then(|| Arc::new(sorted.iter().map(key).collect::<Vec<_>>()));
        let schema = match &keys {
            Some(_) => recoding.ordered_schema(source)?,
            None => recoding.schema(source)?,
        };
        Ok(Some(Self {
            recoding,
            codes: Arc::new(codes),
            rows: Arc::new(rows),
            keys,
            schema,
        }))
    }

    /// Returns the plan that produces the rows.
    pub fn into_plan(self) -> Arc<dyn ExecutionPlan> {
        let schema = Arc::clone(&self.schema);
        Arc::new(OperatorExec::source(Arc::new(self), schema))
    }
}

impl fmt::Display for Classes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "classes={}", self.rows.len())
    }
}

impl Operator for Classes {
    const NAME: &'static str = "ClassesExec";

    fn run(&self, _: SendableRecordBatchStream, schema: SchemaRef, context: &Arc<TaskContext>) -> Result<Rows> {
        let mut place = Place {
            recoding: Arc::clone(&self.recoding),
            codes: Arc::clone(&self.codes),
            counts: Arc::clone(&self.rows),
            keys: self.keys.clone(),
            schema,
            class: 0,
            done: 0,
        };
        let size = context.session_config().batch_size();
        let batches = std::iter::from_fn(move || place.next(size).transpose());
        Ok(stream::iter(batches.map(|b| Ok(b?))).boxed())
    }

    fn estimate(&self, _: Option<usize>) -> Option<usize> {
        usize::try_from(self.rows.iter().sum::<u64>()).ok()
    }
}

/// The position in a stream of rows: `done` rows of class `class` were already returned.
struct Place {
    recoding: Arc<RecodingPlan>,
    codes: Arc<Vec<Vec<u32>>>,
    counts: Arc<Vec<u64>>,
    keys: Option<Arc<Vec<Vec<u64>>>>,
    schema: SchemaRef,
    class: usize,
    done: u64,
}

impl Place {
    fn next(&mut self, size: usize) -> Result<Option<RecordBatch>> {
        let mut runs: Vec<(usize, usize)> = vec![];
        let mut left = size;
        while left > 0 && self.class < self.counts.len() {
            let run = usize::try_from(self.counts[self.class] - self.done)
                .unwrap_or(left)
                .min(left);
            runs.push((self.class, run));
            left -= run;
            self.done += run as u64;
            if self.done == self.counts[self.class] {
                (self.class, self.done) = (self.class + 1, 0);
            }
        }
        if runs.is_empty() {
            return Ok(None);
        }
        let mut columns: Vec<ArrayRef> = vec![];
        for ((released, codes), field) in self
            .recoding
            .columns
            .iter()
            .zip(self.codes.iter())
            .zip(self.schema.fields())
        {
            let ColumnTreatment::Generalize(i) = released.treatment else {
                continue;
            };
            let labels = &self.recoding.labels[i].values;
            let mut expanded: Vec<u32> = Vec::with_capacity(size);
            for (class, run) in &runs {
                expanded.extend(std::iter::repeat_n(codes[*class], *run));
            }
            columns.push(match self.recoding.labels[i].is_text {
                true => {
                    let is_label = |code: &u32| labels.is_valid(*code as usize);
                    let nulls = labels.logical_null_count() > 0;
                    let nulls = nulls.then(|| expanded.iter().map(is_label).collect());
                    let keys = expanded.into_iter().map(|code| code as i32).collect();
                    let keys = Int32Array::try_new(keys, nulls)?;
                    Arc::new(DictionaryArray::<Int32Type>::try_new(keys, Arc::clone(labels))?)
                }
                false => cast(&take(labels, &UInt32Array::from(expanded), None)?, field.data_type())?,
            });
        }
        for word in 0..self.keys.as_ref().map_or(0, |_| self.recoding.order_words()) {
            let keys = self.keys.iter().flat_map(|keys| {
                let run = |(class, run): &(usize, usize)| std::iter::repeat_n(keys[*class][word], *run);
                runs.iter().flat_map(run)
            });
            columns.push(Arc::new(keys.collect::<arrow::array::UInt64Array>()));
        }
        Ok(Some(RecordBatch::try_new(Arc::clone(&self.schema), columns)?))
    }
}
