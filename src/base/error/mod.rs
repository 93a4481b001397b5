//! The error type: what went wrong, why, and what the user can do next.
//!
//! The kind of an error determines the exit code of the command. Messages name columns, hierarchies
//! and counts. They never contain a data value unless the caller requests it. Therefore, an error
//! that another crate raised while it read data is converted by `Error::from_data`, which keeps the
//! parts about the schema, and removes everything that may be a value. No message contains the
//! credentials in a URL, or the full response of a store.

mod answers;
mod away;
mod foreign;
mod redact;
mod urls;
mod vocabulary;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

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

/// The kind of an error. It identifies the cause, and determines the exit code of the command.
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
    /// The written or checked data does not satisfy the promises (exit code 4).
    Verification,
    /// The target exists and must not be overwritten (exit code 5).
    TargetExists,
    /// A store or a worker does not respond, or another run finished first. The same statement may
    /// succeed later (exit code 6).
    Unavailable,
    /// The data has drifted from the release that USING MANIFEST names, and a person must examine
    /// the drift (exit code 7).
    Drift,
    /// The user interrupted the statement before it returned a result (exit code 1).
    Interrupted,
    /// Memory or disk ran out (exit code 1).
    Resources,
    /// A bug in anonsql itself (exit code 1).
    Internal,
}

/// The exit codes of the command, each with its meaning.
#[doc(hidden)]
pub const EXIT_CODES: &[(u8, &str)] = &[
    (0, "done"),
    (
        1,
        "wrong usage or SQL, data that does not fit, a file that cannot be read or written, or interrupted",
    ),
    (3, "no way to generalize satisfies the request"),
    (4, "a check of the release failed"),
    (5, "the target already exists, or its rows were already added"),
    (
        6,
        "run it again later: a store or a worker does not answer, or another run finished first",
    ),
    (7, "check the data, which drifted from the release of USING MANIFEST"),
    (129, "ended by SIGHUP: the terminal was closed"),
    (141, "the program that reads the output closed it early, as head does"),
    (143, "ended by SIGTERM"),
];

/// An error with its kind, a message for the user, and its cause.
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
    /// Whether the message was written by another crate.
    is_foreign: bool,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
    /// The content of the message as a typed value, for [`Error::detail`].
    detail: Option<Arc<dyn Any + Send + Sync>>,
}

/// The position of a syntax error in a statement.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use anonsql::error::Position;
/// let anon = anonsql::AnonContext::new(Default::default());
/// let wrong = anon.sql("ANONYMIZE people QUASI").await.unwrap_err();
/// if let Some(Position { line, column }) = wrong.detail() {
///     println!("{line}:{column}");
/// }
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The line, counted from 1.
    pub line: u64,
    /// The character within the line, counted from 1.
    pub column: u64,
}

impl Error {
    /// Creates an error of `kind` with this message.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: shown(message.into()),
            is_foreign: false,
            source: None,
            detail: None,
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

    /// Creates an error of kind `Internal`: a bug in anonsql itself.
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

    /// Creates an error of kind `Io`: the file or folder `what` cannot be used.
    pub(crate) fn io(what: impl fmt::Display, source: std::io::Error) -> Self {
        Self::new(ErrorKind::Io, format!("{what}: {source}")).with_source(source)
    }

