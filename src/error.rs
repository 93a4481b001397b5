//! The error type: what went wrong, who is at fault, and what to do next.
//!
//! The kind decides the exit code of the command. Messages name columns, hierarchies and counts. They never contain a
//! data value unless the caller asked for it. An error that another crate raised while it read data is therefore
//! passed through `Error::from_data`, which keeps what it says about the schema and drops what may be a value.

use arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use std::fmt;
use tokio::task::JoinError;

/// The result type of this crate's fallible functions.
///
/// ```
/// fn checked(k: u64) -> anonsql::error::Result<u64> {
///     if k > 0 { Ok(k) } else { Err(anonsql::error::Error::usage("k is above 0")) }
/// }
/// assert_eq!(checked(5)?, 5);
/// # Ok::<(), anonsql::error::Error>(())
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an error, which says who is at fault and decides the exit code of the command.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> anonsql::error::Result<()> {
/// use anonsql::error::ErrorKind;
/// let anon = anonsql::AnonContext::new(Default::default());
/// let request = "ANONYMIZE (SELECT 31 AS age) QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)";
/// assert_eq!(anon.sql(request).await.map_err(|e| e.kind()), Err(ErrorKind::Infeasible));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The statement does not parse, or names something that does not exist (exit code 1).
    Usage,
    /// The data does not fit the statement: unmapped values, NaN, a truncated file (exit code 1).
    Data,
    /// A file or folder cannot be read or written (exit code 1).
    Io,
    /// No node of the lattice satisfies the request (exit code 3).
    Infeasible,
    /// What was written or checked does not satisfy the promises (exit code 4).
    Verification,
    /// The target exists and may not be overwritten (exit code 5).
    TargetExists,
    /// The user interrupted the work before there was an answer (exit code 1).
    Interrupted,
    /// Memory or disk ran out (exit code 1).
    Resources,
    /// A fault of anonsql itself (exit code 1).
    Internal,
}

/// The exit codes of the command, each with its meaning.
#[doc(hidden)]
pub const EXIT_CODES: &[(u8, &str)] = &[
    (0, "done"),
    (
        1,
        "wrong usage or SQL, a file that cannot be read or written, or interrupted",
    ),
    (3, "no way to generalize satisfies the request"),
    (4, "a check of what was released failed"),
    (5, "the target exists already"),
];

