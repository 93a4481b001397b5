//! Non-uniform entropy: the bits that generalization removes from each cell.
//!
//! The sum over cells of -log2(n(ground value) / n(generalized value)), where n counts rows over
//! the whole column. A suppressed cell costs -log2(n(ground value) / rows). WEIGHT multiplies the
//! cells of a column.
//!
//! The ground values contribute the same amount at every node. So the loss of a cell is computed as
//! log2 n(generalized value), and the amount of the ground values is subtracted once. Without
//! suppression, the metric never falls as values are generalized.
//!
//! Gionis and Tassa, k-Anonymization with minimal loss of information, TKDE 2009,
//! doi:10.1109/TKDE.2008.129.

use super::cells;
use super::cells::{CellSum, LossUnit};
use super::measure::{Build, Measure, Metric, Reads, Subject, View};
use crate::base::catalogue::{Entry, Info};
use crate::base::error::Result;
use crate::method::hierarchy::Label;
use crate::method::lattice::Node;

#[derive(Debug)]
struct Entropy;

impl Metric for Entropy {
    fn reads(&self) -> Reads {
        cells::READS
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measure>> {
        let base = subject.base;
        // For each column, level and label: the number of rows.
        let by_label: Vec<Vec<Vec<u64>>> = base
            .key_schema
            .lookups()
            .iter()
            .zip(&base.marginals)
            .map(|(lookup, marginals)| {
                let count = |level: &crate::method::hierarchy::Level| {
                    let mut rows = vec![0; level.labels.len()];
                    level
                        .codes
                        .iter()
                        .zip(marginals)
                        .for_each(|(label, n)| rows[*label as usize] += n);
                    rows
                };
                lookup.levels().iter().map(count).collect()
            })
            .collect();
        // For each column and code: the number of rows with smaller codes.
        let below: Vec<Vec<u64>> = base.marginals.iter().map(|m| running_sums(m)).collect();
        let cells = CellSum::new(
            subject,
            LossUnit::FIXED_POINT,
            move |column, lookup, label| {
                let rows = match label {
                    Label::Level { level, code } => {
                        let label = lookup.level(level).codes[code as usize];
                        by_label[column][usize::from(level)][label as usize]
                    }
                    Label::Range { low, high } | Label::Rounded { low, high } => {
                        below[column][high as usize + 1] - below[column][low as usize]
                    }
                };
                (rows.max(1) as f64).log2()
            },
            |_| (base.rows.max(1) as f64).log2(),
        );
        let ground = CellSum::bound(&cells, base.key_schema.ground(), 0);
        Ok(Box::new(Prepared {
            cells,
            ground,
            rows: base.rows,
        }))
    }
}

/// Returns the sums of the first 0, 1, 2, ... values, up to all values.
fn running_sums(values: &[u64]) -> Vec<u64> {
    let mut sum = 0;
    let sums = values.iter().map(|n| {
        sum += n;
        sum
    });
    Some(0).into_iter().chain(sums).collect()
}

#[derive(Debug)]
struct Prepared {
    cells: CellSum,
    ground: f64,
    rows: u64,
}

impl Measure for Prepared {
    fn value(&self, view: &View) -> f64 {
        self.cells.sum(view) - self.ground
    }

    fn bound(&self, node: &Node, suppressed: u64) -> f64 {
        self.cells.bound(node, suppressed) - self.ground
    }

    fn excess_is_monotone(&self) -> bool {
        // The cost of a node exceeds its floor by the additional loss of suppressed rows over their
        // generalized cells. This excess never grows as values are generalized.
        true
    }

    fn range(&self) -> (f64, f64) {
        (0.0, self.cells.worst(self.rows) - self.ground)
    }
}

/// The catalogue entry of the metric `entropy`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "entropy",
        summary: "non-uniform entropy: bits that generalization and suppression take from the cells",
        params: &[],
        example: "MINIMIZING entropy",
        reference: "Gionis and Tassa, TKDE 2009, doi:10.1109/TKDE.2008.129",
    },
    build: |_| Ok(Box::new(Entropy)),
};
