//! The rows of a release that tell their own value although masks are drawn by chance.

use super::facts::ReleaseFacts;
use crate::engine::write::Writers;
use crate::report::OwnValues;

impl ReleaseFacts<'_> {
    /// Returns the columns with drawn masks, in the order of the source, with the rows that the
    /// second scan of this machine counted. Rows that are suppressed for their own limits are
    /// masked before, so counts that contain such rows are left out.
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
