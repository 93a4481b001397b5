//! The loss of one quasi-identifier by the general loss metric.

use super::evaluator::{Evaluator, Verdict};
use crate::data::frequency::FrequencySet;

/// The loss of one quasi-identifier by generalization.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnLoss {
    /// The loss over all rows, from 0 (nothing) to 1 (everything). Suppressed rows count as no loss
    /// here.
    pub by_generalization: f64,
    /// True if every released row has the top label and the column has other values.
    pub is_total: bool,
}

/// Returns the loss of a quasi-identifier in classes with this verdict.
pub fn column_loss(evaluator: &Evaluator, classes: &FrequencySet, verdict: &Verdict, column: usize) -> ColumnLoss {
    let base = evaluator.sets().base();
    let lookup = base.key_schema.lookup(column);
    let spans = lookup.total_leaves().saturating_sub(1);
    let leaves: Vec<u64> = match &verdict.partition {
        Some(partition) => {
            let of_label: Vec<u64> = partition.labels(column).iter().map(|l| l.leaves(lookup)).collect();
            let of_class = partition.cells(column).iter().map(|label| of_label[*label as usize]);
            of_class.collect()
        }
        None => {
            let labels = lookup.level(classes.node().level(column));
            let of_class = (0..classes.len()).map(|class| {
                let code = base.key_schema.layout().code(classes.key(class), column);
                labels.leaves[labels.codes[code as usize] as usize]
            });
            of_class.collect()
        }
    };
    let kept = || (0..classes.len()).filter(|class| verdict.kept[*class]);
    let lost: u128 = kept()
        .map(|class| u128::from(leaves[class].saturating_sub(1).min(spans)) * u128::from(classes.counts()[class]))
        .sum();
    ColumnLoss {
        by_generalization: lost as f64 / (spans.max(1) as f64 * base.rows.max(1) as f64),
        is_total: spans > 0 && verdict.released > 0 && kept().all(|class| leaves[class] > spans),
    }
}
