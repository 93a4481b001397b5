//! Prints the measurements that `benches/ratios.py` collects, one JSON object per line. `lattice`
//! compares the inner loop of the search with plain Rust and with the reference figures of the peer
//! (ARX). `job FILE THREADS` prints the time of each phase of a job. `jobs THREADS FILE...` prints
//! the time that several jobs in one process take, first one after the other and then at the same
//! time.

#[allow(dead_code, reason = "each bench uses its part")]
mod support {
    pub mod adult;
    pub mod clock;
    pub mod columns;
    pub mod forms;
    pub mod plain;
    pub mod request;
    pub mod run;
    pub mod turns;
}

use anonsql::AnonContext;
use anonsql::internal::catalogue::Call;
use anonsql::internal::lattice::Node;
use anonsql::internal::search::{self, Context, Oracle, SearchBudget};
use anonsql::{Observer, Phase};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use support::adult::{Adult, shared};
use support::clock::timed;
use support::forms::{by_aggregate, by_product, schema};
use support::plain::Plain;
use support::run::runtime;
use support::turns::in_turns;

/// The number of random nodes over which the mean is taken.
const NODES: usize = 300;
/// The number of runs; the median run is printed.
const RUNS: usize = 5;
/// The memory limit of each of the jobs that run in one process, in bytes.
const OWN_MEMORY: usize = 256 << 20;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["lattice"] => inner_loop(),
        ["job", script, threads] => job(Path::new(script), threads.parse().expect("a number of threads")),
        ["jobs", threads, ref scripts @ ..] => jobs(scripts, threads.parse().expect("a number of threads")),
        // `cargo test --benches` has nothing to check here: only the measured numbers matter.
        _ => eprintln!(
            "run `python3 benches/ratios.py`, or: ratios lattice | ratios job SCRIPT THREADS | ratios jobs THREADS SCRIPT..."
        ),
    }
}

fn inner_loop() {
    let Some(adult) = Adult::read() else { return };
    node(&adult);
    whole_lattice(&adult);
    for metric in ["dm", "entropy"] {
        for k in [2, 10] {
            for percent in [0, 1, 5, 100] {
                default_search(&adult, metric, k, percent);
            }
        }
    }
}

/// Prints the mean time to compute a random node from the base frequency set.
fn node(adult: &Adult) {
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let drawn: Vec<Node> = (0..NODES).map(|_| adult.lattice.sample(&mut rng)).collect();
    let sets = adult.sets(0);
    let mut plain = Plain::new(&adult.base);
    let rows = plain.rows.clone();
    let schema = schema();
    let times = in_turns(
        15,
        &drawn,
        &mut [
            ("product", &mut |n| by_product(&sets, n)),
            ("AggregateExec", &mut |n| by_aggregate(adult, &schema, n)),
            ("plain", &mut |n| plain.group(&rows, n).len()),
        ],
    );
    let mean = |i: usize| times[i] / NODES as f64;
    println!(
        "{}",
        json!({"line": "node", "product_us": mean(0), "aggregate_exec_us": mean(1), "plain_us": mean(2),
               "nodes_per_second": 1e6 / mean(0), "ratio": times[0] / times[2]})
    );
}

/// Prints the time to evaluate every node with dm and glm, compared with plain grouping without
/// metrics.
fn whole_lattice(adult: &Adult) {
    let mut plain = Plain::new(&adult.base);
    let mut runs = vec![];
    for _ in 0..RUNS {
        let (_, floor, _) = timed(|| plain.whole_lattice(&adult.lattice));
        let evaluator = adult.evaluator(&["dm", "glm"], 5, 5);
        let mut context = Context::new(0, SearchBudget::default());
        let exhaustive = search::build(&Call::bare("exhaustive")).expect("exhaustive");
        let (_, cpu, done) = timed(|| exhaustive.run(&evaluator, &mut context));
        done.expect("the search ends");
        let counters = evaluator.counters();
        let (cpu, floor) = (cpu.as_secs_f64(), floor.as_secs_f64());
        runs.push((
            cpu / floor,
            json!({"line": "lattice", "product_cpu_s": cpu, "plain_cpu_s": floor, "nodes": context.assessed(),
                   "rolled_up": counters.rolled_up, "rows_read": counters.rows_read, "ratio": cpu / floor}),
        ));
    }
    println!("{}", median(runs));
}

