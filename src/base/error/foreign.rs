//! Converts errors of other crates to errors of this crate, and removes the data that they may
//! quote.

use super::away;
use super::redact::{in_known_words, redact};
use super::{Error, ErrorKind};
use arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use datafusion::object_store;
use parquet::errors::ParquetError;
use std::fmt;
use tokio::task::JoinError;

impl Error {
    /// Converts an error that DataFusion raised while it read data. Everything that may be a value
    /// of a person is removed: quoted text and, in an error that may contain other values, all
    /// lines after the first and all words that are not in the vocabulary of error messages. The
    /// original error is dropped as well, so that no log can print it.
    pub fn from_data(error: DataFusionError) -> Self {
        Self::withheld(error, "")
    }

    /// Converts an error like [`Error::from_data`], but keeps the parts that occur in `typed`, a
    /// text that the user typed. These parts are not data.
    fn withheld(error: DataFusionError, typed: &str) -> Self {
        let root = error.find_root();
        if let Some(own) = own(&error) {
            return own;
        }
        // Quoted text is removed before the text is cut to its first line, because a value can
        // contain a line break.
        let said = redact(&text(root), typed);
        let said = match may_tell_values(root) {
            true => in_known_words(said.lines().next().unwrap_or_default(), typed),
            false => said,
        };
        Self::foreign(kind_of(root), said)
    }

    /// Returns the error for a failed request to an object store. Its message begins with `what`.
    pub(crate) fn of_store(what: impl fmt::Display, error: &object_store::Error) -> Self {
        Self::foreign(
            away::kind_of_store(error),
            format!("{what}: {}", without_metadata(error.to_string())),
        )
    }

    fn foreign(kind: ErrorKind, message: String) -> Self {
        Self {
            is_foreign: true,
            ..Self::new(kind, message)
        }
    }

    /// If another crate wrote the message, removes everything from it that may be a value, even if
    /// the user typed it.
    pub(crate) fn without_foreign_values(mut self) -> Self {
        if self.is_foreign {
            let said = redact(&self.message, "");
            self.message = in_known_words(said.lines().next().unwrap_or_default(), "");
        }
        self
    }

    /// Converts the error of a DataFusion statement that may have read data before it failed, such
    /// as CREATE TABLE AS. An error about the statement itself is shown in full. From any other
    /// error, values that do not occur in the text of the statement are removed.
    pub(crate) fn from_statement(error: DataFusionError, statement: &str) -> Self {
        let root = error.find_root();
        let is_about_tables = match root {
            DataFusionError::Execution(said) => {
                let said = said.trim_end_matches('.');
                said.ends_with("already exists") || said.ends_with("doesn't exist")
            }
            _ => false,
        };
        match may_tell_values(root) && !is_about_tables {
            true => Self::withheld(error, statement),
            false => Self::from(error),
        }
    }

    /// Converts the error of a task that panicked or was cancelled. `what` names the task in the
    /// message. The message of a panic is dropped, because it may quote data.
    pub(crate) fn from_task(what: &str, error: &JoinError) -> Self {
        match error.is_panic() {
            true => Self::internal(format!("{what} ended by a panic")),
            false => Self::new(ErrorKind::Interrupted, format!("{what} was cancelled")),
        }
    }
}

impl From<DataFusionError> for Error {
    fn from(error: DataFusionError) -> Self {
        if let Some(own) = own(&error) {
            return own;
        }
        let root = error.find_root();
        if tells_rows(root) {
            return Self::from_data(error);
        }
        let wrapped = matches!(
            root,
            DataFusionError::ParquetError(_) | DataFusionError::ArrowError(..) | DataFusionError::ResourcesExhausted(_)
        ) || matches!(root, DataFusionError::Internal(said) if said.starts_with(NO_STORE));
        let message = match wrapped {
            true => text(root),
            false => without_metadata(without_appeal(error.strip_backtrace())),
        };
        Self::foreign(kind_of(root), message)
    }
}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        Self::from_data(DataFusionError::from(error))
    }
}

