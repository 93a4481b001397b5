//! Converts errors of `deltalake-core` to errors of this crate. The converted errors never quote a
//! line of the log, because it may contain values.

use crate::base::error::{Error, ErrorKind};
use deltalake_core::DeltaTableError;
use deltalake_core::kernel::transaction::TransactionError;
use std::fmt;

/// Returns the error for a failed operation on a table. The message begins with `doing`.
pub(super) fn failed(doing: impl fmt::Display, error: &DeltaTableError) -> Error {
    match error {
        DeltaTableError::ObjectStore { source } => Error::of_store(doing, source),
        DeltaTableError::Transaction { source } => of_transaction(doing, source),
        DeltaTableError::KernelError(kernel) if is_of_features(&kernel.to_string()) => Error::data(format!(
            "{doing}: the table has features that this version of anonsql does not know, so its rows could be read wrong: {}",
            kernel.to_string().lines().next().unwrap_or_default()
        )),
        other if Error::says_away(&other.to_string()) => away(doing),
        _ => Error::data(format!(
            "{doing}: its log is damaged or incomplete, or in a form that this version of anonsql does not know"
        )),
    }
}

/// Returns the error for a failed transaction. The message begins with `doing`.
pub(super) fn of_transaction(doing: impl fmt::Display, error: &TransactionError) -> Error {
    match error {
        TransactionError::ObjectStore { source } => Error::of_store(doing, source),
        TransactionError::UnsupportedTableFeatures(features) => {
            let mut names: Vec<String> = features.iter().map(ToString::to_string).collect();
            names.sort();
            Error::data(format!(
                "{doing}: the table has features that this version of anonsql does not know, so its rows could be read or \
                 written wrong: {}",
                names.join(", ")
            ))
        }
        TransactionError::DeltaTableAppendOnly => Error::usage(format!(
            "{doing}: delta.appendOnly is set, so its rows cannot be replaced; write to another table"
        )),
        other if Error::says_away(&other.to_string()) => away(doing),
        _ => Error::new(ErrorKind::Io, format!("{doing}: the log could not be written")),
    }
}

/// Returns the error for an unanswered request to the store. `deltalake-core` reports it only as
/// text.
fn away(doing: impl fmt::Display) -> Error {
    Error::new(
        ErrorKind::Unavailable,
        format!("{doing}: its store does not answer, or cannot now; run it again later"),
    )
}

/// Returns true if an error of Delta's kernel names table features. Their names are words of the
/// protocol, and not data.
fn is_of_features(said: &str) -> bool {
    said.starts_with("Unsupported")
}