/// Runs the default search with no node evaluated in advance, and compares its time with the time
/// of the peer.
fn default_search(adult: &Adult, metric: &str, k: i64, percent: u64) {
    let mut runs = vec![];
    for _ in 0..RUNS {
        let evaluator = adult.evaluator(&[metric], k, percent);
        let mut context = Context::new(0, SearchBudget::default());
        let auto = search::build(&Call::bare("auto")).expect("auto");
        let (_, cpu, done) = timed(|| auto.run(&evaluator, &mut context));
        done.expect("the search ends");
        let Some((cpu_ms, nodes)) = peer(metric, k, percent) else {
            return;
        };
        let ours = cpu.as_secs_f64() * 1e3;
        runs.push((
            ours,
            json!({"line": "search", "metric": metric, "k": k, "limit_percent": percent, "nodes": context.assessed(),
                   "peer_nodes": nodes, "cpu_ms": ours, "peer_cpu_ms": cpu_ms, "ratio": ours / cpu_ms}),
        ));
    }
    println!("{}", median(runs));
}

/// Returns the peer's CPU time in milliseconds and number of nodes, from the reference figures.
fn peer(metric: &str, k: i64, percent: u64) -> Option<(f64, Option<u64>)> {
    let text = std::fs::read_to_string(shared()?.join("reference/adult_given.jsonl")).ok()?;
    let share = percent as f64 / 100.0;
    let line = text
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .find(|l| l["metric"] == metric && l["k"] == k && l["suppression_limit"].as_f64() == Some(share))?;
    Some((line["peer_cpu_ms"].as_f64()?, line["peer_nodes_evaluated"].as_u64()))
}

fn median(mut runs: Vec<(f64, serde_json::Value)>) -> serde_json::Value {
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    runs.swap_remove(runs.len() / 2).1
}

/// Runs a script of statements and prints the time of each phase of its jobs.
fn job(script: &Path, threads: usize) {
    let config = SessionConfig::new().with_target_partitions(threads);
    let phases = Arc::new(Phases::default());
    let context = AnonContext::new(SessionContext::new_with_config(config)).with_observer(phases.clone());
    let text = std::fs::read_to_string(script).expect("the script can be read");
    let begun = Instant::now();
    runtime(threads).block_on(context.sql(&text)).expect("the script runs");
    let seconds = phases.seconds.lock().expect("no phase panics").clone();
    println!(
        "{}",
        json!({"line": "job", "wall_s": begun.elapsed().as_secs_f64(), "phases_s": seconds})
    );
}

/// Runs scripts first one after the other and then at the same time, each in its own session with
/// [`OWN_MEMORY`]. Prints the total time of each of the two ways.
fn jobs(scripts: &[&str], threads: usize) {
    let texts: Vec<String> = scripts
        .iter()
        .map(|script| std::fs::read_to_string(script).expect("the script can be read"))
        .collect();
    let one = |text: String| async move {
        let pool = Arc::new(FairSpillPool::new(OWN_MEMORY));
        let environment = RuntimeEnvBuilder::new().with_memory_pool(pool).build_arc();
        let config = SessionConfig::new().with_target_partitions(threads);
        let session = SessionContext::new_with_config_rt(config, environment.expect("an environment"));
        AnonContext::new(session).sql(&text).await.expect("the script runs");
    };
    let runtime = runtime(threads);
    let (mut in_turn, mut at_once) = (vec![], vec![]);
    for _ in 0..RUNS {
        let begun = Instant::now();
        runtime.block_on(async {
            for text in &texts {
                one(text.clone()).await;
            }
        });
        in_turn.push(begun.elapsed().as_secs_f64());
        let begun = Instant::now();
        let running: Vec<_> = texts.iter().map(|text| runtime.spawn(one(text.clone()))).collect();
        for job in running {
            runtime.block_on(job).expect("no job panics");
        }
        at_once.push(begun.elapsed().as_secs_f64());
    }
    let middle = |mut seconds: Vec<f64>| {
        seconds.sort_by(f64::total_cmp);
        seconds[RUNS / 2]
    };
    println!(
        "{}",
        json!({"line": "jobs", "jobs": texts.len(), "in_turn_s": middle(in_turn), "at_once_s": middle(at_once)})
    );
}

/// An observer that sums up the time of each phase.
#[derive(Default)]
struct Phases {
    begun: Mutex<Option<Instant>>,
    seconds: Mutex<BTreeMap<String, f64>>,
}

impl Observer for Phases {
    fn begin(&self, _: Phase) -> Arc<AtomicU64> {
        *self.begun.lock().expect("no phase panics") = Some(Instant::now());
        Arc::default()
    }

    fn end(&self, phase: Phase) {
        if let Some(begun) = self.begun.lock().expect("no phase panics").take() {
            let mut seconds = self.seconds.lock().expect("no phase panics");
            *seconds.entry(format!("{phase:?}").to_lowercase()).or_default() += begun.elapsed().as_secs_f64();
        }
    }
}
