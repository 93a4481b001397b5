//! A warning, and the error of a strict request with open warnings.

use crate::base::error::Error;
use crate::base::quoting::ident;
use serde::{Deserialize, Serialize};

/// A warning about the roles of a request. It contains names and counts, and no data value.
///
/// ```
/// let read: anonsql::manifest::Warning = serde_json::from_str(
///     r#"{"kind": "identifier", "columns": ["ssn"], "text": "ssn is kept: ..."}"#,
/// )?;
/// assert!(!read.accepted);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Warning {
    /// The kind of warning.
    pub kind: WarningKind,
    /// The columns that the warning is about.
    pub columns: Vec<String>,
    /// The warning in one sentence, followed by advice.
    pub text: String,
    /// True if the statement accepts the warning (ACCEPTING WARNINGS ON). An accepted warning is
    /// recorded and does not stop a strict request.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub accepted: bool,
}

/// The kind of a warning.
///
/// ```
/// use anonsql::manifest::WarningKind;
/// assert_eq!(serde_json::to_string(&WarningKind::Identifier)?, "\"identifier\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WarningKind {
    /// A released column looks like an identifier by its name or by its values.
    Identifier,
    /// A released column has a different value in nearly every row.
    Unique,
    /// Kept columns, together with the quasi-identifiers, single out rows.
    Linked,
    /// A date is released unchanged beside another date, which is shifted by a number of days for
    /// each person.
    Shifted,
    /// Several rows belong to one person while the models count rows, or the entity is NULL in some
    /// rows.
    Entity,
    /// A quasi-identifier has the same value in every row.
    Constant,
    /// The source has no rows.
    Empty,
    /// The texts of a quasi-identifier, or of a column that is released unchanged, mostly have
    /// blanks around them.
    Blanks,
}

impl WarningKind {
    /// Returns the name of the kind in a manifest.
    pub fn name(self) -> &'static str {
        match self {
            Self::Identifier => "identifier",
            Self::Unique => "unique",
            Self::Linked => "linked",
            Self::Shifted => "shifted",
            Self::Entity => "entity",
            Self::Constant => "constant",
            Self::Empty => "empty",
            Self::Blanks => "blanks",
        }
    }
}

impl Warning {
    /// Creates a warning that is not accepted.
    pub(super) fn new(kind: WarningKind, columns: Vec<String>, text: String) -> Self {
        Self {
            kind,
            columns,
            text,
            accepted: false,
        }
    }
}

/// Returns the warnings that the statement does not accept.
pub fn open(warnings: &[Warning]) -> impl Iterator<Item = &Warning> {
    warnings.iter().filter(|w| !w.accepted)
}

/// Returns the columns of the warnings without repetition.
pub fn columns<'a>(warnings: impl IntoIterator<Item = &'a Warning>) -> impl Iterator<Item = &'a str> {
    let mut columns: Vec<&str> = vec![];
    for column in warnings.into_iter().flat_map(|w| &w.columns) {
        if !columns.contains(&column.as_str()) {
            columns.push(column);
        }
    }
    columns.into_iter()
}

/// Returns the error of a strict request with these open warnings; `None` if there are none.
pub fn refusal(warnings: &[Warning]) -> Option<Error> {
    let texts: Vec<&str> = open(warnings).map(|w| w.text.as_str()).collect();
    let columns: Vec<String> = columns(open(warnings)).map(|c| ident(c).to_string()).collect();
    let what = match texts.len() {
        0 => return None,
        1 => "a warning is".to_string(),
        n => format!("{n} warnings are"),
    };
    let advice = match columns.join(", ") {
        none if none.is_empty() => String::new(),
        columns => format!(". Change the roles, or add ACCEPTING WARNINGS ON ({columns}) if you know better"),
    };
    Some(Error::usage(format!(
        "strict: {what} open, and nothing was written. {}{advice}",
        texts.join(". ")
    )))
}
