//! Checks promises about entities if the files do not show which rows are suppressed.
//!
//! In a STARRED release, the rows of a class with `*` in every quasi-identifier look like
//! suppressed rows. The number of entities in this class then depends on which of the rows are
//! suppressed. A promise holds only if it holds with the fewest possible entities.

use super::claim::Claim;
use crate::base::error::Result;
use crate::data::folder::Check;
use crate::data::model::{Monotonicity, Reads};
use crate::release::recount::{Promise, ReleasedTable};
use datafusion::prelude::SessionContext;

/// The checks of all promises, and the promises among them that the files do not decide.
pub(super) struct CheckedPromises {
    /// One check for each promise, in the order of the promises.
    pub(super) checks: Vec<Check>,
    /// The checks of the second bounds of the promises that are decided.
    pub(super) second_bounds: Vec<Check>,
    /// For each promise, whether it depends on which rows are suppressed.
    pub(super) is_open: Vec<bool>,
}

/// Checks all promises on a release.
pub(super) async fn check(
    session: &SessionContext,
    released: &ReleasedTable,
    promises: &[Promise<'_>],
) -> Result<CheckedPromises> {
    let mut checks = released.check(session, promises).await?;
    let mut is_open = vec![false; promises.len()];
    let fewest = released.with_fewest_entities(session).await?;
    if let Some(fewest) = &fewest {
        let least = fewest.check(session, promises).await?;
        for (i, (check, least)) in checks.iter_mut().zip(least).enumerate() {
            let is_bounded = grows_with_entities(&promises[i]);
            is_open[i] = !is_bounded || check.ok && !least.ok;
            if is_open[i] || check.ok {
                *check = least;
            }
        }
    }
    let decided = promises.iter().zip(&is_open).filter(|(_, is_open)| !**is_open);
    let decided: Vec<Promise<'_>> = decided.map(|(promise, _)| promise.clone()).collect();
    let table = fewest.as_ref().unwrap_or(released);
    Ok(CheckedPromises {
        second_bounds: table.check_second_bounds(session, &decided).await?,
        checks,
        is_open,
    })
}

/// Returns true if a promise that holds for a class also holds with more entities in the class. The
/// rows that look suppressed all have the same values, so no other property of the class changes.
fn grows_with_entities(promise: &Promise<'_>) -> bool {
    let reads = promise.model.reads();
    let is_of_class = reads == Reads::default() || reads == Reads::ATTRIBUTE;
    is_of_class && promise.model.monotonicity() == Monotonicity::Always
}

/// Returns the name under which an open promise is reported.
pub(super) fn open(check: &Check, claim: &Claim) -> String {
    let entity = claim.entity.as_deref().unwrap_or("entities");
    format!(
        "{} (the files do not show which rows with * are suppressed; reached is of the fewest possible values of {entity})",
        check.check
    )
}