/// An error with its kind, a message for people, and its cause.
///
/// ```
/// use anonsql::error::{Error, ErrorKind};
/// let error = Error::usage("k must be above 0");
/// assert_eq!((error.kind(), error.message(), error.exit_code()), (ErrorKind::Usage, "k must be above 0", 1));
/// ```
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Creates an error of `kind` with this message.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
        }
    }

    /// Creates an error of kind `Usage`: the statement is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Creates an error of kind `Data`: the data does not fit the statement.
    pub fn data(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    /// Creates an error of kind `Internal`: a fault of anonsql itself.
    #[doc(hidden)]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(
            ErrorKind::Internal,
            format!("{} (this is a bug in anonsql)", message.into()),
        )
    }

    /// Creates an error of kind `Infeasible`: no node satisfies the request.
    pub fn infeasible(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Infeasible, message)
    }

    /// Creates an error of kind `Io`: the file or folder named by `what` could not be used.
    pub(crate) fn io(what: impl fmt::Display, source: std::io::Error) -> Self {
        Self::new(ErrorKind::Io, format!("{what}: {source}")).with_source(source)
    }

    /// Creates an error of kind `Usage`: `what` (a column, a model, ...) called `name` is unknown. The message names
    /// the nearest of `known`, or all of them if none is near.
    pub(crate) fn unknown<'a>(what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let nearest = known
            .iter()
            .map(|k| (strsim::damerau_levenshtein(&k.to_lowercase(), &name.to_lowercase()), k))
            .min()
            .filter(|(distance, k)| *distance <= 2.max(k.chars().count() / 2));
        // A name may also be the beginning of longer ones: `k` of k_anonymity.
        let letters = |name: &str| name.to_lowercase().replace(['_', '-', ' '], "");
        let begins = |k: &&&str| !name.is_empty() && letters(k).starts_with(&letters(name));
        let longer: Vec<String> = known.iter().filter(begins).map(|k| format!("{k:?}")).collect();
        let hint = match nearest {
            Some((_, k)) => format!("; did you mean {k:?}?"),
            None if !longer.is_empty() => format!("; did you mean {}?", longer.join(" or ")),
            None if known.is_empty() => format!("; there is no {what} yet"),
            None => format!("; known: {}", known.join(", ")),
        };
        Self::usage(format!("there is no {what} {name:?}{hint}"))
    }

    /// Returns the same error with advice behind its message: `message; advice`.
    pub(crate) fn advised(mut self, advice: impl fmt::Display) -> Self {
        self.message = format!("{}; {advice}", self.message);
        self
    }

    /// Returns the same error with a context before its message: `context: message`.
    pub(crate) fn context(mut self, context: impl fmt::Display) -> Self {
        self.message = format!("{context}: {}", self.message);
        self
    }

    /// Returns the same error with the error that caused it.
    pub(crate) fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// Converts an error that DataFusion raised while it read data, and withholds everything that may be a value of a
    /// person: quoted text, and, unless the error is about memory or files, numbers and all lines after the first.
    /// The original error is dropped too, so that no log can print it.
    pub(crate) fn from_data(error: DataFusionError) -> Self {
        Self::withheld(error, "")
    }

    /// Converts an error like `from_data`. What stands in the text `typed` by the user is no data, and remains.
    fn withheld(error: DataFusionError, typed: &str) -> Self {
        let root = error.find_root();
        if let Some(own) = own(&error) {
            return own;
        }
        let said = text(root);
        let said = match may_tell_values(root) {
            true => without_numbers(&redact(said.lines().next().unwrap_or_default(), typed), typed),
            false => redact(&said, typed),
        };
        Self::new(kind_of(root), said)
    }

    /// Converts an error of a DataFusion statement that may have read data before it failed, such as CREATE TABLE AS.
    /// Errors about the statement itself are shown in full, and of others what stands in the text of the statement.
    pub(crate) fn from_statement(error: DataFusionError, statement: &str) -> Self {
        let root = error.find_root();
        let is_about_tables = match root {
            DataFusionError::Execution(said) => said.ends_with("already exists") || said.ends_with("doesn't exist"),
            _ => false,
        };
        match may_tell_values(root) && !is_about_tables {
            true => Self::withheld(error, statement),
            false => Self::from(error),
        }
    }

    /// Converts the error of the task `what`, which panicked or was cancelled. The text of a panic is withheld,
    /// because it may quote data.
    pub(crate) fn from_task(what: &str, error: &JoinError) -> Self {
        match error.is_panic() {
            true => Self::internal(format!("{what} ended by a panic")),
            false => Self::new(ErrorKind::Interrupted, format!("{what} was cancelled")),
        }
    }

    /// Returns the kind, which decides the exit code.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the message for the user.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the exit code of a command that ends with this error.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            ErrorKind::Infeasible => 3,
            ErrorKind::Verification => 4,
            ErrorKind::TargetExists => 5,
            _ => 1,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|s| s.as_ref() as _)
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
            false => error.strip_backtrace(),
        };
        Self::new(kind_of(root), message)
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

/// Returns our own error, if DataFusion carried one through a plan, or the error of a task of DataFusion's.
fn own(error: &DataFusionError) -> Option<Error> {
    match error.find_root() {
        DataFusionError::ExecutionJoin(task) => Some(Error::from_task("a task of a query", task)),
        DataFusionError::External(inner) => inner
            .downcast_ref::<Error>()
            .map(|e| Error::new(e.kind, e.message.clone())),
        _ => None,
    }
}

fn kind_of(error: &DataFusionError) -> ErrorKind {
    match error {
        DataFusionError::IoError(_) | DataFusionError::ObjectStore(_) => ErrorKind::Io,
        DataFusionError::ResourcesExhausted(_) => ErrorKind::Resources,
        DataFusionError::ArrowError(..) | DataFusionError::ParquetError(_) | DataFusionError::Execution(_) => {
            ErrorKind::Data
        }
        // DataFusion reports a file that it wrongly takes for Arrow as an internal error.
        DataFusionError::Internal(said) if said.starts_with("Failed to parse Arrow file") => ErrorKind::Data,
        DataFusionError::Internal(said) if said.starts_with(NO_STORE) => ErrorKind::Usage,
        DataFusionError::Internal(_) => ErrorKind::Internal,
        _ => ErrorKind::Usage,
    }
}

