//! The names of the columns that carry the order of a release beside it.

/// The columns of the order key come last and have names that start with this: sorting by them, most significant
/// first, is sorting by the labels of the quasi-identifiers.
pub const ORDER_PREFIX: &str = "__anonsql_order_";

/// The column beside those of the order key that says of a row that stays whether it is suppressed: it looks like the
/// rows of a class that is `*` in every quasi-identifier. Rows are not ordered by it.
pub const SUPPRESSED: &str = "__anonsql_order_suppressed";
