//! The one-row result of ANONYMIZE ... TO.

use crate::base::error::Result;
use crate::data::drift::ReplaySummary;
use crate::data::folder::{ItemSetSummary, RandomizedColumn};
use crate::language::session::answer::Answer;
use crate::method::warning;
use crate::release::observe::Release;
use arrow::array::{ArrayRef, Float64Array, StringArray, UInt64Array};
use arrow::record_batch::RecordBatch;
use std::sync::Arc;

/// The outcome if a release was published.
pub(in crate::language::session) const RELEASED: &str = "released";
/// The outcome of a dry run: without the dry run, the release would have been written.
pub(in crate::language::session) const DRY_RUN: &str = "dry run";
/// The outcome if APPEND could not add any row to the release.
const WAITING: &str = "nothing added: all rows wait";
/// The outcome if a statement kept an existing target.
pub(in crate::language::session) const KEPT: &str = "kept: the target exists";

/// Returns the result row of ANONYMIZE ... TO. If an existing target was kept (`release` is
/// `None`), all columns except target and outcome are NULL.
pub(in crate::language::session) fn summary(
    target: Option<&str>,
    outcome: &str,
    release: Option<&Release>,
) -> Result<Answer> {
    // This is one function because it is a list of columns with their values.
    let count = |f: fn(&Release) -> Option<u64>| Arc::new(UInt64Array::from(vec![release.and_then(f)])) as ArrayRef;
    let text = |f: fn(&Release) -> String| Arc::new(StringArray::from(vec![release.map(f)])) as ArrayRef;
    let mut columns = vec![
        ("target", Arc::new(StringArray::from(vec![target])) as ArrayRef, true),
        ("outcome", Arc::new(StringArray::from(vec![outcome])) as ArrayRef, true),
        ("rows_in", count(|r| r.rows_in), true),
        ("rows_out", count(|r| Some(r.rows_out)), true),
        ("suppressed", count(|r| r.rows_suppressed), true),
        ("classes", count(|r| Some(r.classes)), true),
        ("k", count(|r| r.reached_k), true),
        ("node", text(|r| r.node.clone()), true),
        ("metric", text(|r| r.metric.clone()), true),
        (
            "value",
            Arc::new(Float64Array::from(vec![release.and_then(|r| r.value)])) as ArrayRef,
            true,
        ),
        ("proof", text(|r| r.proof.clone()), true),
        ("nodes", count(|r| Some(r.nodes)), true),
    ];
    columns.push((
        "warnings",
        count(|r| Some(warning::open(&r.warnings).count() as u64)),
        true,
    ));
    if let Some(growth) = release.and_then(|r| r.growth.as_ref()) {
        let waiting = release.and_then(|r| r.rows_suppressed);
        columns.extend(of_growth(
            waiting,
            [Some(growth.rows), growth.reached_k, Some(growth.batches)],
        ));
    }
    // The following columns exist only if the release has something to report in them.
    if release.is_some_and(|r| r.replay.is_some()) {
        let drift = |r: &Release| r.replay.as_ref().map(ReplaySummary::told).unwrap_or_default();
        columns.push(("drift", text(drift), true));
    }
    if release.is_some_and(|r| !r.tried.is_empty()) {
        columns.push(("search", text(|r| r.search.clone().unwrap_or_default()), true));
        let tried = |r: &Release| r.tried.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        columns.push(("tried", text(tried), true));
    }
    if release.is_some_and(|r| !r.randomized.is_empty()) {
        let bits = |c: &RandomizedColumn| {
            let (before, after) = (c.information_before, c.information_after);
            format!("{}: {before:.4} to {after:.4} bits", c.column)
        };
        let cost = |r: &Release| r.randomized.iter().map(bits).collect::<Vec<_>>().join(", ");
        let cost: StringArray = vec![release.map(cost)].into();
        columns.push(("information_on_classes", Arc::new(cost), true));
    }
    if let Some(personal) = release.and_then(|r| r.personal.as_ref()) {
        let levels = personal
            .rows_by_level
            .iter()
            .enumerate()
            .map(|(level, rows)| format!("{level}: {rows}"));
        let levels: StringArray = vec![Some(levels.collect::<Vec<_>>().join(", "))].into();
        columns.push(("rows_by_sensitive_level", Arc::new(levels), true));
        let unmet = UInt64Array::from(vec![personal.limits_not_met]);
        columns.push(("limits_not_met", Arc::new(unmet), true));
    }
    if release.is_some_and(|r| !r.items.is_empty()) {
        let items = |r: &Release| r.items.iter().map(items).collect::<Vec<_>>().join("; ");
        columns.push(("items", text(items), true));
    }
    Answer::of(RecordBatch::try_from_iter_with_nullable(columns)?)
}

/// Returns the result row of an APPEND that could not add any row to the release. `rows` is the
/// number of rows that are held back for a later APPEND.
pub(in crate::language::session) fn waiting(target: &str, rows: u64) -> Result<Answer> {
    let count = |n: Option<u64>| Arc::new(UInt64Array::from(vec![n])) as ArrayRef;
    let text = |text: Option<&str>| Arc::new(StringArray::from(vec![text])) as ArrayRef;
    let mut columns = vec![
        ("target", text(Some(target)), true),
        ("outcome", text(Some(WAITING)), true),
        ("rows_in", count(Some(rows)), true),
        ("rows_out", count(Some(0)), true),
        ("suppressed", count(Some(rows)), true),
        ("classes", count(Some(0)), true),
        ("k", count(None), true),
        ("node", text(None), true),
        ("metric", text(None), true),
        ("value", Arc::new(Float64Array::from(vec![None])) as ArrayRef, true),
        ("proof", text(None), true),
        ("nodes", count(None), true),
        ("warnings", count(None), true),
    ];
    columns.extend(of_growth(Some(rows), [None; 3]));
    Answer::of(RecordBatch::try_from_iter_with_nullable(columns)?)
}

/// Returns the columns that only APPEND has: the number of rows that are held back for a later
/// APPEND, and the number of rows, k and the number of batches of the whole release.
fn of_growth(waiting: Option<u64>, [rows, k, batches]: [Option<u64>; 3]) -> [(&'static str, ArrayRef, bool); 4] {
    let count = |n: Option<u64>| Arc::new(UInt64Array::from(vec![n])) as ArrayRef;
    [
        ("waiting", count(waiting), true),
        ("rows_of_all", count(rows), true),
        ("k_of_all", count(k), true),
        ("batches", count(batches), true),
    ]
}

/// Describes the labels and the loss of a column that contains sets of items: `drugs: labels 9 of
/// level 0, 2 of level 1, loss 0.1043`.
fn items(set: &ItemSetSummary) -> String {
    let levels = (0..).zip(&set.labels_by_level).filter(|(_, labels)| **labels > 0);
    let levels: Vec<String> = levels
        .map(|(level, labels): (u8, _)| format!("{labels} of level {level}"))
        .collect();
    let mut text = format!("{}: labels {}, loss {:.4}", set.column, levels.join(", "), set.loss);
    if set.items_removed > 0 {
        text += &format!(", {} items removed from {} rows", set.items_removed, set.rows_reduced);
    }
    text
}
