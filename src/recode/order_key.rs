//! The names of the columns that accompany the rows of a release to order them.

/// The prefix of the names of the order key's columns, which come last. Sorting rows by these
/// columns, most significant first, sorts them by the labels of the quasi-identifiers.
pub const ORDER_PREFIX: &str = "__anonsql_order_";

/// The name of the column after the order key that is true for a starred row. The column is needed
/// because a starred row looks like the rows of a class that is `*` in every quasi-identifier. Rows
/// are not ordered by this column.
pub const SUPPRESSED: &str = "__anonsql_order_suppressed";
