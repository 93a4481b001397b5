//! The names of the extra columns by which the rows of a release are ordered.

/// The prefix of the names of the order key's columns, which come last. Sorting rows by these
/// columns, most significant first, sorts them by the labels of the quasi-identifiers.
pub const ORDER_PREFIX: &str = "__anonsql_order_";

/// The name of the column after the order key. The column is true for a starred row, which is a
/// suppressed row with `*` in every quasi-identifier. It is needed because the rows of a released
/// class may also have `*` in every quasi-identifier. Rows are not ordered by this column.
pub const SUPPRESSED: &str = "__anonsql_order_suppressed";
