//! Measures the time of the optimal searches on Adult, and the number of nodes that they assess.
//!
//! Every search starts from the base frequency set, with no node evaluated in advance, on one
//! thread.

#[allow(dead_code, reason = "each bench uses its part")]
mod support {
    pub mod adult;
    pub mod columns;
    pub mod request;
    pub mod run;
}

use anonsql::internal::search::{self, Context, SearchBudget};
use anonsql::internal::{catalogue::Call, engine::Evaluator};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use std::time::Duration;
use support::adult::Adult;
use support::run::is_quick;

const METRICS: [&str; 3] = ["dm", "glm", "entropy"];

/// Runs a search until it ends. Returns the number of nodes assessed and the optimum.
fn run(name: &str, evaluator: &Evaluator) -> (u64, Option<f64>) {
    let mut context = Context::new(0, SearchBudget::default());
    let search = search::build(&Call::bare(name)).expect("a search");
    search.run(evaluator, &mut context).expect("the search ends");
    (context.assessed(), context.incumbent().map(|(_, a)| a.cost()))
}

fn searches(c: &mut Criterion) {
    let Some(adult) = Adult::read() else { return };
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
