//! The target: whether it may be written, reading back what was staged for it, and summing up files.

use super::job::{Existing, Format, Job, Source, Target, target_exists};
use super::manifest::FileSummary;
use super::partition_folder;
use super::replace;
use super::write::Written;
use crate::error::{Error, Result};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::dataframe::DataFrame;
use datafusion::logical_expr::cast;
use datafusion::prelude::{CsvReadOptions, Expr, ParquetReadOptions, SessionContext};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Whether to go on; fails where the target may not be written.
pub(super) fn check_target(job: &Job, target: &Target) -> Result<bool> {
    let path = &target.path;
    for column in &target.partitioned_by {
        if !job.releases(column) {
            let released = job
                .source
                .rows
                .schema()
                .fields()
                .iter()
                .map(|f| f.name().as_str())
                .filter(|n| job.releases(n));
            return Err(Error::unknown("released column to partition by", column, released));
        }
        let field = job.source.rows.schema().field_with_unqualified_name(column)?;
        partition_folder::check_column(column, field.data_type())?;
    }
    if let Some(column) = target.partitioned_by.iter().find(|c| job.randomization(c).is_some()) {
        return Err(Error::usage(format!(
            "rows are partitioned by what they are, and the values of {column} are put into random order: PARTITIONED BY \
             another column"
        )));
    }
    if let Ok(own) = path.canonicalize() {
        let held = |source: &Source| {
            source
                .files
                .iter()
                .any(|f| f.canonicalize().is_ok_and(|f| f.starts_with(&own)))
        };
        let read = [("source", Some(&job.source)), ("POPULATION", job.population.as_ref())];
        if let Some((what, _)) = read.into_iter().find(|(_, source)| source.is_some_and(held)) {
            return Err(Error::usage(format!(
                "the target {} holds the {what}; write to another folder",
                path.display()
            )));
        }
    }
    match (target.existing, std::fs::symlink_metadata(path)) {
        (_, Err(e)) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(true),
        (_, Err(e)) => Err(Error::io(format!("cannot read {}", path.display()), e)),
        (Existing::Skip, Ok(_)) if path.is_dir() => Ok(false),
        (Existing::Fail, Ok(_)) if path.is_dir() => Err(target_exists(path)),
        // What is no folder says what it is, whatever was asked for.
        (_, Ok(_)) => replace::check(path).map(|()| true),
    }
}

/// Registers what was written, read like any other folder. Where files have no place for a type of the rows that were
/// `written`, as Parquet has none for seconds, values are of that type again; those of CSV are text.
pub(super) async fn read_back(
    session: &SessionContext,
    name: &str,
    folder: &Path,
    target: &Target,
    written: &Schema,
) -> Result<()> {
    let path = url(folder);
    let folders = &target.partitioned_by;
    let partitions = folders.iter().map(|c| (c.clone(), DataType::Utf8)).collect();
    let rows = match target.format {
        Format::Parquet => {
            let options = ParquetReadOptions::default().table_partition_cols(partitions);
            let rows = partition_folder::with_nulls(session.read_parquet(&path, options).await?, folders)?;
            as_written(rows, written)?
        }
        Format::Csv => {
            let header = first_line(folder)?;
            let fields: Vec<Field> = header
                .iter()
                .map(|name| Field::new(name, DataType::Utf8, true))
                .collect();
            let schema = Schema::new(fields);
            let options = CsvReadOptions::new().schema(&schema).table_partition_cols(partitions);
            partition_folder::with_nulls(session.read_csv(&path, options).await?, folders)?
        }
    };
    session.register_table(name, rows.into_view())?;
    Ok(())
}

/// The rows with every column of the type that it was written in; text is text in whatever encoding.
fn as_written(rows: DataFrame, written: &Schema) -> Result<DataFrame> {
    let columns = rows.schema().iter().map(|(table, field)| {
        let column = Expr::from((table, field));
        match written.field_with_name(field.name()).map(|f| f.data_type()) {
            Ok(DataType::Dictionary(..) | DataType::Utf8 | DataType::LargeUtf8) | Err(_) => column,
            Ok(own) if own == field.data_type() || own.is_nested() => column,
            Ok(own) => cast(column, own.clone()).alias(field.name()),
        }
    });
    let columns: Vec<Expr> = columns.collect();
    Ok(rows.select(columns)?)
}

/// The absolute folder as a URL: `*` and others in a path would stand for something else.
fn url(folder: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte);
    let bytes = folder.as_os_str().as_encoded_bytes().iter();
    let spelled = bytes.map(|byte| match plain(*byte) {
        true => char::from(*byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    format!("file://{}/", spelled.collect::<String>())
}

/// The column names of the first CSV file under `folder`.
fn first_line(folder: &Path) -> Result<Vec<String>> {
    let failed = |e| Error::io("cannot read the staged release back", e);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            return first_line(&path);
        }
        if path.extension().is_some_and(|e| e == "csv") {
            let file = std::fs::File::open(&path).map_err(failed)?;
            let format = arrow::csv::reader::Format::default().with_header(true);
            let (schema, _) = format.infer_schema(file, Some(0))?;
            return Ok(schema.fields().iter().map(|f| f.name().clone()).collect());
        }
    }
    Err(Error::internal("nothing was written"))
}

/// Size and checksum of the files that were read.
pub(super) fn summarise_inputs(files: &[PathBuf]) -> Result<Vec<FileSummary>> {
    let name = |path: &Path| {
        path.file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    files
        .iter()
        .map(|path| FileSummary::of(path, name(path), None))
        .collect()
}

/// Size, checksum and rows of the files that were written.
pub(super) fn summarise_outputs(folder: &Path, written: &[Written]) -> Result<Vec<FileSummary>> {
    written
        .iter()
        .map(|w| FileSummary::of(&folder.join(&w.path), w.path.clone(), Some(w.rows)))
        .collect()
}