/// The beginning of the error for a URL that the session has no object store for. It names the URL of the statement.
const NO_STORE: &str = "No suitable object store found for ";

/// Returns true if the error can contain values that were read.
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

/// Returns true if the error quotes a whole row, as the CSV reader does. Such an error is never about the statement.
fn tells_rows(error: &DataFusionError) -> bool {
    matches!(error, DataFusionError::ArrowError(e, _) if matches!(e.as_ref(), ArrowError::ParseError(said) if said.contains("Row data: ")))
}

/// Returns the text of an error. DataFusion, Arrow and Parquet each add their name before the text, so an error that
/// passed all of them has three names; this text has the name of its origin only.
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
            format!("{said}; raise --memory-limit, or use fewer --threads, of which each needs its own")
        }
        other => other.strip_backtrace(),
    }
}

fn parquet(said: &str) -> String {
    format!(
        "Parquet error: {}",
        said.strip_prefix("Parquet error: ").unwrap_or(said)
    )
}

/// Returns the text with every quoted part replaced by an ellipsis, except for parts that stand in `typed`.
fn redact(text: &str, typed: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(['\'', '"', '`']) {
        let (before, from) = rest.split_at(start);
        let (quote, inside) = from.split_at(1);
        out += before;
        out += quote;
        rest = inside;
        if let Some((part, after)) = inside.split_once(quote) {
            out += if is_typed(part, typed) { part } else { "…" };
            out += quote;
            rest = after;
        }
    }
    out + rest
}

/// Returns true if `part` stands in the text `typed` by the user, and not as a piece of a longer word.
fn is_typed(part: &str, typed: &str) -> bool {
    let is_bounded = |(at, found): (usize, &str)| {
        let (before, after) = (
            typed[..at].chars().next_back(),
            typed[at + found.len()..].chars().next(),
        );
        ![before, after].into_iter().flatten().any(char::is_alphanumeric)
    };
    !part.is_empty() && typed.match_indices(part).any(is_bounded)
}

/// Names that contain a number: Arrow's types, and an encoding.
const NAMES: &[&str] = &[
    "Int", "UInt", "Float", "Decimal", "Date", "Time", "Utf", "LargeUtf", "UTF-", "utf-",
];
/// Words before a number that is a position in a file.
const PLACES: &[&str] = &["line ", "field ", "column ", "index "];

/// Returns the text with every word that contains a digit replaced by an ellipsis, except for [`NAMES`], for numbers
/// after [`PLACES`], and for words that stand in `typed`.
fn without_numbers(text: &str, typed: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ',' | ':' | '+' | '-');
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find(is_part) {
        let (before, from) = rest.split_at(start);
        let (word, after) = from.split_at(from.find(|c| !is_part(c)).unwrap_or(from.len()));
        let bare = word.trim_end_matches(['.', ',', ':']);
        let is_name = NAMES.contains(&bare.trim_end_matches(|c: char| c.is_ascii_digit()));
        out += before;
        let is_place = PLACES.iter().any(|place| out.ends_with(place));
        let is_kept = is_name || is_place || !bare.contains(char::is_numeric) || is_typed(bare, typed);
        out += if is_kept { bare } else { "…" };
        out += &word[bare.len()..];
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_carries_the_nearest() {
        let e = Error::unknown("column", "zpi", ["age", "zip"]);
        assert_eq!(e.to_string(), "there is no column \"zpi\"; did you mean \"zip\"?");
        let e = Error::unknown("model", "something_else", ["k_anonymity"]);
        assert_eq!(
            e.to_string(),
            "there is no model \"something_else\"; known: k_anonymity"
        );
    }

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
    fn a_beginning_is_completed() {
        let e = Error::unknown("model", "k", ["k_anonymity", "l_diversity", "k_map"]);
        assert_eq!(
            e.to_string(),
            "there is no model \"k\"; did you mean \"k_anonymity\" or \"k_map\"?"
        );
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
