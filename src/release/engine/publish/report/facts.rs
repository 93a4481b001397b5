//! The values that a report is made from.

use crate::data::folder::Manifest;
use crate::release::engine::decide::Decision;
use crate::release::engine::verify::Recounted;
use crate::release::engine::write::Written;
use crate::release::job::{Job, Target};
use crate::release::observe::Release;
use crate::release::recount::KnownSource;
use std::path::Path;

/// The target and the stage of a release, with the manifest in the stage.
pub(in crate::release::engine::publish) struct Staged<'a> {
    pub(in crate::release::engine::publish) target: &'a Target,
    /// The local folder with the files, if there is one.
    pub(in crate::release::engine::publish) folder: Option<&'a Path>,
    pub(in crate::release::engine::publish) manifest: &'a Manifest,
    pub(in crate::release::engine::publish) manifest_sha256: String,
}

/// The job, the results of its stages and its staged files.
pub(in crate::release::engine::publish) struct ReleaseFacts<'a> {
    pub(in crate::release::engine::publish) job: &'a Job,
    pub(in crate::release::engine::publish) decision: &'a Decision,
    pub(in crate::release::engine::publish) written: &'a Written,
    pub(in crate::release::engine::publish) recounted: &'a Recounted,
    pub(in crate::release::engine::publish) release: &'a Release,
    pub(in crate::release::engine::publish) staged: Option<Staged<'a>>,
    /// The columns of the source, if they were read while the release was written.
    pub(in crate::release::engine::publish) source: Option<KnownSource>,
}
