//! The decided classes, without the rows that were suppressed because of personal limits.

use crate::data::frequency::FrequencySet;
use crate::data::metric::Metric;
use crate::data::recode::{RecodingPlan, RowOutcome};
use crate::release::engine::decide::{Decision, Verdict};
use std::collections::HashMap;
use std::sync::Arc;

/// Returns the sizes of the classes that a reader can distinguish, or `None` if a reader can
/// distinguish all kept classes. Several classes can have the same mean, and several groups of
/// local recoding can have the same labels.
fn alike(recoding: &RecodingPlan, classes: &FrequencySet, verdict: &Verdict) -> Option<Arc<Vec<u64>>> {
    if verdict.partition.is_none() && !recoding.has_computed_values() {
        return None;
    }
    let mut sizes: HashMap<Vec<u64>, u64> = HashMap::new();
    for class in (0..classes.len()).filter(|class| verdict.kept[*class]) {
        *sizes.entry(recoding.order_key(classes, class)).or_default() += classes.counts()[class];
    }
    Some(Arc::new(sizes.into_values().collect()))
}

/// The classes and the verdict of a release after the personal limits were applied.
pub(in crate::release::engine) struct Settled {
    /// The released and suppressed classes with their final counts.
    pub(in crate::release::engine) classes: Arc<FrequencySet>,
    /// The verdict, with the classes that were released.
    pub(in crate::release::engine) verdict: Verdict,
    /// Whether rows were suppressed after the classes were counted.
    lost: bool,
}

impl Settled {
    /// Applies the outcome of a promise about single rows to the classes of `decision`, which are
    /// labelled by `recoding`.
    pub(super) fn new(decision: &Decision, recoding: &RecodingPlan, outcome: Option<&RowOutcome>) -> Self {
        let (classes, mut verdict) = (&decision.classes, decision.verdict.clone());
        let Some(outcome) = outcome.filter(|outcome| !outcome.lost.is_empty()) else {
            verdict.alike = alike(recoding, classes, &verdict);
            return Self {
                classes: Arc::clone(classes),
                verdict,
                lost: false,
            };
        };
        let mut lost = outcome.lost.clone();
        let mut counts = classes.counts().to_vec();
        for (class, count) in counts.iter_mut().enumerate().filter(|(class, _)| verdict.kept[*class]) {
            // Groups with the same labels were one class when rows were suppressed, so each
            // suppressed row is subtracted once.
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
        let classes = Arc::new(classes.with_counts(counts));
        verdict.alike = alike(recoding, &classes, &verdict);
        Self {
            classes,
            verdict,
            lost: outcome.suppressed > 0,
        }
    }

    /// Returns the values of `metrics` on the released rows. `metrics` must be the metrics of the
    /// evaluator of `decision`. A value is `None` if rows were suppressed after the classes were
    /// counted and the metric reads the class label or an attribute in each class.
    pub(in crate::release::engine) fn measure(&self, decision: &Decision, metrics: &[&dyn Metric]) -> Vec<Option<f64>> {
        let values = decision.evaluator.measure(&self.classes, &self.verdict);
        let known = |metric: &dyn Metric| !self.lost || !(metric.reads().class_label || metric.reads().attribute);
        let values = values.into_iter().zip(metrics);
        values.map(|(value, m)| known(*m).then_some(value)).collect()
    }
}
