//! Releases from which few rows are suppressed: the minimum number of persons whose values a figure
//! may describe, and the rounding of the values that the models reached.

use crate::data::folder::Check;
use crate::data::model::{Comparison, Relation};
use crate::method::utility::LEAST_PERSONS;
use crate::release::job::{Constraint, Job};

/// Returns the minimum class size that the models require, counted in entities if the job has an
/// entity. Returns `None` if the models allow any size.
pub(super) fn required_class_size(job: &Job) -> Option<u64> {
    let full = job.guarantees.constraints.iter().filter(|c| c.is_of_classes());
    let least = |c: &Constraint| match job.input.entity {
        Some(_) => c.model.min_class_entities(),
        None => c.model.min_class_size(),
    };
    full.map(least).max().filter(|k| *k > 1)
}

/// Returns the minimum number of persons on whose values a figure of the report must be based.
pub(super) fn least_persons(job: &Job) -> u64 {
    required_class_size(job).map_or(LEAST_PERSONS, |k| k.max(LEAST_PERSONS))
}

/// Returns true if a comparison of classes with the source describes the values of few persons:
/// rows are suppressed, and they may belong to fewer persons than the minimum.
pub(super) fn is_of_few(job: &Job, suppressed: u64) -> bool {
    suppressed > 0 && (job.input.entity.is_some() || suppressed < least_persons(job))
}

/// Returns the checks as the manifest and the report give them. A value that a model reached by a
/// comparison with the source is rounded if it describes the values of few persons. A rounded value
/// is never better than the value itself.
pub(super) fn told(job: &Job, checks: &[Check], suppressed: u64) -> Vec<Check> {
    let mut told = checks.to_vec();
    if is_of_few(job, suppressed) {
        // The checks of the models come first, in the order of the models.
        for (constraint, check) in job.guarantees.constraints.iter().zip(&mut told) {
            if constraint.model.reads().whole {
                let comparison = constraint.model.audit(&Relation::default()).comparison;
                let required = check.required;
                check.reached = check.reached.map(|reached| rounded(reached, required, comparison));
            }
        }
    }
    told
}

/// Returns `reached` with two decimals, rounded toward the required value, but not beyond it. If
/// the value must be below the required value, it gets as many decimals as this needs.
fn rounded(reached: f64, required: f64, comparison: Comparison) -> f64 {
    match comparison {
        Comparison::AtMost => rounded_up(reached, 2).min(required.max(reached)),
        Comparison::AtLeast => (-rounded_up(-reached, 2)).max(required.min(reached)),
        Comparison::Below => {
            let mut rounded = (2..9).map(|decimals| rounded_up(reached, decimals));
            rounded.find(|value| *value < required).unwrap_or(reached)
        }
    }
}

/// Returns the least number with this number of decimals that is not below `value`.
fn rounded_up(value: f64, decimals: i32) -> f64 {
    let scale = 10.0_f64.powi(decimals);
    let nearest = (value * scale).round();
    match nearest / scale < value {
        true => (nearest + 1.0) / scale,
        false => nearest / scale,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rounded_value_claims_no_more_than_the_release_reached() {
        let at_most = |reached, required| rounded(reached, required, Comparison::AtMost);
        for (reached, expected) in [
            (0.520_512_821, 0.53),
            (0.521, 0.53),
            (0.52, 0.52),
            (0.29, 0.29),
            (0.0, 0.0),
        ] {
            assert_eq!(at_most(reached, 0.9), expected, "{reached}");
        }
        // The next number with two decimals is beyond the required value.
        assert_eq!(at_most(0.123, 0.125), 0.125);
        assert_eq!(at_most(0.125, 0.125), 0.125);
        assert_eq!(at_most(0.125 + 1e-13, 0.125), 0.125 + 1e-13);
        let at_least = |reached, required| rounded(reached, required, Comparison::AtLeast);
        assert_eq!((at_least(2.347, 2.0), at_least(2.347, 2.345)), (2.34, 2.345));
        let below = |reached, required| rounded(reached, required, Comparison::Below);
        assert_eq!((below(0.683_147_181, 0.8), below(0.683_147_181, 0.69)), (0.69, 0.684));
        assert_eq!(below(f64::INFINITY, f64::INFINITY), f64::INFINITY);
    }

    #[test]
    fn every_rounded_value_keeps_the_promise() {
        for thousandths in 0..2_000_u32 {
            let reached = f64::from(thousandths) / 1_000.0;
            for required in [reached, reached + 0.000_5, reached + 0.2] {
                let told = rounded(reached, required, Comparison::AtMost);
                assert!(told >= reached && told <= required && told - reached < 0.01, "{told}");
            }
            let told = rounded(reached, reached + 0.000_5, Comparison::Below);
            assert!(told >= reached && told < reached + 0.000_5, "{told}");
        }
    }
}
