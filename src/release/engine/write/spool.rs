//! The spool: released rows that are computed once, so that a reader gets exactly the recounted
//! rows.
//!
//! A plan that is executed twice can return different rows. The rows of a release are therefore
//! spooled if they are recounted before a reader gets them, or if the promises cannot be recounted
//! on the files alone. The first rows are kept in memory, up to a share of the memory limit, and
//! the rest in a file without a name. The spool also keeps the columns that only the recount needs.

use super::alike::{Alike, Seen};
use super::compact::compact;
use crate::base::error::{Error, Result};
use crate::base::operator::{ComputedTable, Operator, Rows};
use crate::base::pool::blocking;
use crate::base::spill::{Overflow, SpillSpace};
use arrow::compute::cast;
use arrow::datatypes::SchemaRef;
use arrow::ipc::CompressionType;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::catalog::TableProvider;
use datafusion::execution::memory_pool::{MemoryLimit, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, stream};
use std::fmt;
use std::io::Cursor;
use std::sync::Arc;

/// The maximum number of bytes that are reserved for rows in memory.
const HELD: usize = 256 << 20;
/// The rows in memory take at most the memory limit divided by this number, unless spill files are
/// not allowed.
const PART: usize = 8;

/// Spooled rows, in the order in which they were added.
#[derive(Debug)]
pub(in crate::release::engine) struct Spool {
    schema: SchemaRef,
    rows: Vec<Held>,
    /// The number of bytes of the rows in memory.
    bytes: usize,
    /// The number of bytes that are reserved for rows in memory when the spool opens.
    share: usize,
    memory: MemoryReservation,
    spill_space: SpillSpace,
    file: Option<(Arc<Overflow>, u64)>,
}

/// A batch of spooled rows, in memory or as its position in the file.
#[derive(Debug)]
enum Held {
    Memory(RecordBatch),
    File { offset: u64, bytes: usize },
}

impl Spool {
    /// Opens an empty spool, and reserves its share of the memory limit.
    pub(super) fn open(schema: SchemaRef, spill_space: SpillSpace) -> Self {
        let memory = spill_space.reservation("anonsql released rows");
        let share = match spill_space.pool().memory_limit() {
            MemoryLimit::Finite(limit) => HELD.min(limit / PART),
            _ => HELD,
        };
        let share = memory.try_grow(share).map_or(0, |()| share);
        Self {
            schema,
            rows: vec![],
            bytes: 0,
            share,
            memory,
            spill_space,
            file: None,
        }
    }

    /// Returns the names of the columns that the spool keeps.
    pub(in crate::release::engine) fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|f| f.name().clone()).collect()
    }

    /// Adds all rows of a stream and closes the spool. Calls `told` with the number of rows of
    /// every batch.
    pub(super) async fn fill(mut self, mut rows: SendableRecordBatchStream, told: impl Fn(u64)) -> Result<Self> {
        while let Some(batch) = rows.next().await {
            let batch = batch.map_err(Error::from_data)?;
            told(batch.num_rows() as u64);
            self.add(&batch).await?;
        }
        Ok(self.closed())
    }

    /// Adds a copy of rows. The rows must have the columns of the spool, and may have others. Texts
    /// may be in dictionaries in the spool and not in the rows.
    pub(in crate::release::engine) async fn add(&mut self, rows: &RecordBatch) -> Result<()> {
        if rows.num_rows() == 0 {
            return Ok(());
        }
        let names = self.schema.fields().iter().map(|f| rows.schema().index_of(f.name()));
        let rows = rows.project(&names.collect::<std::result::Result<Vec<_>, _>>()?)?;
        let rows = compact(&self.typed(&rows)?)?;
        let bytes = rows.get_array_memory_size();
        // Once rows are in the file, all later rows go to the file, so that the rows stay in order.
        let fits =
            self.bytes + bytes <= self.share || (!self.spill_space.has_files() && self.memory.try_grow(bytes).is_ok());
        if self.file.is_none() && fits {
            self.bytes += bytes;
            self.rows.push(Held::Memory(rows));
            return Ok(());
        }
        let (file, spill_space) = (self.file.take(), self.spill_space.clone());
        let append = move || {
            let (file, offset) = match file {
                Some(file) => file,
                None => (Arc::new(spill_space.overflow("recounting released rows")?), 0),
            };
            let encoded = encode(&rows)?;
            file.append(&encoded)?;
            Ok((file, offset, encoded.len()))
        };
        let (file, offset, bytes) = blocking("writing released rows", append).await?;
        self.rows.push(Held::File { offset, bytes });
        self.file = Some((file, offset + bytes as u64));
        Ok(())
    }

    /// Returns the rows with the types of the spool.
    fn typed(&self, rows: &RecordBatch) -> Result<RecordBatch> {
        let columns = rows.columns().iter().zip(self.schema.fields());
        let columns = columns.map(|(column, field)| match column.data_type() == field.data_type() {
            true => Ok(Arc::clone(column)),
            false => cast(column, field.data_type()),
        });
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        let columns = columns.collect::<std::result::Result<_, _>>()?;
        Ok(RecordBatch::try_new_with_options(
            Arc::clone(&self.schema),
            columns,
            &options,
        )?)
    }

    /// Closes the spool after its last row, and releases reserved memory that is not used.
    pub(in crate::release::engine) fn closed(self) -> Self {
        self.memory.shrink(self.memory.size().saturating_sub(self.bytes));
        self
    }

    /// Streams some columns of all rows, in row order.
    fn read(self: &Arc<Self>, columns: &Arc<Vec<usize>>, schema: &SchemaRef) -> SendableRecordBatchStream {
        let (spool, columns, own) = (Arc::clone(self), Arc::clone(columns), Arc::clone(schema));
        let rows = stream::iter(0..self.rows.len()).then(move |number| {
            let (spool, columns, schema) = (Arc::clone(&spool), Arc::clone(&columns), Arc::clone(&own));
            async move { Ok(spool.batch(number, columns, schema).await?) }
        });
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(schema), rows))
    }

    async fn batch(self: Arc<Self>, number: usize, columns: Arc<Vec<usize>>, schema: SchemaRef) -> Result<RecordBatch> {
        let rows = match &self.rows[number] {
            Held::Memory(rows) => rows.project(&columns)?,
            Held::File { offset, bytes } => {
                let (spool, offset, bytes) = (Arc::clone(&self), *offset, *bytes);
                let read = move || spool.decode(offset, bytes, &columns);
                blocking("reading released rows", read).await?
            }
        };
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        Ok(RecordBatch::try_new_with_options(
            schema,
            rows.columns().to_vec(),
            &options,
        )?)
    }

    fn decode(&self, offset: u64, bytes: usize, columns: &[usize]) -> Result<RecordBatch> {
        let lost = || Error::internal("released rows were lost");
        let (file, _) = self.file.as_ref().ok_or_else(lost)?;
        let mut encoded = vec![0; bytes];
        file.read_at(offset, &mut encoded)?;
        let rows = StreamReader::try_new(Cursor::new(encoded), None)?
            .next()
            .ok_or_else(lost)??;
        // Columns that were read together share a buffer.
        compact(&rows.project(columns)?)
    }
}

