//! Writes released batches to files, one after another. The bytes do not depend on the number of
//! threads.

use super::alike::{Alike, Seen};
use super::limit::Limit;
use super::shelf::{FilePlace, InTable, Put, Shelf, WrittenFile};
use super::sink::{ROW_GROUP, Sink, WRITING, failed, sink};
use super::spool::Spool;
use super::stored::{exactly, in_microseconds, stored};
use crate::base::error::{Error, Result};
use crate::base::pool::blocking;
use crate::data::folder::{Footer, partition_name};
use crate::data::formats::Entry;
use crate::data::recode::ORDER_PREFIX;
use crate::method::hierarchy::texts;
use crate::release::job::{Format, Target};
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::partition;
use arrow::datatypes::{Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fs::File;
use std::sync::Arc;

/// The number of files that may still be uploading to an object store while the next file is
/// written.
const ON_WAY: usize = 2;

/// The files that the rows of a release are written to.
pub(super) struct FileDestination<'a> {
    pub(super) shelf: &'a Shelf,
    pub(super) target: &'a Target,
    pub(super) footer: &'a Footer,
    pub(super) columns: &'a FileColumns,
}

/// Writes the ordered stream of a release to a shelf, without its hidden columns. The columns that
/// are recounted in addition to the files are written to `spool`. Calls `told` with the number of
/// rows of every batch.
pub(super) async fn write(
    mut rows: SendableRecordBatchStream,
    mut spool: Option<Spool>,
    to: FileDestination<'_>,
    told: impl Fn(u64),
) -> Result<(Vec<WrittenFile>, Option<Spool>)> {
    let mut files = Files::new(&rows.schema(), to)?;
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
    /// The path of the folder: empty without PARTITIONED BY, and otherwise with a slash at the end.
    path: String,
    values: Vec<(String, Option<String>)>,
}

impl Partition {
    /// Adds a folder inside this one. Fails with `ErrorKind::Data` if the value cannot be the name
    /// of a folder.
    fn add(&mut self, column: &str, value: Option<&str>, format: Format) -> Result<()> {
        if let (Format::Table(format), Some("")) = (format, value) {
            return Err(Error::data(format!(
                "PARTITIONED BY {column:?}: a value is an empty text, which readers of {}s take for NULL; partition by another \
                 column",
                format.table()
            )));
        }
        self.path += &partition_name(column, value)?;
        self.path.push('/');
        self.values.push((column.to_string(), value.map(String::from)));
        Ok(())
    }
}

/// The files of a release, written one after another. A new file starts where a partition ends or
/// the file is full.
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
    /// The number of files before the open file, including the files of the release to which rows
    /// are added. The number of a file counts all files before it, so that names are unique and in
    /// row order.
    begun: usize,
    /// The number of files of the release to which rows are added.
    standing: usize,
    /// Finished files that may still be uploading, oldest first.
    put: VecDeque<Put>,
    done: Vec<WrittenFile>,
}

impl<'a> Files<'a> {
    fn new(schema: &SchemaRef, to: FileDestination<'a>) -> Result<Self> {
        let FileDestination {
            shelf,
            target,
            footer,
            columns,
        } = to;
        let (written, partition_columns) = FileRows::of(schema, columns, target.format)?;
        let standing = target.grows.as_ref().map_or(0, |standing| standing.output.len());
        let alike = match target.format {
            Format::Parquet | Format::Table(_) => None,
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

    /// Adds rows of one partition to the open file, and begins a new file if the open file is full
    /// or of another partition.
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

    /// Returns the place of the next file, in this partition.
    fn place<'p>(&self, partition: &'p str) -> FilePlace<'p> {
        FilePlace {
            partition,
            number: self.begun,
            extension: self.target.format.extension(),
        }
    }

    async fn create(&mut self, partition: &str) -> Result<Box<dyn Sink>> {
        let place = self.place(partition);
        let file = self.shelf.create(place).await?;
        sink(self.target.format, file, Arc::clone(&self.written.schema), self.footer)
    }

    async fn close(&mut self) -> Result<()> {
        if let Some((partition, rows, sink)) = self.open.take() {
            let file = sink.finish().await?;
            if self.limit.is_open() && rows > 0 {
                let metadata = file.metadata().map_err(failed)?;
                self.limit.learn(rows, metadata.len());
            }
            let in_table = match self.target.format {
                Format::Table(format) => Some(in_table(&file, format, partition.values).await?),
                Format::Parquet | Format::Csv => None,
            };
            let place = self.place(&partition.path);
            self.put.push_back(self.shelf.put(file, place, rows, in_table));
            self.begun += 1;
            self.settle(ON_WAY).await?;
        }
        Ok(())
    }

    /// Waits until at most `on_way` finished files are still being uploaded.
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
            // A release without rows still has its columns, including the columns that are encoded
            // in folder names.
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

/// Returns the description of a finished file for the log of a table.
async fn in_table(file: &File, format: &Entry, partition: Vec<(String, Option<String>)>) -> Result<InTable> {
    let file = file.try_clone().map_err(failed)?;
    let format = format.committing("a file of a release")?;
    let statistics = blocking(WRITING, move || format.statistics(&file)).await?;
    Ok(InTable { partition, statistics })
}

/// Describes which columns of the rows of a release are in its files.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::release::engine) struct FileColumns {
    /// The columns whose values are stored in folder names.
    pub(in crate::release::engine) partitioned_by: Vec<String>,
    /// The columns that are not released.
    pub(in crate::release::engine) hidden: Vec<String>,
    /// The columns whose times stay in nanoseconds. The times of other columns are stored in
    /// microseconds.
    pub(in crate::release::engine) nanoseconds: Vec<String>,
}

/// The columns of a release that are stored in its files.
pub(in crate::release::engine) struct FileRows {
    /// The schema of the files.
    pub(in crate::release::engine) schema: SchemaRef,
    columns: Vec<usize>,
}

impl FileRows {
    /// Splits the columns of this schema into columns that are stored in files and columns whose
    /// values become folder names. Hidden columns and the columns of the order key are left out.
    pub(in crate::release::engine) fn of(
        schema: &SchemaRef,
        among: &FileColumns,
        format: Format,
    ) -> Result<(Self, Vec<usize>)> {
        let partition_columns: Vec<usize> = among
            .partitioned_by
            .iter()
            .map(|c| Ok(schema.index_of(c)?))
            .collect::<Result<_>>()?;
        let is_written = |i: &usize| {
            let name = schema.field(*i).name();
            !partition_columns.contains(i) && !name.starts_with(ORDER_PREFIX) && !among.hidden.contains(name)
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
            .map(|f| {
                let own = f.data_type();
                let stored = match among.nanoseconds.contains(f.name()) {
                    true => stored(own, format),
                    false => stored(&in_microseconds(own), format),
                };
                Field::new(f.name(), stored, f.is_nullable())
            })
            .collect();
        let schema = Arc::new(Schema::new(fields));
        Ok((Self { schema, columns }, partition_columns))
    }

    /// Returns the part of a batch that is stored in files.
    pub(in crate::release::engine) fn of_batch(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = self.columns.iter().zip(self.schema.fields());
        let columns = columns.map(|(i, field)| exactly(batch.column(*i), field.data_type()));
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}

fn plain_text(array: &ArrayRef) -> Result<ArrayRef> {
    Ok(Arc::new(texts(array)?))
}
