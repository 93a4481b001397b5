//! Information left: how much of its hierarchy each released value still excludes. Higher is better.
//!
//! ILeft(v) = 1 - (leaves under v - 1) / (leaves of the hierarchy); the mean over rows and quasi-identifiers.
//! **Reading**: the paper's tuples have the sensitive attribute as one dimension more; a release keeps it as it is, so
//! only quasi-identifiers are counted. A suppressed cell is shown as the top, and keeps what the top keeps, 1 / leaves.
//! WEIGHT multiplies a column's cells; the divisor is then rows times the sum of the weights.
//!
//! Never rises along generalization without suppression, which bounds every node above.
//!
//! Example: `MINIMIZING ileft` looks for the node with the most information left.
//!
//! Personalized privacy paper (2015), definitions 9 to 11.

use super::cells::{CellSum, Unit, share};
use super::{Build, Measure, Metric, Reads, Subject, View};
use crate::catalogue::{Entry, Info};
use crate::error::Result;
use crate::lattice::Node;

#[derive(Debug)]
struct ILeft;

impl Metric for ILeft {
    fn reads(&self) -> Reads {
        Reads {
            weights: true,
            ..Reads::default()
        }
    }

    fn higher_is_better(&self) -> bool {
        true
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measure>> {
        let leaves = |column: usize| subject.base.space.lookup(column).total_leaves().max(1);
        let unit = match subject.weights.iter().all(|w| w.fract() == 0.0) {
            true => Unit::common((0..subject.weights.len()).map(leaves)),
            false => None,
        };
        let cells = CellSum::new(
            subject,
            unit.unwrap_or(Unit::FIXED_POINT),
            |column, lookup, level, code| {
                let level = lookup.level(level);
                let under = level.leaves[level.codes[code as usize] as usize];
                under.saturating_sub(1) as f64 / leaves(column) as f64
            },
            |column| (leaves(column) - 1) as f64 / leaves(column) as f64,
        );
        let rows = subject.base.rows;
        let divisor = rows as f64 * subject.weights.iter().sum::<f64>();
        Ok(Box::new(Prepared {
            worst: 1.0 - share(cells.worst(rows), divisor),
            cells,
            divisor,
        }))
    }
}

#[derive(Debug)]
struct Prepared {
    cells: CellSum,
    divisor: f64,
    worst: f64,
}

impl Measure for Prepared {
    fn value(&self, view: &View) -> f64 {
        1.0 - share(self.cells.sum(view), self.divisor)
    }

    fn bound(&self, node: &Node, suppressed: u64) -> f64 {
        share(self.cells.bound(node, suppressed), self.divisor) - 1.0
    }

    fn range(&self) -> (f64, f64) {
        (1.0, self.worst)
    }
}

/// The catalogue entry.
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
