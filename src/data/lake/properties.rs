//! The properties that describe a release in a Delta table. They are set on the table and in the
//! log entry of the commit.

use super::names::Layout;
use crate::base::error::{Error, Result};
use crate::data::folder::{Manifest, sha256};
use crate::data::formats::RELEASE;
use std::collections::BTreeMap;

/// The property that contains the name of the release's manifest, relative to the table.
pub(super) const NAMES_MANIFEST: &str = "anonsql.manifest";

/// The property that contains the checksum of the release's manifest.
pub(super) const SUM_OF_MANIFEST: &str = "anonsql.manifest_sha256";

/// Returns the properties of a release. `text` is the text of its manifest, and `place` is the name
/// of the manifest relative to the table. The properties contain no data value.
pub(super) fn properties_at(manifest: &Manifest, text: &str, place: String) -> Result<BTreeMap<String, String>> {
    let run = run_of(manifest)?;
    // The checks of the models are followed by one check for each permuted column.
    let models = manifest.checks.len().saturating_sub(manifest.randomized.len());
    let models: Vec<&str> = manifest.checks[..models]
        .iter()
        .map(|check| check.check.as_str())
        .collect();
    let told = [
        ("anonsql.version", Some(manifest.version.clone())),
        (RELEASE, Some(run.to_string())),
        (NAMES_MANIFEST, Some(place)),
        (SUM_OF_MANIFEST, Some(sha256(text))),
        ("anonsql.models", Some(models.join(", "))),
        ("anonsql.k", manifest.reached_k.map(|k| k.to_string())),
    ];
    let told = told
        .into_iter()
        .filter_map(|(name, text)| Some((name.to_string(), text?)));
    Ok(told.collect())
}

/// Returns the properties of a new release. `text` is the text of its manifest.
pub(crate) fn properties(manifest: &Manifest, text: &str) -> Result<BTreeMap<String, String>> {
    properties_at(manifest, text, Layout::Logged.manifest(run_of(manifest)?))
}

/// Returns the id of the run that wrote a release in a Delta table.
pub(super) fn run_of(manifest: &Manifest) -> Result<&str> {
    let run = manifest.run.as_deref();
    run.ok_or_else(|| Error::internal("a release in a Delta table without a run"))
}
