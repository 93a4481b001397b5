//! General loss metric: how much of its hierarchy each released value spans.
//!
//! The sum over cells of (leaves under v - 1) / (leaves of the hierarchy - 1), a suppressed row costing 1 per
//! quasi-identifier, divided by rows times quasi-identifiers; from 0 (nothing lost) to 1. A column with a single
//! ground value costs 0; with POPULATION its values are ground values too. WEIGHT multiplies a column's cells; the divisor is then rows times the sum of the weights.
//!
//! Never falls along generalization without suppression, which bounds every node above.
//!
//! Iyengar, Transforming data to satisfy privacy constraints, KDD 2002, doi:10.1145/775047.775089.

use super::cells;
use super::cells::{CellMean, CellSum, Unit};
use super::measure::{Build, Measure, Metric, Reads, Subject};
use crate::catalogue::{Entry, Info};
use crate::error::Result;

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
            Unit::of_fractions(subject, |c| spans(c).max(1)),
            |_, lookup, label| {
                let spans = lookup.total_leaves().saturating_sub(1).max(1);
                label.leaves(lookup).saturating_sub(1) as f64 / spans as f64
            },
            // A single ground value has nothing to lose, but a suppressed row still loses its cell.
            |_| 1.0,
        );
        Ok(Box::new(CellMean::loss(subject, cells)))
    }
}

/// The catalogue entry.
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
