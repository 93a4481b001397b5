//! Information left: the share of its hierarchy that each released value still excludes. Higher is
//! better.
//!
//! ILeft(v) = 1 - (leaves under v - 1) / (leaves of the hierarchy). The metric is the mean over
//! rows and quasi-identifiers. **Interpretation**: the paper's tuples have the sensitive attribute
//! as one more dimension. A release keeps this attribute unchanged, so only quasi-identifiers are
//! counted. A suppressed cell is released as the top, and keeps the information of the top: 1 /
//! leaves. WEIGHT multiplies the cells of a column. The divisor is then rows times the sum of the
//! weights.
//!
//! Without suppression, the metric never rises as values are generalized, so its value at a node is
//! an upper bound for every node above.
//!
//! Example: `MINIMIZING ileft` looks for the node with the most information left.
//!
//! Personalized privacy paper (2015), definitions 9 to 11.

use super::cells;
use super::cells::{CellMean, CellSum, LossUnit};
use super::measure::{Build, Measure, Metric, Reads, Subject};
use crate::base::catalogue::{Entry, Info};
use crate::base::error::Result;

#[derive(Debug)]
struct ILeft;

impl Metric for ILeft {
    fn reads(&self) -> Reads {
        cells::READS
    }

    fn higher_is_better(&self) -> bool {
        true
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measure>> {
        let leaves = |column: usize| subject.base.key_schema.lookup(column).total_leaves().max(1);
        let cells = CellSum::new(
            subject,
            LossUnit::of_fractions(subject, leaves),
            |_, lookup, label| {
                let under = label.leaves(lookup);
                under.saturating_sub(1) as f64 / lookup.total_leaves().max(1) as f64
            },
            |column| (leaves(column) - 1) as f64 / leaves(column) as f64,
        );
        Ok(Box::new(CellMean::left(subject, cells)))
    }
}

/// The catalogue entry of the metric `ileft`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "ileft",
        summary: "information left: the share of its hierarchy that each released value excludes; higher is better",
        params: &[],
        example: "MINIMIZING ileft",
        reference: "Personalized privacy (2015), definitions 9 to 11",
    },
    build: |_| Ok(Box::new(ILeft)),
};
