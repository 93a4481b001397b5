//! The decided classes without the rows that were suppressed for their own limits.

use crate::engine::decide::{Decision, Verdict};
use crate::frequency::FrequencySet;
use crate::metric::Metric;
use crate::recode::RecodingPlan;
use crate::recode::personal::Outcome;
use std::sync::Arc;

/// The decided classes as they were released.
pub(in crate::engine) struct Settled {
    /// The classes.
    pub(in crate::engine) classes: Arc<FrequencySet>,
    /// Which of them were released.
    pub(in crate::engine) verdict: Verdict,
    /// Whether rows were suppressed since the classes were counted.
    lost: bool,
}

impl Settled {
    /// The classes of `decision`, labelled by `recoding`, after what came of rows with limits of their own.
    pub(super) fn new(decision: &Decision, recoding: &RecodingPlan, outcome: Option<&Outcome>) -> Self {
        let (classes, mut verdict) = (&decision.classes, decision.verdict.clone());
        let Some(outcome) = outcome.filter(|outcome| !outcome.lost.is_empty()) else {
            return Self {
                classes: Arc::clone(classes),
                verdict,
                lost: false,
            };
        };
        let mut lost = outcome.lost.clone();
        let mut counts = classes.counts().to_vec();
        for (class, count) in counts.iter_mut().enumerate().filter(|(class, _)| verdict.kept[*class]) {
            // Groups with the same labels were one class when rows were suppressed: each row is taken off once.
            if let Some(left) = lost.get_mut(&recoding.order_key(classes, class)) {
                let taken = (*left).min(*count);
                *left -= taken;
                *count -= taken;
            }
        }
        verdict
            .kept
            .iter_mut()
            .zip(&counts)
            .for_each(|(kept, n)| *kept &= *n > 0);
        verdict.classes -= outcome.classes;
        verdict.released -= outcome.suppressed;
        verdict.suppressed += outcome.suppressed;
        Self {
            classes: Arc::new(classes.with_counts(counts)),
            verdict,
            lost: outcome.suppressed > 0,
        }
    }

    /// The values of the metrics that `decision` was judged by, in their order, on what is released; `None` where a metric
    /// reads the values of a further column in each class, of which some were suppressed since they were counted.
    pub(in crate::engine) fn measure(&self, decision: &Decision, metrics: &[&dyn Metric]) -> Vec<Option<f64>> {
        let values = decision.evaluator.measure(&self.classes, &self.verdict);
        let known = |metric: &dyn Metric| !self.lost || !(metric.reads().class_label || metric.reads().attribute);
        let values = values.into_iter().zip(metrics);
        values.map(|(value, m)| known(*m).then_some(value)).collect()
    }
}
