//! Warns of a source without rows.

use super::evidence::Evidence;
use super::warned::{Warning, WarningKind};

pub(super) fn warnings(evidence: &Evidence) -> Vec<Warning> {
    let is_empty = evidence.rows == 0;
    let text = "the source has no rows, so the release is empty; check the delivery of the source";
    let warning = || Warning::new(WarningKind::Empty, vec![], text.into());
    is_empty.then(warning).into_iter().collect()
}
