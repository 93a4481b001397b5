//! Reads the files at a path, in any supported format.

use super::csv::read_csv;
use super::format::DataFormat;
use super::json::numbers_as_written;
use super::lakes::pinned;
use super::listing::Listing;
use super::logged::place_with_log;
use super::options::PathOptions;
use super::partitions::{partition_columns, typed};
use super::released::release_at;
use super::table::{TableColumns, schema, table};
use crate::base::catalogue::Value;
use crate::base::error::{Error, Result};
use crate::base::location::{expanded, is_url};
use crate::base::pool::blocking;
use crate::base::store::is_pattern;
use crate::data::folder::Manifest;
use crate::data::formats::{At, find, kind_of};
use crate::data::lake::StoredRelease;
use crate::data::source::{Types, check_all_arrow_files, has_header};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::dataframe::DataFrame;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::arrow::ArrowFormat;
use datafusion::datasource::file_format::avro::AvroFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::prelude::SessionContext;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// The name of the column that a partition reader would derive from the folder names of runs
/// (`run=...`).
const RUN: &str = "run";

/// Reads a file, folder, glob or URL. `options` are the OPTIONS of the statement.
pub(in crate::language::session) async fn read_path(
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
        return Err(Error::usage(format!("{path:?} does not name a file with columns")));
    }
    Ok(rows)
}

async fn read(session: &SessionContext, path: &str, options: &[(String, Value)]) -> Result<DataFrame> {
    let local = expanded(path)?.into_owned();
    let asked = PathOptions::bind(options)?;
    let is_url = is_url(&local);
    let is_listed = is_url || is_pattern(&local);
    let of_release = match is_listed {
        true => None,
        false => folders_of_release(local.clone()).await?,
    };
    let state = session.state();
    let release = match is_url {
        true => release_at(&state, &local).await?,
        false => None,
    };
    if release.is_none()
        && let Some(place) = place_with_log(&state, &local).await?
        && let Some(table) = find(&place, &At::Newest).await?
    {
        if !options.is_empty() {
            return Err(Error::usage(format!(
                "this is a {}, which has no options; leave OPTIONS out",
                kind_of(table.as_ref())
            )));
        }
        return pinned(session, table);
    }
    // For a release in an object store, only the folders in the manifest are listed. A listing of
    // the whole prefix would also contain the files of other runs.
    let listing = match &release {
        Some(release) => Listing::of_folders(&state, &release.folders(), &asked).await?,
        None => Listing::of(&state, &local, of_release.is_some(), &asked).await?,
    };
    let is_release = release.is_some() || of_release.is_some();
    let folders = match of_release {
        Some(names) => listing.valued(names),
        None => listing.folders()?,
    };
    let partitions: Vec<String> = folders.iter().map(|c| c.name.clone()).collect();
    let is_typed = !(is_release && asked.hive.stated.is_empty());
    let types = match is_typed && asked.hive.looks_at(&folders) {
        true => Types::OfFolders,
        false => Types::OfFormat,
    };
    let found = Found {
        listing: &listing,
        types,
        partitions: &partitions,
        release: release.as_ref(),
        local: &local,
    };
    let rows = files(session, found, &asked, options.is_empty()).await?;
    match is_typed {
        // The labels of a release remain texts, even if they look like numbers. The readers of a
        // release know how the release represents NULL.
        false => Ok(rows),
        true => typed(rows, &folders, &asked.hive),
    }
}

/// Returns the partition columns of the release in a local folder; `None` if the path is not the
/// folder of a release with a manifest. Fails if the path does not exist.
async fn folders_of_release(path: String) -> Result<Option<Vec<String>>> {
    let look = move || match Path::new(&path).exists() {
        true => Ok(Manifest::read(Path::new(&path))
            .ok()
            .flatten()
            .map(|_| partition_columns(Path::new(&path)))),
        false => Err(Error::io(
            format!("cannot read {path:?}"),
            std::io::Error::new(std::io::ErrorKind::NotFound, "no such file or folder"),
        )),
    };
    blocking("looking at a path", look).await
}

/// The files of a path.
struct Found<'a> {
    listing: &'a Listing,
    /// The origin of the types.
    types: Types,
    /// The partition columns, whose values are encoded in folder names.
    partitions: &'a [String],
    /// The release in an object store, if the path is its prefix.
    release: Option<&'a StoredRelease>,
    /// The path or URL.
    local: &'a str,
}

