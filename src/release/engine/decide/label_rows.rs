//! The number of rows with each released label of a quasi-identifier, before and after suppression.

use super::evaluator::{Evaluator, Verdict};
use crate::data::frequency::FrequencySet;

/// The number of rows with a label, before and after suppression.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LabelRows {
    /// The number of rows of the source whose value is generalized to the label.
    pub read: u64,
    /// The number of these rows that are in a released class.
    pub released: u64,
}

/// Returns the numbers of rows for each label that occurs in a released class. The labels are in
/// the order of the numbers or dates that they stand for, or of their texts if they stand for
/// neither. Returns an empty vector for a partition, because its labels overlap and a value of the
/// source does not belong to a single label.
pub fn label_rows(evaluator: &Evaluator, classes: &FrequencySet, verdict: &Verdict, column: usize) -> Vec<LabelRows> {
    if verdict.partition.is_some() {
        return vec![];
    }
    let base = evaluator.sets().base();
    let labels = base.key_schema.lookup(column).level(classes.node().level(column));
    let mut rows = vec![LabelRows::default(); labels.leaves.len()];
    for class in 0..classes.len() {
        let code = base.key_schema.layout().code(classes.key(class), column);
        let of_label = &mut rows[labels.codes[code as usize] as usize];
        of_label.read += classes.counts()[class];
        of_label.released += match verdict.kept[class] {
            true => classes.counts()[class],
            false => 0,
        };
    }
    let mut order: Vec<usize> = (0..rows.len()).filter(|label| rows[*label].released > 0).collect();
    if let Some(extents) = &labels.extents {
        order.sort_by(|one, other| extents[*one].0.total_cmp(&extents[*other].0));
    }
    order.into_iter().map(|label| rows[label]).collect()
}
