//! Recounts the promises of two releases on their joint classes, over the rows of the source. A
//! joint class contains the persons who have the same pair of labels in the two releases.

use super::people::{self, ENTITY, PAIRS};
use super::promise::{IN_FIRST, IN_SECOND, JointPromise, OF_BOTH, OF_FIRST, OF_SECOND, label, together};
use super::side::{ComparedRelease, SourceLabels};
use crate::base::error::{Error, Result};
use crate::base::quoting::quote;
use crate::release::audit::tables::WHOLE;
use crate::release::audit::verification::Verification;
use crate::release::recount::{Answers, ReleasedTable, count, type_of, with_one_zero};
use datafusion::prelude::SessionContext;

/// The table of the source's rows with their labels in both releases.
const LABELLED: &str = "labelled";
/// The maximum number of rows of a source whose pairs are kept in memory. The pairs of a larger
/// source are computed for each query.
const KEPT: u64 = 1 << 16;
/// The tables of the classes of both releases.
const CLASSES: [&str; 2] = ["classes_a", "classes_b"];
const PREFIXES: [char; 2] = ['a', 'b'];

/// Checks the promises of both releases on the classes together.
pub(super) async fn check(
    session: &SessionContext,
    sides: &[ComparedRelease<'_>; 2],
    entity: Option<&str>,
    found: &mut Verification,
) -> Result<()> {
    let [first, second] = sides;
    let labels = [
        first.labels(session, second, entity, PREFIXES[0]).await?,
        second.labels(session, first, entity, PREFIXES[1]).await?,
    ];
    let attributes = attributes(sides);
    label_rows(session, &labels, &attributes, entity).await?;
    let rows = count(session, &format!("SELECT count(*) FROM {WHOLE}")).await?;
    for ((side, labels), (classes, prefix)) in sides.iter().zip(&labels).zip(CLASSES.into_iter().zip(PREFIXES)) {
        if side.manifest().rows_in != Some(rows) {
            let read = side.manifest().rows_in.unwrap_or(0);
            return Err(another_source(
                side,
                &format!("it was made of {read} rows, and the source has {rows}"),
            ));
        }
        register_classes(session, side, labels, classes).await?;
        let unlike = unlike(session, labels.of_release.len(), classes, prefix).await?;
        if unlike > 0 {
            let why = format!("{unlike} of its rows have labels that the source does not give as often");
            return Err(another_source(side, &why));
        }
    }
    pair(session, &labels, rows, (attributes.len(), entity.is_some())).await?;
    let column = |attribute: &str| {
        let place = attributes.iter().position(|a| a == attribute);
        place.map_or(attribute.to_string(), value)
    };
    let promises = together(sides, &labels, column)?;
    for one in &promises {
        match one.gap {
            Some(why) => found.unchecked.push(format!("{} ({why})", one.promise.name)),
            None => found.checks.extend(recounted(session, one, entity.is_some()).await?),
        }
    }
    let columns: Vec<String> = labels
        .iter()
        .zip(PREFIXES)
        .flat_map(|(labels, prefix)| (0..labels.columns.len()).map(move |i| label(prefix, i)))
        .collect();
    found.told.extend(people::present(session, entity.is_some()).await?);
    found
        .told
        .extend(people::classes(session, &columns, entity.is_some()).await?);
    for one in promises.iter().filter(|one| one.gap.is_none()) {
        found.told.extend(people::below(session, one, entity.is_some()).await?);
    }
    Ok(())
}

/// Returns the attributes that the promises are about.
fn attributes(sides: &[ComparedRelease<'_>; 2]) -> Vec<String> {
    let constraints = sides.iter().flat_map(|side| &side.side.claim.constraints);
    let read = constraints.filter(|c| c.model.reads().attribute);
    let mut attributes: Vec<String> = read.filter_map(|c| c.attribute.clone()).collect();
    attributes.sort();
    attributes.dedup();
    attributes
}

/// Returns the name of the column that is true for rows that are released together with their
/// class.
fn admitted(prefix: char) -> String {
    format!("admitted_{prefix}")
}

/// Returns the name of the column that contains the attribute with index `number`.
fn value(number: usize) -> String {
    format!("v{number}")
}

/// Returns the error for a release that was not made from the source.
fn another_source(side: &ComparedRelease<'_>, why: &str) -> Error {
    let (name, source) = (&side.side.name, &side.side.source);
    Error::usage(format!(
        "{name} was not released from this source: {why}; write AGAINST the table or query that it was released from, and that \
         has all its rows: {source}. Releases of different rows cannot be compared row by row; leave AGAINST out"
    ))
}

/// Registers the rows of the source with their labels in both releases.
async fn label_rows(
    session: &SessionContext,
    labels: &[SourceLabels; 2],
    attributes: &[String],
    entity: Option<&str>,
) -> Result<()> {
    let mut selected = vec![];
    for (labels, prefix) in labels.iter().zip(PREFIXES) {
        let columns = labels.columns.iter().enumerate();
        selected.extend(columns.map(|(i, (_, sql))| format!("{sql} AS {}", label(prefix, i))));
        selected.push(format!("{} AS {}", labels.is_admitted(), admitted(prefix)));
    }
    let named = attributes.iter().enumerate().map(|(i, name)| (name.as_str(), value(i)));
    let named: Vec<(&str, String)> = named.chain(entity.map(|name| (name, ENTITY.into()))).collect();
    for (name, called) in named {
        let data_type = type_of(session, WHOLE, name).await.map_err(|_| {
            Error::usage(format!(
                "the source has no column {name}; write AGAINST a table or query that has it"
            ))
        })?;
        let column = with_one_zero(&format!("r.{}", quote(name)), &data_type);
        selected.push(format!("{column} AS {called}"));
    }
    let sql = format!(
        "SELECT {} FROM {WHOLE} AS r{}{}",
        selected.join(", "),
        labels[0].joins,
        labels[1].joins
    );
    register(session, LABELLED, &sql).await
}

/// Registers the classes of a release with their sizes.
async fn register_classes(
    session: &SessionContext,
    side: &ComparedRelease<'_>,
    labels: &SourceLabels,
    name: &str,
) -> Result<()> {
    let columns = labels.of_release.iter().enumerate();
    let columns: Vec<String> = columns.map(|(i, sql)| format!("{sql} AS k{i}")).collect();
    let sql = format!(
        "SELECT {keys}, count(*) AS n FROM (SELECT {} FROM {}) GROUP BY {keys}",
        columns.join(", "),
        side.released.released(),
        keys = keys("", 'k', columns.len())
    );
    register(session, name, &sql).await
}

/// Returns the names of the columns with the indices below `columns` in a table, separated by
/// commas.
fn keys(table: &str, prefix: char, columns: usize) -> String {
    let names: Vec<String> = (0..columns).map(|i| format!("{table}{prefix}{i}")).collect();
    names.join(", ")
}

/// Counts the rows by which the sizes of classes differ between the release and the source. A class
/// that only the source has was suppressed, and is not counted.
async fn unlike(session: &SessionContext, columns: usize, classes: &str, prefix: char) -> Result<u64> {
    let renamed: Vec<String> = (0..columns).map(|i| format!("{} AS k{i}", label(prefix, i))).collect();
    let k = keys("", 'k', columns);
    let sql = format!(
        "SELECT sum(abs(here - there)) FROM (SELECT sum(here) AS here, sum(there) AS there FROM \
         (SELECT {k}, n AS here, 0 AS there FROM {classes} UNION ALL SELECT {}, 0 AS here, 1 AS there FROM {LABELLED} WHERE {}) \
         GROUP BY {k}) WHERE here > 0",
        renamed.join(", "),
        admitted(prefix)
    );
    count(session, &sql).await
}

/// Registers the labels of each row of the source in both releases. If a release does not contain a
/// row, the row's labels are NULL and the flag of the release is false.
async fn pair(
    session: &SessionContext,
    labels: &[SourceLabels; 2],
    rows: u64,
    (attributes, has_entity): (usize, bool),
) -> Result<()> {
    let flags = [IN_FIRST, IN_SECOND];
    let (mut joins, mut there, mut selected) = (String::new(), vec![], vec![]);
    for (((labels, prefix), classes), flag) in labels.iter().zip(PREFIXES).zip(CLASSES).zip(flags) {
        let same = (0..labels.of_release.len())
            .map(|i| format!("(r.{} IS NOT DISTINCT FROM {classes}.k{i})", label(prefix, i)));
        let same: Vec<String> = same.chain([format!("r.{}", admitted(prefix))]).collect();
        joins += &format!(" LEFT JOIN {classes} ON {}", same.join(" AND "));
        there.push(format!("{classes}.n IS NOT NULL AS {flag}"));
        let columns = (0..labels.columns.len()).map(|i| label(prefix, i));
        selected.extend(columns.map(|column| format!("CASE WHEN {flag} THEN {column} END AS {column}")));
        selected.push(flag.into());
    }
    selected.extend((0..attributes).map(value));
    selected.extend(has_entity.then(|| ENTITY.to_string()));
    let sql = format!(
        "SELECT {} FROM (SELECT r.*, {} FROM {LABELLED} AS r{joins})",
        selected.join(", "),
        there.join(", ")
    );
    match rows <= KEPT {
        true => {
            let pairs = session.sql(&sql).await?;
            session.register_table(PAIRS, pairs.cache().await.map_err(Error::from_data)?.into_view())?;
        }
        false => register(session, PAIRS, &sql).await?,
    }
    let of = [
        (OF_FIRST, IN_FIRST.to_string()),
        (OF_SECOND, IN_SECOND.to_string()),
        (OF_BOTH, format!("({IN_FIRST} OR {IN_SECOND})")),
    ];
    for (name, condition) in of {
        register(session, name, &format!("SELECT * FROM {PAIRS} WHERE {condition}")).await?;
    }
    Ok(())
}

async fn register(session: &SessionContext, name: &str, sql: &str) -> Result<()> {
    let rows = session.sql(sql).await?;
    session.register_table(name, rows.into_view())?;
    Ok(())
}

/// Recounts a promise on the classes together, and its second bound if it has one.
async fn recounted(
    session: &SessionContext,
    one: &JointPromise<'_>,
    has_entity: bool,
) -> Result<Vec<crate::data::folder::Check>> {
    let table = ReleasedTable {
        name: one.table.into(),
        entity: has_entity.then(|| ENTITY.into()),
        whole: Some(PAIRS.into()),
        answers: Answers::default(),
        ..ReleasedTable::default()
    };
    let promises = std::slice::from_ref(&one.promise);
    let mut checks = table.check(session, promises).await?;
    checks.extend(table.check_second_bounds(session, promises).await?);
    Ok(checks)
}
