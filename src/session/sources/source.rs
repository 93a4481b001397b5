//! Opens a source: a table of the session, a path or a query.

use crate::error::{Error, Result};
use crate::folder::Manifest;
use crate::job::SourceTable;
use crate::pool::blocking;
use crate::session::context::AnonContext;
use crate::source::{Pins, SOURCE, has_header, reading};
use crate::sql::clause::SourceClause;
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::dataframe::DataFrame;
use datafusion::datasource::listing::ListingTable;
use datafusion::datasource::source_as_provider;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::{CsvReadOptions, ParquetReadOptions, SessionContext};
use parquet::file::serialized_reader::SerializedFileReader;
use std::any::Any;
use std::fs::File;
use std::path::{Path, PathBuf};

impl AnonContext {
    /// Opens the rows that a statement names.
    pub(in crate::session) async fn source(&self, source: &SourceClause) -> Result<SourceTable> {
        let what = match source {
            SourceClause::Path(path) => format!("{path:?}"),
            _ => SOURCE.to_string(),
        };
        reading(&what, self.open(source)).await
    }

    async fn open(&self, source: &SourceClause) -> Result<SourceTable> {
        let rows = match source {
            SourceClause::Table(name) => self.table(name).await?,
            SourceClause::Path(path) => read_path(&self.session, path).await?,
            SourceClause::Query(query) => {
                let frame = self.query(query).await?;
                match frame.logical_plan() {
                    LogicalPlan::Ddl(_) | LogicalPlan::Dml(_) | LogicalPlan::Copy(_) | LogicalPlan::Statement(_) => {
                        return Err(Error::usage("the statement in parentheses is not a query"));
                    }
                    _ => frame,
                }
            }
        };
        let pins = Pins::of(&self.session.state(), rows.logical_plan()).await?;
        Ok(SourceTable {
            name: self.hidden.in_statement(source.to_string()),
            rows,
            files: pins.local_files(),
            pins,
        })
    }
}

/// The format and the columns of a path, found before its rows are read.
struct Place {
    extension: String,
    /// The columns whose values are folder names.
    partitions: Vec<(String, DataType)>,
    /// The schema of the CSV files, if the path is a release with a manifest.
    schema: Option<Schema>,
}

/// Finds the format and the columns of a path from its files.
fn look(path: &str) -> Result<Place> {
    if !path.contains("://") && !path.contains(['*', '?', '[']) && !Path::new(path).exists() {
        return Err(Error::io(
            format!("cannot read {path:?}"),
            std::io::Error::new(std::io::ErrorKind::NotFound, "no such file or folder"),
        ));
    }
    let extension = match extension(path) {
        Some(extension) => extension,
        None => first_extension(Path::new(path))?.unwrap_or_else(|| "parquet".into()),
    };
    let partitions = partitions(Path::new(path));
    let schema = match extension.as_str() {
        "csv" => {
            check_header(Path::new(path))?;
            released_schema(Path::new(path), &partitions)
        }
        _ => None,
    };
    Ok(Place {
        extension,
        partitions,
        schema,
    })
}

