//! The numbers of rows and persons on which the figures of a comparison are based.

use super::sides::Tables;
use super::tables::selected;
use crate::base::error::Result;
use crate::base::quoting::quote;
use crate::method::utility::FigureBasis;
use crate::release::recount::sql::{number, row, steady};

/// Returns the SQL for the number of persons whose `value`, an SQL expression, is not NULL. Rows
/// without a person are not counted if there is an entity.
pub(super) fn persons(tables: &Tables<'_>, value: &str) -> String {
    match tables.entity {
        None => format!("count({value})"),
        Some(entity) => format!(
            "count(DISTINCT CASE WHEN {value} IS NOT NULL THEN {} END)",
            quote(entity)
        ),
    }
}

/// Returns the values of aggregates over the released rows and over the source. `aggregates` has
/// the SQL of each aggregate in the release and in the source. A value is `None` if it is NULL.
pub(super) async fn both(tables: &Tables<'_>, aggregates: [Vec<String>; 2]) -> Result<Vec<[Option<f64>; 2]>> {
    let [of_release, of_source] = aggregates;
    let released = selected(&of_release, &tables.released.released());
    let source = selected(&of_source, &quote(tables.source));
    let released = row(tables.session, &released).await?;
    let source = row(tables.session, &source).await?;
    Ok(released.into_iter().zip(source).map(|(a, b)| [a, b]).collect())
}

/// Returns a pair of counts that [`both`] returned.
pub(super) fn counts(pair: Option<[Option<f64>; 2]>) -> [u64; 2] {
    pair.unwrap_or_default().map(|count| count.unwrap_or(0.0) as u64)
}

/// Returns the SQL for the number of rows that decide a correlation of `value` with `other`, judged
/// by `value` alone: the sum of the squared distances of `value` from its mean, divided by the
/// greatest of these squares. It is 1 if a single row differs from all others.
pub(super) fn deciding(value: &str, other: &str) -> String {
    let value = format!("(CASE WHEN {other} IS NOT NULL THEN {value} END)");
    format!(
        "count({value}) * var_pop({value}) / \
         greatest(power(max({value}) - avg({value}), 2), power(avg({value}) - min({value}), 2))"
    )
}

/// Returns the number of rows that decide a figure in the source. `pairs` are the values of both
/// aggregates of [`deciding`]. The digits that depend on the order of the rows are rounded away.
pub(super) fn rows_deciding(pairs: [Option<[Option<f64>; 2]>; 2]) -> u64 {
    let [of_value, of_other] = pairs.map(|pair| pair.and_then(|[_, source]| source).map_or(0.0, steady) as u64);
    of_value.min(of_other)
}

/// Returns the contributions of the persons in the source to the total of `value`, an SQL
/// expression, and to the sum of its squared distances from the mean: each time, the sum of the
/// absolute contributions divided by the greatest of them; `None` if all are 0. The digits that
/// depend on the order of the rows are rounded away.
pub(super) async fn contributions(tables: &Tables<'_>, value: &str) -> Result<[Option<f64>; 2]> {
    let (source, entity) = (quote(tables.source), tables.entity.map(quote));
    // Rows without a person contribute together, as if they were of one person.
    let (person, total, squares, by_person) = match &entity {
        None => ("0", "v", "power(v - m, 2)", ""),
        Some(entity) => (entity.as_str(), "sum(v)", "sum(power(v - m, 2))", " GROUP BY e"),
    };
    let sql = format!(
        "SELECT sum(abs(c)) / nullif(max(abs(c)), 0.0), sum(s) / nullif(max(s), 0.0) FROM (\
           SELECT {total} AS c, {squares} AS s FROM (SELECT {value} AS v, {person} AS e FROM {source}) AS r \
             CROSS JOIN (SELECT avg({value}) AS m FROM {source}) AS a{by_person}\
         ) AS p"
    );
    let mut found = row(tables.session, &sql).await?.into_iter();
    let mut next = || found.next().flatten().map(steady);
    Ok([next(), next()])
}

/// Returns the maximum number of rows of a single person in the source.
pub(super) async fn rows_of_one(tables: &Tables<'_>) -> Result<u64> {
    let Some(entity) = tables.entity.map(quote) else {
        return Ok(1);
    };
    let sql = format!(
        "SELECT max(n) FROM (SELECT count(*) AS n FROM {} WHERE {entity} IS NOT NULL GROUP BY {entity})",
        quote(tables.source)
    );
    Ok(number(tables.session, &sql).await?.unwrap_or(1.0) as u64)
}

/// Returns the basis of figures of all rows.
pub(super) async fn whole(tables: &Tables<'_>) -> Result<FigureBasis> {
    let aggregates = || vec!["count(*)".to_string(), persons(tables, "1")];
    let mut pairs = both(tables, [aggregates(), aggregates()]).await?.into_iter();
    let rows = counts(pairs.next());
    let basis = FigureBasis::new(counts(pairs.next()), rows);
    Ok(basis.with_rows_of_one(rows_of_one(tables).await?))
}
