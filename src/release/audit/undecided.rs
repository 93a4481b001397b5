//! Separates the promises that cannot be checked on the released rows alone from the promises that
//! can.
//!
//! A model that compares a class with the whole table, including suppressed rows, can be checked on
//! the released rows only if these are the whole table. Otherwise, a release may look closer to its
//! table than it is, or farther from it. The same is true of a model that weighs the values of
//! persons, if VERIFY counts rows: the release may not show which person a row belongs to, or the
//! statement may not name the column that does. A promise about the rows of the source can be
//! checked only with the source. A promise about entities may depend on which rows are suppressed
//! ([`starred`]). In each of these cases, the promise is reported as a gap, together with the value
//! that the released rows alone reach.

use super::claim::Claim;
use super::starred;
use super::verification::Verification;
use crate::base::quoting::ident;
use crate::data::folder::Check;
use crate::data::model::Monotonicity;
use crate::release::recount::Promise;

/// Returns the checks of the promises that the released rows decide, followed by the checks of
/// second bounds. Moves the checks of all other promises to `found`. `settled` contains one check
/// for each of `promises`, in the same order.
pub(super) fn set_apart(
    settled: starred::CheckedPromises,
    promises: &[Promise<'_>],
    claim: &Claim,
    found: &mut Verification,
) -> Vec<Check> {
    let people = uncounted_entity(claim);
    let mut checks = settled.checks;
    let mut promises = promises.iter().zip(settled.is_open);
    checks.retain(|check| {
        let reads = |(promise, is_open): (&Promise<'_>, bool)| {
            let open = is_open.then(|| starred::open(check, claim));
            let of_rows = people.as_ref().filter(|_| counts_values(promise));
            let of_people = of_rows.map(|why| format!("{} ({why}; reached is of rows)", check.check));
            let of_source = needs_source(promise, claim).map(|why| {
                format!(
                    "needs AGAINST: {} ({why}; reached is of the released rows alone)",
                    check.check
                )
            });
            open.or(of_people).or(of_source)
        };
        let what = promises.next().and_then(reads);
        let is_decided = what.is_none();
        if let Some(what) = what {
            found.undecided.push(Check {
                check: what.clone(),
                ok: false,
                ..check.clone()
            });
            found.gap(what);
        }
        is_decided
    });
    checks.extend(settled.second_bounds);
    checks
}

/// Returns the reason why persons are not counted as the release counted them; `None` if they are
/// counted.
fn uncounted_entity(claim: &Claim) -> Option<String> {
    let evidence = claim.evidence.as_ref().filter(|_| claim.entity.is_none())?;
    let entity = evidence.manifest.entity.as_ref()?;
    Some(match evidence.manifest.counted_entity(&claim.columns()) {
        Some(_) => format!("the release counts each {entity} once: name ENTITY ({})", ident(entity)),
        None => format!("the release counts each {entity} once, and its rows do not name it"),
    })
}

/// Returns true if a model weighs the values of a class, so that it matters whether a person has
/// one row or several. For all other models, rows can be counted instead of persons: a class then
/// has the same distinct values, and its size is not smaller.
fn counts_values(promise: &Promise<'_>) -> bool {
    promise.model.reads().attribute && promise.model.monotonicity() != Monotonicity::Always
}

/// Returns the reason why a promise can be checked only with the source; `None` if the released
/// rows decide it, or if the source is named.
fn needs_source(promise: &Promise<'_>, claim: &Claim) -> Option<&'static str> {
    match claim.against {
        Some(_) => None,
        None if promise.model.about().kind().is_of_rows => Some("it is about the rows of the source"),
        None if promise.model.reads().whole => unknown(claim),
        None => None,
    }
}

/// Returns the reason why the released rows do not show the distribution of the whole table; `None`
/// if they do.
///
/// The promises of a release that grew are about the released rows, because its batches have no
/// source in common.
fn unknown(claim: &Claim) -> Option<&'static str> {
    let Some(evidence) = &claim.evidence else {
        return Some("there is no manifest to say that no row was suppressed");
    };
    match evidence.manifest.rows_suppressed {
        _ if evidence.grew() => None,
        Some(0) => None,
        Some(_) => Some("rows were suppressed"),
        None => Some("the release is a sample"),
    }
}
