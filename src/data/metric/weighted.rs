//! A weighted sum of normalized metrics: `0.7 * glm + 0.3 * cm`.
//!
//! Each metric is scaled from 0, its ideal value on this table, to 1, its worst value
//! ([`super::Measure::range`]). So lower is better for every term, independent of the direction and
//! unit of its metric. The value is the sum of weight times term. The weighted sum of the terms'
//! scaled floors is a floor of the sum, and the weighted sum of their scaled bounds is a bound of
//! the sum. So the sum is monotone if its terms are.

use super::measure::{Measure, Metric, Reads, Subject, View};
use crate::base::error::{Error, Result};
use crate::method::lattice::Node;

/// A metric that is a weighted sum of normalized metrics.
#[derive(Debug)]
pub struct Weighted {
    terms: Vec<(f64, Box<dyn Metric>)>,
}

impl Weighted {
    /// Creates the weighted sum of `terms`, each a weight and a metric. Fails if `terms` is empty,
    /// or if a weight is not a finite number above 0.
    pub fn try_new(terms: Vec<(f64, Box<dyn Metric>)>) -> Result<Self> {
        if terms.is_empty() {
            return Err(Error::usage("a weighted sum needs at least one metric"));
        }
        match terms.iter().find(|(weight, _)| !(weight.is_finite() && *weight > 0.0)) {
            Some((weight, _)) => Err(Error::usage(format!(
                "the weight of a metric must be a number above 0, not {weight}"
            ))),
            None => Ok(Self { terms }),
        }
    }
}

impl Metric for Weighted {
    fn reads(&self) -> Reads {
        let reads = self.terms.iter().map(|(_, metric)| metric.reads());
        reads.fold(Reads::default(), |a, b| Reads {
            class_label: a.class_label || b.class_label,
            attribute: a.attribute || b.attribute,
            weights: a.weights || b.weights,
            levels: a.levels || b.levels,
        })
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measure>> {
        let terms = self.terms.iter().map(|(weight, metric)| {
            let measure = metric.prepare(subject)?;
            Ok(Term {
                weight: *weight,
                range: measure.range(),
                sign: if metric.higher_is_better() { -1.0 } else { 1.0 },
                measure,
            })
        });
        Ok(Box::new(Prepared {
            terms: terms.collect::<Result<_>>()?,
        }))
    }
}

#[derive(Debug)]
struct Term {
    weight: f64,
    /// The ideal and the worst value.
    range: (f64, f64),
    /// The factor that converts a cost to a value: -1 if higher is better, otherwise 1.
    sign: f64,
    measure: Box<dyn Measure>,
}

impl Term {
    /// Returns the weight of the term times `value`, scaled to the range from 0 (ideal) to 1
    /// (worst).
    fn scaled(&self, value: f64) -> f64 {
        let (ideal, worst) = self.range;
        if ideal == worst {
            return 0.0;
        }
        self.weight * ((value - ideal) / (worst - ideal)).clamp(0.0, 1.0)
    }
}

#[derive(Debug)]
struct Prepared {
    terms: Vec<Term>,
}

impl Measure for Prepared {
    fn value(&self, view: &View) -> f64 {
        self.terms.iter().map(|t| t.scaled(t.measure.value(view))).sum()
    }

    fn floor(&self, view: &View) -> f64 {
        self.terms
            .iter()
            .map(|t| t.scaled(t.sign * t.measure.floor(view)))
            .sum()
    }

    fn bound(&self, node: &Node, suppressed: u64) -> f64 {
        let bound = |t: &Term| t.scaled(t.sign * t.measure.bound(node, suppressed));
        self.terms.iter().map(bound).sum()
    }

    fn range(&self) -> (f64, f64) {
        (0.0, self.terms.iter().map(|t| t.weight).sum())
    }
}
