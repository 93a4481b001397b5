//! The result of a statement: a schema and a stream of record batches.

use crate::base::error::{Error, ErrorKind, Result};
use crate::data::source::{SOURCE, reading};
use crate::language::sql::Hidden;
use arrow::array::{ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::dataframe::DataFrame;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, TryStreamExt};
use std::sync::Arc;

/// The result of one statement.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> anonsql::error::Result<()> {
/// # let anon = anonsql::AnonContext::new(Default::default());
/// for statement in anon.parse("SELECT 1 AS one; SELECT 2 AS two")? {
///     let answer = anon.execute(statement?).await?;
///     assert_eq!(answer.schema.fields().len(), 1);
///     assert_eq!(answer.collect().await?[0].num_rows(), 1);
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "a failed VERIFY is reported in the answer: collect it, or call `verified`"]
#[non_exhaustive]
pub struct Answer {
    /// The schema of the result.
    pub schema: SchemaRef,
    /// The result rows, as a stream of record batches.
    pub rows: SendableRecordBatchStream,
    /// The names of the VERIFY checks that failed, as in the result column `check`; empty for other
    /// statements.
    pub failed: Vec<String>,
    /// Whether the rows only report the effect of a statement, such as CREATE HIERARCHY, COPY or
    /// INSERT, and are not data.
    pub(crate) is_note: bool,
}

impl Answer {
    /// Returns a result that consists of one batch.
    pub(crate) fn of(batch: RecordBatch) -> Result<Self> {
        Self::batches(batch.schema(), vec![batch])
    }

    /// Returns a result that consists of batches in memory.
    pub(super) fn batches(schema: SchemaRef, batches: Vec<RecordBatch>) -> Result<Self> {
        let stream = futures::stream::iter(batches.into_iter().map(Ok));
        let rows = Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&schema), stream));
        Ok(Self {
            schema,
            rows,
            failed: vec![],
            is_note: false,
        })
    }

    /// Returns a result with one row, whose only column `result` contains `text`.
    pub(super) fn done(text: impl Into<String>) -> Result<Self> {
        let column: ArrayRef = Arc::new(StringArray::from(vec![text.into()]));
        Ok(Self::of(RecordBatch::try_from_iter([("result", column)])?)?.noted(true))
    }

    /// Returns the same result with `is_note` set to the given value.
    pub(super) fn noted(self, is_note: bool) -> Self {
        Self { is_note, ..self }
    }

    /// Starts the execution of a query, and returns its rows as a stream.
    pub(super) async fn query(frame: DataFrame) -> Result<Self> {
        let schema = Arc::new(frame.schema().as_arrow().clone());
        let rows = reading(SOURCE, async { Ok(frame.execute_stream().await?) }).await?;
        Ok(Self {
            schema,
            rows,
            failed: vec![],
            is_note: false,
        })
    }

    /// Returns the same result with hidden values replaced by their original texts: the values in
    /// `hidden` in error messages and column names, and the values in `seen` in error messages.
    pub(super) fn hiding(self, hidden: &Hidden, seen: Hidden) -> Self {
        if hidden.is_empty() && seen.is_empty() {
            return self;
        }
        let fields = self.schema.fields().iter().map(|field| {
            let name = hidden.secrets().hidden_in(field.name());
            field.as_ref().clone().with_name(name)
        });
        let fields: Vec<Field> = fields.collect();
        let schema = Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone()));
        let (hidden, named) = (hidden.clone(), Arc::clone(&schema));
        let rows = self.rows.map(move |batch| {
            let batch = batch.map_err(|e| seen.in_error(hidden.in_error(Error::from(e))))?;
            if batch.schema_ref().fields() == named.fields() {
                return Ok(batch);
            }
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            let batch = RecordBatch::try_new_with_options(Arc::clone(&named), batch.columns().to_vec(), &options);
            Ok(batch.map_err(Error::from)?)
        });
        Self {
            rows: Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&schema), rows)),
            schema,
            ..self
        }
    }

    /// Returns the same result in which each of the given values is replaced by its original text,
    /// such as `getenv('NAME')`, in all text columns of the rows. Only results that list settings
    /// need this: a hidden value that a query selects is shown.
    pub(super) fn hiding_in_texts(self, values: Hidden) -> Self {
        if values.is_empty() {
            return self;
        }
        let hide = move |column: &ArrayRef| -> Result<ArrayRef> {
            if !column.data_type().is_string() {
                return Ok(Arc::clone(column));
            }
            let texts = cast(column, &DataType::Utf8)?;
            let texts = texts.as_string::<i32>().iter();
            let shown: StringArray = texts
                .map(|text| text.map(|text| values.secrets().hidden_in(text)))
                .collect();
            Ok(cast(&shown, column.data_type())?)
        };
        let rows = self.rows.map(move |batch| {
            let batch = batch?;
            let columns = batch.columns().iter().map(&hide).collect::<Result<Vec<_>>>()?;
            Ok(RecordBatch::try_new(batch.schema(), columns).map_err(Error::from)?)
        });
        Self {
            rows: Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), rows)),
            ..self
        }
    }

    /// Fails with [`ErrorKind::Verification`] if a check of VERIFY failed.
    pub fn verified(&self) -> Result<()> {
        let message = match self.failed.as_slice() {
            [] => return Ok(()),
            [one] => format!("a check of VERIFY does not hold: {one}"),
            several => format!("{} checks of VERIFY do not hold: {}", several.len(), several.join("; ")),
        };
        Err(Error::new(ErrorKind::Verification, message))
    }

    /// Collects all rows in memory. Fails with [`ErrorKind::Verification`] if a check of VERIFY
    /// failed. To get the rows of a failed VERIFY, use [`Answer::rows`] and then call
    /// [`Answer::verified`].
    pub async fn collect(self) -> Result<Vec<RecordBatch>> {
        self.verified()?;
        let schema = self.schema;
        let batches: Vec<RecordBatch> = self.rows.try_collect().await.map_err(Error::from)?;
        Ok(if batches.is_empty() {
            vec![RecordBatch::new_empty(schema)]
        } else {
            batches
        })
    }
}
