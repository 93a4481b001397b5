//! Keeps the levels of the existing release when rows are added to the release.

use super::decision::{Decision, Proof};
use super::evaluator::Evaluator;
use crate::base::error::Result;
use crate::method::search::Oracle;
use crate::release::job::Output;
use std::sync::Arc;

/// Returns the decision for the levels of the release to which the rows are added. These are the
/// lowest levels that a search may choose. Returns `None` if the rows are not added to a release,
/// or if these levels do not satisfy the models.
pub(super) fn stayed(output: &Output, evaluator: &Arc<Evaluator>) -> Result<Option<Decision>> {
    if output.grows().is_none() {
        return Ok(None);
    }
    let judged = evaluator.judge_if_demanded(evaluator.lattice().bottom())?.counted();
    let holds = judged.filter(|(_, verdict)| verdict.anonymous);
    Ok(holds.map(|judged| Decision {
        nodes: 1,
        ..Decision::chosen(evaluator, judged, Proof::Given)
    }))
}
