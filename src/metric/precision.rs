//! Precision: how low in their hierarchies the released cells are. Higher is better.
//!
//! 1 - the sum over cells of level / highest level, divided by rows times quasi-identifiers. **Reading**: a suppressed
//! cell is shown as the top, and counts as one. WEIGHT multiplies a column's cells; the divisor is then rows times the
//! sum of the weights.
//!
//! Sweeney, Achieving k-anonymity privacy protection using generalization and suppression, IJUFKS 2002,
//! doi:10.1142/S021848850200165X.

use super::cells::{CellSum, Unit, share};
use super::{Build, Measure, Metric, Reads, Subject, View};
use crate::catalogue::{Entry, Info};
use crate::error::Result;
use crate::lattice::Node;

#[derive(Debug)]
struct Precision;

impl Metric for Precision {
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
        let tops = subject.base.space.lookups().iter().map(|l| u64::from(l.top()).max(1));
        let unit = if subject.weights.iter().all(|w| w.fract() == 0.0) {
            Unit::common(tops)
        } else {
            None
        };
        let cells = CellSum::new(
            subject,
            unit.unwrap_or(Unit::FIXED_POINT),
            |_, lookup, level, _| f64::from(level) / f64::from(lookup.top().max(1)),
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
        1.0 - share(self.cells.sum(view), self.divisor)
    }

    fn bound(&self, node: &Node, suppressed: u64) -> f64 {
        share(self.cells.bound(node, suppressed), self.divisor) - 1.0
    }

    fn excess_is_monotone(&self) -> bool {
        // What a node costs beyond its floor is what suppressed rows lose beyond their cells, which only shrinks upwards.
        true
    }

    fn range(&self) -> (f64, f64) {
        (1.0, 0.0)
    }
}

/// The catalogue entry.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "precision",
        summary: "how low in their hierarchies the released cells are, from 0 to 1; higher is better",
        params: &[],
        example: "MINIMIZING precision",
        reference: "Sweeney, IJUFKS 2002, doi:10.1142/S021848850200165X",
    },
    build: |_| Ok(Box::new(Precision)),
};
