//! Spread of class sizes, S_k of the property-based generalization paper: the sum over released
//! rows of the size of their class. A higher value means more privacy.
//!
//! **Interpretation**: a suppressed row is in no class and adds nothing. Even under ENTITY, rows
//! are counted. `MINIMIZING s_k` treats higher as better, so it finds the node with the most
//! privacy, which is the top. The metric is intended for Pareto fronts, and for weighted sums
//! together with a loss.
//!
//! The bound of every node is the square of the number of rows that may be released.
//!
//! Example: `OPTIMIZING MAX s_k, MIN glm`.
//!
//! Property-based generalization paper (PBG-EA, 2010), section "Measuring quality with spread" and
//! its experiments.

use super::measure::{Build, Measure, Metric, Subject, View};
use crate::base::catalogue::{Entry, Info};
use crate::base::error::Result;
use crate::method::lattice::Node;

#[derive(Debug)]
struct SK;

impl Metric for SK {
    fn higher_is_better(&self) -> bool {
        true
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measure>> {
        Ok(Box::new(Prepared {
            rows: subject.base.rows,
            unmapped: subject.base.unmapped_rows,
        }))
    }
}

#[derive(Debug)]
struct Prepared {
    rows: u64,
    unmapped: u64,
}

impl Measure for Prepared {
    fn value(&self, view: &View) -> f64 {
        view.squares() as f64
    }

    fn bound(&self, _: &Node, suppressed: u64) -> f64 {
        let most = u128::from(self.rows.saturating_sub(suppressed.max(self.unmapped)));
        -((most * most) as f64)
    }

    fn range(&self) -> (f64, f64) {
        let rows = u128::from(self.rows);
        ((rows * rows) as f64, 0.0)
    }
}

/// The catalogue entry of the metric `s_k`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "s_k",
        summary: "spread of class sizes: the sum over released rows of the size of their class; higher is better",
        params: &[],
        example: "OPTIMIZING MAX s_k, MIN glm",
        reference: "Property-based generalization (PBG-EA, 2010)",
    },
    build: |_| Ok(Box::new(SK)),
};
