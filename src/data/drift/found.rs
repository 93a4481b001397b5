//! A drift, and the error for a statement that drift stops.

use crate::base::error::{Error, ErrorKind};
use serde::{Deserialize, Serialize};

/// One difference from the state at the time of the earlier release. It contains names and counts,
/// but no data value.
///
/// ```
/// let read: anonsql::manifest::Drift = serde_json::from_str(
///     r#"{"kind": "values", "columns": ["city"], "values": 2, "rows": 5, "text": "hierarchy city does not map ..."}"#,
/// )?;
/// assert_eq!((read.values, read.classes), (Some(2), None));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Drift {
    /// The kind of drift.
    pub kind: DriftKind,
    /// The columns that the drift is about.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub columns: Vec<String>,
    /// The number of distinct values that are not in the hierarchy of their column.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub values: Option<u64>,
    /// The number of classes that no longer satisfy the privacy models.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub classes: Option<u64>,
    /// The number of rows with these values or in these classes, or the number of rows that would
    /// have to be suppressed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rows: Option<u64>,
    /// The number of rows that may be suppressed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub allowed: Option<u64>,
    /// A description of the drift.
    pub text: String,
}

/// The kind of a drift.
///
/// ```
/// use anonsql::manifest::DriftKind;
/// assert_eq!(serde_json::to_string(&DriftKind::Suppression)?, "\"suppression\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DriftKind {
    /// Columns of the source are gone, are new, or have another type.
    Schema,
    /// A column has another hierarchy, so that its level has another meaning.
    Hierarchy,
    /// A column has values that are not in its hierarchy.
    Values,
    /// Classes of the node no longer satisfy the privacy models.
    Classes,
    /// More rows would have to be suppressed than are allowed.
    Suppression,
}

impl DriftKind {
    /// Returns the name of the kind, as it is written in the manifest.
    pub fn name(self) -> &'static str {
        match self {
            Self::Schema => "schema",
            Self::Hierarchy => "hierarchy",
            Self::Values => "values",
            Self::Classes => "classes",
            Self::Suppression => "suppression",
        }
    }
}

impl Drift {
    /// Returns the advice for this kind of drift, as a part of an error message.
    fn advice(&self) -> &'static str {
        match (self.kind, self.values) {
            (DriftKind::Schema, _) => {
                "ON DRIFT WARN accepts changes of columns that are not released; if the release is to change, write \
                 ON DRIFT SEARCH"
            }
            (DriftKind::Hierarchy, _) => "restore the hierarchy, or write ON DRIFT SEARCH",
            // NULL is not among the values that a hierarchy lists.
            (DriftKind::Values, None) => {
                "NULLS AS VALUE or NULLS AS TOP in the hierarchy accepts NULL, and then write ON DRIFT SEARCH once; or \
                 leave those rows out in a query"
            }
            (DriftKind::Values, Some(_)) => {
                "CHECK HIERARCHY lists the values; add them to the hierarchy and write ON DRIFT SEARCH once, because the levels \
                 of the old one have another meaning; or write ON DRIFT WARN, which suppresses the rows of \
                 quasi-identifiers within SUPPRESSING AT MOST"
            }
            (DriftKind::Classes | DriftKind::Suppression, _) => {
                "ON DRIFT SEARCH looks for another node; SUPPRESSING AT MOST lets more rows be suppressed"
            }
        }
    }

    /// Creates a drift of this kind without counts.
    pub(crate) fn new(kind: DriftKind, columns: Vec<String>, text: String) -> Self {
        Self {
            kind,
            columns,
            values: None,
            classes: None,
            rows: None,
            allowed: None,
            text,
        }
    }
}

/// Returns all drift in one line: `schema: column height is new; classes: ...`.
pub(crate) fn told(drift: &[Drift]) -> String {
    let one = |d: &Drift| format!("{}: {}", d.kind.name(), d.text);
    drift.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Returns the error for a statement that this drift stops, with the advice for each kind of drift.
pub(crate) fn refusal(kind: ErrorKind, drift: &[Drift]) -> Error {
    let mut advice: Vec<&str> = vec![];
    for drift in drift {
        if !advice.contains(&drift.advice()) {
            advice.push(drift.advice());
        }
    }
    let advice = advice.join("; ");
    Error::new(
        kind,
        format!(
            "the data drifted from the release of USING MANIFEST, and nothing was published. {}. {advice}",
            told(drift)
        ),
    )
    .with_detail(drift.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_names_every_drift_and_gives_each_advice_once() {
        let drift = |column: &str| Drift {
            values: Some(1),
            ..Drift::new(DriftKind::Values, vec![column.into()], format!("of column {column}"))
        };
        let error = refusal(ErrorKind::Drift, &[drift("age"), drift("zip")]);
        let text = error.to_string();
        assert!(
            text.contains("values: of column age; values: of column zip. CHECK"),
            "{text}"
        );
        assert_eq!(text.matches("CHECK HIERARCHY").count(), 1, "{text}");
        assert_eq!(error.exit_code(), 7);
    }

    #[test]
    fn a_kind_is_called_as_the_manifest_spells_it() {
        use DriftKind::{Classes, Hierarchy, Schema, Suppression, Values};
        for kind in [Schema, Hierarchy, Values, Classes, Suppression] {
            let written = serde_json::to_string(&kind).unwrap();
            assert_eq!(written, format!("\"{}\"", kind.name()));
        }
    }
}
