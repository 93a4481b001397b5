//! Discernibility: each row costs the number of rows from which it is indistinguishable.
//!
//! The sum of f^2 over released classes, plus the sum of f times the rows of the table over
//! suppressed classes, where f is the size of a class. **Interpretation**: the tabu search papers
//! say in one place that a greater DM is better. Their fitness 1/DM treats lower as better, as does
//! this metric.
//!
//! Classes only merge as values are generalized, so the sum of the squared sizes of *all* classes
//! of a node is a lower bound for every node above.
//!
//! Bayardo and Agrawal, Data privacy through optimal k-anonymization, ICDE 2005,
//! doi:10.1109/ICDE.2005.42.

use super::measure::{Build, Measure, Metric, Subject, View};
use crate::base::catalogue::{Entry, Info};
use crate::base::error::Result;
use crate::method::key::KeySchema;
use crate::method::lattice::Node;
use std::sync::Arc;

#[derive(Debug)]
struct Dm;

impl Metric for Dm {
    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measure>> {
        Ok(Box::new(Prepared {
            key_schema: Arc::clone(&subject.base.key_schema),
            unmapped: subject.base.unmapped_rows,
            base_classes: subject.base.combinations(),
            rows: subject.base.rows,
            k: subject.k.max(1),
        }))
    }
}

#[derive(Debug)]
struct Prepared {
    key_schema: Arc<KeySchema>,
    /// The number of rows that no node releases, because no hierarchy maps them.
    unmapped: u64,
    /// An upper bound on the number of classes at the bottom.
    base_classes: u64,
    rows: u64,
    k: u64,
}

impl Measure for Prepared {
    fn value(&self, view: &View) -> f64 {
        (view.squares() + u128::from(view.suppressed) * u128::from(self.rows)) as f64
    }

    fn floor(&self, view: &View) -> f64 {
        let squares: u128 = view.set.counts().iter().map(|n| u128::from(*n) * u128::from(*n)).sum();
        let squares = squares + u128::from(self.unmapped) * u128::from(self.rows);
        squares as f64
    }

    /// The rows are spread over at most as many classes as the node can have. Each suppressed row
    /// costs the number of rows of the table. If rows other than the unmapped rows are suppressed,
    /// each released row is in a class of at least k rows. Otherwise k is ignored, so that the
    /// bound does not exceed the floor.
    fn bound(&self, node: &Node, suppressed: u64) -> f64 {
        let labels = |(column, level): (usize, &u8)| self.key_schema.lookup(column).level(*level).labels.len() as u64;
        let possible = node
            .levels()
            .iter()
            .enumerate()
            .map(labels)
            .fold(1u64, u64::saturating_mul);
        let classes = possible.min(self.base_classes).max(1);
        let rows = self.rows as f64;
        let least = suppressed.max(self.unmapped);
        let (suppressed, released) = (least as f64, (self.rows - least.min(self.rows)) as f64);
        if classes == 1 && least > self.unmapped {
            // The only class is either entirely released or entirely suppressed.
            return rows * rows;
        }
        let mut squares = released * released / classes as f64;
        if least > self.unmapped {
            squares = squares.max(released * (self.k as f64).min(rows));
        }
        // Rounding must not raise the bound above the true value.
        (squares + suppressed * rows) * (1.0 - 1e-12)
    }

    fn excess_is_monotone(&self) -> bool {
        // The cost of a node exceeds its floor by f * (rows - f) for each suppressed class.
        true
    }

    fn range(&self) -> (f64, f64) {
        let rows = self.rows as f64;
        (rows, rows * rows)
    }
}

/// The catalogue entry of the metric `dm`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "dm",
        summary: "discernibility: the sum of f^2 over kept classes, and of f times all rows over suppressed classes",
        params: &[],
        example: "MINIMIZING dm",
        reference: "Bayardo and Agrawal, ICDE 2005, doi:10.1109/ICDE.2005.42",
    },
    build: |_| Ok(Box::new(Dm)),
};
