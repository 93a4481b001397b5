//! Checks that every released row follows from the source.
//!
//! The check compares the columns that are released unchanged, and the quasi-identifiers whose
//! hierarchy and level are known. In these columns, every released row must be a row of the
//! generalized source, and no row may occur more often in the release than in the source. A
//! duplicated file, a changed value and an invented row all break this rule.

use super::check::none_of;
use super::claim::Claim;
use super::evidence::ReleaseEvidence;
use super::known::{Known, generalized};
use super::spelling::{TEXT, compared, converted};
use super::tables::{CHECKED, WHOLE};
use super::verification::Verification;
use crate::base::error::Result;
use crate::base::quoting::quote;
use crate::data::folder::Check;
use crate::method::hierarchy::plain_type;
use crate::release::job::Constraint;
use crate::release::recount::{ReleasedTable, count, with_one_zero};
use datafusion::prelude::SessionContext;

/// A column that is released with the source's values, each in its own row or permuted.
pub(super) struct Unchanged {
    pub(super) column: String,
    /// The SQL expression for the released value to compare.
    pub(super) released: String,
    /// The SQL expression for the source's value to compare; -0.0 becomes 0.0, as in a release.
    pub(super) of_source: String,
}

/// Returns the columns that are released unchanged and can be compared with the source. The
/// manifest names the unchanged columns. Without a manifest, the unchanged columns are the
/// sensitive attributes of the claim that are not randomized. Adds to `found` a note for each
/// unchanged column that cannot be compared.
pub(super) async fn unchanged(
    session: &SessionContext,
    claim: &Claim,
    found: &mut Verification,
) -> Result<Vec<Unchanged>> {
    let evidence = claim.evidence.as_ref();
    let sensitive = || {
        let constraints = claim.constraints.iter();
        let generalized: Vec<&str> = constraints.filter_map(Constraint::generalized_attribute).collect();
        let kept = claim.sensitive.iter().filter(|s| !s.randomized);
        let kept = kept.map(|s| s.column.clone());
        kept.filter(|column| !generalized.contains(&column.as_str())).collect()
    };
    let columns: Vec<String> = evidence.map_or_else(sensitive, ReleaseEvidence::unchanged);
    comparable(session, claim, columns, found).await
}

/// Checks that the source contains every value released in a permuted column, at least as often as
/// the release does. Suppressed rows that a release keeps have no value in a permuted column.
pub(super) async fn check_permuted(
    session: &SessionContext,
    claim: &Claim,
    released: &ReleasedTable,
    found: &mut Verification,
) -> Result<Vec<Check>> {
    let claimed = claim.sensitive.iter().filter(|s| s.randomized);
    let permuted = match &claim.evidence {
        Some(evidence) => evidence.permuted().into_iter().collect(),
        None => claimed.map(|s| s.column.clone()).collect(),
    };
    let mut checks = vec![];
    for one in comparable(session, claim, permuted, found).await? {
        let (here, there) = (quote(CHECKED), quote(WHOLE));
        let rows = session
            .sql(&format!("SELECT {} AS v FROM {here}", one.released))
            .await?;
        // In a text file, the missing value of a suppressed row is an empty text.
        let is_text = rows
            .schema()
            .fields()
            .iter()
            .all(|f| plain_type(f.data_type()).is_string());
        let value = |value: &str| match released.starred > 0 && is_text {
            true => format!("nullif({value}, '')"),
            false => value.to_string(),
        };
        let sql = format!(
            "SELECT coalesce(sum(CASE WHEN v IS NULL THEN greatest(more - {}, 0) ELSE more END), 0) FROM \
             (SELECT v, sum(n) AS more FROM (SELECT {} AS v, 1 AS n FROM {here} UNION ALL SELECT {} AS v, -1 AS n FROM {there}) \
             GROUP BY v) WHERE more > 0",
            released.starred,
            value(&one.released),
            value(&one.of_source),
        );
        checks.push(none_of(
            format!("values of {} that the source does not have", one.column),
            count(session, &sql).await?,
        ));
    }
    Ok(checks)
}

/// Checks the columns that suppressed rows keep: the source must contain every combination of their
/// values at least as often as the suppressed rows do. Returns `None` if the release keeps no
/// suppressed row, or if no column can be compared.
pub(super) async fn check_starred(
    session: &SessionContext,
    released: &ReleasedTable,
    unchanged: &[Unchanged],
) -> Result<Option<Check>> {
    // A suppressed row has no value in sensitive attributes and sets of items.
    let kept = unchanged.iter().filter(|one| !released.sensitive.contains(&one.column));
    let kept: Vec<&Unchanged> = kept.collect();
    if released.starred == 0 || kept.is_empty() {
        return Ok(None);
    }
    let select = |values: fn(&Unchanged) -> &str, n: i64, from: &str| {
        let columns = kept
            .iter()
            .enumerate()
            .map(|(i, one)| format!("{} AS c{i}", values(one)));
        format!(
            "SELECT {}, {n} AS n FROM {}",
            columns.collect::<Vec<_>>().join(", "),
            quote(from)
        )
    };
    let keys: Vec<String> = (0..kept.len()).map(|i| format!("c{i}")).collect();
    let sql = format!(
        "SELECT coalesce(sum(more), 0) FROM (SELECT sum(n) AS more FROM ({} UNION ALL {}) GROUP BY {}) WHERE more > 0",
        select(|one| &one.released, 1, &released.name),
        select(|one| &one.of_source, -1, WHOLE),
        keys.join(", ")
    );
    let names: Vec<&str> = kept.iter().map(|one| one.column.as_str()).collect();
    Ok(Some(none_of(
        format!(
            "values that suppressed rows keep and the source does not have ({})",
            names.join(", ")
        ),
        count(session, &sql).await?,
    )))
}

