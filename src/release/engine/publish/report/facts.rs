//! The values that a report is made from.

use crate::data::folder::Manifest;
use crate::release::engine::decide::Decision;
use crate::release::engine::verify::Recounted;
use crate::release::engine::write::Written;
use crate::release::job::{Job, Target};
use crate::release::observe::Release;
use crate::release::recount::ReleasedTable;
use datafusion::prelude::SessionContext;
use std::path::Path;

/// The target and the stage of a release, with the manifest in the stage.
pub(in crate::release::engine::publish) struct Staged<'a> {
    pub(in crate::release::engine::publish) target: &'a Target,
    /// The local folder with the files, if there is one.
    pub(in crate::release::engine::publish) folder: Option<&'a Path>,
    pub(in crate::release::engine::publish) manifest: &'a Manifest,
    pub(in crate::release::engine::publish) manifest_sha256: String,
}

/// A written release that is measured for its report. Nothing of the result of the recount is
/// needed for that.
#[derive(Clone, Copy)]
pub(in crate::release::engine) struct ReleaseToMeasure<'a> {
    pub(in crate::release::engine) job: &'a Job,
    pub(in crate::release::engine) decision: &'a Decision,
    pub(in crate::release::engine) written: &'a Written,
    /// The recounting session.
    pub(in crate::release::engine) session: &'a SessionContext,
    /// The recounted table with the most information.
    pub(in crate::release::engine) released: &'a ReleasedTable,
    /// The target, unless the rows are only kept.
    pub(in crate::release::engine) target: Option<&'a Target>,
}

/// The job, the results of its stages and its staged files.
pub(in crate::release::engine::publish) struct ReleaseFacts<'a> {
    pub(in crate::release::engine::publish) job: &'a Job,
    pub(in crate::release::engine::publish) decision: &'a Decision,
    pub(in crate::release::engine::publish) written: &'a Written,
    pub(in crate::release::engine::publish) recounted: &'a Recounted,
    pub(in crate::release::engine::publish) release: &'a Release,
    pub(in crate::release::engine::publish) staged: Option<Staged<'a>>,
}

impl ReleaseFacts<'_> {
    /// Returns the part of the facts that is needed to measure the release.
    pub(in crate::release::engine::publish) fn to_measure(&self) -> ReleaseToMeasure<'_> {
        ReleaseToMeasure {
            job: self.job,
            decision: self.decision,
            written: self.written,
            session: &self.recounted.session,
            released: &self.recounted.released,
            target: self.staged.as_ref().map(|staged| staged.target),
        }
    }
}