impl From<parquet::errors::ParquetError> for Error {
    fn from(error: parquet::errors::ParquetError) -> Self {
        Self::from_data(DataFusionError::from(error))
    }
}

impl From<Error> for DataFusionError {
    fn from(error: Error) -> Self {
        DataFusionError::External(Box::new(error))
    }
}

/// Returns anonsql's own error if it was passed through a DataFusion plan, or the error for a
/// failed DataFusion task; `None` for any other error.
fn own(error: &DataFusionError) -> Option<Error> {
    match error.find_root() {
        DataFusionError::ExecutionJoin(task) => Some(Error::from_task("a task of a query", task)),
        DataFusionError::External(inner) => inner.downcast_ref::<Error>().map(again),
        DataFusionError::ParquetError(error) => match error.as_ref() {
            ParquetError::External(inner) => inner.downcast_ref::<Error>().map(again),
            _ => None,
        },
        _ => None,
    }
}

fn again(error: &Error) -> Error {
    Error {
        is_foreign: error.is_foreign,
        detail: error.detail.clone(),
        ..Error::new(error.kind, error.message.clone())
    }
}

fn kind_of(error: &DataFusionError) -> ErrorKind {
    match error {
        DataFusionError::ObjectStore(e) => away::kind_of_store(e),
        DataFusionError::IoError(_)
        | DataFusionError::ArrowError(..)
        | DataFusionError::ParquetError(_)
        | DataFusionError::Execution(_)
        | DataFusionError::External(_)
            if away::is_of_lost_request(error) =>
        {
            ErrorKind::Unavailable
        }
        DataFusionError::IoError(_) => ErrorKind::Io,
        DataFusionError::ResourcesExhausted(_) => ErrorKind::Resources,
        DataFusionError::ArrowError(..) | DataFusionError::ParquetError(_) | DataFusionError::Execution(_) => {
            ErrorKind::Data
        }
        // DataFusion reports an invalid Arrow file as an internal error.
        DataFusionError::Internal(said) if said.starts_with("Failed to parse Arrow file") => ErrorKind::Data,
        DataFusionError::Internal(said) if said.starts_with(NO_STORE) => ErrorKind::Usage,
        DataFusionError::Internal(_) => ErrorKind::Internal,
        _ => ErrorKind::Usage,
    }
}

/// The start of DataFusion's error for a URL without a registered object store. The URL in this
/// error comes from the statement, and not from the data.
const NO_STORE: &str = "No suitable object store found for ";

/// Returns true if the error may contain values from the data.
fn may_tell_values(error: &DataFusionError) -> bool {
    match error {
        DataFusionError::Internal(said) if said.starts_with(NO_STORE) => false,
        DataFusionError::ArrowError(e, _) => !matches!(
            e.as_ref(),
            ArrowError::ParquetError(_) | ArrowError::IoError(..) | ArrowError::SchemaError(_)
        ),
        DataFusionError::Execution(_) | DataFusionError::External(_) | DataFusionError::Internal(_) => true,
        _ => false,
    }
}

/// Returns true if the error quotes a whole row of data, as some errors of the CSV reader do. Such
/// an error is never about the statement.
fn tells_rows(error: &DataFusionError) -> bool {
    matches!(error, DataFusionError::ArrowError(e, _) if matches!(e.as_ref(), ArrowError::ParseError(said) if said.contains("Row data: ")))
}

