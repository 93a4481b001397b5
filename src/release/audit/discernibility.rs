//! Checks the discernibility in a manifest, the only metric that can be computed from the counts of
//! VERIFY.
//!
//! The metric dm is the sum of f^2 over the kept classes, plus f times the number of rows read over
//! the suppressed classes, where f is the size of a class. A forger who raises both the rows read
//! and the rows suppressed in a manifest by the same number leaves the sums of rows consistent, but
//! changes dm.

use crate::base::error::Result;
use crate::data::folder::{Check, MANIFEST, Manifest, Role};
use crate::release::recount::ReleasedTable;
use datafusion::prelude::SessionContext;

/// Checks the discernibility in a manifest against the sizes of the released classes. Returns
/// `None` if the manifest has no discernibility, or if the files do not show the classes that the
/// metric counts, because of sets of items, personal limits, or several batches.
pub(super) async fn check(
    manifest: &Manifest,
    session: &SessionContext,
    released: &ReleasedTable,
) -> Result<Option<Check>> {
    let (Some(said), Some(read), Some(suppressed)) =
        (manifest.metrics.get("dm"), manifest.rows_in, manifest.rows_suppressed)
    else {
        return Ok(None);
    };
    let is_hidden = manifest.personal.is_some() || manifest.columns.iter().any(|c| c.role == Role::ItemSet);
    if is_hidden || !manifest.batches.is_empty() {
        return Ok(None);
    }
    // The metric counts rows, even if the models count entities.
    let rows = ReleasedTable {
        entity: None,
        ..released.clone()
    };
    let sizes = rows.histogram(session, &rows.quasi_identifiers).await?;
    let squares = |(size, count)| u128::from(size) * u128::from(size) * u128::from(count);
    let kept: u128 = sizes.iter().map(squares).sum();
    // A forger can choose both numbers, so their product may be larger than for any real table.
    let suppressed = u128::from(suppressed) * u128::from(read);
    let dm = kept.saturating_add(suppressed) as f64;
    Ok(Some(Check {
        check: format!("dm as {MANIFEST} says"),
        required: *said,
        reached: Some(dm),
        ok: dm == *said,
    }))
}