/// Encodes rows as a separate Arrow stream, so that each batch has its own dictionaries.
pub(in crate::release::engine) fn encode(rows: &RecordBatch) -> Result<Vec<u8>> {
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME))?;
    let mut writer = StreamWriter::try_new_with_options(vec![], &rows.schema(), options)?;
    writer.write(rows)?;
    Ok(writer.into_inner()?)
}

/// A recounted release as a table to query.
pub type ReleaseTable = ComputedTable<ShownColumns>;

impl ReleaseTable {
    /// Creates a table of the columns of the spool for which `is_shown` returns true.
    pub(in crate::release::engine) fn try_new(rows: Arc<Spool>, is_shown: impl Fn(&str) -> bool) -> Result<Self> {
        let fields = rows.schema.fields().iter().enumerate();
        let columns: Vec<usize> = fields.filter(|(_, f)| is_shown(f.name())).map(|(i, _)| i).collect();
        let schema = Arc::new(rows.schema.project(&columns)?);
        let columns = Arc::new(columns);
        Ok(Self::new(ShownColumns { rows, columns }, schema))
    }

    /// Checks that a format can distinguish the values of every column. Fails with
    /// `ErrorKind::Data` if the format writes different values alike.
    pub async fn check_told_apart(&self, alike: Option<Alike>) -> Result<()> {
        let Some(alike) = alike else { return Ok(()) };
        let ShownColumns { rows, columns } = self.source();
        let mut seen = Seen::new(alike, self.schema());
        let mut rows = rows.read(columns, &self.schema());
        while let Some(batch) = rows.next().await {
            seen.look(&batch.map_err(Error::from_data)?)?;
        }
        Ok(())
    }
}

/// Some columns of a spool, as the rows of a table.
#[derive(Debug)]
pub struct ShownColumns {
    rows: Arc<Spool>,
    columns: Arc<Vec<usize>>,
}

impl fmt::Display for ShownColumns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "batches={}", self.rows.rows.len())
    }
}

impl Operator for ShownColumns {
    const NAME: &'static str = "SpoolExec";

    fn run(&self, _: SendableRecordBatchStream, schema: SchemaRef, _: &Arc<TaskContext>) -> Result<Rows> {
        Ok(self.rows.read(&self.columns, &schema))
    }