/// Returns the text of an error without repeated names of crates. DataFusion, Arrow and Parquet
/// each put their own name before the text, so an error that passed through all of them begins with
/// three names; only the name of the crate that raised it is kept.
fn text(error: &DataFusionError) -> String {
    match error {
        DataFusionError::ParquetError(e) => parquet(&e.to_string()),
        DataFusionError::ArrowError(e, _) => match e.as_ref() {
            ArrowError::ParquetError(said) => parquet(said),
            other => other.to_string(),
        },
        DataFusionError::Internal(said) if said.starts_with(NO_STORE) => {
            let url = said[NO_STORE.len()..].split(". See").next().unwrap_or_default();
            let scheme = url.split_once("://").map_or(url, |(scheme, _)| scheme);
            format!(
                "nothing in this session reads {scheme}:// ({url}); copy the file to a local path, or register an \
                 object store for it where anonsql is used as a library"
            )
        }
        DataFusionError::ResourcesExhausted(said) => {
            format!("{said}; raise --memory-limit, or use fewer --threads, because each thread needs its own memory")
        }
        other => without_appeal(other.strip_backtrace()),
    }
}

/// Returns the text of an error without DataFusion's request to report a bug. If the request is
/// followed by the description of a mistake in the statement, only this description is kept.
fn without_appeal(said: String) -> String {
    let Some((before, appeal)) = said.split_once("\nThis issue was likely caused by a bug in DataFusion's code.")
    else {
        return said;
    };
    match appeal.split_once("/issues. ") {
        Some((_, behind)) => behind.to_string(),
        None => format!("{} (this is a bug in DataFusion)", before.trim_end_matches('.')),
    }
}

/// Returns the text of an error. If a request to a cloud's metadata server failed, the returned
/// text says instead that there are no credentials, because this server gives a machine the
/// credentials for its role.
fn without_metadata(said: String) -> String {
    match away::is_without_role(&said) {
        true => "there are no credentials for this store: the environment has no keys, and this machine has no role; \
        set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for s3:// (AWS_SKIP_SIGNATURE=true for a public bucket), \
        GOOGLE_APPLICATION_CREDENTIALS for gs://, AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY for az://"
            .into(),
        false => said,
    }
}

