//! The numbers of rows and persons on which the figures of a comparison are based.

use super::sides::Tables;
use super::tables::selected;
use crate::base::error::Result;
use crate::base::quoting::quote;
use crate::method::utility::FigureBasis;
use crate::release::recount::sql::{number, row, steady};
use std::collections::HashMap;

/// The maximum number of aggregates of one query. The time to plan a query grows faster than the
/// number of its aggregates.
const MOST_TOGETHER: usize = 32;

/// Returns the SQL for the number of persons. Rows without a person are not counted if there is an
/// entity.
fn persons(tables: &Tables<'_>) -> String {
    match tables.entity {
        None => "count(1)".to_string(),
        Some(entity) => format!("count(DISTINCT {})", quote(entity)),
    }
}

/// Returns, for each condition, the number of persons of the rows of `from` that satisfy it. The
/// conditions and `from` are SQL, and an empty condition is always satisfied. Returns `None` if
/// each row is a person.
pub(super) async fn persons_where(tables: &Tables<'_>, from: &str, conditions: &[String]) -> Result<Option<Vec<u64>>> {
    let Some(entity) = tables.entity.map(quote) else {
        return Ok(None);
    };
    let mut distinct: Vec<&str> = conditions.iter().map(String::as_str).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let mut counted: HashMap<&str, u64> = HashMap::new();
    for together in distinct.chunks(MOST_TOGETHER) {
        let persons = together.iter().map(|condition| match condition.is_empty() {
            true => format!("count(DISTINCT {entity})"),
            false => format!("count(DISTINCT CASE WHEN {condition} THEN {entity} END)"),
        });
        let persons: Vec<String> = persons.collect();
        let numbers = row(tables.session, &selected(&persons, from)).await?;
        let numbers = numbers.into_iter().map(|persons| persons.unwrap_or(0.0) as u64);
        counted.extend(together.iter().copied().zip(numbers));
    }
    let persons = conditions
        .iter()
        .map(|condition| counted.get(condition.as_str()).copied());
    Ok(Some(persons.map(Option::unwrap_or_default).collect()))
}

/// Returns the values of aggregates over the released rows and over the source. `aggregates` has
/// the SQL of each aggregate in the release and in the source. A value is `None` if it is NULL.
async fn both(tables: &Tables<'_>, aggregates: [Vec<String>; 2]) -> Result<Vec<[Option<f64>; 2]>> {
    let [of_release, of_source] = aggregates;
    let released = selected(&of_release, &tables.released.released());
    let source = selected(&of_source, &quote(tables.source));
    let released = row(tables.session, &released).await?;
    let source = row(tables.session, &source).await?;
    Ok(released.into_iter().zip(source).map(|(a, b)| [a, b]).collect())
}

/// Returns a pair of counts that [`both`] returned.
fn counts(pair: Option<[Option<f64>; 2]>) -> [u64; 2] {
    pair.unwrap_or_default().map(|count| count.unwrap_or(0.0) as u64)
}

/// Returns the contributions of the persons in the source, who are those of the column `entity`, to
/// the total of `value`, an SQL expression, and to the sum of its squared distances from the mean:
/// each time, the sum of the absolute contributions divided by the greatest of them; `None` if all
/// are 0. The digits that depend on the order of the rows are rounded away.
pub(super) async fn contributions_of_persons(
    tables: &Tables<'_>,
    entity: &str,
    value: &str,
) -> Result<[Option<f64>; 2]> {
    let (source, entity) = (quote(tables.source), quote(entity));
    // Rows without a person contribute together, as if they were of one person.
    let sql = format!(
        "SELECT sum(abs(c)) / nullif(max(abs(c)), 0.0), sum(s) / nullif(max(s), 0.0) FROM (\
           SELECT sum(v) AS c, sum(power(v - m, 2)) AS s \
             FROM (SELECT CAST({value} AS DOUBLE) AS v, {entity} AS e FROM {source}) AS r \
             CROSS JOIN (SELECT avg(CAST({value} AS DOUBLE)) AS m FROM {source}) AS a GROUP BY e\
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
    let aggregates = || vec!["count(*)".to_string(), persons(tables)];
    let mut pairs = both(tables, [aggregates(), aggregates()]).await?.into_iter();
    let rows = counts(pairs.next());
    let basis = FigureBasis::new(counts(pairs.next()), rows);
    Ok(basis.with_rows_of_one(rows_of_one(tables).await?))
}
