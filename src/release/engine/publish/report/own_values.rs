//! The rows of a release whose value equals or nearly equals their value in the source, although
//! the mask is drawn at random.

use super::facts::ReleaseFacts;
use crate::release::engine::write::Writers;
use crate::release::report::OwnValues;

impl ReleaseFacts<'_> {
    /// Returns the columns with drawn masks, in the order of the source, each with the rows that
    /// the second scan counted on this machine. Rows that are suppressed because of their personal
    /// limits are masked and counted before they are suppressed, so the counts are left out if
    /// there are such rows.
    pub(super) fn own_values(&self) -> Vec<OwnValues> {
        let is_here = matches!(self.written.writers, Writers::Here);
        let loses_rows = self
            .written
            .outcome
            .as_ref()
            .is_some_and(|outcome| outcome.suppressed > 0);
        let counted = self.written.recoding.own_rows().into_iter();
        let of = |(column, counts): (&str, _)| OwnValues {
            column: column.into(),
            counts: Some(counts).filter(|_| is_here && !loses_rows),
        };
        counted.map(of).collect()
    }
}
