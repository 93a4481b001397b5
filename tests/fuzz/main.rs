//! Random statements, tables and files, and a judge that knows the definitions and none of the
//! code.
//!
//! `cargo test` runs a few cases of each kind, the same ones every time. For hours:
//!
//! ```text
//! cargo test --release --test fuzz -- releases --cases 100000 [--seed S] [--threads T]
//! ```
//!
//! Case I of seed S is what `--seed S --case I` runs alone: a failure says how it is run again. A
//! kind is a module with one `run` and a line in [`KINDS`].

mod crashes;
mod edges;
mod options;
mod releases;

use options::Options;
use std::time::Instant;

/// How many cases ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    pub passed: u64,
    pub failed: u64,
    /// Cases that need what is not there.
    pub ignored: u64,
}

/// One kind of fuzzing: `cases` cases from number `seed` on, on `threads` threads. It prints what
/// failed itself.
struct Kind {
    name: &'static str,
    /// The cases of plain `cargo test`; none of a kind whose findings are not mended yet.
    few: u64,
    run: fn(cases: u64, seed: u64, threads: usize) -> Outcome,
}

/// Every kind; without a name and with `--cases`, the first is run.
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
