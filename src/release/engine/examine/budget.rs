//! The budget of a differentially private release, including the budget already spent by the
//! releases that it replaces.

use crate::base::error::Result;
use crate::data::folder::Budget;
use crate::data::model::Sampling;
use crate::release::job::Output;

/// The description of how a sample was made, for the manifest.
const MECHANISM: &str = "every row drawn by itself with probability beta, generalized to the given levels, and released if its \
                         class has at least k drawn rows: hides whether one row is in the source, as far as epsilon and delta say; \
                         rows of one person, and other releases of the same people, add up";

/// Returns the budget of the release of a job, and a note if the release replaces another release.
pub(super) fn budget(output: &Output, sampling: &Sampling) -> Result<(Budget, Option<String>)> {
    let mut budget = Budget {
        epsilon: sampling.epsilon,
        delta: sampling.delta,
        beta: sampling.beta(),
        k: sampling.k,
        mechanism: MECHANISM.into(),
        releases: 1,
        epsilon_of_all: sampling.epsilon,
        delta_of_all: sampling.delta,
    };
    let replaced = match output.target.as_ref().filter(|target| target.replaces()) {
        Some(target) => target.manifest()?,
        None => None,
    };
    let note = match replaced.map(|manifest| manifest.differential_privacy) {
        None => None,
        Some(None) => Some(
            "the replaced release is not differentially private; if it is of the same people, epsilon and delta do not \
             limit what both releases together disclose"
                .into(),
        ),
        Some(Some(last)) => {
            budget.releases += last.releases;
            budget.epsilon_of_all += last.epsilon_of_all;
            budget.delta_of_all += last.delta_of_all;
            Some(format!(
                "this is release {} of this folder under differential privacy; if all of them are of the same people, together \
                 they spend epsilon {} and delta {}",
                budget.releases, budget.epsilon_of_all, budget.delta_of_all
            ))
        }
    };
    Ok((budget, note))
}
