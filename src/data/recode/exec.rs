//! The operator that applies a recoding plan.

use super::labelling::Labelled;
use super::recoding_plan::{ColumnTreatment, RecodingPlan};
use super::row_labeller::{RowLabeller, column};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::operator::{Operator, OperatorExec, Rows};
use crate::data::frequency::Encoder;
use crate::method::canonical::one_spelling;
use crate::method::hierarchy::{Cover, LabelForm, Proven};
use crate::method::masks::{RowIds, SeenRows};
use arrow::array::{Array, ArrayRef, BooleanArray, DictionaryArray, Int32Array, UInt32Array, UInt64Array};
use arrow::compute::{cast, filter_record_batch, nullif, take};
use arrow::datatypes::{Int32Type, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use futures::StreamExt;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// Converts rows of the source to released rows, with the order key.
#[derive(Debug)]
pub struct Recode {
    pub(super) recoding: Arc<RecodingPlan>,
    /// The number of partitions of the source.
    partitions: usize,
    /// The rows that the scan has seen, and the number of its partitions that have begun; `None`
    /// before the first partition begins, and after the last one has begun.
    begun: Mutex<Option<(Arc<SeenRows>, usize)>>,
}

impl Recode {
    /// Creates the operator that applies a plan to the partitions of a source.
    pub(crate) fn with(recoding: Arc<RecodingPlan>, partitions: usize) -> Self {
        Self {
            recoding,
            partitions,
            begun: Mutex::new(None),
        }
    }

    /// Returns the rows that the scan has seen, for the ids of the rows in the next partition. All
    /// partitions of a scan share them, and another scan begins with none.
    fn seen(&self, ids: &RowIds) -> Arc<SeenRows> {
        let mut begun = self.begun.lock();
        let (seen, before) = begun.take().unwrap_or_else(|| (Arc::new(ids.scan()), 0));
        if before + 1 < self.partitions {
            *begun = Some((Arc::clone(&seen), before + 1));
        }
        seen
    }
}

/// [`Recode`] as an operator.
pub type RecodeExec = OperatorExec<Recode>;

impl RecodeExec {
    /// Applies `recoding` to `input`, which has the columns that [`RecodingPlan::reads`] returns.
    /// `schema` is the schema of the output: the result of `RecodingPlan::ordered_schema`, or the
    /// same schema in which kept columns have the types with which they are read.
    pub fn over_source(input: Arc<dyn ExecutionPlan>, recoding: Arc<RecodingPlan>, schema: SchemaRef) -> Self {
        let partitions = input.output_partitioning().partition_count();
        Self::over(input, Recode::with(recoding, partitions), schema)
    }
}

impl fmt::Display for Recode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.recoding.labelling.fmt(f)
    }
}

impl Operator for Recode {
    const NAME: &'static str = "RecodeExec";

    fn run(&self, input: SendableRecordBatchStream, schema: SchemaRef, _: &Arc<TaskContext>) -> Result<Rows> {
        let proven = |cover: &Option<Arc<Cover>>| cover.clone().map(Proven::new);
        let recoding = &self.recoding;
        let mut recoder = Recoder {
            labeller: RowLabeller::new(recoding)?,
            item_encoders: recoding.item_encoders()?,
            proven: recoding.covers.iter().map(proven).collect(),
            chosen: recoding.chosen.iter().map(proven).collect(),
            ids: recoding.row_ids().map(|ids| (Arc::clone(ids), self.seen(ids))),
            recoding: Arc::clone(recoding),
            schema,
        };
        Ok(input.map(move |batch| Ok(recoder.recode(&batch?)?)).boxed())
    }

    fn renewed(&self) -> Option<Self> {
        Some(Self::with(Arc::clone(&self.recoding), self.partitions))
    }

    fn estimate(&self, input: Option<usize>) -> Option<usize> {
        input
    }
}

/// The state of the operator for one stream.
struct Recoder {
    recoding: Arc<RecodingPlan>,
    labeller: RowLabeller,
    item_encoders: Vec<Option<Encoder>>,
    proven: Vec<Option<Proven>>,
    chosen: Vec<Option<Proven>>,
    /// The ids of the rows from which masks are drawn, and the rows that the scan has seen.
    ids: Option<(Arc<RowIds>, Arc<SeenRows>)>,
    schema: SchemaRef,
}

