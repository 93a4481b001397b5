//! The two kinds of checks that are counted.

use crate::folder::{Check, MANIFEST};

/// A check of how many there are of what there must be none of.
pub(super) fn none_of(check: String, found: u64) -> Check {
    Check {
        check,
        required: 0.0,
        reached: Some(found as f64),
        ok: found == 0,
    }
}

/// A check that what is there is what the manifest has.
pub(super) fn says(what: &str, required: Option<u64>, reached: Option<u64>) -> Check {
    Check {
        check: format!("{what} as {MANIFEST} says"),
        required: required.unwrap_or(0) as f64,
        reached: reached.map(|n| n as f64),
        ok: reached == required,
    }
}
