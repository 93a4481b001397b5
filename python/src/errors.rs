//! Converts the crate's errors to exceptions of `anonsql._errors`, by kind and typed detail.
//! Nothing is parsed from the text of an error.

use anonsql::error::{Error, ErrorKind, Position};
use anonsql::manifest::{Check, Drift};
use anonsql::{NearestMiss, Verification};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::error::Error as _;
use std::io;

/// Returns the exception for an error.
pub fn exception(py: Python<'_>, error: &Error) -> PyErr {
    match error.kind() {
        ErrorKind::Interrupted => PyKeyboardInterrupt::new_err(said(error.message())),
        _ => raised(py, error).unwrap_or_else(|e| e),
    }
}

/// Returns a message with the names of Python arguments instead of the command's options.
pub fn said(message: &str) -> String {
    message
        .replace("--memory-limit", "memory_limit")
        .replace("fewer --threads", "fewer threads")
        .replace("--temp-dir", "temp_dir")
}

/// Returns the `errno` of the system error that caused a file error; `None` if there is no such
/// cause, as for an object store.
fn errno(py: Python<'_>, error: &Error) -> PyResult<Option<i32>> {
    let mut source = error.source();
    while let Some(e) = source {
        if let Some(io) = e.downcast_ref::<io::Error>() {
            if let Some(number) = io.raw_os_error() {
                return Ok(Some(number));
            }
            if let Some(name) = name_of(io.kind()) {
                return py.import("errno")?.getattr(name)?.extract().map(Some);
            }
        }
        source = e.source();
    }
    Ok(None)
}

/// Returns the constant in Python's module `errno` for a kind of error.
fn name_of(kind: io::ErrorKind) -> Option<&'static str> {
    Some(match kind {
        io::ErrorKind::NotFound => "ENOENT",
        io::ErrorKind::PermissionDenied => "EACCES",
        io::ErrorKind::AlreadyExists => "EEXIST",
        io::ErrorKind::NotADirectory => "ENOTDIR",
        io::ErrorKind::IsADirectory => "EISDIR",
        io::ErrorKind::StorageFull => "ENOSPC",
        io::ErrorKind::ReadOnlyFilesystem => "EROFS",
        _ => return None,
    })
}

fn raised(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let details = PyDict::new(py);
    let class = match error.kind() {
        ErrorKind::Usage => {
            if let Some(Position { line, column }) = error.detail() {
                details.set_item("line", line)?;
                details.set_item("column", column)?;
            }
            "InvalidStatement"
        }
        ErrorKind::Data => "DataError",
        ErrorKind::Io => {
            details.set_item("errno", errno(py, error)?)?;
            "FileError"
        }
        ErrorKind::Infeasible => {
            if let Some(nearest) = error.detail::<NearestMiss>() {
                details.set_item("nearest", miss(py, nearest)?)?;
            }
            "Infeasible"
        }
        ErrorKind::Verification => {
            let found = error.detail::<Vec<Check>>();
            details.set_item("checks", checks(py, found.map_or(&[], Vec::as_slice))?)?;
            "VerificationFailed"
        }
        ErrorKind::TargetExists => "TargetExists",
        ErrorKind::Unavailable => "Unavailable",
        ErrorKind::Drift => {
            let found = error.detail::<Vec<Drift>>();
            details.set_item("found", drift(py, found.map_or(&[], Vec::as_slice))?)?;
            "Drift"
        }
        ErrorKind::Resources => "Exhausted",
        _ => "InternalError",
    };
    named(py, class, &said(error.message()), &details)
}

/// Returns an exception of a class of `anonsql._errors`.
fn named(py: Python<'_>, class: &str, message: &str, details: &Bound<'_, PyDict>) -> PyResult<PyErr> {
    let class = py.import("anonsql._errors")?.getattr(class)?;
    Ok(PyErr::from_value(class.call((message,), Some(details))?))
}

/// Returns the exception for a table that cannot be registered.
pub fn unfit(py: Python<'_>, message: &str) -> PyErr {
    named(py, "DataError", message, &PyDict::new(py)).unwrap_or_else(|e| e)
}

/// Returns the exception for a VERIFY whose checks do not hold.
///
/// `failed` contains the names of these checks. In a strict session, it also contains the facts
/// that could not be checked.
pub fn unverified(py: Python<'_>, verification: &Verification, failed: &[String]) -> PyErr {
    let raise = || {
        let details = PyDict::new(py);
        details.set_item("checks", checks(py, &verification.checks)?)?;
        details.set_item("gaps", &verification.gaps)?;
        let message = format!("a check of VERIFY does not hold: {}", failed.join("; "));
        named(py, "VerificationFailed", &message, &details)
    };
    raise().unwrap_or_else(|e| e)
}

fn miss<'py>(py: Python<'py>, nearest: &NearestMiss) -> PyResult<Bound<'py, PyDict>> {
    let value = PyDict::new(py);
    value.set_item("node", &nearest.node)?;
    value.set_item("rows", nearest.rows)?;
    value.set_item("suppressed", nearest.suppressed)?;
    value.set_item("allowed", nearest.allowed)?;
    value.set_item("lifted", nearest.lifted.clone())?;
    Ok(value)
}

/// Returns checks as a list of dictionaries.
pub fn checks<'py>(py: Python<'py>, checks: &[Check]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for check in checks {
        let value = PyDict::new(py);
        value.set_item("check", &check.check)?;
        value.set_item("required", check.required)?;
        value.set_item("reached", check.reached)?;
        value.set_item("ok", check.ok)?;
        list.append(value)?;
    }
    Ok(list)
}

/// Returns drift as a list of dictionaries.
pub fn drift<'py>(py: Python<'py>, found: &[Drift]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for drift in found {
        let value = PyDict::new(py);
        value.set_item("kind", drift.kind.name())?;
        value.set_item("columns", &drift.columns)?;
        value.set_item("values", drift.values)?;
        value.set_item("classes", drift.classes)?;
        value.set_item("rows", drift.rows)?;
        value.set_item("allowed", drift.allowed)?;
        value.set_item("text", &drift.text)?;
        list.append(value)?;
    }
    Ok(list)
}
