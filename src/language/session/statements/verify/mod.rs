//! `VERIFY`: checks whether data satisfies privacy models. The data need not be a release of
//! anonsql.
//!
//! Every result row is one check of the auditor ([`crate::release::audit`]). A check that was not
//! possible has a row as well: its name begins with `not checked:`, its `ok` is NULL, and it does
//! not count as failed. The row `files read`, which appears only for files without a manifest, is
//! not a check. Under `SET anonsql.strict = true`, a check that was not possible counts as failed
//! if it would be possible with a hierarchy, the manifest or the source of the release.

pub(in crate::language::session) mod answered;
pub(in crate::language::session) mod beside;
mod claim;
mod promised;
pub(in crate::language::session) mod spec;

use super::entry::{Entry, Run, Statement};
use crate::base::error::Result;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::language::sql::clause::source;
use crate::language::sql::cursor::Cursor;
use crate::release::audit::{Verification, audit};
use crate::release::observe::Phase;
use answered::answer;
use futures::future::BoxFuture;
use spec::Verify;

pub(super) const ENTRY: Entry = Entry {
    name: "VERIFY",
    starts: &["VERIFY"],
    summary: "checks that the privacy models hold on a table or file, or of two releases together, one row per check",
    syntax:
        "VERIFY { table | 'path' [OPTIONS (...)] | ( query ) } QUASI IDENTIFIERS (...) [SENSITIVE (...)] [ENTITY (c)] SATISFYING ...
  [AGAINST source] [POPULATION table] [SIGNED BY 'key.pub']
VERIFY 'release' SIGNED BY 'key.pub' [AGAINST source] [POPULATION table]
VERIFY 'release' BESIDE 'release' [AGAINST source [ENTITY (c)]]",
    example: "VERIFY 'released' QUASI IDENTIFIERS (age, zip) SATISFYING k_anonymity(5) AGAINST people",
    answers: true,
    read: |c, _| read(c),
};

/// Parses the rest of the statement after VERIFY: one release, or two releases with BESIDE.
fn read(c: &mut Cursor) -> Result<Statement> {
    let source = source::read(c)?;
    match c.take("BESIDE") {
        true => beside::read(c, source).map(Statement::new),
        false => spec::read(c, source).map(Statement::new),
    }
}

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
    pub(in crate::language::session) async fn verification(&self, context: &AnonContext) -> Result<Verification> {
        context.observer.begin(Phase::Verify);
        let claim = context.claim(self).await?;
        audit(&claim, context.observer.as_ref()).await
    }
}
