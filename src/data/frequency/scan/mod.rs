//! The first scan: converts rows to the distinct combinations of codes with their counts.

mod coded_rows;
mod columns;
mod detail_tally;
mod encoded;
mod layout_files;
mod marginals;
mod marked;
mod parquet;
mod run;
mod tally;
mod weights;

pub(crate) use coded_rows::{CodedRows, RankedColumn};
pub use columns::{Columns, DetailRequest};
pub(crate) use marginals::{Marginals, count_codes};
pub use parquet::read_dictionaries;
pub use run::Scan;
pub(crate) use tally::Tally;

/// The name of a column that exists if the rows were already counted in part. The column contains
/// the number of rows that each row represents.
pub(crate) const ROWS: &str = "__anonsql_rows";
