//! Columns of a source, selected by their exact names.

use crate::error::Result;
use datafusion::common::Column;
use datafusion::dataframe::DataFrame;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{Expr, cast, ident};

/// Selects columns by their exact names.
pub(crate) fn select_columns(rows: &DataFrame, names: &[&str]) -> Result<DataFrame> {
    let fields = names.iter().map(|name| {
        let (qualifier, field) = rows.schema().qualified_field_with_unqualified_name(name)?;
        Ok::<_, DataFusionError>(Expr::Column(Column::from((qualifier, field))).alias(*name))
    });
    Ok(rows.clone().select(fields.collect::<Result<Vec<Expr>, _>>()?)?)
}

/// Casts the population's columns to the sample's types, so that equal values have equal codes.
pub(crate) fn same_types(sample: &DataFrame, population: DataFrame, names: &[&str]) -> Result<DataFrame> {
    let casts = names.iter().map(|name| {
        let (_, field) = sample.schema().qualified_field_with_unqualified_name(name)?;
        Ok::<_, DataFusionError>(cast(ident(*name), field.data_type().clone()).alias(*name))
    });
    Ok(population.select(casts.collect::<Result<Vec<_>, _>>()?)?)
}
