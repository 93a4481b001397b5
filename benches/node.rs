//! Measures one node of the Adult table's lattice in three ways: computed by DataFusion as in the
//! product, by DataFusion's own aggregation, and by plain Rust on the same packed keys. The bench
//! `ratios` states the required ratios.

#[allow(dead_code, reason = "each bench uses its part")]
mod support {
    pub mod adult;
    pub mod columns;
    pub mod forms;
    pub mod plain;
    pub mod request;
    pub mod run;
}

use anonsql::internal::lattice::Node;
use criterion::{Criterion, criterion_group, criterion_main};
use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;
use support::adult::Adult;
use support::forms::{by_aggregate, by_product, schema};
use support::plain::Plain;
use support::run::is_quick;

/// The number of random nodes over which the mean is taken.
const NODES: usize = 300;

fn nodes(c: &mut Criterion) {
    let Some(adult) = Adult::read() else { return };
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let number = if is_quick() { 3 } else { NODES };
    let drawn: Vec<Node> = (0..number).map(|_| adult.lattice.sample(&mut rng)).collect();
    let combinations = adult.base.combinations();
    let sets = adult.sets(0);
    let mut plain = Plain::new(&adult.base);
    let rows = plain.rows.clone();
    let schema = schema();

    let mut group = c.benchmark_group(format!("node/adult_{combinations}x{number}"));
    group.throughput(criterion::Throughput::Elements(number as u64));
    group.bench_function("product", |b| {
        b.iter(|| drawn.iter().map(|n| by_product(&sets, n)).sum::<usize>())
    });
    group.bench_function("aggregate_exec", |b| {
        b.iter(|| drawn.iter().map(|n| by_aggregate(&adult, &schema, n)).sum::<usize>());
    });
    group.bench_function("plain_hashbrown", |b| {
        b.iter(|| drawn.iter().map(|n| plain.group(&rows, n).len()).sum::<usize>());
    });
    group.finish();
}

criterion_group!(benches, nodes);
criterion_main!(benches);
