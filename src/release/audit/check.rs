//! Constructors for the three kinds of checks that compare counts.

use crate::data::folder::{Check, MANIFEST};

/// Returns a check that holds if `found` is 0.
pub(super) fn none_of(check: String, found: u64) -> Check {
    Check {
        check,
        required: 0.0,
        reached: Some(found as f64),
        ok: found == 0,
    }
}

/// Returns a check that holds if the count `reached` equals `required`, the count that the manifest
/// states.
pub(super) fn says(what: &str, required: Option<u64>, reached: Option<u64>) -> Check {
    Check {
        check: format!("{what} as {MANIFEST} says"),
        required: required.unwrap_or(0) as f64,
        reached: reached.map(|n| n as f64),
        ok: reached == required,
    }
}

/// Returns a check that holds if the count `reached` is at least `required`, the count that the
/// manifest states.
pub(super) fn at_least(check: String, required: Option<u64>, reached: Option<u64>) -> Check {
    Check {
        check,
        required: required.unwrap_or(0) as f64,
        reached: reached.map(|n| n as f64),
        ok: required
            .zip(reached)
            .is_some_and(|(required, reached)| reached >= required),
    }
}
