//! The changes that randomly drawn masks make to columns of numbers and categories. Totals, means,
//! spread, distributions and correlations are measured before and after masking.

use super::sides::Tables;
use crate::base::error::Result;
use crate::base::quoting::quote;
use crate::method::hierarchy::plain_type;
use crate::method::utility::{Figure, MeasureKind};
use crate::release::recount::sql::{number, steady};
use arrow::datatypes::DataType;

/// Returns the figures of masked columns, including their correlations with each other and with the
/// `others`. All of these are columns of the release.
pub(super) async fn figures(tables: &Tables<'_>, masked: &[String], others: &[String]) -> Result<Vec<Figure>> {
    let mut found = vec![];
    let mut numbers = vec![];
    for column in others {
        if is_number(tables, column).await? {
            numbers.push(column);
        }
    }
    for column in masked {
        if is_number(tables, column).await? {
            let value = as_number(column);
            for (measure, aggregate) in [
                (MeasureKind::Total, "sum"),
                (MeasureKind::Mean, "avg"),
                (MeasureKind::Deviation, "stddev"),
            ] {
                let figure = both(tables, &format!("{aggregate}({value})")).await?;
                found.push(of(measure, figure).of(column));
            }
            for other in &numbers {
                let figure = both(tables, &format!("corr({value}, {})", as_number(other))).await?;
                found.push(of(MeasureKind::Correlation((*other).clone()), figure).of(column));
            }
            numbers.push(column);
        } else if is_in_both(tables, column).await? {
            found.push(Figure::new(MeasureKind::TotalVariation, total_variation(tables, column).await?).of(column));
        }
    }
    Ok(found)
}

fn of(measure: MeasureKind, (release, source): (Option<f64>, Option<f64>)) -> Figure {
    Figure::new(measure, release).beside(source)
}

fn as_number(column: &str) -> String {
    format!("CAST({} AS DOUBLE)", quote(column))
}

/// Returns the value of an aggregate over the released rows, and its value over the source.
async fn both(tables: &Tables<'_>, aggregate: &str) -> Result<(Option<f64>, Option<f64>)> {
    let released = tables.released.released();
    let release = number(tables.session, &format!("SELECT {aggregate} FROM {released}")).await?;
    let source = format!("SELECT {aggregate} FROM {}", quote(tables.source));
    let source = number(tables.session, &source).await?;
    // The correlation of a column whose values are all equal is NaN, which is left out.
    let known = |figure: Option<f64>| figure.filter(|figure| figure.is_finite()).map(steady);
    Ok((known(release), known(source)))
}

/// Returns half the sum, over all values, of the absolute difference between the shares of a value
/// in the two tables. Values are compared as texts.
async fn total_variation(tables: &Tables<'_>, column: &str) -> Result<Option<f64>> {
    let text = format!("CAST({} AS VARCHAR)", quote(column));
    let counts = |table: &str, sign: &str| {
        format!("SELECT {text} AS v, {sign}1.0 / (SELECT count(*) FROM {table}) AS p FROM {table}")
    };
    let sql = format!(
        "SELECT sum(abs(d)) / 2 FROM (SELECT sum(p) AS d FROM ({} UNION ALL {}) GROUP BY v)",
        counts(&tables.released.released(), ""),
        counts(&quote(tables.source), "-")
    );
    Ok(number(tables.session, &sql).await?.map(steady))
}

/// Returns the types of a column in the release and in the source; `None` if one of them does not
/// have the column.
async fn types(tables: &Tables<'_>, column: &str) -> Result<Option<[DataType; 2]>> {
    let mut found = vec![];
    for table in [tables.released.name.as_str(), tables.source] {
        let table = tables.session.table(table).await?;
        let field = table.schema().qualified_field_with_unqualified_name(column).ok();
        found.extend(field.map(|(_, field)| plain_type(field.data_type()).clone()));
    }
    Ok(found.try_into().ok())
}

async fn is_number(tables: &Tables<'_>, column: &str) -> Result<bool> {
    let types = types(tables, column).await?;
    Ok(types.is_some_and(|types| types.iter().all(DataType::is_numeric)))
}

async fn is_in_both(tables: &Tables<'_>, column: &str) -> Result<bool> {
    let types = types(tables, column).await?;
    Ok(types.is_some_and(|types| types.iter().all(DataType::is_string)))
}
