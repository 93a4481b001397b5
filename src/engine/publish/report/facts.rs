//! The values that a report is made from.

use crate::engine::decide::Decision;
use crate::engine::verify::Recounted;
use crate::engine::write::Written;
use crate::folder::Manifest;
use crate::job::{Job, Target};
use crate::observe::Release;
use std::path::Path;

/// The target and the stage of a release, with the manifest in the stage.
pub(in crate::engine::publish) struct Staged<'a> {
    pub(in crate::engine::publish) target: &'a Target,
    /// The local folder with the files, if there is one.
    pub(in crate::engine::publish) folder: Option<&'a Path>,
    pub(in crate::engine::publish) manifest: &'a Manifest,
    pub(in crate::engine::publish) manifest_sha256: String,
}

/// The job, the results of its stages and its staged files.
pub(in crate::engine::publish) struct ReleaseFacts<'a> {
    pub(in crate::engine::publish) job: &'a Job,
    pub(in crate::engine::publish) decision: &'a Decision,
    pub(in crate::engine::publish) written: &'a Written,
    pub(in crate::engine::publish) recounted: &'a Recounted,
    pub(in crate::engine::publish) release: &'a Release,
    pub(in crate::engine::publish) staged: Option<Staged<'a>>,
}