fn parquet(said: &str) -> String {
    let said = said.strip_prefix("Parquet error: ").unwrap_or(said);
    match said.starts_with("Invalid Parquet file") {
        true => format!("Parquet error: {said}; the file is cut short, or is not Parquet"),
        false => format!("Parquet error: {said}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_data_is_withheld() {
        let e = Error::from_data(DataFusionError::Execution("cannot cast 'Alice' to Int32".into()));
        assert_eq!(e.to_string(), "Execution error: cannot cast '…' to Int32");
    }

    #[test]
    fn what_may_be_data_is_withheld_without_quotes_too() {
        for (said, left) in [
            (
                "value of 66400 is out of range Int16",
                "value of … is out of range Int16",
            ),
            ("negative count not allowed: -73", "negative count not allowed: …"),
            (
                "16400.00 is too large for Decimal128(5,2)",
                "… is too large for Decimal128(…)",
            ),
            (
                "regex parse error:\n    (Torben D. Holendale\n    ^",
                "regex parse error:",
            ),
            ("found 2 fields at line 17", "found … fields at line 17"),
            ("timestamp 1974-05-06T07:08:09Z of P000123.", "timestamp … of …."),
        ] {
            let e = Error::from_data(DataFusionError::Execution(said.into()));
            let told = e.to_string();
            let told = told.strip_prefix("Execution error: ").unwrap();
            assert_eq!(told, left);
        }
        let e = Error::from_data(DataFusionError::ResourcesExhausted("2.0 MB for Sort".into()));
        assert!(
            e.to_string().starts_with("2.0 MB for Sort; raise --memory-limit"),
            "{e}"
        );
        let plan = Error::from_statement(DataFusionError::Plan("no column 'zpi' among 14".into()), "");
        assert!(plan.to_string().ends_with("no column 'zpi' among 14"), "{plan}");
        let read = Error::from_statement(DataFusionError::Execution("cannot cast 'Alice'".into()), "");
        assert!(read.to_string().ends_with("cannot cast '…'"), "{read}");
    }

    #[test]
    fn what_was_typed_is_no_data() {
        let said = |typed| {
            let error = DataFusionError::Execution("cannot cast 'Alice' to 12 at row 7".into());
            Error::from_statement(error, typed).to_string()
        };
        assert_eq!(
            said("SELECT 'Alice'::int + 12"),
            "Execution error: cannot cast 'Alice' to 12 at row …"
        );
        assert_eq!(
            said("SELECT 'Alices' + 127 + 712"),
            "Execution error: cannot cast '…' to … at row …"
        );
        let store = || DataFusionError::Internal(format!("{NO_STORE}s3://lake/p.parquet. See `x`"));
        for error in [Error::from_data(store()), Error::from(store())] {
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(
                error
                    .message()
                    .starts_with("nothing in this session reads s3:// (s3://lake/p.parquet); copy")
            );
        }
    }

    #[test]
    fn whose_error_it_is_is_said_once() {
        use parquet::errors::ParquetError;
        let general = || ParquetError::General("Corrupt footer".into());
        let from_arrow = |e: ArrowError| DataFusionError::ArrowError(Box::new(e), None);
        for (error, said) in [
            (DataFusionError::from(general()), "Parquet error: Corrupt footer"),
            (from_arrow(general().into()), "Parquet error: Corrupt footer"),
            (
                from_arrow(ParquetError::EOF("eof decoding byte array".into()).into()),
                "Parquet error: EOF: eof decoding byte array",
            ),
            (
                from_arrow(ArrowError::CsvError("unequal lengths".into())),
                "Csv error: unequal lengths",
            ),
        ] {
            let shared = Error::from(DataFusionError::Shared(error.into()));
            assert_eq!((shared.kind(), shared.message()), (ErrorKind::Data, said));
        }
        assert_eq!(Error::from(general()).message(), "Parquet error: Corrupt footer");
    }

    #[tokio::test]
    async fn nobody_is_asked_to_report_a_wrong_statement() {
        let session = datafusion::prelude::SessionContext::new();
        let error = Error::from(session.sql("SELECT avg('a')").await.unwrap_err());
        assert_eq!(error.kind(), ErrorKind::Usage);
        let said = error.message();
        assert!(
            said.starts_with("No function matches the given name and argument types 'avg(Utf8)'"),
            "{said}"
        );
        let error = Error::from(DataFusionError::Internal("a hash has two sizes".into()));
        assert_eq!(
            error.message(),
            "Internal error: a hash has two sizes (this is a bug in DataFusion)"
        );
    }

    #[test]
    fn our_own_errors_survive_a_plan() {
        let e: Error = DataFusionError::from(Error::infeasible("no")).into();
        assert_eq!((e.kind(), e.exit_code()), (ErrorKind::Infeasible, 3));
    }

    #[tokio::test]
    async fn the_text_of_a_panic_is_withheld() {
        let ended = || async { tokio::spawn(async { panic!("Alice, \"Bob\"") }).await.unwrap_err() };
        for error in [
            Error::from_task("the search", &ended().await),
            Error::from(DataFusionError::ExecutionJoin(Box::new(ended().await))),
            Error::from_data(DataFusionError::ExecutionJoin(Box::new(ended().await))),
            Error::from_statement(DataFusionError::ExecutionJoin(Box::new(ended().await)), ""),
        ] {
            let told = format!("{error} {error:?}");
            assert!(!told.contains("Alice") && !told.contains("Bob"), "{told}");
            assert!(told.contains("ended by a panic (this is a bug in anonsql)"), "{told}");
            assert_eq!(error.kind(), ErrorKind::Internal);
        }
        let task = tokio::spawn(std::future::pending::<()>());
        task.abort();
        let cancelled = Error::from_task("the search", &task.await.unwrap_err());
        assert_eq!(cancelled.kind(), ErrorKind::Interrupted);
    }
}
