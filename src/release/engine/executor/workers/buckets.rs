//! The operator that writes the files of buckets, on the worker that has their rows. A bucket
//! consists of consecutive files that one worker orders and writes together.
//!
//! The operator reports a bucket only if it has received exactly as many rows as the driver has
//! computed for the bucket, and fails otherwise. The report is sent after the rows that are
//! recounted in addition to the files.

use super::cut::{Bucket, PlannedFile};
use crate::base::error::{Error, Result};
use crate::base::operator::{InputPartitions, Operator, Parcel, Rows, Travels};
use crate::base::pool::blocking;
use crate::base::spill::SpillSpace;
use crate::data::folder::{FileSummary, Footer};
use crate::data::lake::Landing;
use crate::data::recode::BUCKET;
use crate::release::cluster::Pulse;
use crate::release::engine::write::{FileColumns, FileRows, Sink, WRITING, encode, failed, sink};
use crate::release::job::Format;
use arrow::array::{AsArray, BinaryArray, RecordBatch, StringArray, UInt64Array};
use arrow::compute::partition;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt64Type};
use datafusion::error::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use futures::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Writes the rows of some buckets. The rows arrive in sequence: all rows of one bucket before all
/// rows of the next.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct WriteBuckets {
    pub(super) destination: WorkerDestination,
    pub(super) columns: FileColumns,
    /// The columns that are recounted in addition to the files; `None` if the files contain
    /// everything that the recount needs.
    pub(super) recounted: Option<Vec<String>>,
    pub(super) footer: Footer,
    pub(super) buckets: Vec<Bucket>,
}

/// The location where a worker writes files.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum WorkerDestination {
    /// A folder from which the driver moves the files. Their names begin with `prefix`.
    Folder { folder: PathBuf, prefix: String },
    /// The folder of a run, in an object store.
    Store(Landing),
}

/// A worker's report about one file that it wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileReport {
    pub(super) number: usize,
    pub(super) rows: u64,
    pub(super) bytes: u64,
    pub(super) sha256: String,
    /// The ETag of the object, if the file is in an object store.
    pub(super) e_tag: Option<String>,
    /// The version of the object, if the store keeps versions.
    pub(super) version: Option<String>,
}

/// A message of a worker about a bucket.
#[derive(Debug, Clone)]
pub(super) enum Message {
    /// Rows of the bucket that are recounted in addition to its files.
    Rows(Vec<u8>),
    /// The reports of the files. The bucket is complete.
    Files(Vec<FileReport>),
}

/// Returns the schema of messages: the bucket, and either files or rows.
pub(super) fn messages() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("bucket", DataType::UInt64, false),
        Field::new("files", DataType::Utf8, true),
        Field::new("rows", DataType::Binary, true),
    ]))
}

impl Message {
    fn batch(self, bucket: u64) -> Result<RecordBatch> {
        let (files, rows) = match self {
            Self::Rows(rows) => (None, Some(rows)),
            Self::Files(files) => {
                let files = serde_json::to_string(&files);
                (
                    Some(files.map_err(|_| Error::internal("a report that is not text"))?),
                    None,
                )
            }
        };
        let columns = [
            Arc::new(UInt64Array::from(vec![bucket])) as _,
            Arc::new(StringArray::from(vec![files])) as _,
            Arc::new(BinaryArray::from_opt_vec(vec![rows.as_deref()])) as _,
        ];
        Ok(RecordBatch::try_new(messages(), columns.to_vec())?)
    }

    /// Decodes the messages of a batch, each with the number of its bucket.
    pub(super) fn read(batch: &RecordBatch) -> Result<Vec<(u64, Self)>> {
        let otherwise = || Error::internal("a worker sent an answer of another form");
        let buckets = batch.column(0).as_primitive_opt::<UInt64Type>().ok_or_else(otherwise)?;
        let files = batch.column(1).as_string_opt::<i32>().ok_or_else(otherwise)?;
        let rows = batch.column(2).as_binary_opt::<i32>().ok_or_else(otherwise)?;
        let mut messages = vec![];
        for (bucket, (files, rows)) in buckets.values().iter().zip(files.iter().zip(rows.iter())) {
            let message = match (files, rows) {
                (Some(files), _) => Self::Files(serde_json::from_str(files).map_err(|_| otherwise())?),
                (None, Some(rows)) => Self::Rows(rows.to_vec()),
                (None, None) => return Err(otherwise()),
            };
            messages.push((*bucket, message));
        }
        Ok(messages)
    }
}

