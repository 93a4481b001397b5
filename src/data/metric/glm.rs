//! General loss metric: the share of its hierarchy that each released value spans.
//!
//! The sum over cells of (leaves under v - 1) / (leaves of the hierarchy - 1), divided by rows
//! times quasi-identifiers. A suppressed row costs 1 per quasi-identifier. The value is between 0
//! (nothing lost) and 1. A column with a single ground value costs 0 in released rows. With
//! POPULATION, the values of the population are also ground values. WEIGHT multiplies the cells of
//! a column. The divisor is then rows times the sum of the weights.
//!
//! Without suppression, the metric never falls as values are generalized, so its value at a node is
//! a lower bound for every node above.
//!
//! Iyengar, Transforming data to satisfy privacy constraints, KDD 2002, doi:10.1145/775047.775089.

use super::cells;
use super::cells::{CellMean, CellSum, LossUnit};
use super::measure::{Build, Measure, Metric, Reads, Subject};
use crate::base::catalogue::{Entry, Info};
use crate::base::error::Result;

#[derive(Debug)]
struct Glm;

impl Metric for Glm {
    fn reads(&self) -> Reads {
        cells::READS
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measure>> {
        let spans = |column: usize| subject.base.key_schema.lookup(column).total_leaves().saturating_sub(1);
        let cells = CellSum::new(
            subject,
            LossUnit::of_fractions(subject, |c| spans(c).max(1)),
            |_, lookup, label| {
                let spans = lookup.total_leaves().saturating_sub(1).max(1);
                label.leaves(lookup).saturating_sub(1) as f64 / spans as f64
            },
            // A released cell in a column with a single ground value loses nothing, but a
            // suppressed row still loses its cell.
            |_| 1.0,
        );
        Ok(Box::new(CellMean::loss(subject, cells)))
    }
}

/// The catalogue entry of the metric `glm`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "glm",
        summary: "general loss: the share of its hierarchy that each released value spans, from 0 to 1",
        params: &[],
        example: "MINIMIZING glm",
        reference: "Iyengar, KDD 2002, doi:10.1145/775047.775089",
    },
    build: |_| Ok(Box::new(Glm)),
};
