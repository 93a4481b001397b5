//! Determines which errors of an object store mean that the store is temporarily unavailable, so
//! that the same statement may succeed later.

use super::{Error, ErrorKind};
use datafusion::error::DataFusionError;
use datafusion::object_store;

/// The start of the error text for a failed request.
const REQUEST: &str = "Error performing ";
/// The text before the status of a response.
const STATUS: &str = "status code: ";
/// Error codes in the responses of a busy server. S3 also sends them with status 200.
const BUSY: [&str; 3] = ["InternalError", "SlowDown", "ServiceUnavailable"];
/// The metadata servers of cloud providers, which give a machine the credentials for its role.
const METADATA_SERVERS: [&str; 3] = ["169.254.169.254", "metadata.google.internal", "169.254.170.2"];

/// Returns the error kind for an error of a store: `Unavailable` if the store does not respond or
/// is busy, and `Io` otherwise.
pub(super) fn kind_of_store(error: &object_store::Error) -> ErrorKind {
    match error {
        object_store::Error::Generic { store, source } => match is_away(store, &source.to_string()) {
            true => ErrorKind::Unavailable,
            false => ErrorKind::Io,
        },
        _ => ErrorKind::Io,
    }
}

/// Returns true if a query failed because a request to an object store failed. The text of the
/// error is examined, because the readers of Parquet and CSV convert such an error to text.
pub(super) fn is_of_lost_request(error: &DataFusionError) -> bool {
    Error::says_away(&error.to_string())
}

impl Error {
    /// Returns true if the text of another crate's error reports that an object store is
    /// unavailable.
    pub(crate) fn says_away(text: &str) -> bool {
        let is_request = text.contains("Generic ") && text.contains(REQUEST);
        is_request && is_away("", text)
    }
}

/// Returns true if the text of an error from `store` means that the store is unavailable.
fn is_away(store: &str, text: &str) -> bool {
    if store == "LocalFileSystem" || text.contains("redirect without LOCATION") || is_without_role(text) {
        return false;
    }
    let status = text.split_once(STATUS).map(|(_, after)| after);
    match status.and_then(|after| after.get(..3)?.parse().ok()) {
        Some(status) => matches!(status, 408 | 429 | 500..=599),
        None if text.contains("error response: ") => BUSY.iter().any(|word| text.contains(word)),
        None => true,
    }
}

/// Returns true if a request to a cloud's metadata server failed, which means that there are no
/// credentials.
pub(super) fn is_without_role(text: &str) -> bool {
    METADATA_SERVERS.iter().any(|server| text.contains(server))
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::errors::ParquetError;

    fn generic(store: &'static str, text: &str) -> object_store::Error {
        object_store::Error::Generic {
            store,
            source: text.into(),
        }
    }

    #[test]
    fn a_store_that_is_away_is_told_from_one_that_refuses() {
        for (store, text, code) in [
            (
                "S3",
                "Error performing GET http://h/x in 2ms, after 2 retries, max_retries: 2, retry_timeout: 10s  - HTTP error: error sending request",
                6,
            ),
            (
                "S3",
                "Error performing PUT http://h/x in 2ms - Server returned non-2xx status code: 503 Service Unavailable: ",
                6,
            ),
            (
                "S3",
                "Error performing PUT http://h/x in 2ms - Server returned non-2xx status code: 429 Too Many Requests: ",
                6,
            ),
            (
                "S3",
                "Error performing POST http://h/x in 2ms - Server returned error response: <Error><Code>SlowDown</Code></Error>",
                6,
            ),
            (
                "S3",
                "Error performing POST http://h/x in 2ms - Server returned error response: <Error><Code>InvalidPart</Code></Error>",
                1,
            ),
            (
                "S3",
                "Error performing PUT http://h/x in 2ms - Server returned non-2xx status code: 400 Bad Request: ",
                1,
            ),
            (
                "S3",
                "Error performing PUT http://169.254.169.254/latest/api/token in 2ms - HTTP error: timeout",
                1,
            ),
            (
                "S3",
                "Error performing GET http://h/x - Received redirect without LOCATION, this normally",
                1,
            ),
            ("LocalFileSystem", "Unable to open file", 1),
        ] {
            let said = Error::of_store("cannot read", &generic(store, text));
            assert_eq!(said.exit_code(), code, "{text}");
            let said = Error::from(DataFusionError::ObjectStore(Box::new(generic(store, text))));
            assert_eq!(said.exit_code(), code, "{text}");
            let written = std::io::Error::other(generic(store, text));
            assert_eq!(
                Error::from(DataFusionError::IoError(written)).exit_code(),
                code,
                "{text}"
            );
            if store == "S3" {
                let passed_on = ParquetError::External(Box::new(generic(store, text)));
                assert_eq!(Error::from(passed_on).exit_code(), code, "{text}");
                let passed_on = arrow::error::ArrowError::ExternalError(Box::new(generic(store, text)));
                assert_eq!(Error::from(passed_on).exit_code(), code, "{text}");
            }
        }
        let refused = object_store::Error::PermissionDenied {
            path: "x".into(),
            source: "Error performing GET - status code: 403".into(),
        };
        assert_eq!(Error::of_store("cannot read", &refused).exit_code(), 1);
    }
}
