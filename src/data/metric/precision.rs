//! Precision: the distance of released cells from the top of their hierarchies. Higher is better.
//!
//! 1 - (the sum over cells of level / highest level) / (rows times
//! quasi-identifiers). **Interpretation**: a suppressed cell is released as the top, and counts as
//! a cell at the top level. WEIGHT multiplies the cells of a column. The divisor is then rows times
//! the sum of the weights.
//!
//! Sweeney, Achieving k-anonymity privacy protection using generalization and suppression, IJUFKS
//! 2002, doi:10.1142/S021848850200165X.

use super::cells;
use super::cells::{CellMean, CellSum, LossUnit};
use super::measure::{Build, Measure, Metric, Reads, Subject};
use crate::base::catalogue::{Entry, Info};
use crate::base::error::Result;
use crate::method::hierarchy::Label;

#[derive(Debug)]
struct Precision;

impl Metric for Precision {
    fn reads(&self) -> Reads {
        Reads {
            levels: true,
            ..cells::READS
        }
    }

    fn higher_is_better(&self) -> bool {
        true
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measure>> {
        let height = |column: usize| u64::from(subject.base.key_schema.lookup(column).top()).max(1);
        let cells = CellSum::new(
            subject,
            LossUnit::of_fractions(subject, height),
            |_, lookup, label| match label {
                Label::Level { level, .. } => f64::from(level) / f64::from(lookup.top().max(1)),
                Label::Range { .. } | Label::Rounded { .. } => 1.0,
            },
            |_| 1.0,
        );
        Ok(Box::new(CellMean::left(subject, cells)))
    }
}

/// The catalogue entry of the metric `precision`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "precision",
        summary: "the mean distance of cells from the top of their hierarchies, from 0 to 1; higher is better",
        params: &[],
        example: "MINIMIZING precision",
        reference: "Sweeney, IJUFKS 2002, doi:10.1142/S021848850200165X",
    },
    build: |_| Ok(Box::new(Precision)),
};
