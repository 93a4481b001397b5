//! What an error of the crate says here: never what it quotes of the catalog, which may hold values.

use crate::error::{Error, ErrorKind};
use datafusion::error::DataFusionError;
use datafusion_ducklake::DuckLakeError;
use std::fmt;

/// Returns the error of an operation on a catalog. It begins with `doing`.
pub(super) fn failed(doing: impl fmt::Display, error: &DuckLakeError) -> Error {
    match error {
        DuckLakeError::ObjectStore(error) => Error::of_store(doing, error),
        DuckLakeError::Sqlx(_) => Error::new(
            ErrorKind::Io,
            format!("{doing}: it is no DuckLake catalog, it is damaged, or another program has locked it"),
        ),
        DuckLakeError::Unsupported(_) | DuckLakeError::UnsupportedType(_) => Error::data(format!(
            "{doing}: it has a type or a feature that this version of anonsql does not read"
        )),
        _ => Error::data(format!(
            "{doing}: its catalog is damaged, or in a form that this version of anonsql does not know"
        )),
    }
}

/// Returns the error of a scan that could not begin.
pub(crate) fn failed_scan(doing: &str, error: DataFusionError) -> Error {
    let of_crate = match error.find_root() {
        DataFusionError::External(inner) => inner.downcast_ref::<DuckLakeError>().map(|e| failed(doing, e)),
        _ => None,
    };
    of_crate.unwrap_or_else(|| Error::from_data(error))
}