/// Adds to `found` a note for each released column that is never compared with the source: masked
/// columns, and the labels of an attribute that is generalized for personal limits.
pub(super) async fn uncompared(session: &SessionContext, claim: &Claim, found: &mut Verification) -> Result<()> {
    let Some(manifest) = claim.evidence.as_ref().map(ReleaseEvidence::manifest) else {
        return Ok(());
    };
    let whole = session.table(WHOLE).await?;
    let masked = manifest.masked().into_iter();
    let masked = masked.map(|column| (column, "masks"));
    let generalized = manifest.personal.iter().map(|p| (p.column.clone(), "labels"));
    for (column, are) in masked.chain(generalized) {
        let what = |why: &str| format!("whether the values of {column} are {are} of those of the source ({why})");
        match whole.schema().field_with_unqualified_name(&column) {
            Ok(_) => found.unchecked.push(what("they are not compared")),
            Err(_) => found.gap(what("the source has no such column")),
        }
    }
    Ok(())
}

/// Returns the columns that can be compared with the source, and adds a note to `found` for each
/// other column.
async fn comparable(
    session: &SessionContext,
    claim: &Claim,
    columns: Vec<String>,
    found: &mut Verification,
) -> Result<Vec<Unchanged>> {
    let evidence = claim.evidence.as_ref();
    let (released, whole) = (session.table(CHECKED).await?, session.table(WHOLE).await?);
    let field = |table: &datafusion::dataframe::DataFrame, column: &str| {
        let found = table.schema().qualified_field_with_unqualified_name(column).ok();
        found.map(|(_, field)| field.data_type().clone())
    };
    let mut both = vec![];
    for column in columns {
        let types = field(&released, &column).zip(field(&whole, &column));
        let text = evidence.map_or(TEXT, |e| e.text(&column));
        let form = types.as_ref().and_then(|(here, there)| compared(here, there, text));
        let (Some((_, there)), Some(form)) = (&types, form) else {
            let what = |why: &str| format!("whether the values of {column} are those of the source ({why})");
            match &types {
                // No further information would make these two types comparable.
                Some((here, there)) if plain_type(here) == plain_type(there) || plain_type(here).is_string() => {
                    found.unchecked.push(what("values of this type are not compared"));
                }
                Some((here, there)) => {
                    found.gap(what(&format!(
                        "{here} is not compared with {there}; cast one of them in a query"
                    )));
                }
                None => found.gap(what("the source or the release has no such column")),
            }
            continue;
        };
        let name = quote(&column);
        both.push(Unchanged {
            released: converted(&name, form),
            of_source: converted(&with_one_zero(&name, there), form),
            column,
        });
    }
    Ok(both)
}

/// Checks that no combination of compared values is in more rows of the release than of the source.
/// Returns `None` if no column can be compared.
pub(super) async fn check(
    session: &SessionContext,
    released: &ReleasedTable,
    known: &[Known],
    unchanged: &[Unchanged],
) -> Result<Option<Check>> {
    let whole = session.table(WHOLE).await?;
    let mut followed = vec![];
    let (mut there, mut here, mut names) = (vec![], vec![], vec![]);
    for known in known {
        let Ok((_, field)) = whole.schema().qualified_field_with_unqualified_name(&known.column) else {
            continue;
        };
        let data_type = known.form(session, &released.name, field.data_type()).await?;
        let Some(data_type) = data_type else { continue };
        there.push(converted(&quote(&known.column), data_type));
        here.push(converted(&quote(&known.column), data_type));
        names.push(known.column.as_str());
        followed.push(known);
    }
    for one in unchanged {
        there.push(one.of_source.clone());
        here.push(one.released.clone());
        names.push(&one.column);
    }
    if names.is_empty() {
        return Ok(None);
    }
    let source = generalized(session, WHOLE, &followed).await?;
    let select = |columns: &[String], more: &str, from: &str| {
        let columns = columns.iter().enumerate().map(|(i, c)| format!("{c} AS c{i}"));
        let columns: Vec<String> = columns.collect();
        format!("SELECT {}, {more} FROM {from}", columns.join(", "))
    };
    let keys: Vec<String> = (0..names.len()).map(|i| format!("c{i}")).collect();
    // Suppressed rows cannot be distinguished from other rows with the same labels, because the
    // manifest gives only the number of suppressed rows.
    let looks = format!(
        "1 AS n, CASE WHEN {} THEN 1 ELSE 0 END AS looks",
        released.is_starred_row()
    );
    let sql = format!(
        "SELECT coalesce(sum(more - least(more, looks)), 0) \
            + greatest(coalesce(sum(least(more, looks)), 0) - {}, 0) \
         FROM (SELECT sum(n) AS more, sum(looks) AS looks FROM ({} UNION ALL {}) GROUP BY {}) WHERE more > 0",
        released.starred,
        select(&here, &looks, &quote(&released.name)),
        select(&there, "-1 AS n, 0 AS looks", &source),
        keys.join(", ")
    );
    let beyond = count(session, &sql).await?;
    Ok(Some(none_of(
        format!("rows that the source does not have ({})", names.join(", ")),
        beyond,
    )))
}
