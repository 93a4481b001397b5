//! Arrow's C data interface in Python capsules. Only this module trusts pointers of other packages.

#![allow(unsafe_code)]

use arrow::array::StructArray;
use arrow::datatypes::Schema;
use arrow::error::ArrowError;
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow::record_batch::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods, PyTuple};
use std::ffi::CStr;

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// The result of reading an object through the interface.
pub enum Offered {
    /// The rows.
    Rows(Box<dyn RecordBatchReader + Send>),
    /// The object exports something that is not a table.
    NoTable,
    /// The object does not have the interface.
    Nothing,
}

/// Reads the rows of an object through its `__arrow_c_stream__` or `__arrow_c_array__`.
fn offered(object: &Bound<'_, PyAny>) -> PyResult<Offered> {
    if object.hasattr("__arrow_c_stream__")? {
        let capsule = object.call_method0("__arrow_c_stream__")?;
        let stream = capsule.cast_into::<PyCapsule>()?;
        let pointer = stream.pointer_checked(Some(STREAM))?;
        // SAFETY: the interface defines that a capsule of this name points to a stream. The stream
        // is moved out, and the capsule keeps an empty stream, which is marked as released.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr().cast()) };
        return Ok(match ArrowArrayStreamReader::try_new(stream) {
            Ok(reader) => Offered::Rows(Box::new(reader)),
            Err(_) => Offered::NoTable,
        });
    }
    if object.hasattr("__arrow_c_array__")? {
        let capsules = object.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
        let schema = capsules.get_item(0)?.cast_into::<PyCapsule>()?;
        let array = capsules.get_item(1)?.cast_into::<PyCapsule>()?;
        let (schema, array) = (
            schema.pointer_checked(Some(SCHEMA))?,
            array.pointer_checked(Some(ARRAY))?,
        );
        // SAFETY: as above. The array has the schema that the object returns with it.
        let data = unsafe {
            let schema = FFI_ArrowSchema::from_raw(schema.as_ptr().cast());
            from_ffi(FFI_ArrowArray::from_raw(array.as_ptr().cast()), &schema)
        };
        let is_table =
            |data: &arrow::array::ArrayData| matches!(data.data_type(), arrow::datatypes::DataType::Struct(_));
        return Ok(match data {
            Ok(data) if is_table(&data) && data.null_count() == 0 => {
                let batch = RecordBatch::from(StructArray::from(data));
                let schema = batch.schema();
                Offered::Rows(Box::new(RecordBatchIterator::new([Ok(batch)], schema)))
            }
            _ => Offered::NoTable,
        });
    }
    Ok(Offered::Nothing)
}

/// Reads the rows of several objects as one table, one object after the other.
pub fn offered_in_parts(parts: &[Bound<'_, PyAny>]) -> PyResult<Offered> {
    let mut readers = vec![];
    for part in parts {
        match offered(part)? {
            Offered::Rows(rows) => readers.push(rows),
            other => return Ok(other),
        }
    }
    let Some(schema) = readers.first().map(|rows| rows.schema()) else {
        return Ok(Offered::Nothing);
    };
    let batches = readers.into_iter().flatten();
    Ok(Offered::Rows(Box::new(RecordBatchIterator::new(batches, schema))))
}

/// Returns a capsule with a stream of batches.
pub fn stream(py: Python<'_>, rows: Box<dyn RecordBatchReader + Send>) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(rows), STREAM)
}

/// Returns a capsule with a schema.
pub fn schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(|e: ArrowError| {
        pyo3::exceptions::PyTypeError::new_err(format!("the columns cannot be exported as an Arrow schema: {e}"))
    })?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}
