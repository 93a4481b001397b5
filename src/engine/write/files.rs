//! Writing released batches to files: Parquet in parallel by column, and CSV in parallel by rows. The bytes do not depend
//! on the number of threads.

use super::alike::{Alike, Seen};
use super::spool::Spool;
use crate::error::{Error, Result};
use crate::folder::partition_name;
use crate::job::{Format, Target};
use crate::pool::blocking;
use crate::recode::ORDER_PREFIX;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::{BatchCoalescer, CastOptions, cast, cast_with_options, partition};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use arrow::record_batch::RecordBatch;
use datafusion::common::runtime::SpawnedTask;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows per encoded batch. With [`ROW_GROUP`] it decides where pages end, so it is not a setting.
const BATCH: usize = 1 << 14;
/// Rows per row group.
const ROW_GROUP: usize = 1 << 18;
/// The bytes of rows that may wait for encoding, beside one row group or batch, while further rows are collected.
const ENCODING: usize = 1 << 25;
/// The name of the write task in error messages.
const WRITING: &str = "writing the release";

/// A written file.
#[derive(Debug, Clone)]
pub(in crate::engine) struct WrittenFile {
    /// The path of the file relative to the folder.
    pub(in crate::engine) path: String,
    /// The number of rows in the file.
    pub(in crate::engine) rows: u64,
}

/// Writes the ordered stream of a release to `folder`, without its `hidden` columns. The columns that are recounted
/// beside the files are written to `spool`. Calls `told` with the number of rows of every batch.
pub(super) async fn write(
    mut rows: SendableRecordBatchStream,
    mut spool: Option<Spool>,
    folder: &Path,
    target: &Target,
    hidden: &[String],
    told: impl Fn(u64),
) -> Result<(Vec<WrittenFile>, Option<Spool>)> {
    let mut files = Files::new(&rows.schema(), folder, target, hidden)?;
    while let Some(batch) = rows.next().await {
        let batch = batch.map_err(Error::from_data)?;
        told(batch.num_rows() as u64);
        if let Some(spool) = &mut spool {
            spool.add(&batch).await?;
        }
        files.add(&batch).await?;
    }
    Ok((files.finish().await?, spool.map(Spool::closed)))
}

/// The files of a release, written one after another. A new file starts where a partition ends or the file is full.
struct Files<'a> {
    folder: &'a Path,
    target: &'a Target,
    schema: SchemaRef,
    columns: Vec<usize>,
    partition_columns: Vec<usize>,
    /// The check for values that the format writes alike, over all files together.
    alike: Option<Seen>,
    open: Option<(String, u64, Box<dyn Sink>)>,
    done: Vec<WrittenFile>,
}

impl<'a> Files<'a> {
    fn new(schema: &SchemaRef, folder: &'a Path, target: &'a Target, hidden: &[String]) -> Result<Self> {
        let partition_columns: Vec<usize> = target
            .partitioned_by
            .iter()
            .map(|c| Ok(schema.index_of(c)?))
            .collect::<Result<_>>()?;
        let is_written = |i: &usize| {
            let name = schema.field(*i).name();
            !partition_columns.contains(i) && !name.starts_with(ORDER_PREFIX) && !hidden.contains(name)
        };
        let columns: Vec<usize> = (0..schema.fields().len()).filter(is_written).collect();
        if columns.is_empty() {
            return Err(Error::usage(
                "PARTITIONED BY names every released column; at least one must stay in the files",
            ));
        }
        let fields: Vec<Field> = columns
            .iter()
            .map(|i| schema.field(*i))
            .map(|f| Field::new(f.name(), stored(f.data_type(), target.format), f.is_nullable()))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let alike = match target.format {
            Format::Parquet => None,
            Format::Csv => Some(Seen::new(Alike::Csv(String::new()), Arc::clone(&schema))),
        };
        Ok(Self {
            folder,
            target,
            schema,
            columns,
            partition_columns,
            alike,
            open: None,
            done: vec![],
        })
    }

