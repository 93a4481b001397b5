//! The tables that are compared.

use crate::recount::ReleasedTable;
use datafusion::prelude::SessionContext;

/// The tables of a session that are compared. Bounds are texts in the release, and raw rows have
/// the same types.
pub(crate) struct Tables<'a> {
    pub(crate) session: &'a SessionContext,
    pub(crate) released: &'a ReleasedTable,
    /// The source.
    pub(crate) source: &'a str,
    /// The raw rows on which classifiers are tested, if they are not those of the source.
    pub(crate) testing: Option<&'a str>,
    /// The columns of the release whose masks are drawn.
    pub(crate) drawn: &'a [String],
}