    fn narrowed(&self, columns: &[usize]) -> Option<Self> {
        let columns = columns.iter().map(|place| self.columns[*place]).collect();
        Some(Self {
            rows: Arc::clone(&self.rows),
            columns: Arc::new(columns),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::ErrorKind;
    use arrow::array::{ArrayRef, DictionaryArray, Int64Array, ListArray, StringArray};
    use arrow::compute::concat_batches;
    use arrow::datatypes::{DataType, FieldRef, Int32Type, Int64Type, Schema};
    use datafusion::execution::memory_pool::GreedyMemoryPool;
    use datafusion::prelude::SessionContext;

    /// Returns 1,000 rows from `start` on, with labels and lists, and a number that is not shown.
    fn rows(start: i64) -> RecordBatch {
        let numbers = start..start + 1000;
        let label = |n: i64| (n % 3 != 0).then(|| format!("label {}", n % 5));
        let labels: Vec<Option<String>> = numbers.clone().map(label).collect();
        let labels: DictionaryArray<Int32Type> = labels.iter().map(Option::as_deref).collect();
        let lists = numbers.clone().map(|n| (n % 7 != 0).then(|| vec![Some(n), None]));
        RecordBatch::try_from_iter_with_nullable([
            (
                "hidden",
                Arc::new(Int64Array::from_iter_values(numbers.clone())) as ArrayRef,
                false,
            ),
            ("label", Arc::new(labels), true),
            (
                "list",
                Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(lists)),
                true,
            ),
            (
                "text",
                Arc::new(numbers.map(|n| Some(n.to_string())).collect::<StringArray>()),
                true,
            ),
        ])
        .unwrap()
    }

    async fn read(spool: Spool, sql: &str) -> RecordBatch {
        let session = SessionContext::new();
        let table = ReleaseTable::try_new(Arc::new(spool), |name| name != "hidden").unwrap();
        let schema = table.schema();
        session.register_table("t", Arc::new(table)).unwrap();
        let read = session.sql(sql).await.unwrap().collect().await.unwrap();
        concat_batches(&read.first().map_or(schema, RecordBatch::schema), &read).unwrap()
    }

    #[tokio::test]
    async fn rows_beyond_memory_are_the_rows_in_order() {
        let all: Vec<RecordBatch> = (0..20).map(|i| rows(i * 1000)).collect();
        let expected = concat_batches(&all[0].schema(), &all)
            .unwrap()
            .project(&[1, 2, 3])
            .unwrap();
        for bytes in [0, 1 << 20, 1 << 30] {
            for sql in ["SELECT * FROM t", "SELECT text FROM t", "SELECT count(*) AS n FROM t"] {
                let spill_space = SpillSpace::limited(bytes);
                let mut spool = Spool::open(all[0].schema(), spill_space.clone());
                assert_eq!(spill_space.pool().reserved(), bytes.min(HELD * PART) / PART);
                for batch in &all {
                    spool.add(batch).await.unwrap();
                }
                let spool = spool.closed();
                assert_eq!(spool.file.is_some(), bytes < 1 << 30);
                let held = spool.rows.iter().filter(|rows| matches!(rows, Held::Memory(_))).count();
                assert_eq!(held > 0, bytes > 0);
                assert_eq!(spill_space.pool().reserved(), spool.bytes);
                let found = read(spool, sql).await;
                match sql {
                    "SELECT * FROM t" => assert_eq!(found, expected),
                    "SELECT text FROM t" => assert_eq!(found, expected.project(&[2]).unwrap()),
                    _ => assert_eq!(found.column(0).as_ref(), &Int64Array::from(vec![20_000])),
                }
                assert_eq!(spill_space.pool().reserved(), 0);
            }
        }
    }

    #[tokio::test]
    async fn texts_may_be_kept_in_dictionaries() {
        let batch = rows(0);
        let in_dictionary = |field: &FieldRef| match field.name().as_str() {
            "text" => Arc::new(
                field
                    .as_ref()
                    .clone()
                    .with_data_type(batch.column(1).data_type().clone()),
            ),
            _ => Arc::clone(field),
        };
        let fields: Vec<_> = batch.schema().fields().iter().map(in_dictionary).collect();
        let mut spool = Spool::open(Arc::new(Schema::new(fields)), SpillSpace::limited(0));
        spool.add(&batch).await.unwrap();
        let found = read(spool.closed(), "SELECT text FROM t").await;
        assert!(matches!(found.column(0).data_type(), DataType::Dictionary(..)));
        assert_eq!(&cast(found.column(0), &DataType::Utf8).unwrap(), batch.column(3));
    }

    #[tokio::test]
    async fn without_files_memory_is_asked_for_until_there_is_none() {
        let spill_space = SpillSpace::memory(Arc::new(GreedyMemoryPool::new(1 << 20)));
        let mut spool = Spool::open(rows(0).schema(), spill_space);
        let e = async {
            for i in 0.. {
                spool.add(&rows(i * 1000)).await?;
            }
            Ok(())
        };
        let e: Error = e.await.unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Resources);
        assert!(
            spool.bytes > 1 << 19 && e.to_string().contains("temporary files"),
            "{e}"
        );
    }
}
