//! Selects columns of a source by their exact names.

use crate::base::error::Result;
use crate::method::canonical::exactly;
use arrow::datatypes::DataType;
use datafusion::common::Column;
use datafusion::dataframe::DataFrame;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{Expr, ident};

/// Selects columns by their exact, case-sensitive names.
pub(crate) fn select_columns(rows: &DataFrame, names: &[&str]) -> Result<DataFrame> {
    let fields = names.iter().map(|name| {
        let (qualifier, field) = rows.schema().qualified_field_with_unqualified_name(name)?;
        Ok::<_, DataFusionError>(Expr::Column(Column::from((qualifier, field))).alias(*name))
    });
    Ok(rows.clone().select(fields.collect::<Result<Vec<Expr>, _>>()?)?)
}

/// Casts the columns `names` of the population to their types in the sample, so that equal values
/// have equal codes. Reading the rows fails with `ErrorKind::Data` if a value does not fit the
/// sample's type exactly, because a person with 1.4 is not a person with 1.
pub(crate) fn same_types(sample: &DataFrame, population: DataFrame, names: &[&str]) -> Result<DataFrame> {
    let casts = names.iter().map(|name| {
        let (_, field) = sample.schema().qualified_field_with_unqualified_name(name)?;
        in_type((&population, "the population"), name, field.data_type())
    });
    let casts = casts.collect::<Result<Vec<_>>>()?;
    Ok(population.select(casts)?)
}

/// Returns an expression that converts a column to `data_type` without a change of any value. In
/// error messages, `table` is the name of the table.
pub(crate) fn in_type((rows, table): (&DataFrame, &str), name: &str, data_type: &DataType) -> Result<Expr> {
    let (_, field) = rows.schema().qualified_field_with_unqualified_name(name)?;
    let called = format!("column {name} of {table}");
    let column = exactly(ident(name), field.data_type(), data_type, &called)?;
    Ok(column.alias(name))
}
