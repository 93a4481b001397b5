//! The first and the last row of each file, which are compared to check the order of the files.

use crate::base::error::{Error, Result};
use crate::base::operator::{InputPartitions, Operator, OperatorExec, Parcel, Rows, Travels};
use arrow::array::{ArrayRef, AsArray, RecordBatch, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt64Type};
use datafusion::error::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use futures::{StreamExt, TryStreamExt, stream};
use std::fmt;
use std::sync::Arc;

/// The name of the column that contains the number of the file.
const FILE: &str = "__anonsql_file";

/// Reduces the rows of a file to the first and the last row, with the number of the file as the
/// last column.
#[derive(Debug)]
pub(super) struct Ends {
    file: u64,
}

impl Ends {
    /// Returns an operator that reduces the rows of `plan`, which are the rows of the file with the
    /// number `file`, to the first and the last row.
    pub(super) fn over(plan: Arc<dyn ExecutionPlan>, file: u64) -> OperatorExec<Self> {
        let fields = plan.schema().fields().iter().cloned().collect::<Vec<_>>();
        let number = Arc::new(Field::new(FILE, DataType::UInt64, false));
        let schema = Schema::new([fields, vec![number]].concat());
        OperatorExec::over(plan, Self { file }, Arc::new(schema))
    }
}

impl fmt::Display for Ends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "file={}", self.file)
    }
}

impl Travels for Ends {
    fn pack(&self) -> Result<Parcel> {
        Parcel::new(&self.file)
    }

    fn unpack(parcel: Parcel) -> Result<Self> {
        Ok(Self { file: parcel.header()? })
    }
}

impl Operator for Ends {
    const NAME: &'static str = "EndsExec";
    const INPUT: InputPartitions = InputPartitions::Ordered;

    fn run(&self, input: SendableRecordBatchStream, schema: SchemaRef, _: &Arc<TaskContext>) -> Result<Rows> {
        let file = self.file;
        let ends = async move {
            let rows = input.try_filter(|batch| futures::future::ready(batch.num_rows() > 0));
            let ends = rows.try_fold(None, |ends: Option<(RecordBatch, RecordBatch)>, batch| async move {
                let last = batch.slice(batch.num_rows() - 1, 1);
                let first = ends.map_or_else(|| batch.slice(0, 1), |(first, _)| first);
                Ok(Some((first, last)))
            });
            let Some((first, last)) = ends.await? else {
                return Ok(RecordBatch::new_empty(schema));
            };
            let rows = arrow::compute::concat_batches(&first.schema(), [&first, &last])?;
            let number = Arc::new(UInt64Array::from(vec![file; rows.num_rows()])) as ArrayRef;
            let columns = [rows.columns().to_vec(), vec![number]].concat();
            Ok::<_, DataFusionError>(RecordBatch::try_new(schema, columns)?)
        };
        Ok(stream::once(ends).boxed())
    }
}

/// Decodes a batch from a worker. Returns the number of the file, and the first and the last row of
/// the file without the number.
pub(super) fn read(batch: &RecordBatch) -> Result<(usize, RecordBatch)> {
    let otherwise = || Error::internal("a worker sent an answer of another form");
    let numbers = batch
        .columns()
        .last()
        .and_then(|last| last.as_primitive_opt::<UInt64Type>());
    let number = numbers
        .filter(|numbers| !numbers.is_empty())
        .map(|numbers| numbers.value(0));
    let number = usize::try_from(number.ok_or_else(otherwise)?).map_err(|_| otherwise())?;
    let columns: Vec<usize> = (0..batch.num_columns() - 1).collect();
    Ok((number, batch.project(&columns)?))
}
