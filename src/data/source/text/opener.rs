//! Opens text files. Their bytes are checked while they are decoded.

use super::bytes::{ByteStream, whole};
use crate::base::error::Error;
use crate::data::source::csv::{Dialect, MistypedText, Quotes, as_texts, declared};
use crate::data::source::json;
use arrow::array::RecordBatch;
use arrow::csv::ReaderBuilder as CsvBuilder;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::json::ReaderBuilder as JsonBuilder;
use datafusion::datasource::file_format::csv::CsvDecoder;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::file_format::json::JsonDecoder;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{CsvSource, FileOpenFuture, FileOpener};
use datafusion::error::{DataFusionError, Result as DfResult};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::object_store::{GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt};
use datafusion_datasource::boundary_stream::AlignedBoundaryStream;
use datafusion_datasource::decoder::{DecoderDeserializer, deserialize_stream};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use std::sync::Arc;

/// The format of a text file.
#[derive(Clone)]
pub(super) enum TextFormat {
    /// CSV. DataFusion's source specifies the dialect.
    Csv(Arc<CsvSource>),
    Json,
}

/// Opens the text files of a table.
#[derive(Clone)]
pub(super) struct TextOpener {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) url: ObjectStoreUrl,
    pub(super) compression: FileCompressionType,
    pub(super) format: TextFormat,
    /// The schema of the files.
    pub(super) schema: SchemaRef,
    /// The indices of the columns to read.
    pub(super) columns: Vec<usize>,
    pub(super) batch_size: usize,
}

/// The number of bytes at the start of a file that are enough to recognize a JSON array.
const HEAD: u64 = 64;

type Rows = BoxStream<'static, DfResult<RecordBatch>>;

impl FileOpener for TextOpener {
    fn open(&self, file: PartitionedFile) -> DfResult<FileOpenFuture> {
        let opener = Arc::new(self.clone());
        Ok(Box::pin(async move {
            let rows = opener.rows(&file).await?;
            if file.range.is_none() {
                return Ok(rows);
            }
            // The line numbers within a part of a file are unknown, so the whole file is read to
            // find the line of the error.
            let whole = Arc::new(PartitionedFile { range: None, ..file });
            let placed = move |batch: DfResult<RecordBatch>| {
                let (opener, whole) = (Arc::clone(&opener), Arc::clone(&whole));
                async move {
                    match batch {
                        Ok(batch) => Ok(batch),
                        Err(e) => Err(opener
                            .first_error(&whole)
                            .await
                            .unwrap_or_else(|| opener.only_of_a_part(e))),
                    }
                }
            };
            Ok(rows.then(placed).boxed())
        }))
    }
}

impl TextOpener {
    async fn rows(&self, file: &PartitionedFile) -> DfResult<Rows> {
        let bytes = self.bytes(file).await?;
        match &self.format {
            TextFormat::Csv(csv) => self.csv(csv, bytes, file),
            TextFormat::Json => self.json(bytes, file),
        }
    }

    async fn bytes(&self, file: &PartitionedFile) -> DfResult<ByteStream> {
        let (meta, terminator) = (&file.object_meta, self.terminator().unwrap_or(b'\n'));
        let is_json = matches!(self.format, TextFormat::Json);
        // An array cannot be split at line breaks, so the first part is the whole file, and the
        // other parts are empty.
        let is_array = is_json && file.range.is_some() && self.is_array(meta).await?;
        if is_array && file.range.as_ref().is_some_and(|range| range.start > 0) {
            return Ok(futures::stream::empty().boxed());
        }
        let range = file.range.as_ref().filter(|_| !is_array);
        let Some(range) = range else {
            let found = self.store.get_opts(&meta.location, GetOptions::default()).await?;
            return whole(found.payload, self.compression, is_json).await;
        };
        let place = |at: i64| u64::try_from(at).map_err(|e| DataFusionError::External(Box::new(e)));
        let (start, end, store) = (place(range.start)?, place(range.end)?, Arc::clone(&self.store));
        let lines = AlignedBoundaryStream::new(store, meta.location.clone(), start, end, meta.size, terminator).await?;
        Ok(lines.map_err(Into::into).boxed())
    }

    async fn is_array(&self, file: &ObjectMeta) -> DfResult<bool> {
        let first = self.store.get_range(&file.location, 0..file.size.min(HEAD)).await?;
        Ok(first.trim_ascii_start().starts_with(b"["))
    }

    fn terminator(&self) -> Option<u8> {
        match &self.format {
            TextFormat::Csv(csv) => csv.terminator(),
            TextFormat::Json => None,
        }
    }

