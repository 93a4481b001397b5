//! The budget of a differentially private release. A release shows its smallest class, and its
//! manifest describes the sample. Nothing in the release shows how the rows were drawn.

use super::check::none_of;
use crate::data::folder::{Budget, Check, MANIFEST, Manifest};
use crate::data::model::Sampling;
use crate::release::job::Constraint;

/// Checks that a manifest's budget is consistent, that the `smallest` class of the release has the
/// number of rows that the budget requires, and that the manifest omits the figures that the model
/// hides.
pub(super) fn figures(manifest: &Manifest, budget: &Budget, smallest: Option<u64>) -> [Check; 3] {
    // A budget that no statement can request has no minimum class size.
    let sampling = Sampling::new(budget.epsilon, budget.delta, Some(budget.beta)).ok();
    let adds_up = budget.epsilon_of_all >= budget.epsilon && budget.delta_of_all >= budget.delta && budget.releases > 0;
    let least = sampling.filter(|_| adds_up).map(|s| s.k);
    let told = [manifest.rows_in.is_some(), manifest.rows_suppressed.is_some()];
    let told = told.map(u64::from).iter().sum::<u64>() + (manifest.metrics.len() + manifest.input.len()) as u64;
    [
        Check {
            check: format!("rows of a class for the budget of {MANIFEST}"),
            required: least.map_or(f64::INFINITY, |k| k as f64),
            reached: Some(budget.k as f64),
            ok: least.is_some_and(|k| budget.k >= k),
        },
        Check {
            check: format!("smallest class for the budget of {MANIFEST}"),
            required: budget.k as f64,
            reached: smallest.map(|n| n as f64),
            ok: smallest.is_none_or(|n| n >= budget.k),
        },
        none_of(format!("figures of the source in {MANIFEST}"), told),
    ]
}

/// Checks that each of `constraints` allows the budget that a release with a manifest has spent.
/// Also describes the properties that cannot be checked.
pub(super) fn check(constraints: &[Constraint], manifest: Option<&Manifest>) -> (Vec<Check>, Vec<String>) {
    let spent = manifest.and_then(|m| m.differential_privacy.as_ref());
    let mut checks = vec![];
    let mut is_sample = spent.is_some();
    for constraint in constraints {
        let Some(allowed) = constraint.sampling() else {
            continue;
        };
        is_sample = true;
        let of = |what: &str, required: f64, reached: Option<f64>| Check {
            check: format!("{what} of the release for {}", constraint.call),
            required,
            reached,
            ok: reached.is_some_and(|reached| reached <= required),
        };
        if manifest.is_some() {
            checks.push(of("epsilon", allowed.epsilon, spent.map(|b| b.epsilon)));
            checks.push(of("delta", allowed.delta, spent.map(|b| b.delta)));
        }
    }
    let unread = is_sample.then(|| "how the rows were drawn, which no release shows".to_string());
    (checks, unread.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests that a budget of 17 digits is read from a manifest exactly as it was written. A
    /// rounded number could exceed an allowed budget that is written with the same digits.
    #[test]
    fn a_budget_is_read_as_it_was_written() {
        let budgets = (0..500).map(|i| 0.3 + f64::from(i) / 777.0);
        for epsilon in budgets {
            let written = Budget {
                epsilon,
                delta: epsilon * 1e-6,
                beta: 0.1,
                k: 9,
                mechanism: String::new(),
                releases: 1,
                epsilon_of_all: epsilon,
                delta_of_all: epsilon * 1e-6,
            };
            let text = serde_json::to_string_pretty(&written).unwrap();
            let read: Budget = serde_json::from_str(&text).unwrap();
            assert_eq!((read.epsilon, read.delta), (epsilon, epsilon * 1e-6));
        }
    }
}
