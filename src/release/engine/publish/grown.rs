//! The manifest of a release that grew.

use crate::data::folder::{Batch, Manifest};
use crate::release::engine::verify::Union;
use crate::release::observe::Growth;
use std::collections::BTreeMap;

/// Returns the manifest of a release after a batch was added, from the manifest of the batch.
pub(super) fn grown(batch: Manifest, union: &Union) -> Manifest {
    let standing = &union.standing;
    let mut batches = standing.all_batches();
    batches.push(Batch {
        after: Some(standing.sha256.clone()),
        reached_k_of_all: union.reached_k,
        checks: union.alone.clone(),
        ..batch.as_batch()
    });
    let sum = |of: fn(&Batch) -> u64| Some(batches.iter().map(of).sum());
    Manifest {
        node: standing.node.clone(),
        rows_in: sum(|b| b.rows_in),
        rows_suppressed: sum(|b| b.rows_waiting),
        rows_out: union.rows,
        classes: union.classes,
        reached_k: union.reached_k,
        checks: union.checks.clone(),
        // Losses are measured on the rows of a source, and the source rows of earlier batches are
        // not available.
        metrics: BTreeMap::new(),
        output: [&standing.output[..], &batch.output[..]].concat(),
        batches,
        ..batch
    }
}

impl Growth {
    /// Returns the figures of the whole release.
    pub(super) fn of(manifest: &Manifest) -> Self {
        Self {
            batches: manifest.all_batches().len() as u64,
            rows: manifest.rows_out,
            classes: manifest.classes,
            reached_k: manifest.reached_k,
        }
    }
}
