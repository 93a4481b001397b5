//! The comparison of two releases without the source: how their totals differ.
//!
//! Two releases have the same labels in a column if the column is at the same level of the same
//! hierarchy in both. If rows are counted by such columns, both releases count the same groups. The
//! difference between the two totals of a group is then the number of people who are only in one
//! release, minus the number of people who are only in the other.
//!
//! If both releases read the same files directly, without a query, and one of them suppressed no
//! row, that release contains everyone in the other release. The difference is then exactly the
//! number of people in the group whom the other release does not contain. The classes of these
//! people contain no other people, so a number below k breaks k-anonymity. In all other cases the
//! difference is reported but not checked.

use super::side::ComparedRelease;
use crate::base::error::Result;
use crate::base::quoting::quote;
use crate::data::folder::{Check, FileSummary, HierarchySummary};
use crate::release::audit::known::Known;
use crate::release::audit::spelling::{CSV_TEXT, TEXT, converted};
use crate::release::audit::verification::Verification;
use crate::release::recount::{count, numbers};
use datafusion::prelude::SessionContext;
use std::collections::BTreeSet;

/// Compares the totals of both releases, and reports every promise as a gap.
pub(super) async fn check(
    session: &SessionContext,
    sides: &[ComparedRelease<'_>; 2],
    found: &mut Verification,
) -> Result<()> {
    for side in sides {
        let rows = count(session, &format!("SELECT count(*) FROM {}", side.released.released())).await?;
        found
            .told
            .push((format!("rows of the {} release", side.called), Some(rows as f64)));
    }
    let [first, second] = sides;
    let mut alike = vec![];
    for known in &first.known {
        let other = second.known.iter().find(|other| other.column == known.column);
        if let Some(other) = other
            && is_alike(known, other)?
        {
            alike.push(known);
        }
    }
    let least = smallest_difference(session, sides, &alike).await?;
    let by = match alike.is_empty() {
        true => "all rows".to_string(),
        false => alike.iter().map(|k| k.column.as_str()).collect::<Vec<_>>().join(", "),
    };
    let reached = least.map(|n| n as f64);
    match whole(sides) {
        Some(side) => {
            let sizes = side.side.claim.constraints.iter().filter(|c| c.is_of_classes());
            let required = sizes.map(|c| c.model.min_class_size()).max().unwrap_or(1);
            found.checks.push(Check {
                check: format!("people only in the {} release, by totals of {by}", side.called),
                required: required as f64,
                reached,
                ok: least.is_none_or(|n| n >= required),
            });
        }
        None => found
            .told
            .push((format!("smallest difference of totals of {by}"), reached)),
    }
    for side in sides {
        for constraint in &side.side.claim.constraints {
            let text = constraint.describe(&side.side.quasi_identifiers);
            found.gap(format!(
                "needs AGAINST: {text} of the {} release, together",
                side.called
            ));
        }
    }
    found.gap("needs AGAINST: who is in one release and not in the other".into());
    Ok(())
}

/// Returns true if two columns have the same labels: both are released as texts, at the same level
/// of the same hierarchy.
fn is_alike(one: &Known, other: &Known) -> Result<bool> {
    let (Some(level), Some(same)) = (one.level(), other.level()) else {
        return Ok(false);
    };
    let (Some(hierarchy), Some(others)) = (&one.hierarchy, &other.hierarchy) else {
        return Ok(false);
    };
    // Summaries of two manifests cannot be compared, because each manifest has its own key.
    let key = |hierarchy| HierarchySummary::of(hierarchy, &[]);
    let (mut own, theirs) = (key(hierarchy)?, key(others)?);
    own.name.clone_from(&theirs.name);
    let are_texts = !(one.form.is_of_class() || one.form.is_of_label()) && one.form == other.form;
    Ok(level == same && own == theirs && are_texts)
}

/// Returns the minimum difference between the totals of the two releases, counted by the columns
/// `alike`; `None` if all totals are equal.
async fn smallest_difference(
    session: &SessionContext,
    sides: &[ComparedRelease<'_>; 2],
    alike: &[&Known],
) -> Result<Option<u64>> {
    let form = |column: &str| {
        let is_csv = sides.iter().any(|side| side.evidence.text(column) == CSV_TEXT);
        if is_csv { CSV_TEXT } else { TEXT }
    };
    let rows = sides.iter().zip([1, -1]).map(|(side, sign)| {
        let columns = alike.iter().enumerate();
        let columns = columns.map(|(i, k)| format!("{} AS k{i}, ", converted(&quote(&k.column), form(&k.column))));
        format!(
            "SELECT {}{sign} AS n FROM {}",
            columns.collect::<String>(),
            side.released.released()
        )
    });
    let rows = rows.collect::<Vec<_>>().join(" UNION ALL ");
    let keys: Vec<String> = (0..alike.len()).map(|i| format!("k{i}")).collect();
    let group = match keys.is_empty() {
        true => String::new(),
        false => format!(" GROUP BY {}", keys.join(", ")),
    };
    let sql = format!("SELECT coalesce(min(abs(d)), 0) FROM (SELECT sum(n) AS d FROM ({rows}){group}) WHERE d <> 0");
    let least = numbers(session, &sql).await?;
    Ok(least.first().map(|row| row[0]).filter(|n| *n > 0))
}

/// Returns the release that certainly contains everyone in the other release: both releases read
/// the same files directly, and the returned release suppressed no row. Returns `None` if this is
/// not certain.
fn whole<'a, 'b>(sides: &'b [ComparedRelease<'a>; 2]) -> Option<&'b ComparedRelease<'a>> {
    let read = |side: &ComparedRelease<'_>| {
        let manifest = side.manifest();
        let identities: Option<BTreeSet<String>> = manifest.input.iter().map(FileSummary::identity).collect();
        let is_plain = !side.evidence.grew() && side.side.reads_path;
        identities
            .filter(|read| is_plain && !read.is_empty())
            .zip(manifest.rows_in)
    };
    let [first, second] = sides;
    if read(first).is_none() || read(first) != read(second) || first.side.source != second.side.source {
        return None;
    }
    sides.iter().find(|side| side.manifest().rows_suppressed == Some(0))
}