/// Reads a file, folder, glob or URL. The first file decides the format.
pub(in crate::session) async fn read_path(session: &SessionContext, path: &str) -> Result<DataFrame> {
    let own = path.to_string();
    let Place {
        extension,
        partitions,
        schema,
    } = blocking("looking at a path", move || look(&own)).await?;
    let suffix = format!(".{extension}");
    let frame = if extension == "csv" {
        let options = CsvReadOptions::new()
            .file_extension(&suffix)
            .table_partition_cols(partitions);
        let options = match &schema {
            Some(schema) => options.schema(schema),
            None => options,
        };
        session.read_csv(path, options).await
    } else {
        let options = ParquetReadOptions {
            file_extension: &suffix,
            table_partition_cols: partitions,
            ..Default::default()
        };
        session.read_parquet(path, options).await
    };
    let frame = match frame {
        Ok(frame) => frame,
        Err(e) => {
            let own = path.to_string();
            blocking("looking at a path", move || Err(unreadable(e, &own, &extension))).await?
        }
    };
    if frame.schema().fields().is_empty() {
        return Err(Error::usage(format!("{path:?} names no file with columns")));
    }
    Ok(frame)
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

/// Returns the error for a path that cannot be read. It names the broken file if the path is a folder, and says that
/// the path was read as Parquet if its extension is unknown.
fn unreadable(error: DataFusionError, path: &str, extension: &str) -> Error {
    if matches!(error.find_root(), DataFusionError::Plan(said) if said.starts_with("No files found")) {
        return Error::usage(format!("cannot read {path:?}: there is no file of data"));
    }
    let broken = match Path::new(path).is_dir() && extension != "csv" {
        true => broken_file(Path::new(path), extension),
        false => None,
    };
    let named = broken.map_or(path.to_string(), |file| file.display().to_string());
    let error = Error::from_data(error).context(format!("cannot read {named:?}"));
    match extension {
        "csv" | "parquet" => error,
        _ => Error::new(
            error.kind(),
            format!("{error}; what is not called .csv is read as Parquet"),
        ),
    }
}

/// Returns the first file under a folder whose Parquet footer cannot be read.
fn broken_file(folder: &Path, extension: &str) -> Option<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).ok()?.flatten().map(|e| e.path()).collect();
    paths.sort();
    paths.into_iter().find_map(|path| {
        if path.is_dir() {
            return broken_file(&path, extension);
        }
        let is_data = path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension));
        let is_broken = || SerializedFileReader::new(File::open(&path).ok()?).err();
        (is_data && is_broken().is_some()).then_some(path)
    })
}

/// Returns the local folder that contains these rows and no others: the path itself, or the folder of a listing table.
pub(in crate::session) fn released_folder(named: &SourceClause, rows: &DataFrame) -> Option<PathBuf> {
    match (named, rows.logical_plan()) {
        (SourceClause::Path(path), _) => Some(PathBuf::from(path)),
        (SourceClause::Table(_), LogicalPlan::TableScan(scan)) if scan.filters.is_empty() && scan.fetch.is_none() => {
            let provider = source_as_provider(&scan.source).ok()?;
            let listing = (provider.as_ref() as &dyn Any).downcast_ref::<ListingTable>()?;
            match listing.table_paths().as_slice() {
                [url] if url.scheme() == "file" => url.get_url().to_file_path().ok(),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the columns whose values are folder names under a folder.
pub(in crate::session) fn partition_columns(folder: &Path) -> Vec<String> {
    partitions(folder).into_iter().map(|(column, _)| column).collect()
}

/// Fails with a usage error if a local CSV file has two columns of the same name, which would be read as one.
fn check_header(file: &Path) -> Result<()> {
    if !file.is_file() {
        return Ok(());
    }
    let unreadable = |e: csv::Error| Error::data(format!("cannot read the header of {}: {e}", file.display()));
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_path(file)
        .map_err(unreadable)?;
    let header = reader.byte_headers().map_err(unreadable)?;
    let names: Vec<&[u8]> = header.iter().collect();
    for (i, name) in names.iter().enumerate() {
        if names[..i].contains(name) {
            return Err(Error::usage(format!(
                "{} has two columns called {:?}",
                file.display(),
                String::from_utf8_lossy(name)
            )));
        }
    }
    Ok(())
}

/// Returns the columns whose values are folder names (`column=value`) under a local folder, outermost first, all as
/// text.
fn partitions(folder: &Path) -> Vec<(String, DataType)> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return vec![];
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(|p| p.is_dir()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
        // Readers skip names that begin with `.` or `_`.
        let name = name.as_deref().filter(|n| !n.starts_with(['.', '_']));
        if let Some((column, _)) = name.and_then(|n| n.split_once('=')) {
            let mut found = vec![(column.to_string(), DataType::Utf8)];
            found.extend(partitions(&path));
            return found;
        }
    }
    vec![]
}

fn extension(path: &str) -> Option<String> {
    let name = path.rsplit('/').next()?;
    let extension = name.rsplit_once('.')?.1;
    Some(extension.to_ascii_lowercase()).filter(|e| !e.is_empty() && e.chars().all(char::is_alphanumeric))
}

/// Returns the extension of the first data file of a local folder. Names that begin with `.` or `_` are skipped.
fn first_extension(folder: &Path) -> Result<Option<String>> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Ok(None);
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        let name = path
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default();
        if name.starts_with(['.', '_']) {
            continue;
        }
        let found = if path.is_dir() {
            first_extension(&path)?
        } else {
            extension(&name)
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}
