//! The searches that find the optimum, on Adult: time, and beside it the nodes that were assessed.
//!
//! Every search starts from the base frequency set with nothing evaluated, on one thread.

mod support {
    pub mod adult;
    pub mod clock;
    pub mod run;
}

use anonsql::search::{self, Budget, Context, Oracle};
use anonsql::{catalogue::Call, engine::Evaluator};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use std::time::Duration;
use support::adult::{Adult, shared};
use support::clock::timed;
use support::run::is_quick;

const METRICS: [&str; 3] = ["dm", "glm", "entropy"];

/// Runs a search to its end; answers the nodes it assessed and the optimum.
fn run(name: &str, evaluator: &Evaluator) -> (u64, Option<f64>) {
    let mut context = Context::new(0, Budget::default());
    let search = search::build(&Call::bare(name)).expect("a search");
    search.run(evaluator, &mut context).expect("the search ends");
    (context.assessed(), context.incumbent().map(|(_, a)| a.cost()))
}

/// The CPU milliseconds that the peer took, from the reference figures.
fn peer(metric: &str, k: i64, percent: u64) -> Option<f64> {
    let text = std::fs::read_to_string(shared()?.join("reference/adult_given.jsonl")).ok()?;
    let share = percent as f64 / 100.0;
    text.lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .find(|l| l["metric"] == metric && l["k"] == k && l["suppression_limit"].as_f64() == Some(share))?["peer_cpu_ms"]
        .as_f64()
}

/// Every search once, with what it did.
fn once(adult: &Adult) {
    println!(
        "{:<8} {:>3} {:>5}  {:<10} {:>6} {:>9} {:>9} {:>9}",
        "metric", "k", "limit", "search", "nodes", "cpu ms", "peer ms", "cpu/peer"
    );
    let (ks, limits): (&[i64], &[u64]) = match is_quick() {
        true => (&[10], &[0]),
        false => (&[2, 10], &[0, 1, 5, 100]),
    };
    for metric in METRICS {
        for &k in ks {
            for &percent in limits {
                let mut optimum = None;
                let searches: &[&str] = if is_quick() {
                    &["auto"]
                } else {
                    &["auto", "flash", "exhaustive"]
                };
                for name in searches {
                    let evaluator = adult.evaluator(&[metric], k, percent);
                    let (_, cpu, (nodes, cost)) = timed(|| run(name, &evaluator));
                    assert_eq!(
                        *optimum.get_or_insert(cost),
                        cost,
                        "{name} finds another optimum of {metric}"
                    );
                    assert!(nodes <= evaluator.counters().evaluated + evaluator.counters().cached + 1);
                    let cpu = cpu.as_secs_f64() * 1e3;
                    let peer = peer(metric, k, percent);
                    println!(
                        "{metric:<8} {k:>3} {percent:>4}%  {name:<10} {nodes:>6} {cpu:>9.1} {:>9.1} {:>9.2}",
                        peer.unwrap_or(f64::NAN),
                        cpu / peer.unwrap_or(f64::NAN)
                    );
                }
            }
        }
    }
}

fn searches(c: &mut Criterion) {
    let Some(adult) = Adult::read() else { return };
    once(&adult);
    let mut group = c.benchmark_group("search/adult_30162");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1));
    for metric in METRICS {
        for k in [2, 10] {
            for percent in [0, 1, 5, 100] {
                for name in ["auto", "flash"] {
                    if is_quick() && (k, percent, name) != (10, 0, "auto") {
                        continue;
                    }
                    let (nodes, _) = run(name, &adult.evaluator(&[metric], k, percent));
                    group.bench_function(format!("{metric}/k{k}/{percent}_percent/{name}/{nodes}_nodes"), |b| {
                        b.iter_batched(
                            || adult.evaluator(&[metric], k, percent),
                            |evaluator| run(name, &evaluator),
                            BatchSize::PerIteration,
                        );
                    });
                }
            }
        }
    }
    group.finish();
}

criterion_group!(benches, searches);
criterion_main!(benches);