/// Reads the files of a listing. The partition columns are texts in the result. `is_plain` is true
/// if the statement has no options.
async fn files(session: &SessionContext, found: Found<'_>, asked: &PathOptions, is_plain: bool) -> Result<DataFrame> {
    let Found {
        listing,
        types,
        partitions,
        release,
        local,
    } = found;
    let state = session.state();
    match release {
        Some(release) => release.confirm(&listing.files)?,
        None if partitions.iter().any(|column| column == RUN) && listing.is_of_runs() => {
            return Err(Error::data(
                "there are files of runs, and no manifest that names the files of a release; a run that is still \
                 active or was killed left them",
            ));
        }
        None => {}
    }
    let tables = state.default_table_options();
    let format: Arc<dyn FileFormat> = match listing.format {
        DataFormat::Csv | DataFormat::Tsv => {
            let schema = match release {
                Some(release) if is_plain => schema_of(release.manifest(), partitions),
                _ if is_plain && !is_url(local) => {
                    let (local, partitions) = (local.to_string(), partitions.to_vec());
                    let released = move || Ok(released_schema(Path::new(&local), &partitions));
                    blocking("reading a manifest", released).await?
                }
                _ => None,
            };
            return match schema {
                Some(schema) => released_csv(session, (listing, types), schema, partitions),
                None => read_csv(session, (listing, types), partitions, asked).await,
            };
        }
        DataFormat::Json => {
            let first = listing.head.trim_ascii_start().first();
            let format = JsonFormat::default()
                .with_options(tables.json)
                .with_newline_delimited(first != Some(&b'['))
                .with_schema_infer_max_rec(asked.rows)
                .with_file_compression_type(listing.compression);
            Arc::new(format)
        }
        DataFormat::Parquet => Arc::new(ParquetFormat::new().with_options(tables.parquet)),
        DataFormat::Avro => Arc::new(AvroFormat),
        DataFormat::Arrow => {
            let paths = listing.local();
            blocking("checking Arrow files", move || check_all_arrow_files(&paths)).await?;
            Arc::new(ArrowFormat)
        }
    };
    let schema = match listing.format {
        DataFormat::Json => numbers_as_written(schema(&state, listing, &format).await?, listing, asked).await?,
        _ => schema(&state, listing, &format).await?,
    };
    let columns = TableColumns {
        schema,
        folders: partitions,
        types,
    };
    table(session, listing, format, columns)
}

/// Reads the CSV files of a release. `schema` comes from the manifest.
fn released_csv(
    session: &SessionContext,
    (listing, types): (&Listing, Types),
    schema: Schema,
    partitions: &[String],
) -> Result<DataFrame> {
    let format = CsvFormat::default()
        .with_options(session.state().default_table_options().csv)
        .with_has_header(true)
        .with_newlines_in_values(true);
    let types = match types {
        Types::OfFormat => Types::Given,
        types => types,
    };
    let columns = TableColumns {
        schema: Arc::new(schema),
        folders: partitions,
        types,
    };
    table(session, listing, Arc::new(format), columns)
}

/// Returns the schema of the CSV files of a release from its manifest, because a schema that is
/// inferred from the first rows may be too narrow for later rows. Returns `None` if the folder is
/// not a release, or if the header of a file differs from the schema.
fn released_schema(folder: &Path, partitions: &[String]) -> Option<Schema> {
    let manifest = Manifest::read(folder).ok()??;
    let schema = schema_of(&manifest, partitions)?;
    let names: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
    let mut files = manifest.output.iter().map(|f| folder.join(&f.name));
    let has_names = |file| File::open(file).is_ok_and(|file| has_header(file, &names));
    files.all(has_names).then_some(schema)
}

/// Returns the schema of the CSV files that a manifest describes, without the partition columns.
fn schema_of(manifest: &Manifest, partitions: &[String]) -> Option<Schema> {
    let columns = manifest.columns.iter();
    let columns = columns.filter(|c| !partitions.contains(&c.name));
    // Columns of all other types are read as text.
    let is_read = |t: &DataType| {
        use DataType::{Boolean, Date32, Date64, Time32, Time64, Timestamp};
        t.is_numeric() || matches!(t, Boolean | Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(..))
    };
    let fields = columns.map(|c| {
        let data_type: DataType = c.data_type.parse().ok()?;
        let data_type = Some(data_type).filter(is_read).unwrap_or(DataType::Utf8);
        Some(Field::new(&c.name, data_type, true))
    });
    Some(Schema::new(fields.collect::<Option<Vec<Field>>>()?))
}