    /// Creates an error of kind `Usage` for a `name` that does not exist. `what` is the kind of
    /// object that the name denotes, such as `column` or `model`. The message suggests the most
    /// similar of the `known` names, or lists all of them if none is similar.
    pub(crate) fn unknown<'a>(what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let nearest = known
            .iter()
            .map(|k| (strsim::damerau_levenshtein(&k.to_lowercase(), &name.to_lowercase()), k))
            .min()
            .filter(|(distance, k)| *distance <= 2.max(k.chars().count() / 2));
        // A name may also be the beginning of a known name, such as `k` for k_anonymity.
        let letters = |name: &str| name.to_lowercase().replace(['_', '-', ' '], "");
        let begins = |k: &&&str| !name.is_empty() && letters(k).starts_with(&letters(name));
        let longer: Vec<String> = known.iter().filter(begins).map(|k| format!("{k:?}")).collect();
        let in_capitals = known
            .iter()
            .find(|k| **k != name && k.eq_ignore_ascii_case(name) && name == name.to_lowercase());
        let hint = match nearest {
            _ if in_capitals.is_some() => {
                let known = in_capitals.copied().unwrap_or_default();
                format!("; write {known:?} in double quotes, because unquoted names are converted to lower case")
            }
            Some((_, k)) => format!("; did you mean {k:?}?"),
            None if !longer.is_empty() => format!("; did you mean {}?", longer.join(" or ")),
            None if known.is_empty() => format!("; there is no {what} yet"),
            None => format!("; known: {}", known.join(", ")),
        };
        Self::usage(format!("there is no {what} {name:?}{hint}"))
    }

    /// Appends advice to the message: `message; advice`.
    pub(crate) fn advised(mut self, advice: impl fmt::Display) -> Self {
        self.message = format!("{}; {}", self.message, shown(advice.to_string()));
        self
    }

    /// Puts a context before the message: `context: message`. A message that already begins with
    /// the context is not changed.
    pub(crate) fn context(mut self, context: impl fmt::Display) -> Self {
        let before = format!("{}: ", shown(context.to_string()));
        if !self.message.starts_with(&before) {
            self.message.insert_str(0, &before);
        }
        self
    }

    /// Returns the error for a URL that contains credentials; `None` if it contains none.
    pub(crate) fn of_credentials(url: &url::Url) -> Option<Self> {
        let is_user = !url.username().is_empty() && !urls::is_container(url.scheme(), url.username());
        let what = match () {
            () if is_user || url.password().is_some() => "a user name or a password",
            () if url.query().is_some_and(|query| query.contains('=')) => {
                "a query, which usually contains a signature or a token"
            }
            () => return None,
        };
        Some(Self::usage(format!(
            "{url} contains {what}; statements are stored in many places, so credentials belong in the environment: \
            AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for s3://, GOOGLE_APPLICATION_CREDENTIALS for gs://, \
            AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY for az://"
        )))
    }

    /// Sets the cause of the error.
    pub(crate) fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// Sets the content of the message as a typed value, which [`Self::detail`] returns.
    pub(crate) fn with_detail(mut self, detail: impl Any + Send + Sync) -> Self {
        self.detail = Some(Arc::new(detail));
        self
    }

    /// Returns the content of the message as a value of type `T`; `None` if the error has no value
    /// of this type. The type depends on the kind of the error:
    ///
    /// - `Usage` has the [`Position`] in the statement, if the statement does not parse;
    /// - `Infeasible` has the [`NearestMiss`](crate::NearestMiss), if a search found no node;
    /// - `Verification` has the checks, `Vec<`[`Check`](crate::manifest::Check)`>`, if a promise
    ///   does not hold;
    /// - `Drift` has the drift, `Vec<`[`Drift`](crate::manifest::Drift)`>`, if the drift stopped
    ///   the statement.
    ///
    /// Like the message, the value names columns and counts, and contains no data value.
    pub fn detail<T: Any>(&self) -> Option<&T> {
        self.detail.as_deref()?.downcast_ref()
    }

    /// Returns the kind, which determines the exit code.
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
            ErrorKind::Unavailable => 6,
            ErrorKind::Drift => 7,
            _ => 1,
        }
    }
}

/// Removes the credentials of URLs and the responses of stores from a message.
fn shown(message: String) -> String {
    urls::without_credentials(answers::without_answers(message))
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
    fn a_beginning_is_completed() {
        let e = Error::unknown("model", "k", ["k_anonymity", "l_diversity", "k_map"]);
        assert_eq!(
            e.to_string(),
            "there is no model \"k\"; did you mean \"k_anonymity\" or \"k_map\"?"
        );
    }
}
