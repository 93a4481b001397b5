//! Counts the persons in each release, and the persons in classes together that are too small. Each
//! row counts as a person, or each entity if the statement names an ENTITY.

use super::promise::{IN_FIRST, IN_SECOND, JointPromise, OF_BOTH};
use crate::base::error::Result;
use crate::base::quoting::quote;
use crate::release::recount::{count, numbers};
use datafusion::prelude::SessionContext;

/// A description and the count that it describes. The count is `None` if there is nothing to count.
pub(super) type CountedDescription = (String, Option<f64>);

/// The table of all rows of the source, with the labels that each release has for them.
pub(super) const PAIRS: &str = "pairs";
/// The column of the table of pairs that contains the entity of a row.
pub(super) const ENTITY: &str = "e";

/// Returns the SQL aggregate that counts the persons among rows.
fn size(has_entity: bool) -> String {
    match has_entity {
        true => format!("count(DISTINCT named_struct('e', {ENTITY}))"),
        false => "count(*)".into(),
    }
}

/// Returns four counts of persons: in both releases, only in the first, only in the second, and in
/// neither.
pub(super) async fn present(session: &SessionContext, has_entity: bool) -> Result<Vec<CountedDescription>> {
    let each = match has_entity {
        true => format!("SELECT bool_or({IN_FIRST}) AS x, bool_or({IN_SECOND}) AS y FROM {PAIRS} GROUP BY {ENTITY}"),
        false => format!("SELECT {IN_FIRST} AS x, {IN_SECOND} AS y FROM {PAIRS}"),
    };
    let rows = numbers(session, &format!("SELECT x, y, count(*) FROM ({each}) GROUP BY x, y")).await?;
    let of = |x: u64, y: u64| {
        let found = rows.iter().find(|row| (row[0], row[1]) == (x, y));
        Some(found.map_or(0, |row| row[2]) as f64)
    };
    Ok(vec![
        ("people in both releases".into(), of(1, 1)),
        ("people only in the first release".into(), of(1, 0)),
        ("people only in the second release".into(), of(0, 1)),
        ("people in neither release".into(), of(0, 0)),
    ])
}

/// Returns the number of classes together whose persons are in both releases, and the size of the
/// smallest of these classes. Also returns the size of the smallest class whose persons are in only
/// one of the releases. `labels` are the columns of the labels.
pub(super) async fn classes(
    session: &SessionContext,
    labels: &[String],
    has_entity: bool,
) -> Result<Vec<CountedDescription>> {
    let (keys, size) = (labels.join(", "), size(has_entity));
    let each = format!(
        "SELECT {IN_FIRST} AS x, {IN_SECOND} AS y, {size} AS f FROM {OF_BOTH} GROUP BY {keys}, {IN_FIRST}, {IN_SECOND}"
    );
    let sql = format!("SELECT x, y, count(*), min(f) FROM ({each}) GROUP BY x, y");
    let rows = numbers(session, &sql).await?;
    let of = |x: u64, y: u64| rows.iter().find(|row| (row[0], row[1]) == (x, y));
    let smallest = |x: u64, y: u64| of(x, y).map(|row| row[3] as f64);
    Ok(vec![
        (
            "classes together of people in both releases".into(),
            Some(of(1, 1).map_or(0, |row| row[2]) as f64),
        ),
        (
            "smallest class together of people in both releases".into(),
            smallest(1, 1),
        ),
        (
            "smallest class of people only in the first release".into(),
            smallest(1, 0),
        ),
        (
            "smallest class of people only in the second release".into(),
            smallest(0, 1),
        ),
    ])
}

/// Returns the number of persons in classes together that are smaller than a model of class sizes
/// allows, or that have fewer values than `l_diversity` requires; `None` for other promises.
pub(super) async fn below(
    session: &SessionContext,
    promise: &JointPromise<'_>,
    has_entity: bool,
) -> Result<Option<CountedDescription>> {
    let (model, [group]) = (promise.promise.model, &promise.promise.groupings[..]) else {
        return Ok(None);
    };
    let least = match has_entity {
        true => model.min_class_entities(),
        false => model.min_class_size(),
    };
    let (table, keys) = (promise.table, group.iter().map(|c| quote(c)).collect::<Vec<_>>());
    let grouped = keys.join(", ");
    let (what, small) = match &promise.promise.attribute {
        None if least > 1 => (
            format!("people in classes of fewer than {least}"),
            format!(
                "SELECT {grouped} FROM {table} GROUP BY {grouped} HAVING {} < {least}",
                size(has_entity)
            ),
        ),
        Some(value) if promise.constraint.call.name == "l_diversity" => {
            let least = model.min_class_size();
            let attribute = promise.constraint.attribute.as_deref().unwrap_or_default();
            (
                format!("people in classes with fewer than {least} values of {attribute}"),
                format!(
                    "SELECT {grouped} FROM (SELECT DISTINCT {grouped}, {} AS v FROM {table}) GROUP BY {grouped} \
                     HAVING count(*) < {least}",
                    quote(value)
                ),
            )
        }
        _ => return Ok(None),
    };
    let renamed = keys.iter().enumerate().map(|(i, key)| format!("{key} AS k{i}"));
    let renamed = renamed.collect::<Vec<_>>().join(", ");
    let same = keys
        .iter()
        .enumerate()
        .map(|(i, key)| format!("(r.{key} IS NOT DISTINCT FROM s.k{i})"));
    let same = same.collect::<Vec<_>>().join(" AND ");
    let sql = format!(
        "SELECT {} FROM {table} AS r JOIN (SELECT {renamed} FROM ({small})) AS s ON {same}",
        size(has_entity).replace(&format!("'e', {ENTITY}"), &format!("'e', r.{ENTITY}"))
    );
    let found = count(session, &sql).await?;
    Ok(Some((format!("{what} ({})", promise.promise.name), Some(found as f64))))
}
