//! Promises that the released rows alone cannot decide.
//!
//! A model that compares a class with the whole table, suppressed rows included, is only judged by the released rows if they
//! are the whole table. Otherwise a release may look closer to its table than it is, or farther. Such a promise is a gap,
//! beside which stands what the released rows alone reach.

use super::claim::Claim;
use super::verification::Verification;
use crate::folder::Check;
use crate::recount::Promise;

/// Moves the checks of promises that need the source from `checks` to `found`. `checks` are those of `promises`, in their
/// order.
pub(super) fn set_apart(checks: &mut Vec<Check>, promises: &[Promise<'_>], claim: &Claim, found: &mut Verification) {
    let Some(why) = unknown(claim) else {
        return;
    };
    let mut promises = promises.iter();
    checks.retain(|check| {
        let is_decided = promises.next().is_none_or(|promise| !promise.model.reads().whole);
        if !is_decided {
            let what = format!(
                "needs AGAINST: {} ({why}; reached is of the released rows alone)",
                check.check
            );
            found.undecided.push(Check {
                check: what.clone(),
                ok: false,
                ..check.clone()
            });
            found.gap(what);
        }
        is_decided
    });
}

/// Returns why the distribution of the whole table is not known; `None` if it is.
///
/// A release that grew promises its models of the released rows, because its batches have no source in common.
fn unknown(claim: &Claim) -> Option<&'static str> {
    let evidence = match (&claim.against, &claim.evidence) {
        (Some(_), _) => return None,
        (None, None) => return Some("there is no manifest to say that no row was suppressed"),
        (None, Some(evidence)) => evidence,
    };
    match evidence.manifest.rows_suppressed {
        _ if evidence.grew() => None,
        Some(0) => None,
        Some(_) => Some("rows were suppressed"),
        None => Some("the release is a sample"),
    }
}
