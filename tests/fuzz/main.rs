//! Runs random statements, tables and files. A judge checks the results by the definitions and uses
//! none of the code under test.
//!
//! `cargo test` runs a few cases of each kind, the same ones every time. To run for hours:
//!
//! ```text
//! cargo test --release --test fuzz -- releases --cases 100000 [--seed S] [--threads T]
//! ```
//!
//! `--seed S --case I` runs case I of seed S alone. The message of a failed case has the command
//! that runs it again. A kind is a module with one `run` and a line in [`KINDS`].

mod crashes;
mod edges;
mod options;
mod releases;

use options::Options;
use std::time::Instant;

/// The numbers of cases by their result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    pub passed: u64,
    pub failed: u64,
    /// The number of cases that need something that this machine does not have.
    pub ignored: u64,
}

/// A kind of fuzzing. `run` runs `cases` cases from number `seed` on, on `threads` threads, and
/// prints the cases that fail.
struct Kind {
    name: &'static str,
    /// The number of cases in a plain `cargo test`; 0 for a kind whose findings are not fixed yet.
    few: u64,
    run: fn(cases: u64, seed: u64, threads: usize) -> Outcome,
}

/// Every kind. `--cases` without a name runs the first kind.
const KINDS: &[Kind] = &[
    Kind {
        name: "releases",
        few: 600,
        run: releases::run,
    },
    Kind {
        name: "kills",
        few: 30,
        run: crashes::kills,
    },
    Kind {
        name: "faults",
        few: 30,
        run: crashes::faults,
    },
    Kind {
        name: "statements",
        few: 10000,
        run: edges::statements,
    },
    Kind {
        name: "data-files",
        few: 400,
        run: edges::data_files,
    },
    Kind {
        name: "manifests",
        few: 200,
        run: edges::manifests,
    },
    Kind {
        name: "hierarchy-files",
        few: 1000,
        run: edges::hierarchy_files,
    },
    Kind {
        name: "samples",
        few: 100,
        run: edges::samples,
    },
];

fn main() {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("fuzz: {message}");
            std::process::exit(2);
        }
    };
    if options.list {
        println!("0 tests, 0 benchmarks");
        return;
    }
    let start = Instant::now();
    let mut total = Outcome::default();
    for kind in KINDS.iter().filter(|kind| options.asks_for(kind.name, KINDS[0].name)) {
        let (cases, seed) = options.range(kind.few);
        if cases == 0 {
            continue;
        }
        println!("fuzz {}: {cases} cases, seed {seed}", kind.name);
        let outcome = (kind.run)(cases, seed, options.threads);
        total.passed += outcome.passed;
        total.failed += outcome.failed;
        total.ignored += outcome.ignored;
    }
    let result = if total.failed == 0 { "ok" } else { "FAILED" };
    println!(
        "test result: {result}. {} passed; {} failed; {} ignored; 0 measured; 0 filtered out; finished in {:.2}s",
        total.passed,
        total.failed,
        total.ignored,
        start.elapsed().as_secs_f64()
    );
    std::process::exit(i32::from(total.failed > 0));
}
