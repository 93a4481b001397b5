//! The names of the additional columns by which the rows of a release are ordered.

/// The prefix of the names of the columns of the order key, which follow all other columns. Sorting
/// rows by these columns, starting with the most significant, sorts them by the labels of the
/// quasi-identifiers.
pub const ORDER_PREFIX: &str = "__anonsql_order_";

/// The name of the column that follows the order key. It is true for a starred row, which is a
/// suppressed row with `*` in every quasi-identifier. The column is needed because the rows of a
/// released class may also have `*` in every quasi-identifier. Rows are compared by this column
/// last, so that their order does not reveal its values.
pub const SUPPRESSED: &str = "__anonsql_order_suppressed";
