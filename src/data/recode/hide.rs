//! The operator that hides the values of suppressed rows, so that only the values that are released
//! are counted.

use super::recoding_plan::RecodingPlan;
use super::row_labeller::RowLabeller;
use crate::base::error::Result;
use crate::base::operator::{Operator, OperatorExec, Rows};
use arrow::array::ArrayRef;
use arrow::compute::nullif;
use arrow::datatypes::{Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use futures::StreamExt;
use std::fmt;
use std::sync::Arc;

/// Returns the first columns of its input, with NULL in place of the values that are not released.
#[derive(Debug)]
pub(crate) struct HideSuppressed {
    /// The recoding plan that suppresses rows.
    recoding: Arc<RecodingPlan>,
    /// For each returned column, true if it is NULL in a suppressed row.
    hidden: Vec<bool>,
}

/// [`HideSuppressed`] as an operator.
pub(crate) type HideSuppressedExec = OperatorExec<HideSuppressed>;

impl HideSuppressedExec {
    /// Creates the operator over `input`. It returns one column for each entry of `hidden`, which
    /// is true if the column is NULL in a suppressed row. These columns come first in `input`, and
    /// every quasi-identifier is also a column of `input`.
    pub(crate) fn over_columns(input: Arc<dyn ExecutionPlan>, recoding: Arc<RecodingPlan>, hidden: Vec<bool>) -> Self {
        let read = input.schema();
        let fields = read.fields().iter().take(hidden.len());
        let fields: Vec<Field> = fields.map(|field| field.as_ref().clone().with_nullable(true)).collect();
        let schema = Arc::new(Schema::new(fields));
        Self::over(input, HideSuppressed { recoding, hidden }, schema)
    }
}

impl fmt::Display for HideSuppressed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.recoding.labelling.fmt(f)
    }
}

impl Operator for HideSuppressed {
    const NAME: &'static str = "HideSuppressedExec";

    fn run(&self, input: SendableRecordBatchStream, schema: SchemaRef, _: &Arc<TaskContext>) -> Result<Rows> {
        let (mut labeller, hidden) = (RowLabeller::new(&self.recoding)?, self.hidden.clone());
        let mut hide = move |batch: &RecordBatch| -> Result<RecordBatch> {
            let suppressed = labeller.suppressed(batch)?;
            let mut columns: Vec<ArrayRef> = vec![];
            for (is_hidden, values) in hidden.iter().zip(batch.columns()) {
                columns.push(match is_hidden {
                    true => nullif(values, &suppressed)?,
                    false => Arc::clone(values),
                });
            }
            Ok(RecordBatch::try_new(Arc::clone(&schema), columns)?)
        };
        Ok(input.map(move |batch| Ok(hide(&batch?)?)).boxed())
    }

    fn estimate(&self, input: Option<usize>) -> Option<usize> {
        input
    }
}
