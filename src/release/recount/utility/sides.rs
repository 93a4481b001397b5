//! The tables of a comparison: a release, its source, and rows for testing.

use crate::release::recount::{KnownSource, ReleasedTable};
use datafusion::prelude::SessionContext;

/// The tables of a session that are compared. In the release, bounds are texts. The rows for
/// testing have the same types as the source.
pub(crate) struct Tables<'a> {
    pub(crate) session: &'a SessionContext,
    pub(crate) released: &'a ReleasedTable,
    /// The name of the table with the rows of the source.
    pub(crate) source: &'a str,
    /// The columns of the source that were read before; `None` if there are none.
    pub(crate) known: Option<&'a KnownSource>,
    /// The name of the table with the raw rows on which classifiers are tested; `None` if they are
    /// tested on the rows of the source.
    pub(crate) testing: Option<&'a str>,
    /// The columns of the release whose masks are drawn at random.
    pub(crate) drawn: &'a [String],
    /// The column of both tables whose distinct values are the persons, in the release perhaps with
    /// a mask that tells persons apart; `None` if each row counts as a person.
    pub(crate) entity: Option<&'a str>,
}