impl Recoder {
    fn recode(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let recoding = Arc::clone(&self.recoding);
        let (codes, labelled) = self.labeller.label(batch)?;
        let Labelled {
            mut labels,
            classes,
            suppressed,
        } = labelled;
        for (i, (released, labels)) in recoding.labels.iter().zip(&mut labels).enumerate() {
            let rows = LabelledColumn {
                codes: &codes[i],
                labels: labels.as_slice(),
                suppressed: &suppressed,
            };
            prove(&recoding, i, self.chosen[i].as_mut(), rows)?;
            if released.form.is_of_class() {
                labels.clone_from(&classes);
            }
            released.place_all(labels);
            let rows = LabelledColumn {
                codes: &codes[i],
                labels: labels.as_slice(),
                suppressed: &suppressed,
            };
            match (&mut self.proven[i], released.form) {
                (None, LabelForm::Text) => prove_same(&recoding, i, rows)?,
                (proven, _) => prove(&recoding, i, proven.as_mut(), rows)?,
            }
        }
        let mut columns = self.columns(batch, &labels, &suppressed)?;
        let suppressed = BooleanArray::from(suppressed);
        columns.extend(self.order_key(&labels, &suppressed));
        if recoding.starred {
            columns.push(Arc::new(suppressed.clone()));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let recoded = RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?;
        if recoding.starred {
            return Ok(recoded);
        }
        Ok(filter_record_batch(&recoded, &arrow::compute::not(&suppressed)?)?)
    }

    /// Returns the released columns of a batch, with their treatments applied.
    fn columns(&mut self, batch: &RecordBatch, labels: &[Vec<u32>], suppressed: &[bool]) -> Result<Vec<ArrayRef>> {
        let recoding = Arc::clone(&self.recoding);
        let mut sets = vec![];
        for (released, encoder) in recoding.columns.iter().zip(&mut self.item_encoders) {
            if let (ColumnTreatment::Items(items), Some(encoder)) = (&released.treatment, encoder) {
                sets.push(items.recode(encoder, column(batch, &released.name)?, suppressed)?);
            }
        }
        let mut sets = sets.into_iter();
        let suppressed = BooleanArray::from(suppressed.to_vec());
        let ids = self.ids(batch, &suppressed)?;
        let scan = self.ids.as_ref().map_or(0, |(_, seen)| seen.scan());
        let mut columns: Vec<ArrayRef> = vec![];
        for (released, field) in recoding.columns.iter().zip(self.schema.fields()) {
            let as_they_are = || one_spelling(&cast(column(batch, &released.name)?, field.data_type())?);
            columns.push(match &released.treatment {
                ColumnTreatment::Generalize(i) if recoding.labels[*i].is_text => {
                    self.labels(*i, &labels[*i], &suppressed)?
                }
                ColumnTreatment::Generalize(i) if recoding.labels[*i].form != LabelForm::Text => {
                    self.computed(*i, &labels[*i], &suppressed)?
                }
                ColumnTreatment::Generalize(_) | ColumnTreatment::Keep => as_they_are()?,
                ColumnTreatment::Items(_) => sets
                    .next()
                    .ok_or_else(|| Error::internal("a column of sets is missing"))?,
                ColumnTreatment::Mask { masking, is_protected } => {
                    // A value that is not released, because its row is suppressed, is not in the
                    // survey of a drawn mask. So it is replaced by NULL before the mask is applied,
                    // and every mask leaves NULL as it is.
                    let values = match recoding.hides_suppressed(*is_protected) {
                        true => nullif(column(batch, &released.name)?, &suppressed)?,
                        false => Arc::clone(column(batch, &released.name)?),
                    };
                    let masked = match (masking.is_drawn(), &ids) {
                        (true, Some(ids)) => masking.apply(&values, std::slice::from_ref(ids)),
                        _ => masking.apply(&values, &columns_of(batch, masking.beside())?),
                    };
                    let masked = masked.map_err(|e| e.context(format!("column {}", released.name)))?;
                    let masked = cast(&masked, field.data_type())?;
                    masking.count_own(scan, (&values, &masked), &suppressed)?;
                    masked
                }
                ColumnTreatment::Protect if recoding.starred => nullif(&as_they_are()?, &suppressed)?,
                ColumnTreatment::Protect => as_they_are()?,
            });
        }
        Ok(columns)
    }

    /// Returns the id of each row; `None` if no mask is drawn.
    fn ids(&self, batch: &RecordBatch, suppressed: &BooleanArray) -> Result<Option<ArrayRef>> {
        let Some((ids, seen)) = &self.ids else {
            return Ok(None);
        };
        let values = columns_of(batch, ids.columns())?;
        Ok(Some(Arc::new(ids.of(&values, Some(suppressed), seen)?)))
    }

    /// Returns the labels of a quasi-identifier as a dictionary.
    fn labels(&self, i: usize, indices: &[u32], suppressed: &BooleanArray) -> Result<ArrayRef> {
        let released = &self.recoding.labels[i];
        let labels = &released.values;
        let key = |(row, label): (usize, &u32)| {
            let shown = match suppressed.value(row) {
                true => released.star?,
                false => *label,
            };
            labels.is_valid(shown as usize).then_some(shown as i32)
        };
        let keys: Int32Array = indices.iter().enumerate().map(key).collect();
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(
            keys,
            Arc::clone(labels),
        )?))
    }

    /// Returns the released values of a quasi-identifier with a computed form.
    fn computed(&self, i: usize, indices: &[u32], suppressed: &BooleanArray) -> Result<ArrayRef> {
        let released = &self.recoding.labels[i];
        let index = |(row, label): (usize, &u32)| match suppressed.value(row) {
            true => released.star,
            false => Some(*label),
        };
        let indices: UInt32Array = indices.iter().enumerate().map(index).collect();
        Ok(take(&released.values, &indices, None)?)
    }

    /// Returns the words of the order key, starting with the most significant.
    fn order_key(&self, labels: &[Vec<u32>], suppressed: &BooleanArray) -> Vec<ArrayRef> {
        let recoding = &self.recoding;
        let words = recoding.order.words();
        let mut key = vec![vec![0u64; suppressed.len()]; words];
        for (i, labels) in labels.iter().enumerate() {
            let star = recoding.labels[i].star;
            let place = recoding.quasi_identifiers.len() - 1 - i;
            for (row, label) in labels.iter().enumerate() {
                let shown = star.filter(|_| suppressed.value(row)).unwrap_or(*label);
                let (word, bits) = recoding.order.place(place, shown);
                key[words - 1 - word][row] |= bits;
            }
        }
        key.into_iter()
            .map(|word| Arc::new(UInt64Array::from(word)) as ArrayRef)
            .collect()
    }
}