    fn csv(&self, csv: &CsvSource, bytes: ByteStream, file: &PartitionedFile) -> DfResult<Rows> {
        let is_first = file.range.as_ref().is_none_or(|range| range.start == 0);
        let dialect = Dialect::of(csv);
        let mut builder = CsvBuilder::new(as_texts(&self.schema))
            .with_delimiter(dialect.delimiter)
            .with_quote(dialect.quote)
            .with_header(dialect.has_header && is_first)
            .with_truncated_rows(csv.truncate_rows())
            .with_projection(self.columns.clone())
            .with_batch_size(self.batch_size);
        if let Some(terminator) = csv.terminator() {
            builder = builder.with_terminator(terminator);
        }
        if let Some(escape) = dialect.escape {
            builder = builder.with_escape(escape);
        }
        if let Some(comment) = dialect.comment {
            builder = builder.with_comment(comment);
        }
        let quotes = Quotes::new(dialect, csv.terminator(), self.schema.fields().len());
        let called = self.name(file);
        let checked = futures::stream::try_unfold((bytes, quotes, called), |(mut bytes, mut quotes, called)| async {
            let chunk = bytes.next().await.transpose()?;
            let checked = match &chunk {
                Some(chunk) => quotes.read(chunk),
                None => quotes.end(),
            };
            checked.map_err(|fault| Error::data(format!("cannot read {called:?}: {fault}")))?;
            Ok(chunk.map(|chunk| (chunk, (bytes, quotes, called))))
        });
        let decoder = DecoderDeserializer::new(CsvDecoder::new(builder.build_decoder()));
        let texts = deserialize_stream(Box::pin(checked), decoder);
        let schema = Arc::new(self.schema.project(&self.columns)?);
        let (called, mut before) = (self.name(file), 0);
        let rows = texts.map(move |texts| {
            let texts = texts.map_err(unwrapped)?;
            let say = |unlike: MistypedText| {
                Error::data(format!(
                    "cannot read {called:?}: row {} has a text in column {:?} that is not a value of type {}, or that \
                     loses information in this type; declare the column as TEXT, and CAST it in a query",
                    before + unlike.row + 1,
                    unlike.column,
                    unlike.data_type
                ))
            };
            let rows = declared(&texts, &schema).map_err(|refused| refused.error(say))?;
            before += texts.num_rows();
            Ok(rows)
        });
        Ok(rows.boxed())
    }

    fn json(&self, bytes: ByteStream, file: &PartitionedFile) -> DfResult<Rows> {
        let schema = Arc::new(self.schema.project(&self.columns)?);
        let decoder = JsonBuilder::new(json::text_schema(&schema))
            .with_batch_size(self.batch_size)
            .with_coerce_primitive(true)
            .build_decoder()?;
        let (called, mut objects) = (self.name(file), json::Objects::new(Arc::clone(&self.schema)));
        let of_file = called.clone();
        let checked = bytes.map(move |chunk| {
            let chunk = chunk?;
            let checked = objects.read(&chunk);
            checked.map_err(|fault| Error::data(format!("cannot read {of_file:?}: {fault}")))?;
            Ok(chunk)
        });
        let texts = deserialize_stream(checked.fuse(), DecoderDeserializer::new(JsonDecoder::new(decoder)));
        let mut before = 0;
        let rows = texts.map(move |texts| {
            let texts = texts.map_err(unwrapped)?;
            let say = |misfit: json::Misfit| {
                Error::data(format!(
                    "cannot read {called:?}: row {} is not {} in column {:?}, unlike the rows before it; read numbers \
                     as text with OPTIONS (types 'text') after the path, or infer types from more rows with OPTIONS \
                     (schema_infer_max_rec 1000000)",
                    before + misfit.row + 1,
                    misfit.wanted,
                    misfit.column
                ))
            };
            let rows = json::typed(&texts, &schema).map_err(|refused| refused.error(say))?;
            before += texts.num_rows();
            Ok(rows)
        });
        Ok(rows.boxed())
    }

    /// Returns the first error that occurs when the file is read; `None` if there is no error.
    async fn first_error(&self, file: &PartitionedFile) -> Option<DataFusionError> {
        match self.rows(file).await {
            Ok(rows) => rows.try_for_each(|_| async { Ok(()) }).await.err(),
            Err(e) => Some(e),
        }
    }

    /// Returns the error to report if a part of a file cannot be read, but the whole file can.
    fn only_of_a_part(&self, error: DataFusionError) -> DataFusionError {
        match self.format {
            TextFormat::Csv(_) => DataFusionError::from(Error::data(
                "a CSV file is read in parts, and a quoted field has line breaks; declare this when you create the \
                 table: OPTIONS ('format.newlines_in_values' 'true')",
            )),
            TextFormat::Json => error,
        }
    }

    /// Returns the name of a file for errors.
    fn name(&self, file: &PartitionedFile) -> String {
        let location = &file.object_meta.location;
        match self.url.as_str().starts_with("file:") {
            true => format!("/{location}"),
            false => format!("{}{location}", self.url),
        }
    }
}

/// Returns the original error of the byte stream, which a decoder of Arrow has wrapped.
fn unwrapped(error: ArrowError) -> DataFusionError {
    match error {
        ArrowError::ExternalError(inner) => match inner.downcast::<DataFusionError>() {
            Ok(error) => *error,
            Err(inner) => DataFusionError::External(inner),
        },
        other => other.into(),
    }
}
