//! The result of VERIFY: one row for each check.

use crate::base::error::Result;
use crate::data::folder::Check;
use crate::language::session::answer::Answer;
use crate::release::audit::Verification;
use arrow::array::{ArrayRef, BooleanArray, Float64Array, StringArray};
use arrow::record_batch::RecordBatch;
use std::sync::Arc;

/// The name of the result row with the number of files that were read. This row is not a check.
const FILES_READ: &str = "files read";

/// Returns one row for each check, for each figure that is not a check, and for each check that was
/// not possible. If `strict` is true, a check counts as failed if it was not possible because
/// something is missing.
pub(in crate::language::session) fn answer(found: Verification, strict: bool) -> Result<Answer> {
    let Verification {
        checks,
        unchecked,
        gaps,
        files_read,
        undecided,
        told,
    } = found;
    // For a promise that can only be checked against the source, the row contains the result for
    // the released rows alone.
    let alone: Vec<Option<&Check>> = unchecked
        .iter()
        .map(|what| undecided.iter().find(|check| check.check == *what))
        .collect();
    let texts = checks.iter().map(|c| c.check.clone());
    let files_read = files_read.map(|files| (FILES_READ.to_string(), Some(files as f64)));
    let told: Vec<(String, Option<f64>)> = told.into_iter().chain(files_read).collect();
    let not_checked = unchecked.iter().map(|u| format!("not checked: {u}"));
    let name: StringArray = texts
        .chain(told.iter().map(|(what, _)| what.clone()))
        .chain(not_checked)
        .map(Some)
        .collect();
    let counted = || {
        checks
            .iter()
            .map(Some)
            .chain(told.iter().map(|_| None))
            .chain(alone.iter().copied())
    };
    let required: Float64Array = counted().map(|c| c.map(|c| c.required)).collect();
    let reached = checks.iter().map(|c| c.reached);
    let reached = reached
        .chain(told.iter().map(|(_, number)| *number))
        .chain(alone.iter().map(|c| c.and_then(|c| c.reached)));
    let reached: Float64Array = reached.collect();
    let ok = checks.iter().map(|c| Some(c.ok));
    let ok = ok
        .chain(told.iter().map(|_| None))
        .chain(unchecked.iter().map(|_| None));
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("check", Arc::new(name) as ArrayRef, false),
        ("required", Arc::new(required), true),
        ("reached", Arc::new(reached), true),
        ("ok", Arc::new(ok.collect::<BooleanArray>()), true),
    ])?;
    let mut failed: Vec<String> = checks.into_iter().filter(|c| !c.ok).map(|c| c.check).collect();
    if strict {
        failed.extend(gaps.iter().map(|gap| format!("not checked: {gap}")));
    }
    Ok(Answer {
        failed,
        ..Answer::of(batch)?
    })
}
