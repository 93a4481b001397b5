//! The discernibility that a manifest says: of its metrics the one that follows from what VERIFY
//! counts anyway.
//!
//! The metric dm: the sum over kept classes of f^2, and f times the rows read over suppressed ones.
//! Whoever raises the rows read and the rows suppressed of a manifest together changes no sum of
//! rows, but changes this one.

use crate::error::Result;
use crate::folder::{Check, MANIFEST, Manifest, Role};
use crate::recount::ReleasedTable;
use datafusion::prelude::SessionContext;

/// Checks the discernibility of a manifest by the sizes of the released classes. Returns `None` if
/// the manifest says none, or one of classes that the files do not show: of items, of guarding
/// nodes, or of several batches.
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
    // Rows cost rows, whatever the models count.
    let rows = ReleasedTable {
        entity: None,
        ..released.clone()
    };
    let sizes = rows.histogram(session, &rows.quasi_identifiers).await?;
    let squares = |(size, count)| u128::from(size) * u128::from(size) * u128::from(count);
    let kept: u128 = sizes.iter().map(squares).sum();
    // A forger chooses these two, so that their product may be beyond every table.
    let suppressed = u128::from(suppressed) * u128::from(read);
    let dm = kept.saturating_add(suppressed) as f64;
    Ok(Some(Check {
        check: format!("dm as {MANIFEST} says"),
        required: *said,
        reached: Some(dm),
        ok: dm == *said,
    }))
}