    async fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = self.columns.iter().zip(self.schema.fields());
        let columns = columns.map(|(i, field)| exactly(batch.column(*i), field.data_type()));
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        let values = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        if let Some(alike) = &mut self.alike {
            alike.look(&values)?;
        }
        if self.partition_columns.is_empty() {
            return self.add_run("", values).await;
        }
        let keys: Vec<ArrayRef> = self
            .partition_columns
            .iter()
            .map(|i| plain_text(batch.column(*i)))
            .collect::<Result<_>>()?;
        for range in partition(&keys)?.ranges() {
            let mut path = String::new();
            for (name, key) in self.target.partitioned_by.iter().zip(&keys) {
                let values = key.as_string::<i32>();
                let value = key.is_valid(range.start).then(|| values.value(range.start));
                path += &partition_name(name, value)?;
                path.push('/');
            }
            self.add_run(&path, values.slice(range.start, range.len())).await?;
        }
        Ok(())
    }

    /// Adds rows of one partition.
    async fn add_run(&mut self, partition: &str, mut rows: RecordBatch) -> Result<()> {
        while rows.num_rows() > 0 {
            let full = self.target.rows_per_file.unwrap_or(u64::MAX);
            if self
                .open
                .as_ref()
                .is_some_and(|(open, n, _)| open != partition || *n >= full)
            {
                self.close().await?;
            }
            if self.open.is_none() {
                self.open = Some((partition.to_string(), 0, self.create(partition).await?));
            }
            let Some((_, written, sink)) = &mut self.open else {
                continue;
            };
            let take = rows
                .num_rows()
                .min(usize::try_from(full - *written).unwrap_or(usize::MAX));
            sink.add(rows.slice(0, take)).await?;
            *written += take as u64;
            rows = rows.slice(take, rows.num_rows() - take);
        }
        Ok(())
    }

    async fn create(&mut self, partition: &str) -> Result<Box<dyn Sink>> {
        let (mut folder, path) = (self.folder.to_path_buf(), self.folder.join(self.path(partition)));
        let (format, schema) = (self.target.format, Arc::clone(&self.schema));
        let partition = partition.to_string();
        let create = move || -> Result<Box<dyn Sink>> {
            // Folders are created one by one, so that a stage that was removed in the meantime is not created again.
            for part in partition.split_terminator('/') {
                folder.push(part);
                match fs::create_dir(&folder) {
                    Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(failed(e)),
                    _ => (),
                }
            }
            let file = BufWriter::new(File::create(&path).map_err(failed)?);
            Ok(match format {
                Format::Parquet => Box::new(ParquetSink::new(file, schema)?),
                Format::Csv => Box::new(CsvSink {
                    file: Some(file),
                    schema,
                    is_first: true,
                    encoding: VecDeque::new(),
                }),
            })
        };
        blocking(WRITING, create).await
    }

    /// Returns the path of the next file relative to the folder. File numbers count all files, so that names are
    /// unique and in row order.
    fn path(&self, partition: &str) -> PathBuf {
        let extension = match self.target.format {
            Format::Parquet => "parquet",
            Format::Csv => "csv",
        };
        PathBuf::from(format!("{partition}part-{:05}.{extension}", self.done.len()))
    }

    async fn close(&mut self) -> Result<()> {
        if let Some((partition, rows, sink)) = self.open.take() {
            sink.finish().await?;
            let path = self.path(&partition).to_string_lossy().into_owned();
            self.done.push(WrittenFile { path, rows });
        }
        Ok(())
    }

    async fn finish(mut self) -> Result<Vec<WrittenFile>> {
        if self.open.is_none() && self.done.is_empty() {
            // A release without rows still has its columns, including those that are folders.
            let mut path = String::new();
            for name in &self.target.partitioned_by {
                path += &partition_name(name, None)?;
                path.push('/');
            }
            let sink = self.create(&path).await?;
            self.open = Some((path, 0, sink));
        }
        self.close().await?;
        Ok(self.done)
    }
}

/// An open file of a release.
#[async_trait::async_trait]
trait Sink: Send {
    async fn add(&mut self, rows: RecordBatch) -> Result<()>;
    async fn finish(self: Box<Self>) -> Result<()>;
}

struct ParquetSink {
    /// The writer; `None` only while another thread writes with it.
    file: Option<SerializedFileWriter<BufWriter<File>>>,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    coalescer: BatchCoalescer,
    group: Vec<RecordBatch>,
    groups: usize,
    /// Earlier row groups that are still being encoded, oldest first.
    encoding: VecDeque<Encoding>,
}

/// A row group whose columns are encoded by one task each.
struct Encoding {
    /// The memory of the rows in bytes.
    bytes: usize,
    columns: Vec<SpawnedTask<Result<Vec<ArrowColumnChunk>>>>,
}

