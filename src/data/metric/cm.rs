//! Classification metric: the rows that a classifier trained on the release would classify wrongly.
//!
//! The share of rows that are suppressed or lack the majority label of their equivalence class. Of
//! equally frequent labels, the smallest counts as the majority label. The choice does not change
//! the number of rows outside the majority. The label is the column named in CLASS. NULL is a
//! label.
//!
//! The number of rows outside the majority never falls as values are generalized, whichever classes
//! are suppressed, because suppressed rows count too. So the number at a node is a lower bound for
//! every node above.
//!
//! Example: `CLASS (outcome) ... MINIMIZING cm`.
//!
//! Iyengar, Transforming data to satisfy privacy constraints, KDD 2002, doi:10.1145/775047.775089.

use super::measure::{Build, Measure, Metric, Reads, Subject, View};
use crate::base::catalogue::{Entry, Info};
use crate::base::error::{Error, Result};
use crate::data::frequency::{BaseSet, FrequencySet};
use crate::method::lattice::Node;

#[derive(Debug)]
struct Cm;

impl Metric for Cm {
    fn reads(&self) -> Reads {
        Reads {
            class_label: true,
            ..Reads::default()
        }
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measure>> {
        let label = subject
            .label
            .ok_or_else(|| Error::usage("cm needs a class label: write CLASS (column)"))?;
        // If combinations are in files, the rows of each label are not known here.
        let minority: u64 = match &subject.base.set {
            BaseSet::Held(set) => (0..set.len()).map(|i| outvoted(set, label, i)).sum(),
            BaseSet::Spilled(_) => 0,
        };
        Ok(Box::new(Prepared {
            label,
            rows: subject.base.rows,
            unmapped: subject.base.unmapped_rows,
            least: minority + subject.base.unmapped_rows,
        }))
    }
}

/// Returns the number of rows outside the majority label of the class at index `class`.
fn outvoted(set: &FrequencySet, label: usize, class: usize) -> u64 {
    let majority = set.details()[label].class(class).map(|(_, n)| n).max().unwrap_or(0);
    set.counts()[class] - majority
}

#[derive(Debug)]
struct Prepared {
    label: usize,
    rows: u64,
    unmapped: u64,
    /// A lower bound on the number of rows that the metric counts at any node: the unmapped rows,
    /// plus the rows outside the majority at the bottom of the lattice if these are known.
    least: u64,
}

impl Prepared {
    fn share(&self, rows: f64) -> f64 {
        rows / (self.rows as f64).max(1.0)
    }
}

impl Measure for Prepared {
    fn value(&self, view: &View) -> f64 {
        let outvoted = view.sum_kept(|i, _| u128::from(outvoted(view.set, self.label, i)));
        self.share(outvoted as f64 + view.suppressed as f64)
    }

    fn floor(&self, view: &View) -> f64 {
        let all: u64 = (0..view.set.len()).map(|i| outvoted(view.set, self.label, i)).sum();
        self.share((all + self.unmapped) as f64)
    }

    fn bound(&self, _: &Node, suppressed: u64) -> f64 {
        self.share(self.least.max(suppressed) as f64)
    }

    fn range(&self) -> (f64, f64) {
        (0.0, 1.0)
    }
}

/// The catalogue entry of the metric `cm`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "cm",
        summary: "classification: the share of rows that are suppressed or lack their class's majority label",
        params: &[],
        example: "MINIMIZING cm",
        reference: "Iyengar, KDD 2002, doi:10.1145/775047.775089",
    },
    build: |_| Ok(Box::new(Cm)),
};
