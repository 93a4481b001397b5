//! Python tables in a session, as Arrow batches that are not copied.

use anonsql::error::{Error, ErrorKind, Result};
use arrow::array::{Array, ArrayRef};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions, RecordBatchReader};
use datafusion::catalog::MemTable;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::prelude::SessionContext;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The number of rows of a batch that a scan returns.
const ROWS: usize = 8192;

/// The time between two checks for Ctrl-C while rows are read.
const TICK: Duration = Duration::from_millis(100);

/// A table that was read to its end.
pub struct Held {
    /// The columns.
    pub schema: SchemaRef,
    /// The number of rows.
    pub rows: usize,
    /// The memory that the table takes from the session; `None` for a shared table.
    pub memory: Option<MemoryReservation>,
    batches: Vec<RecordBatch>,
}

impl Held {
    /// Reads a table to its end. The rows count as memory of the session unless they are `shared`
    /// with another object. Calls `goes_on` ten times a second, and fails if it returns false.
    pub fn read(
        rows: Box<dyn RecordBatchReader + Send>,
        session: &SessionContext,
        shared: bool,
        mut goes_on: impl FnMut() -> bool,
    ) -> Result<Self> {
        let schema = plain_schema(&rows.schema());
        check_names(&schema)?;
        let environment = session.runtime_env();
        let memory = (!shared).then(|| MemoryConsumer::new("a registered table").register(&environment.memory_pool));
        let mut held = Self {
            schema,
            rows: 0,
            memory,
            batches: vec![],
        };
        let mut asked = Instant::now();
        for batch in rows {
            if asked.elapsed() >= TICK || batch.is_err() {
                asked = Instant::now();
                if !goes_on() {
                    return Err(Error::new(
                        ErrorKind::Interrupted,
                        "interrupted, and nothing was registered",
                    ));
                }
            }
            // A producer's error message may quote its data.
            let batch = batch.map_err(|_| Error::data("the registered table failed before its last row"))?;
            let batch = with_used_values(&batch)?;
            if let Some(memory) = &held.memory {
                memory.try_grow(batch.get_array_memory_size())?;
            }
            held.rows += batch.num_rows();
            held.batches.push(batch);
        }
        Ok(held)
    }

    /// Returns the table with at most `parts` partitions, which threads read in parallel.
    pub fn table(&self, parts: usize) -> Result<MemTable> {
        let slices = self.batches.iter().flat_map(|batch| {
            let starts = (0..batch.num_rows()).step_by(ROWS);
            starts.map(|start| batch.slice(start, ROWS.min(batch.num_rows() - start)))
        });
        let slices: Vec<RecordBatch> = slices.collect();
        let each = slices.len().div_ceil(parts.max(1)).max(1);
        let mut parts: Vec<Vec<RecordBatch>> = slices.chunks(each).map(<[RecordBatch]>::to_vec).collect();
        if parts.is_empty() {
            parts.push(vec![]);
        }
        Ok(MemTable::try_new(Arc::clone(&self.schema), parts)?)
    }
}

/// Fails if a table has no columns, or two columns of the same name.
fn check_names(schema: &Schema) -> Result<()> {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    if names.is_empty() {
        return Err(Error::data("the table has no columns"));
    }
    let twice = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name));
    match twice {
        Some((_, name)) => Err(Error::data(format!(
            "the table has two columns called {name:?}; give one of them another name"
        ))),
        None => Ok(()),
    }
}

/// Returns the batch with dictionaries that have only the values of its rows. A category that no
/// row has must not leave the process.
pub fn with_used_values(batch: &RecordBatch) -> Result<RecordBatch> {
    let schema = plain_schema(batch.schema_ref());
    check_values(batch)?;
    let columns = batch.columns().iter().zip(schema.fields());
    let columns = columns.map(|(column, field)| used(column, field.data_type()));
    let columns = columns.collect::<Result<_>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
}

/// Fails if a column breaks the rules of its type. Another package made the column, so it may have
/// strings that are not UTF-8, or codes beyond the values of a dictionary.
fn check_values(batch: &RecordBatch) -> Result<()> {
    for (column, field) in batch.columns().iter().zip(batch.schema_ref().fields()) {
        // The message of the failure may quote a value.
        column.to_data().validate_full().map_err(|_| {
            Error::data(format!(
                "column {:?} has values that are not valid for its type, such as strings that are not UTF-8",
                field.name()
            ))
        })?;
    }
    Ok(())
}

fn used(column: &ArrayRef, plain: &DataType) -> Result<ArrayRef> {
    if column.data_type() != plain {
        return Ok(cast(column, plain)?);
    }
    match column.data_type() {
        DataType::Dictionary(..) => Ok(garbage_collect(column)?),
        _ => Ok(Arc::clone(column)),
    }
}

/// Returns a dictionary without its unused values.
fn garbage_collect(column: &ArrayRef) -> Result<ArrayRef> {
    let DataType::Dictionary(_, values) = column.data_type() else {
        return Ok(Arc::clone(column));
    };
    // The dictionary is built anew from the values of the rows.
    Ok(cast(&cast(column, values)?, column.data_type())?)
}

/// Returns the schema without metadata, which may hold values, and without dictionaries inside
/// lists and structs.
pub fn plain_schema(schema: &SchemaRef) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| match field.data_type() {
        DataType::Dictionary(code, values) => {
            let values = match values.as_ref() {
                // Parquet's writer does not support a dictionary of views.
                DataType::Utf8View => DataType::Utf8,
                DataType::BinaryView => DataType::Binary,
                other => plain(other),
            };
            bare(field, DataType::Dictionary(code.clone(), Box::new(values)))
        }
        nested => bare(field, plain(nested)),
    });
    let fields: Vec<Field> = fields.collect();
    Arc::new(Schema::new(fields))
}

/// Returns a field of another type, without metadata.
fn bare(field: &Field, data_type: DataType) -> Field {
    Field::new(field.name(), data_type, field.is_nullable())
}

fn plain(of: &DataType) -> DataType {
    let inside = |field: &Arc<Field>| Arc::new(bare(field, plain(field.data_type())));
    match of {
        DataType::Dictionary(_, values) => plain(values),
        DataType::List(item) => DataType::List(inside(item)),
        DataType::LargeList(item) => DataType::LargeList(inside(item)),
        DataType::ListView(item) => DataType::ListView(inside(item)),
        DataType::LargeListView(item) => DataType::LargeListView(inside(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(inside(item), *size),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(inside).collect()),
        DataType::Map(entries, sorted) => DataType::Map(inside(entries), *sorted),
        other => other.clone(),
    }
}
