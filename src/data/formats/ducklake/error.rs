//! Converts errors of `datafusion-ducklake` to errors of this crate. The converted errors never
//! quote the catalog, because it may contain values.

use crate::base::error::{Error, ErrorKind};
use datafusion::error::DataFusionError;
use datafusion_ducklake::DuckLakeError;
use std::fmt;

/// The start of the error message for a value whose type `datafusion-ducklake` does not expect.
const DECODING: &str = "error occurred while decoding";

/// Returns the error for a failed operation on a catalog. The message begins with `doing`.
pub(super) fn failed(doing: impl fmt::Display, error: &DuckLakeError) -> Error {
    match error {
        DuckLakeError::ObjectStore(error) => Error::of_store(doing, error),
        DuckLakeError::Sqlx(e) if e.to_string().starts_with(DECODING) => Error::data(format!(
            "{doing}: rows in the catalog have values of a type that is not read there; CALL \
             ducklake_flush_inlined_data('catalog') in DuckDB writes them to files, which are read"
        )),
        DuckLakeError::Sqlx(_) => Error::new(
            ErrorKind::Io,
            format!("{doing}: it is not a DuckLake catalog, it is damaged, or another program has locked it"),
        ),
        DuckLakeError::Unsupported(_) | DuckLakeError::UnsupportedType(_) => Error::data(format!(
            "{doing}: it has a type or a feature that this version of anonsql does not read"
        )),
        _ => Error::data(format!(
            "{doing}: its catalog is damaged, or in a form that this version of anonsql does not know"
        )),
    }
}

/// Returns the error for a scan that could not start. The message begins with `doing` if
/// `datafusion-ducklake` raised it.
pub(super) fn failed_scan(doing: &str, error: DataFusionError) -> Error {
    let of_crate = match error.find_root() {
        DataFusionError::External(inner) => inner.downcast_ref::<DuckLakeError>().map(|e| failed(doing, e)),
        _ => None,
    };
    of_crate.unwrap_or_else(|| Error::from_data(error))
}