/// Returns the path of a file in the folder from which the driver moves it.
pub(super) fn path_of(folder: &Path, prefix: &str, number: usize) -> PathBuf {
    folder.join(format!("{prefix}-{number:05}.parquet"))
}

impl WorkerDestination {
    /// Creates a file at its path in the folder, or an unnamed temporary file that is uploaded
    /// later.
    async fn create(&self, number: usize, space: &SpillSpace) -> Result<File> {
        match self {
            Self::Folder { folder, prefix } => {
                let path = path_of(folder, prefix, number);
                blocking(WRITING, move || File::create_new(path).map_err(failed)).await
            }
            Self::Store(_) => {
                let space = space.clone();
                blocking(WRITING, move || space.unnamed()).await
            }
        }
    }

    /// Uploads a complete file if it belongs in an object store, and returns its summary. A file in
    /// the folder stays there until the driver moves it.
    async fn put(&self, planned: &PlannedFile, file: File, context: &TaskContext) -> Result<FileSummary> {
        match self {
            Self::Folder { folder, prefix } => {
                drop(file);
                let path = path_of(folder, prefix, planned.number);
                let sum = move || FileSummary::of(&path, String::new(), None);
                blocking("summing up the output", sum).await
            }
            Self::Store(landing) => {
                let place = (planned.partition.as_str(), planned.number);
                landing.send(&context.runtime_env(), file, place, planned.rows).await
            }
        }
    }
}

impl fmt::Display for WriteBuckets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "buckets={}", self.buckets.len())
    }
}

impl Travels for WriteBuckets {
    fn pack(&self) -> Result<Parcel> {
        Parcel::new(self)
    }

    fn unpack(parcel: Parcel) -> Result<Self> {
        parcel.header()
    }
}

impl Operator for WriteBuckets {
    const NAME: &'static str = "WriteBucketsExec";
    const INPUT: InputPartitions = InputPartitions::Ordered;

    fn run(&self, input: SendableRecordBatchStream, _: SchemaRef, context: &Arc<TaskContext>) -> Result<Rows> {
        let schema = input.schema();
        let mut among = self.columns.clone();
        among.hidden.push(BUCKET.to_string());
        let (written, _) = FileRows::of(&schema, &among, Format::Parquet)?;
        let columns = |names: &Vec<String>| {
            let columns = names.iter().map(|name| Ok(schema.index_of(name)?));
            columns.collect::<Result<Vec<usize>>>()
        };
        let writing = Writing {
            recounted: self.recounted.as_ref().map(columns).transpose()?,
            bucket: schema.index_of(BUCKET)?,
            written,
            spec: self.clone(),
            input: Some(input),
            open: None,
            pulse: Pulse::of(context),
            context: Arc::clone(context),
        };
        let messages = stream::try_unfold(writing, |mut writing| async move {
            let next = writing.next().await?;
            Ok::<_, DataFusionError>(next.map(|messages| (stream::iter(messages.into_iter().map(Ok)), writing)))
        });
        Ok(messages.try_flatten().boxed())
    }
}

/// The state of one execution of the operator.
struct Writing {
    spec: WriteBuckets,
    /// The rows; `None` after the last row.
    input: Option<SendableRecordBatchStream>,
    written: FileRows,
    recounted: Option<Vec<usize>>,
    bucket: usize,
    open: Option<Open>,
    pulse: Arc<Pulse>,
    context: Arc<TaskContext>,
}

/// The bucket that is being written, and its progress.
struct Open {
    bucket: Bucket,
    /// The number of rows of the bucket's classes that have arrived so far.
    seen: u64,
    /// The files that are not complete, in the order of their rows.
    left: VecDeque<PlannedFile>,
    /// The number of rows of the first incomplete file that have been written so far.
    rows: u64,
    sink: Option<Box<dyn Sink>>,
    reports: Vec<FileReport>,
}

