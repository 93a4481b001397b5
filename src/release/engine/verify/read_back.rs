//! Reads the staged files back as any other reader would.

use crate::base::error::Result;
use crate::data::folder::with_nulls;
use crate::release::engine::standing::parquet;
use crate::release::engine::write::{Staging, Written};
use crate::release::job::{Format, Target};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::dataframe::DataFrame;
use datafusion::logical_expr::cast;
use datafusion::prelude::{CsvReadOptions, Expr, SessionContext};

/// Registers the staged files as a table. Parquet values get the type of the `written` rows again
/// if the files cannot store that type, as Parquet cannot store seconds. CSV values are text.
pub(super) async fn read_back(
    session: &SessionContext,
    name: &str,
    staging: &Staging,
    target: &Target,
    written: &Written,
) -> Result<()> {
    let paths = staging.places(&written.files, target.partitioned_by.is_empty()).await?;
    let folders = &target.partitioned_by;
    let rows = match target.format {
        Format::Parquet | Format::Table(_) => as_written(parquet(session, paths, target).await?, &written.schema)?,
        Format::Csv => {
            let header = names(&staging.beginning(&written.files).await?)?;
            let fields: Vec<Field> = header
                .iter()
                .map(|name| Field::new(name, DataType::Utf8, true))
                .collect();
            let schema = Schema::new(fields);
            let partitions = folders.iter().map(|c| (c.clone(), DataType::Utf8)).collect();
            let options = CsvReadOptions::new().schema(&schema).table_partition_cols(partitions);
            with_nulls(session.read_csv(paths, options).await?, folders)?
        }
    };
    session.register_table(name, rows.into_view())?;
    Ok(())
}

/// Returns the rows with every column cast to the type from which it was written. Text, whatever
/// its encoding, and nested values are not cast.
pub(super) fn as_written(rows: DataFrame, written: &Schema) -> Result<DataFrame> {
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

/// Returns the column names in the first bytes of a CSV file.
fn names(beginning: &[u8]) -> Result<Vec<String>> {
    let format = arrow::csv::reader::Format::default().with_header(true);
    let (schema, _) = format.infer_schema(beginning, Some(0))?;
    Ok(schema.fields().iter().map(|f| f.name().clone()).collect())
}
