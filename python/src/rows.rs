//! The rows that a statement returned.

use crate::arrow_c;
use crate::tables::{plain_schema, with_used_values};
use anonsql::Answer;
use anonsql::error::{Error, Result};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchIterator};
use arrow::util::pretty::pretty_format_batches;
use futures::TryStreamExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;

/// The rows of an answer, in memory.
#[pyclass(frozen, module = "anonsql._anonsql")]
pub struct Batches {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Batches {
    /// Reads all rows of an answer. A VERIFY that fails also has rows.
    pub async fn read(answer: Answer) -> Result<Self> {
        let schema = plain_schema(&answer.schema);
        let batches: Vec<RecordBatch> = answer.rows.try_collect().await.map_err(Error::from_data)?;
        let batches = batches.iter().map(with_used_values).collect::<Result<_>>()?;
        Ok(Self { schema, batches })
    }
}

#[pymethods]
impl Batches {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Returns the first rows as a table of text.
    fn text(&self, rows: usize) -> PyResult<String> {
        let mut left = rows;
        let mut first = vec![RecordBatch::new_empty(Arc::clone(&self.schema))];
        for batch in &self.batches {
            first.push(batch.slice(0, left.min(batch.num_rows())));
            left -= left.min(batch.num_rows());
        }
        let table = pretty_format_batches(&first);
        table
            .map(|table| table.to_string())
            .map_err(|_| PyValueError::new_err("the rows cannot be shown as text"))
    }

    /// Arrow's C stream interface. It ignores a requested schema, which the interface allows.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        let rows = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        arrow_c::stream(py, Box::new(rows))
    }

    /// Arrow's C schema interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow_c::schema(py, &self.schema)
    }
}
