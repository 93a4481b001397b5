//! The result of a statement as Python values.

use crate::errors::checks;
use crate::rows::Batches;
use anonsql::error::{Error, ErrorKind, Result};
use anonsql::manifest::Warning;
use anonsql::{Anonymized, Outcome, Release};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;

/// The result of a statement, with its rows in memory.
pub struct Told {
    rows: Option<Batches>,
    value: Value,
    report: Option<PathBuf>,
}

enum Value {
    Rows,
    Anonymized {
        outcome: &'static str,
        folder: Option<PathBuf>,
        release: Option<Box<Release>>,
        manifest: Option<Manifest>,
        waiting: Option<u64>,
    },
    Verified {
        verification: anonsql::Verification,
        failed: Vec<String>,
    },
}

/// The parts of a manifest that are passed to Python.
struct Manifest {
    json: String,
    metrics: Vec<(String, f64)>,
}

impl Told {
    /// Converts a result, and reads its rows into memory.
    pub async fn read(outcome: Outcome) -> Result<Self> {
        match outcome {
            Outcome::Rows(answer) => Ok(Self {
                rows: Some(Batches::read(answer).await?),
                value: Value::Rows,
                report: None,
            }),
            Outcome::Verified { verification, answer } => Ok(Self {
                value: Value::Verified {
                    failed: answer.failed.clone(),
                    verification,
                },
                rows: Some(Batches::read(answer).await?),
                report: None,
            }),
            Outcome::Anonymized { anonymized, report } => {
                let told = Self::of_release(*anonymized).await?;
                Ok(Self { report, ..told })
            }
            _ => Err(unsupported("this result")),
        }
    }

    async fn of_release(anonymized: Anonymized) -> Result<Self> {
        let told = |outcome, folder, release: Option<Release>| Value::Anonymized {
            outcome,
            folder,
            release: release.map(Box::new),
            manifest: None,
            waiting: None,
        };
        let (value, rows) = match anonymized {
            Anonymized::Rows { release, rows } => (told("rows", None, Some(release)), Some(Batches::read(rows).await?)),
            Anonymized::DryRun { folder, release } => (told("dry run", folder, Some(release)), None),
            Anonymized::Kept { folder } => (told("kept", Some(folder), None), None),
            Anonymized::Files {
                folder,
                release,
                manifest,
            } => {
                let json = serde_json::to_string(&manifest);
                let json =
                    json.map_err(|_| Error::new(ErrorKind::Internal, "the manifest cannot be written as JSON"))?;
                let manifest = Manifest {
                    json,
                    metrics: manifest.metrics.into_iter().collect(),
                };
                let value = Value::Anonymized {
                    outcome: "released",
                    folder: Some(folder),
                    release: Some(Box::new(release)),
                    manifest: Some(manifest),
                    waiting: None,
                };
                (value, None)
            }
            Anonymized::Waiting { folder, rows } => {
                let value = Value::Anonymized {
                    outcome: "waiting",
                    folder: Some(folder),
                    release: None,
                    manifest: None,
                    waiting: Some(rows),
                };
                (value, None)
            }
            _ => return Err(unsupported("this release")),
        };
        Ok(Self {
            rows,
            value,
            report: None,
        })
    }

    /// Returns a VERIFY and the names of its checks that fail, if some fail; `None` for any other
    /// result.
    pub fn unverified(&self) -> Option<(&anonsql::Verification, &[String])> {
        match &self.value {
            Value::Verified { verification, failed } if !failed.is_empty() => Some((verification, failed)),
            _ => None,
        }
    }

    /// Returns the kind of the result, its rows if it has any, and its values.
    pub fn into_python(self, py: Python<'_>) -> PyResult<(&'static str, Option<Batches>, Bound<'_, PyDict>)> {
        let value = PyDict::new(py);
        let kind = match self.value {
            Value::Rows => "rows",
            Value::Verified { verification, failed } => {
                value.set_item("checks", checks(py, &verification.checks)?)?;
                value.set_item("unchecked", verification.unchecked)?;
                value.set_item("gaps", verification.gaps)?;
                value.set_item("undecided", checks(py, &verification.undecided)?)?;
                value.set_item("files_read", verification.files_read)?;
                value.set_item("failed", failed)?;
                "verified"
            }
            Value::Anonymized {
                outcome,
                folder,
                release,
                manifest,
                waiting,
            } => {
                value.set_item("outcome", outcome)?;
                value.set_item("target", folder.map(|folder| folder.display().to_string()))?;
                value.set_item("waiting", waiting)?;
                value.set_item("report", self.report.map(|report| report.display().to_string()))?;
                if let Some(release) = release {
                    figures(py, &value, &release)?;
                }
                if let Some(manifest) = manifest {
                    value.set_item("manifest_json", manifest.json)?;
                    let metrics = PyDict::new(py);
                    for (name, number) in manifest.metrics {
                        metrics.set_item(name, number)?;
                    }
                    value.set_item("metrics", metrics)?;
                }
                "release"
            }
        };
        Ok((kind, self.rows, value))
    }
}

/// Returns the error for a variant that this crate does not know.
fn unsupported(what: &str) -> Error {
    Error::new(ErrorKind::Internal, format!("{what} is not supported in Python"))
}

/// Sets the figures of a release.
fn figures(py: Python<'_>, value: &Bound<'_, PyDict>, release: &Release) -> PyResult<()> {
    value.set_item("k", release.reached_k)?;
    value.set_item("rows_in", release.rows_in)?;
    value.set_item("rows", release.rows_out)?;
    value.set_item("suppressed", release.rows_suppressed)?;
    value.set_item("classes", release.classes)?;
    value.set_item("search", &release.search)?;
    value.set_item("node", &release.node)?;
    value.set_item("metric", &release.metric)?;
    value.set_item("value", release.value)?;
    value.set_item("proof", &release.proof)?;
    value.set_item("nodes", release.nodes)?;
    value.set_item("checks", checks(py, &release.checks)?)?;
    value.set_item("warnings", warnings(py, &release.warnings)?)?;
    value.set_item("advice", &release.advice)?;
    Ok(())
}

fn warnings<'py>(py: Python<'py>, warnings: &[Warning]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for warning in warnings {
        let value = PyDict::new(py);
        value.set_item("kind", warning.kind.name())?;
        value.set_item("columns", &warning.columns)?;
        value.set_item("text", &warning.text)?;
        value.set_item("accepted", warning.accepted)?;
        list.append(value)?;
    }
    Ok(list)
}
