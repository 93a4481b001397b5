//! `VERIFY`: checks that privacy models hold on data, released by anonsql or not.
//!
//! Every row of the answer is one check of the auditor ([`crate::audit`]). What could not be
//! checked is a row too: its name begins with `not checked:`, its `ok` is NULL, and it does not
//! count as a failure. The row `files read`, of files without a manifest, checks nothing either.
//! Under `SET anonsql.strict = true` what was not checked counts as a failure, if a hierarchy of
//! the release, its manifest or its source would have let it be checked.

mod claim;
mod promised;
pub(in crate::session) mod spec;

use super::entry::{Entry, Run, Statement};
use crate::audit::{Verification, audit};
use crate::error::Result;
use crate::folder::Check;
use crate::observe::Phase;
use crate::session::answer::Answer;
use crate::session::context::AnonContext;
use arrow::array::{ArrayRef, BooleanArray, Float64Array, StringArray};
use arrow::record_batch::RecordBatch;
use futures::future::BoxFuture;
use spec::Verify;
use std::sync::Arc;

/// The row that says how many files were read, and checks nothing.
const FILES_READ: &str = "files read";

pub(super) const ENTRY: Entry = Entry {
    name: "VERIFY",
    starts: &["VERIFY"],
    summary: "checks that the privacy models hold on a table or file, one row per check",
    syntax:
        "VERIFY { table | 'path' [OPTIONS (...)] | ( query ) } QUASI IDENTIFIERS (...) [SENSITIVE (...)] [ENTITY (c)] SATISFYING ...
  [AGAINST source] [POPULATION table]",
    example: "VERIFY 'released' QUASI IDENTIFIERS (age, zip) SATISFYING k_anonymity(5) AGAINST people",
    answers: true,
    read: |c, _| spec::read(c).map(Statement::new),
};

impl Run for Verify {
    fn kind(&self) -> &'static str {
        "verify"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move { answer(self.verification(context).await?, context.is_strict()) })
    }
}

impl Verify {
    /// Runs all checks of the claim.
    pub(in crate::session) async fn verification(&self, context: &AnonContext) -> Result<Verification> {
        context.observer.begin(Phase::Verify);
        let claim = context.claim(self).await?;
        audit(&claim, context.observer.as_ref()).await
    }
}

/// Returns one row for each check, and one for each thing that was not checked.
pub(in crate::session) fn answer(found: Verification, strict: bool) -> Result<Answer> {
    let Verification {
        checks,
        unchecked,
        gaps,
        files_read,
        undecided,
    } = found;
    // A promise that needs the source stands with what the released rows alone say of it.
    let alone: Vec<Option<&Check>> = unchecked
        .iter()
        .map(|what| undecided.iter().find(|check| check.check == *what))
        .collect();
    let texts = checks.iter().map(|c| c.check.clone());
    let told = files_read.map(|_| FILES_READ.to_string());
    let not_checked = unchecked.iter().map(|u| format!("not checked: {u}"));
    let name: StringArray = texts.chain(told).chain(not_checked).map(Some).collect();
    let counted = || {
        checks
            .iter()
            .map(Some)
            .chain(files_read.map(|_| None))
            .chain(alone.iter().copied())
    };
    let required: Float64Array = counted().map(|c| c.map(|c| c.required)).collect();
    let reached = checks.iter().map(|c| c.reached);
    let files = files_read.map(|files| Some(files as f64));
    let reached = reached
        .chain(files)
        .chain(alone.iter().map(|c| c.and_then(|c| c.reached)));
    let reached: Float64Array = reached.collect();
    let ok = checks.iter().map(|c| Some(c.ok));
    let ok = ok.chain(files_read.map(|_| None)).chain(unchecked.iter().map(|_| None));
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
