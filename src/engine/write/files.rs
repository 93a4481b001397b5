//! Writing released batches to files, one after another. The bytes do not depend on the number of threads.

use super::alike::{Alike, Seen};
use super::limit::Limit;
use super::shelf::{InTable, Put, Shelf, WrittenFile};
use super::sink::{ROW_GROUP, Sink, WRITING, failed, sink};
use super::spool::Spool;
use crate::error::{Error, Result};
use crate::folder::{Footer, partition_name};
use crate::formats::{self, DELTA};
use crate::job::{Format, Target};
use crate::pool::blocking;
use crate::recode::ORDER_PREFIX;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::{CastOptions, cast, cast_with_options, partition};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use arrow::record_batch::RecordBatch;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use std::collections::VecDeque;
use std::fs::File;
use std::sync::Arc;

/// The files that are on their way to an object store while the next one is written.
const ON_WAY: usize = 2;

/// Writes the ordered stream of a release to `shelf`, without its `hidden` columns. The columns that are recounted
/// beside the files are written to `spool`. Calls `told` with the number of rows of every batch.
pub(super) async fn write(
    mut rows: SendableRecordBatchStream,
    mut spool: Option<Spool>,
    shelf: &Shelf,
    (target, footer): (&Target, &Footer),
    hidden: &[String],
    told: impl Fn(u64),
) -> Result<(Vec<WrittenFile>, Option<Spool>)> {
    let mut files = Files::new(&rows.schema(), shelf, (target, footer), hidden)?;
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

/// The folder of rows that are equal in the columns of PARTITIONED BY.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Partition {
    /// Empty without PARTITIONED BY, and else ends in a slash.
    path: String,
    values: Vec<(String, Option<String>)>,
}

impl Partition {
    /// Adds a folder within. Fails with `ErrorKind::Data` for a value that cannot name a folder.
    fn add(&mut self, column: &str, value: Option<&str>, format: Format) -> Result<()> {
        if format == Format::Delta && value == Some("") {
            return Err(Error::data(format!(
                "PARTITIONED BY {column:?}: a value is an empty text, which readers of Delta tables take for NULL; partition by \
                 another column"
            )));
        }
        self.path += &partition_name(column, value)?;
        self.path.push('/');
        self.values.push((column.to_string(), value.map(String::from)));
        Ok(())
    }
}

/// The files of a release, written one after another. A new file starts where a partition ends or the file is full.
struct Files<'a> {
    shelf: &'a Shelf,
    target: &'a Target,
    footer: &'a Footer,
    written: FileRows,
    partition_columns: Vec<usize>,
    /// The check for values that the format writes alike, over all files together.
    alike: Option<Seen>,
    open: Option<(Partition, u64, Box<dyn Sink>)>,
    limit: Limit,
    /// How many files were begun before the open one, those of the release that is added to included. Numbers count all files,
    /// so that names are unique and in row order.
    begun: usize,
    /// How many files the release has that is added to.
    standing: usize,
    /// Finished files, oldest first.
    put: VecDeque<Put>,
    done: Vec<WrittenFile>,
}

impl<'a> Files<'a> {
    fn new(
        schema: &SchemaRef,
        shelf: &'a Shelf,
        (target, footer): (&'a Target, &'a Footer),
        hidden: &[String],
    ) -> Result<Self> {
        let (written, partition_columns) = FileRows::of(schema, &target.partitioned_by, hidden, target.format)?;
        let standing = target.grows.as_ref().map_or(0, |standing| standing.output.len());
        let alike = match target.format {
            Format::Parquet | Format::Delta => None,
            Format::Csv => Some(Seen::new(Alike::Csv(String::new()), Arc::clone(&written.schema))),
        };
        Ok(Self {
            shelf,
            limit: Limit::new(target.rows_per_file, target.file_size),
            target,
            footer,
            written,
            partition_columns,
            alike,
            open: None,
            begun: standing,
            standing,
            put: VecDeque::new(),
            done: vec![],
        })
    }

