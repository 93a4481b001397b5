//! Reads the files of a path, of whatever format they are.

use super::csv::read_csv;
use super::format::Format;
use super::json::numbers_as_written;
use super::listing::Listing;
use super::options::PathOptions;
use super::partitions::partitions;
use super::table::{schema, table};
use crate::catalogue::Value;
use crate::error::{Error, Result};
use crate::folder::Manifest;
use crate::location::expanded;
use crate::pool::blocking;
use crate::source::{check_arrow_files, has_header};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::dataframe::DataFrame;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::arrow::ArrowFormat;
use datafusion::datasource::file_format::avro::AvroFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::prelude::SessionContext;
use std::path::Path;
use std::sync::Arc;

/// Reads a file, folder, glob or URL with the options of the statement.
pub(in crate::session) async fn read_path(
    session: &SessionContext,
    path: &str,
    options: &[(String, Value)],
) -> Result<DataFrame> {
    let rows = read(session, path, options)
        .await
        .map_err(|e| match e.message().starts_with("cannot read") {
            true => e,
            false => e.context(format!("cannot read {path:?}")),
        })?;
    if rows.schema().fields().is_empty() {
        return Err(Error::usage(format!("{path:?} names no file with columns")));
    }
    Ok(rows)
}

async fn read(session: &SessionContext, path: &str, options: &[(String, Value)]) -> Result<DataFrame> {
    let local = expanded(path)?.into_owned();
    let asked = PathOptions::bind(options)?;
    let is_listed = local.contains("://") || local.contains(['*', '?', '[']);
    let look = {
        let local = local.clone();
        move || match is_listed || Path::new(&local).exists() {
            true => Ok(partitions(Path::new(&local))),
            false => Err(Error::io(
                format!("cannot read {local:?}"),
                std::io::Error::new(std::io::ErrorKind::NotFound, "no such file or folder"),
            )),
        }
    };
    let partitions = blocking("looking at a path", look).await?;
    let state = session.state();
    let listing = Listing::of(&state, &local, &asked).await?;
    let tables = state.default_table_options();
    let format: Arc<dyn FileFormat> = match listing.format {
        Format::Csv | Format::Tsv => {
            let released = {
                let (options, partitions) = (options.is_empty(), partitions.clone());
                move || {
                    Ok(options
                        .then(|| released_schema(Path::new(&local), &partitions))
                        .flatten())
                }
            };
            let Some(schema) = blocking("reading a manifest", released).await? else {
                return read_csv(session, &listing, partitions, &asked).await;
            };
            let format = CsvFormat::default()
                .with_options(tables.csv)
                .with_has_header(true)
                .with_newlines_in_values(true);
            return table(session, &listing, Arc::new(format), Arc::new(schema), partitions);
        }
        Format::Json => {
            let first = listing.head.trim_ascii_start().first();
            let format = JsonFormat::default()
                .with_options(tables.json)
                .with_newline_delimited(first != Some(&b'['))
                .with_schema_infer_max_rec(asked.rows)
                .with_file_compression_type(listing.compression);
            Arc::new(format)
        }
        Format::Parquet => Arc::new(ParquetFormat::new().with_options(tables.parquet)),
        Format::Avro => Arc::new(AvroFormat),
        Format::Arrow => {
            blocking("checking Arrow files", move || check_arrow_files(&local)).await?;
            Arc::new(ArrowFormat)
        }
    };
    let schema = match listing.format {
        Format::Json => numbers_as_written(schema(&state, &listing, &format).await?, &listing, &asked).await?,
        _ => schema(&state, &listing, &format).await?,
    };
    table(session, &listing, format, schema, partitions)
}

/// Returns the schema of the CSV files of a release, from its manifest: a schema inferred from the first rows may be
/// too narrow for later rows. Returns `None` if the folder is not a release, or if the header of a file differs.
fn released_schema(folder: &Path, partitions: &[(String, DataType)]) -> Option<Schema> {
    let manifest = Manifest::read(folder).ok()??;
    let columns = manifest.columns.iter();
    let columns = columns.filter(|c| partitions.iter().all(|(p, _)| *p != c.name));
    // Values of all other types are read from CSV as text.
    let is_read = |t: &DataType| {
        use DataType::{Boolean, Date32, Date64, Time32, Time64, Timestamp};
        t.is_numeric() || matches!(t, Boolean | Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(..))
    };
    let fields = columns.map(|c| {
        let data_type: DataType = c.data_type.parse().ok()?;
        let data_type = Some(data_type).filter(is_read).unwrap_or(DataType::Utf8);
        Some(Field::new(&c.name, data_type, true))
    });
    let schema = Schema::new(fields.collect::<Option<Vec<Field>>>()?);
    let names: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
    let mut files = manifest.output.iter().map(|f| folder.join(&f.name));
    files.all(|file| has_header(&file, &names)).then_some(schema)
}