/// The values and the labels of a batch of rows in one column.
struct LabelledColumn<'a> {
    /// The ground code of each row's value.
    codes: &'a [u32],
    /// The index of each row's label.
    labels: &'a [u32],
    /// For each row, true if it is suppressed.
    suppressed: &'a [bool],
}

impl LabelledColumn<'_> {
    /// Returns the code and the label of each released row.
    fn released(&self) -> impl Iterator<Item = (u32, u32)> {
        let rows = self.codes.iter().zip(self.labels).zip(self.suppressed);
        rows.filter(|(_, s)| !**s).map(|((code, label), _)| (*code, *label))
    }
}

/// Checks that the labels of column `i` cover the values in every released row, independently of
/// how the labels were chosen. Fails with [`ErrorKind::Verification`] if a label does not.
fn prove(recoding: &RecodingPlan, i: usize, proven: Option<&mut Proven>, rows: LabelledColumn<'_>) -> Result<()> {
    let Some(proven) = proven else { return Ok(()) };
    let are_covered = rows.released().all(|(code, label)| proven.covers(code, label));
    require(recoding, i, are_covered)
}

/// Checks that the labels of column `i` are the values themselves in every released row.
fn prove_same(recoding: &RecodingPlan, i: usize, rows: LabelledColumn<'_>) -> Result<()> {
    require(recoding, i, rows.released().all(|(code, value)| code == value))
}

fn require(recoding: &RecodingPlan, i: usize, are_covered: bool) -> Result<()> {
    if are_covered {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Verification,
        format!(
            "a label of column {} does not cover the value of one of its rows; nothing was published",
            recoding.quasi_identifiers[i]
        ),
    ))
}

/// Returns the columns with these names.
fn columns_of(batch: &RecordBatch, names: &[String]) -> Result<Vec<ArrayRef>> {
    names.iter().map(|name| column(batch, name).cloned()).collect()
}