impl Writing {
    /// Writes the next rows, and returns the messages about them. Returns `None` after the last
    /// rows.
    async fn next(&mut self) -> Result<Option<Vec<RecordBatch>>> {
        let Some(input) = &mut self.input else {
            return Ok(None);
        };
        let mut messages = vec![];
        let Some(batch) = input.next().await.transpose().map_err(Error::from)? else {
            self.input = None;
            self.close(&mut messages)?;
            return Ok(Some(messages));
        };
        self.pulse.beat();
        let column = Arc::clone(batch.column(self.bucket));
        let numbers = column.as_primitive::<UInt64Type>().clone();
        for range in partition(&[column])?.ranges() {
            let number = numbers.value(range.start);
            if self.open.as_ref().is_none_or(|open| open.bucket.range.bucket != number) {
                self.close(&mut messages)?;
                let bucket = self.spec.buckets.iter().find(|b| b.range.bucket == number);
                let bucket = bucket.ok_or_else(|| Error::internal("rows of a bucket of another worker"))?;
                self.open = Some(Open {
                    left: bucket.files.iter().cloned().collect(),
                    bucket: bucket.clone(),
                    seen: 0,
                    rows: 0,
                    sink: None,
                    reports: vec![],
                });
            }
            self.add(batch.slice(range.start, range.len()), &mut messages).await?;
        }
        Ok(Some(messages))
    }

    /// Adds rows of the open bucket's classes to its files, except rows that belong to the files of
    /// other buckets.
    async fn add(&mut self, rows: RecordBatch, messages: &mut Vec<RecordBatch>) -> Result<()> {
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        let from = open.bucket.skip.saturating_sub(open.seen).min(rows.num_rows() as u64);
        let end = open.bucket.rows() - open.bucket.rest;
        let until = end.saturating_sub(open.seen).min(rows.num_rows() as u64);
        open.seen += rows.num_rows() as u64;
        if open.seen > open.bucket.rows() {
            return Err(changed());
        }
        if from >= until {
            return Ok(());
        }
        let own = rows.slice(from as usize, (until - from) as usize);
        if let Some(recounted) = &self.recounted {
            let bytes = encode(&own.project(recounted)?)?;
            messages.push(Message::Rows(bytes).batch(open.bucket.range.bucket)?);
        }
        let mut values = self.written.of_batch(&own)?;
        while values.num_rows() > 0 {
            let Some(file) = open.left.front().cloned() else {
                return Err(changed());
            };
            if open.sink.is_none() {
                let space = SpillSpace::of(&self.context);
                let created = self.spec.destination.create(file.number, &space).await?;
                let schema = Arc::clone(&self.written.schema);
                open.sink = Some(sink(Format::Parquet, created, schema, &self.spec.footer)?);
            }
            let take = usize::try_from(file.rows - open.rows).unwrap_or(usize::MAX);
            let take = take.min(values.num_rows());
            if let Some(sink) = &mut open.sink {
                sink.add(values.slice(0, take)).await?;
            }
            open.rows += take as u64;
            values = values.slice(take, values.num_rows() - take);
            if open.rows == file.rows
                && let Some(sink) = open.sink.take()
            {
                let complete = sink.finish().await?;
                let summary = self.spec.destination.put(&file, complete, &self.context).await?;
                open.reports.push(FileReport {
                    number: file.number,
                    rows: file.rows,
                    bytes: summary.bytes,
                    sha256: summary.sha256,
                    e_tag: summary.e_tag,
                    version: summary.version,
                });
                open.left.pop_front();
                open.rows = 0;
                self.pulse.beat();
            }
        }
        Ok(())
    }

    /// Reports the open bucket. Fails if rows are missing.
    fn close(&mut self, messages: &mut Vec<RecordBatch>) -> Result<()> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        if open.seen != open.bucket.rows() || !open.left.is_empty() {
            return Err(changed());
        }
        messages.push(Message::Files(open.reports).batch(open.bucket.range.bucket)?);
        Ok(())
    }
}

/// Returns the error for classes that do not have as many rows as in the first scan.
pub(super) fn changed() -> Error {
    Error::data("the source has other rows than in the first scan: it changed during the run")
}
