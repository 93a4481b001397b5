//! Encodes the rows of one file: Parquet in parallel by column, and CSV in parallel by rows.

use super::footer::metadata;
use crate::base::error::{Error, Result};
use crate::base::pool::blocking;
use crate::data::folder::Footer;
use crate::method::hierarchy::with_times_as_texts;
use crate::release::job::Format;
use arrow::compute::BatchCoalescer;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::common::runtime::SpawnedTask;
use futures::future::BoxFuture;
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

/// The number of rows per encoded batch. Together with [`ROW_GROUP`], this number determines where
/// pages end, so it is not a setting.
const BATCH: usize = 1 << 14;
/// The number of rows per row group of a Parquet file.
pub(super) const ROW_GROUP: usize = 1 << 18;
/// The maximum number of bytes of rows that wait to be encoded while further rows are collected, in
/// addition to one row group or batch.
const ENCODING: usize = 1 << 25;
/// The name of the write task in error messages.
pub(in crate::release::engine) const WRITING: &str = "writing the release";

/// An open file of a release, to which rows are added.
pub(in crate::release::engine) trait Sink: Send {
    /// Adds rows. Waits if too many earlier rows are still being encoded.
    fn add(&mut self, rows: RecordBatch) -> BoxFuture<'_, Result<()>>;

    /// Returns the number of bytes of all complete row groups or batches, after writing them.
    fn bytes(&mut self) -> BoxFuture<'_, Result<u64>>;

    /// Writes the remaining rows, and returns the file.
    fn finish(self: Box<Self>) -> BoxFuture<'static, Result<File>>;
}

/// Opens the sink of a format. Only Parquet has a footer.
pub(in crate::release::engine) fn sink(
    format: Format,
    file: File,
    schema: SchemaRef,
    footer: &Footer,
) -> Result<Box<dyn Sink>> {
    let file = BufWriter::new(file);
    Ok(match format {
        Format::Parquet | Format::Table(_) => Box::new(ParquetSink::new(file, schema, footer)?),
        Format::Csv => Box::new(CsvSink {
            file: Some(file),
            schema,
            is_first: true,
            bytes: 0,
            encoding: VecDeque::new(),
        }),
    })
}

struct ParquetSink {
    /// The writer; `None` only while another thread uses it.
    file: Option<SerializedFileWriter<BufWriter<File>>>,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    coalescer: BatchCoalescer,
    group: Vec<RecordBatch>,
    groups: usize,
    /// Earlier row groups that are still being encoded, oldest first.
    encoding: VecDeque<Encoding>,
}

/// A row group that is being encoded, by a separate task for each column.
struct Encoding {
    /// The bytes of the rows in memory.
    bytes: usize,
    columns: Vec<SpawnedTask<Result<Vec<ArrowColumnChunk>>>>,
}

impl ParquetSink {
    fn new(file: BufWriter<File>, schema: SchemaRef, footer: &Footer) -> Result<Self> {
        // The footer gets no Arrow schema, because that would contain the metadata of the source's
        // schema.
        let properties = Arc::new(
            WriterProperties::builder()
                .set_compression(Compression::ZSTD(ZstdLevel::default()))
                .set_statistics_enabled(EnabledStatistics::Chunk)
                .set_offset_index_disabled(true)
                .set_key_value_metadata(metadata(footer))
                .set_created_by(format!("anonsql {}", env!("CARGO_PKG_VERSION")))
                .build(),
        );
        let parquet = ArrowSchemaConverter::new().convert(&schema)?;
        let file = SerializedFileWriter::new(file, parquet.root_schema_ptr(), properties)?;
        let factory = ArrowRowGroupWriterFactory::new(&file, Arc::clone(&schema));
        let coalescer = BatchCoalescer::new(Arc::clone(&schema), BATCH);
        Ok(Self {
            file: Some(file),
            factory,
            schema,
            coalescer,
            group: vec![],
            groups: 0,
            encoding: VecDeque::new(),
        })
    }

    /// Starts to encode the collected rows. Then appends the oldest row groups to the file, as long
    /// as the rows that are still being encoded take more than [`ENCODING`] bytes.
    async fn encode_group(&mut self) -> Result<()> {
        let batches = std::mem::take(&mut self.group);
        let mut writers = self.factory.create_column_writers(self.groups)?.into_iter();
        self.groups += 1;
        let mut columns = vec![];
        for (i, field) in self.schema.fields().iter().enumerate() {
            let leaves = match batches.first() {
                Some(batch) => compute_leaves(field, batch.column(i))?.len(),
                None => continue,
            };
            let mut writers: Vec<_> = writers.by_ref().take(leaves).collect();
            let (field, arrays) = (
                Arc::clone(field),
                batches.iter().map(|b| Arc::clone(b.column(i))).collect::<Vec<_>>(),
            );
            columns.push(SpawnedTask::spawn(async move {
                for array in arrays {
                    for (writer, leaf) in writers.iter_mut().zip(compute_leaves(&field, &array)?) {
                        writer.write(&leaf)?;
                    }
                }
                writers.into_iter().map(|w| Ok(w.close()?)).collect()
            }));
        }
        let bytes = batches.iter().map(RecordBatch::get_array_memory_size).sum();
        self.encoding.push_back(Encoding { bytes, columns });
        while self.encoding.len() > 1 && self.encoding.iter().map(|e| e.bytes).sum::<usize>() > ENCODING {
            self.append_oldest().await?;
        }
        Ok(())
    }

