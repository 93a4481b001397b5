//! Normalized average class size: (released rows / classes) / k. The value 1 means that every class
//! is as small as allowed.
//!
//! k is the minimum class size that the requested models allow. A release without classes has no
//! average. It gets the worst value, rows / k.
//!
//! LeFevre, DeWitt and Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006,
//! doi:10.1109/ICDE.2006.101.

use super::measure::{Build, Measure, Metric, Subject, View};
use crate::base::catalogue::{Entry, Info};
use crate::base::error::Result;
use crate::method::lattice::Node;

#[derive(Debug)]
struct CAvg;

impl Metric for CAvg {
    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measure>> {
        Ok(Box::new(Prepared {
            k: subject.k.max(1) as f64,
            limit: subject.suppression_limit,
            rows: subject.base.rows,
        }))
    }
}

#[derive(Debug)]
struct Prepared {
    k: f64,
    limit: u64,
    rows: u64,
}

impl Prepared {
    /// Returns the minimum possible value. A released class has at least k rows. If no class is
    /// released, the value is rows / k.
    fn least(&self) -> f64 {
        (self.rows as f64 / self.k).min(1.0)
    }
}

impl Measure for Prepared {
    fn value(&self, view: &View) -> f64 {
        if view.classes == 0 {
            return self.rows as f64 / self.k;
        }
        view.released as f64 / view.classes as f64 / self.k
    }

    /// A node above has at most as many classes as this node, and an anonymous node suppresses at
    /// most as many rows as the suppression limit.
    fn floor(&self, view: &View) -> f64 {
        let least = self.rows - self.limit.min(self.rows);
        let average = least as f64 / view.set.len().max(1) as f64 / self.k * (1.0 - 1e-12);
        average.max(self.least())
    }

    fn bound(&self, _: &Node, _: u64) -> f64 {
        self.least()
    }

    fn range(&self) -> (f64, f64) {
        (self.least(), self.rows as f64 / self.k)
    }
}

/// The catalogue entry of the metric `c_avg`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "c_avg",
        summary: "average class size in multiples of k: released rows / classes / k",
        params: &[],
        example: "MINIMIZING c_avg",
        reference: "LeFevre, DeWitt and Ramakrishnan, ICDE 2006, doi:10.1109/ICDE.2006.101",
    },
    build: |_| Ok(Box::new(CAvg)),
};
