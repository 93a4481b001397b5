//! General loss metric: how much of its hierarchy each released value spans.
//!
//! The sum over cells of (leaves under v - 1) / (leaves of the hierarchy - 1), a suppressed row costing 1 per
//! quasi-identifier, divided by rows times quasi-identifiers; from 0 (nothing lost) to 1. A column with a single
//! ground value costs 0. WEIGHT multiplies a column's cells; the divisor is then rows times the sum of the weights.
//!
//! Never falls along generalization without suppression, which bounds every node above.
//!
//! Iyengar, Transforming data to satisfy privacy constraints, KDD 2002, doi:10.1145/775047.775089.

use super::cells::{CellSum, Unit, share};
use super::{Build, Measure, Metric, Reads, Subject, View};
use crate::catalogue::{Entry, Info};
use crate::error::Result;
use crate::lattice::Node;

#[derive(Debug)]
struct Glm;

impl Metric for Glm {
    fn reads(&self) -> Reads {
        Reads {
            weights: true,
            ..Reads::default()
        }
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measure>> {
        let spans = |column: usize| subject.base.space.lookup(column).total_leaves().saturating_sub(1);
        let unit = match subject.weights.iter().all(|w| w.fract() == 0.0) {
            true => Unit::common((0..subject.weights.len()).map(|c| spans(c).max(1))),
            false => None,
        };
        let cells = CellSum::new(
            subject,
            unit.unwrap_or(Unit::FIXED_POINT),
            |column, lookup, level, code| {
                let level = lookup.level(level);
                let leaves = level.leaves[level.codes[code as usize] as usize];
                leaves.saturating_sub(1) as f64 / spans(column).max(1) as f64
            },
            // A single ground value has nothing to lose, but a suppressed row still loses its cell.
            |_| 1.0,
        );
        Ok(Box::new(Prepared {
            cells,
            divisor: subject.base.rows as f64 * subject.weights.iter().sum::<f64>(),
        }))
    }
}

#[derive(Debug)]
struct Prepared {
    cells: CellSum,
    divisor: f64,
}

impl Measure for Prepared {
    fn value(&self, view: &View) -> f64 {
        share(self.cells.sum(view), self.divisor)
    }

    fn bound(&self, node: &Node, suppressed: u64) -> f64 {
        share(self.cells.bound(node, suppressed), self.divisor)
    }

    fn excess_is_monotone(&self) -> bool {
        // What a node costs beyond its floor is what suppressed rows lose beyond their cells, which only shrinks upwards.
        true
    }

    fn range(&self) -> (f64, f64) {
        (0.0, 1.0)
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
