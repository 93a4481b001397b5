//! Reading the staged files back like any other reader.

use crate::error::{Error, Result};
use crate::folder::with_nulls;
use crate::job::{Format, Target};
use crate::pool::blocking;
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::dataframe::DataFrame;
use datafusion::logical_expr::cast;
use datafusion::prelude::{CsvReadOptions, Expr, ParquetReadOptions, SessionContext};
use std::path::Path;

/// Registers the staged files as a table. Parquet values get the type of the `written` rows again if the files cannot
/// store that type, as Parquet cannot store seconds. CSV values are text.
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
            let rows = with_nulls(session.read_parquet(&path, options).await?, folders)?;
            as_written(rows, written)?
        }
        Format::Csv => {
            let folder = folder.to_path_buf();
            let header = blocking("reading the staged release", move || first_line(&folder)).await?;
            let fields: Vec<Field> = header
                .iter()
                .map(|name| Field::new(name, DataType::Utf8, true))
                .collect();
            let schema = Schema::new(fields);
            let options = CsvReadOptions::new().schema(&schema).table_partition_cols(partitions);
            with_nulls(session.read_csv(&path, options).await?, folders)?
        }
    };
    session.register_table(name, rows.into_view())?;
    Ok(())
}

/// Returns the rows with every column cast to the type that it was written from. Text is not cast, whatever its
/// encoding.
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

/// Returns the URL of an absolute folder, with percent encoding, because `*` and other characters have a meaning in a
/// path.
fn url(folder: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte);
    let bytes = folder.as_os_str().as_encoded_bytes().iter();
    let spelled = bytes.map(|byte| match plain(*byte) {
        true => char::from(*byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    format!("file://{}/", spelled.collect::<String>())
}

/// Returns the column names of the first CSV file under `folder`.
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
