//! The native part of the Python module `anonsql`: sessions, rows and the command.
//!
//! The public classes are written in Python (`python/anonsql`). This crate runs statements
//! with the interpreter's lock released, hands Arrow tables in and out without copying them, and
//! raises the crate's errors as the exceptions of `anonsql._errors`.

#![deny(unsafe_code, missing_docs)]

mod arrow_c;
mod errors;
mod follow;
mod functions;
mod models;
mod outcome;
mod rows;
mod session;
mod tables;

use anonsql::command::cli::{Restart, run_command_as};
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// Runs the command `anonsql` with these arguments, the first of which is its name. Returns its
/// exit code. `executable` and `original` are the program and the arguments that start this process
/// again.
#[pyfunction]
fn run_command(py: Python<'_>, arguments: Vec<OsString>, executable: Option<PathBuf>, original: Vec<OsString>) -> u8 {
    let restart = Restart {
        program: executable,
        arguments: original,
    };
    py.detach(|| run_command_as(arguments, &restart))
}

/// The native part of anonsql.
#[pymodule]
mod _anonsql {
    #[pymodule_export]
    use super::functions::Function;
    #[pymodule_export]
    use super::rows::Batches;
    #[pymodule_export]
    use super::run_command;
    #[pymodule_export]
    use super::session::Session;
}