impl ParquetSink {
    fn new(file: BufWriter<File>, schema: SchemaRef) -> Result<Self> {
        // The footer gets no Arrow schema, because that would contain the metadata of the source's schema.
        let properties = Arc::new(
            WriterProperties::builder()
                .set_compression(Compression::ZSTD(ZstdLevel::default()))
                .set_statistics_enabled(EnabledStatistics::Chunk)
                .set_offset_index_disabled(true)
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

    /// Starts to encode the collected rows. Appends the oldest row groups to the file while more bytes wait than
    /// [`ENCODING`].
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

#[async_trait::async_trait]
impl Sink for ParquetSink {
    async fn add(&mut self, rows: RecordBatch) -> Result<()> {
        self.coalescer.push_batch(rows)?;
        self.take_completed().await
    }

    async fn finish(mut self: Box<Self>) -> Result<()> {
        self.coalescer.finish_buffered_batch()?;
        self.take_completed().await?;
        if !self.group.is_empty() {
            self.encode_group().await?;
        }
        while !self.encoding.is_empty() {
            self.append_oldest().await?;
        }
        let file = self.file.take().ok_or_else(lost)?;
        blocking(WRITING, move || file.into_inner()?.flush().map_err(failed)).await
    }
}

struct CsvSink {
    /// The file; `None` only while another thread writes to it.
    file: Option<BufWriter<File>>,
    schema: SchemaRef,
    /// Whether the next rows are the first, which have the header before them.
    is_first: bool,
    /// Earlier rows that are still being encoded, oldest first.
    encoding: VecDeque<Texts>,
}

/// Rows of a CSV file that are being encoded, with their size in memory.
struct Texts {
    bytes: usize,
    task: SpawnedTask<Result<Vec<u8>>>,
}

impl CsvSink {
    /// Starts to encode rows.
    fn encode(&mut self, rows: RecordBatch) {
        let (has_header, bytes) = (std::mem::take(&mut self.is_first), rows.get_array_memory_size());
        let task = SpawnedTask::spawn(async move {
            let mut writer = arrow::csv::WriterBuilder::new().with_header(has_header).build(vec![]);
            writer.write(&rows)?;
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
        let append = move || file.write_all(&encoded).map_err(failed).map(|()| file);
        self.file = Some(blocking(WRITING, append).await?);
        Ok(())
    }
}

#[async_trait::async_trait]
impl Sink for CsvSink {
    async fn add(&mut self, rows: RecordBatch) -> Result<()> {
        self.encode(rows);
        while self.encoding.len() > 1 && self.encoding.iter().map(|e| e.bytes).sum::<usize>() > ENCODING {
            self.append_oldest().await?;
        }
        Ok(())
    }

    async fn finish(mut self: Box<Self>) -> Result<()> {
        if self.is_first {
            // A file without rows has a header too.
            self.encode(RecordBatch::new_empty(Arc::clone(&self.schema)));
        }
        while !self.encoding.is_empty() {
            self.append_oldest().await?;
        }
        let mut file = self.file.take().ok_or_else(lost)?;
        blocking(WRITING, move || file.flush().map_err(failed)).await
    }
}

fn failed(e: io::Error) -> Error {
    Error::io("cannot write the release", e)
}

fn lost() -> Error {
    Error::internal("a file was written to after a failure")
}

/// Returns the type that the file format can store. Parquet has no seconds, and a date with milliseconds is stored as
/// a timestamp.
fn stored(data_type: &DataType, format: Format) -> DataType {
    match (format, data_type) {
        (Format::Parquet, DataType::Timestamp(TimeUnit::Second, zone)) => {
            DataType::Timestamp(TimeUnit::Millisecond, zone.clone())
        }
        (Format::Parquet, DataType::Time32(TimeUnit::Second)) => DataType::Time32(TimeUnit::Millisecond),
        (Format::Parquet, DataType::Date64) => DataType::Timestamp(TimeUnit::Millisecond, None),
        (_, DataType::Struct(fields)) => DataType::Struct(fields.iter().map(|f| stored_field(f, format)).collect()),
        (_, DataType::List(item)) => DataType::List(stored_field(item, format)),
        (_, DataType::LargeList(item)) => DataType::LargeList(stored_field(item, format)),
        (_, DataType::FixedSizeList(item, n)) => DataType::FixedSizeList(stored_field(item, format), *n),
        (_, DataType::Map(entries, sorted)) => DataType::Map(stored_field(entries, format), *sorted),
        (_, other) => other.clone(),
    }
}

fn stored_field(field: &FieldRef, format: Format) -> FieldRef {
    let data_type = stored(field.data_type(), format);
    Arc::new(field.as_ref().clone().with_data_type(data_type))
}

/// Returns the same values in another type. Fails if a value does not fit it.
fn exactly(values: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    if values.data_type() == data_type {
        return Ok(Arc::clone(values));
    }
    let options = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    Ok(cast_with_options(values, data_type, &options)?)
}

fn plain_text(array: &ArrayRef) -> Result<ArrayRef> {
    Ok(cast(array, &DataType::Utf8)?)
}
