//! Information loss of the MADARS paper: the share of its column's range that each released value
//! covers.
//!
//! The weights are scaled to add up to 1. The value is the sum over quasi-identifiers of the weight
//! times the mean over rows of this share:
//! - In a column of numbers, dates or timestamps: (upper - lower) / range, from the lowest to the
//!   highest ground value under the released value.
//! - In any other column: (leaves under v - 1) / (leaves - 1).
//!
//! The value is between 0 and 1. **Interpretation**: a suppressed row covers the whole of every
//! column and costs 1. NULL has no extent. A column without a range costs 0 in released rows.
//! Without suppression, the metric never falls as values are generalized, so its value at a node is
//! a lower bound for every node above.
//!
//! Example: `MINIMIZING infoloss`.
//!
//! MADARS paper (2015), equations 2-1 to 2-3.

use super::cells;
use super::cells::{CellMean, CellSum, LossUnit};
use super::measure::{Build, Measure, Metric, Reads, Subject};
use crate::base::catalogue::{Entry, Info};
use crate::base::error::Result;
use crate::method::hierarchy::{Label, Lookup};

#[derive(Debug)]
struct Infoloss;

/// Returns the share of the column that a label covers.
fn covered(lookup: &Lookup, label: Label) -> f64 {
    let top = lookup.level(lookup.top());
    match (label.extent(lookup), &top.extents) {
        (Some(extent), Some(whole)) => {
            let width = |(lower, upper): (f64, f64)| (upper - lower).max(0.0);
            let range = whole.first().map_or(0.0, |extent| width(*extent));
            if range > 0.0 { width(extent) / range } else { 0.0 }
        }
        _ => {
            let leaves = lookup.total_leaves().saturating_sub(1).max(1);
            label.leaves(lookup).saturating_sub(1) as f64 / leaves as f64
        }
    }
}

impl Metric for Infoloss {
    fn reads(&self) -> Reads {
        cells::READS
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measure>> {
        let cells = CellSum::new(
            subject,
            LossUnit::FIXED_POINT,
            |_, lookup, label| covered(lookup, label),
            |_| 1.0,
        );
        Ok(Box::new(CellMean::loss(subject, cells)))
    }
}

/// The catalogue entry of the metric `infoloss`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "infoloss",
        summary: "the share of its column's range that each released value covers, weighted, from 0 to 1",
        params: &[],
        example: "MINIMIZING infoloss",
        reference: "MADARS (2015), equations 2-1 to 2-3",
    },
    build: |_| Ok(Box::new(Infoloss)),
};