    async fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let values = self.written.of_batch(batch)?;
        if let Some(alike) = &mut self.alike {
            alike.look(&values)?;
        }
        if self.partition_columns.is_empty() {
            return self.add_run(&Partition::default(), values).await;
        }
        let keys: Vec<ArrayRef> = self
            .partition_columns
            .iter()
            .map(|i| plain_text(batch.column(*i)))
            .collect::<Result<_>>()?;
        for range in partition(&keys)?.ranges() {
            let mut partition = Partition::default();
            for (name, key) in self.target.partitioned_by.iter().zip(&keys) {
                let values = key.as_string::<i32>();
                let value = key.is_valid(range.start).then(|| values.value(range.start));
                partition.add(name, value, self.target.format)?;
            }
            self.add_run(&partition, values.slice(range.start, range.len())).await?;
        }
        Ok(())
    }

    /// Adds rows of one partition.
    async fn add_run(&mut self, partition: &Partition, mut rows: RecordBatch) -> Result<()> {
        while rows.num_rows() > 0 {
            let full = self.limit.rows();
            if self
                .open
                .as_ref()
                .is_some_and(|(open, n, _)| open != partition || *n >= full)
            {
                self.close().await?;
            }
            if self.open.is_none() {
                self.open = Some((partition.clone(), 0, self.create(&partition.path).await?));
            }
            let full = self.limit.rows();
            let Some((_, written, sink)) = &mut self.open else {
                continue;
            };
            let until = match self.limit.is_open() {
                true => full.min(ROW_GROUP as u64),
                false => full,
            };
            let take = rows
                .num_rows()
                .min(usize::try_from(until - *written).unwrap_or(usize::MAX));
            sink.add(rows.slice(0, take)).await?;
            *written += take as u64;
            rows = rows.slice(take, rows.num_rows() - take);
            if self.limit.is_open() && *written == ROW_GROUP as u64 {
                self.limit.learn(*written, sink.bytes().await?);
            }
        }
        Ok(())
    }

    async fn create(&mut self, partition: &str) -> Result<Box<dyn Sink>> {
        let file = self.shelf.create(partition, self.begun, self.extension()).await?;
        sink(self.target.format, file, Arc::clone(&self.written.schema), self.footer)
    }

    fn extension(&self) -> &'static str {
        match self.target.format {
            Format::Parquet | Format::Delta => "parquet",
            Format::Csv => "csv",
        }
    }

    async fn close(&mut self) -> Result<()> {
        if let Some((partition, rows, sink)) = self.open.take() {
            let file = sink.finish().await?;
            if self.limit.is_open() && rows > 0 {
                let metadata = file.metadata().map_err(failed)?;
                self.limit.learn(rows, metadata.len());
            }
            let in_table = match self.target.format {
                Format::Delta => Some(in_table(&file, partition.values).await?),
                _ => None,
            };
            let place = (partition.path.as_str(), self.begun);
            self.put
                .push_back(self.shelf.put(file, place, self.extension(), (rows, in_table)));
            self.begun += 1;
            self.settle(ON_WAY).await?;
        }
        Ok(())
    }

    /// Waits until no more than so many finished files are on their way.
    async fn settle(&mut self, on_way: usize) -> Result<()> {
        while self.put.len() > on_way
            && let Some(put) = self.put.pop_front()
        {
            self.done.push(put.done().await?);
        }
        Ok(())
    }

    async fn finish(mut self) -> Result<Vec<WrittenFile>> {
        if self.open.is_none() && self.begun == self.standing {
            // A release without rows still has its columns, including those that are folders.
            let mut partition = Partition::default();
            for name in &self.target.partitioned_by {
                partition.add(name, None, self.target.format)?;
            }
            let sink = self.create(&partition.path).await?;
            self.open = Some((partition, 0, sink));
        }
        self.close().await?;
        self.settle(0).await?;
        Ok(self.done)
    }
}

/// Returns what the log of a Delta table is to say of a finished file.
async fn in_table(file: &File, partition: Vec<(String, Option<String>)>) -> Result<InTable> {
    let file = file.try_clone().map_err(failed)?;
    let format = DELTA.committing("a file of a release")?;
    let statistics = blocking(WRITING, move || format.statistics(&file)).await?;
    Ok(InTable { partition, statistics })
}

/// What of the rows of a release is in its files.
pub(super) struct FileRows {
    /// The schema of the files.
    pub(super) schema: SchemaRef,
    columns: Vec<usize>,
}

impl FileRows {
    /// Returns what is in files of rows of this schema, and the columns that are folders. `hidden` columns and those of the
    /// order key are in neither.
    pub(super) fn of(
        schema: &SchemaRef,
        partitioned_by: &[String],
        hidden: &[String],
        format: Format,
    ) -> Result<(Self, Vec<usize>)> {
        let partition_columns: Vec<usize> = partitioned_by
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
            .map(|f| Field::new(f.name(), stored(f.data_type(), format), f.is_nullable()))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        Ok((Self { schema, columns }, partition_columns))
    }

    /// Returns what is in files of a batch.
    pub(super) fn of_batch(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = self.columns.iter().zip(self.schema.fields());
        let columns = columns.map(|(i, field)| exactly(batch.column(*i), field.data_type()));
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}

/// Returns the type that the file format can store. Parquet has no seconds, and a date with milliseconds is stored as
/// a timestamp.
pub(in crate::engine) fn stored(data_type: &DataType, format: Format) -> DataType {
    match (format, data_type) {
        (Format::Delta, own) => formats::stored(own),
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
    let stored = cast_with_options(values, data_type, &options)?;
    if has_nanoseconds(values.data_type())
        && cast_with_options(&stored, values.data_type(), &options)?.as_ref() != values.as_ref()
    {
        return Err(Error::data(
            "a time has nanoseconds, and a Delta table has times in microseconds; round it in the source: \
             arrow_cast(time, 'Timestamp(µs)')",
        ));
    }
    Ok(stored)
}

fn has_nanoseconds(data_type: &DataType) -> bool {
    match data_type {
        DataType::Timestamp(unit, _) => *unit == TimeUnit::Nanosecond,
        DataType::Struct(fields) => fields.iter().any(|field| has_nanoseconds(field.data_type())),
        DataType::List(item) | DataType::LargeList(item) | DataType::Map(item, _) => has_nanoseconds(item.data_type()),
        DataType::Dictionary(_, values) => has_nanoseconds(values),
        _ => false,
    }
}

fn plain_text(array: &ArrayRef) -> Result<ArrayRef> {
    Ok(cast(array, &DataType::Utf8)?)
}