    async fn append_oldest(&mut self) -> Result<()> {
        let Some(Encoding { columns, .. }) = self.encoding.pop_front() else {
            return Ok(());
        };
        let mut chunks = vec![];
        for column in columns {
            let encoded = column.join().await;
            chunks.extend(encoded.map_err(|e| Error::from_task("an encoding task", &e))??);
        }
        let mut file = self.file.take().ok_or_else(lost)?;
        let append = move || {
            let mut group = file.next_row_group()?;
            for chunk in chunks {
                chunk.append_to_row_group(&mut group)?;
            }
            group.close()?;
            Ok(file)
        };
        self.file = Some(blocking(WRITING, append).await?);
        Ok(())
    }

    async fn take_completed(&mut self) -> Result<()> {
        while let Some(batch) = self.coalescer.next_completed_batch() {
            self.group.push(batch);
            if self.group.len() * BATCH >= ROW_GROUP {
                self.encode_group().await?;
            }
        }
        Ok(())
    }
}

impl Sink for ParquetSink {
    fn add(&mut self, rows: RecordBatch) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            self.coalescer.push_batch(rows)?;
            self.take_completed().await
        })
    }

    fn bytes(&mut self) -> BoxFuture<'_, Result<u64>> {
        Box::pin(async move {
            while !self.encoding.is_empty() {
                self.append_oldest().await?;
            }
            let file = self.file.as_ref().ok_or_else(lost)?;
            Ok(file.bytes_written() as u64)
        })
    }

    fn finish(mut self: Box<Self>) -> BoxFuture<'static, Result<File>> {
        Box::pin(async move {
            self.coalescer.finish_buffered_batch()?;
            self.take_completed().await?;
            if !self.group.is_empty() {
                self.encode_group().await?;
            }
            while !self.encoding.is_empty() {
                self.append_oldest().await?;
            }
            let file = self.file.take().ok_or_else(lost)?;
            blocking(WRITING, move || whole(file.into_inner()?)).await
        })
    }
}

struct CsvSink {
    /// The file; `None` only while another thread writes to it.
    file: Option<BufWriter<File>>,
    schema: SchemaRef,
    /// Whether the next rows are the first rows. The header is written before the first rows.
    is_first: bool,
    /// The number of bytes written so far.
    bytes: u64,
    /// Earlier rows that are still being encoded, oldest first.
    encoding: VecDeque<Texts>,
}

/// Rows of a CSV file that are being encoded, with their size in memory.
struct Texts {
    bytes: usize,
    task: SpawnedTask<Result<Vec<u8>>>,
}

impl CsvSink {
    /// Starts to encode rows on another task.
    fn encode(&mut self, rows: RecordBatch) {
        let (has_header, bytes) = (std::mem::take(&mut self.is_first), rows.get_array_memory_size());
        let task = SpawnedTask::spawn(async move {
            let mut writer = arrow::csv::WriterBuilder::new().with_header(has_header).build(vec![]);
            writer.write(&with_times_as_texts(&rows)?)?;
            Ok(writer.into_inner())
        });
        self.encoding.push_back(Texts { bytes, task });
    }

    async fn append_oldest(&mut self) -> Result<()> {
        let Some(Texts { task, .. }) = self.encoding.pop_front() else {
            return Ok(());
        };
        let encoded = task
            .join()
            .await
            .map_err(|e| Error::from_task("an encoding task", &e))??;
        let mut file = self.file.take().ok_or_else(lost)?;
        self.bytes += encoded.len() as u64;
        let append = move || file.write_all(&encoded).map_err(failed).map(|()| file);
        self.file = Some(blocking(WRITING, append).await?);
        Ok(())
    }
}

impl Sink for CsvSink {
    fn add(&mut self, rows: RecordBatch) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            self.encode(rows);
            while self.encoding.len() > 1 && self.encoding.iter().map(|e| e.bytes).sum::<usize>() > ENCODING {
                self.append_oldest().await?;
            }
            Ok(())
        })
    }

    fn bytes(&mut self) -> BoxFuture<'_, Result<u64>> {
        Box::pin(async move {
            while !self.encoding.is_empty() {
                self.append_oldest().await?;
            }
            Ok(self.bytes)
        })
    }

    fn finish(mut self: Box<Self>) -> BoxFuture<'static, Result<File>> {
        Box::pin(async move {
            if self.is_first {
                // A file without rows has a header too.
                self.encode(RecordBatch::new_empty(Arc::clone(&self.schema)));
            }
            while !self.encoding.is_empty() {
                self.append_oldest().await?;
            }
            let file = self.file.take().ok_or_else(lost)?;
            blocking(WRITING, move || whole(file)).await
        })
    }
}

/// Writes the buffered bytes, and returns the file.
fn whole(file: BufWriter<File>) -> Result<File> {
    file.into_inner().map_err(|e| failed(e.into_error()))
}

pub(in crate::release::engine) fn failed(e: io::Error) -> Error {
    Error::io("cannot write the release", e)
}

fn lost() -> Error {
    Error::internal("a file was written to after a failure")
}
