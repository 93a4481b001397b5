//! The command `anonsql`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    anonsql::cli::run_command()
}
