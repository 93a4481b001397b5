//! Repeats the experiments of three papers: `cargo bench --bench papers -- [--quick] [--only
//! SECTION] [--out FOLDER]`.
//!
//! The bench writes its results to `target/papers` (or FOLDER): the tables as CSV, the figures as
//! SVG, and `index.html`, which compares the measured numbers with the published ones. It reads the
//! source tables from ANONSQL_SHARED (or ../shared). All sections together take some minutes on two
//! cores: the engine evaluates every node of a lattice once, and the runs of all seeds look up the
//! results. `--quick` takes 3 seeds instead of 50 (`hybrid`) or 20 (`fronts`), and fewer values of
//! k (`madars`). The sections are `hybrid` (by far the longest), `fronts` and `madars`.

mod chart;
mod fronts;
mod hybrid;
mod madars;
mod page;
#[path = "../support/request.rs"]
mod request;
mod source;

use page::Page;
use std::path::PathBuf;
use std::time::Instant;

/// The size of a run, and its folders.
pub struct Plan {
    /// True if only a few seeds are run.
    pub quick: bool,
    /// The folder with the tables.
    pub shared: PathBuf,
    /// The folder for the output.
    pub out: PathBuf,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` does not pass --bench. In that case, there is nothing to check.
    if !arguments.iter().any(|a| a == "--bench") {
        return;
    }
    let out = arguments
        .iter()
        .position(|a| a == "--out")
        .and_then(|i| arguments.get(i + 1));
    let shared = PathBuf::from(std::env::var_os("ANONSQL_SHARED").unwrap_or_else(|| "../shared".into()));
    if !shared.join("data/pima.parquet").exists() {
        eprintln!("skipped: there is no data/pima.parquet in ANONSQL_SHARED (or ../shared)");
        return;
    }
    let plan = Plan {
        quick: arguments.iter().any(|a| a == "--quick"),
        shared,
        out: out.map_or_else(|| PathBuf::from("target/papers"), PathBuf::from),
    };
    std::fs::create_dir_all(&plan.out).expect("the folder can be made");
    let started = Instant::now();
    let mut page = Page::new(&plan.out);
    let only = arguments
        .iter()
        .position(|a| a == "--only")
        .and_then(|i| arguments.get(i + 1));
    type Section = (&'static str, fn(&Plan, &mut Page));
    let sections: [Section; 3] = [
        ("hybrid", hybrid::run),
        ("fronts", fronts::run),
        ("madars", madars::run),
    ];
    for (name, run) in sections {
        if only.is_none_or(|only| only == name) {
            run(&plan, &mut page);
        }
    }
    let minutes = started.elapsed().as_secs_f64() / 60.0;
    page.finish(&format!(
        "{} seeds; {minutes:.1} minutes on {} threads.",
        if plan.quick { "3" } else { "50 and 20" },
        threads()
    ));
    println!("{} after {minutes:.1} minutes", plan.out.join("index.html").display());
}

/// Returns the number of threads that run the seeds.
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// Calls `f` with every index below `n`, on all threads. Returns the results in the order of the
/// indices.
pub fn for_each<T: Send>(n: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let take = || next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        std::iter::repeat_with(take)
            .take_while(|i| *i < n)
            .map(|i| (i, f(i)))
            .collect::<Vec<_>>()
    };
    let mut done: Vec<(usize, T)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads()).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .flat_map(|w| w.join().expect("a run ends"))
            .collect()
    });
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, answer)| answer).collect()
}

/// Returns the mean and the standard deviation.
pub fn spread(values: &[f64]) -> (f64, f64) {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
    (mean, variance.sqrt())
}
