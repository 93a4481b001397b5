//! The command `anonsql`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    anonsql::command::cli::run_command()
}
