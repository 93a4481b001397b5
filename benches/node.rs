//! One node, and all nodes, of the lattice of Adult: executed by DataFusion as the product does it, beside DataFusion's
//! own aggregation and beside plain Rust on the same packed keys. What must be reached is in the ratios that are printed
//! first: at most 1.4 for a node, at most 2.5 for the whole lattice with two metrics.

mod support {
    pub mod adult;
    pub mod clock;
    pub mod plain;
    pub mod run;
    pub mod turns;
}

use anonsql::frequency::FrequencySets;
use anonsql::lattice::Node;
use anonsql::search::{Budget, Context, Oracle};
use anonsql::{catalogue::Call, search};
use arrow::array::{ArrayRef, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::RecordBatch;
use criterion::{Criterion, criterion_group, criterion_main};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::TaskContext;
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::AggregateExprBuilder;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode, PhysicalGroupBy};
use futures::TryStreamExt;
use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;
use std::sync::Arc;
use support::adult::Adult;
use support::clock::timed;
use support::plain::Plain;
use support::run::is_quick;
use support::turns::in_turns;

/// Nodes drawn for the mean over nodes.
const NODES: usize = 300;

/// The product's way, with no set of another node at hand.
fn by_product(sets: &FrequencySets, node: &Node) -> usize {
    sets.get(node).expect("a node's classes").len()
}

/// AggregateExec over a memory source of generalized keys.
fn by_aggregate(adult: &Adult, schema: &Arc<Schema>, node: &Node) -> usize {
    let set = &adult.base.set;
    let keys = adult.base.space.generalize(set.keys(), set.node(), node);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(UInt64Array::from(keys)),
        Arc::new(UInt64Array::new(set.counts().clone(), None)),
    ];
    let batch = RecordBatch::try_new(Arc::clone(schema), columns).expect("a batch");
    let plan = aggregate(batch).expect("a plan");
    count(plan, &adult.context)
}

fn aggregate(batch: RecordBatch) -> datafusion::error::Result<Arc<dyn ExecutionPlan>> {
    let schema = batch.schema();
    let input = MemorySourceConfig::try_new_exec(&[vec![batch]], Arc::clone(&schema), None)?;
    let column = |name: &str, at| Arc::new(Column::new(name, at)) as Arc<dyn PhysicalExpr>;
    let sum = AggregateExprBuilder::new(sum_udaf(), vec![column("rows", 1)])
        .schema(Arc::clone(&schema))
        .alias("rows")
        .build()?;
    Ok(Arc::new(AggregateExec::try_new(
        AggregateMode::Single,
        PhysicalGroupBy::new_single(vec![(column("key", 0), "key".into())]),
        vec![Arc::new(sum)],
        vec![None],
        input,
        schema,
    )?))
}

fn count(plan: Arc<dyn ExecutionPlan>, context: &Arc<TaskContext>) -> usize {
    let stream = plan.execute(0, Arc::clone(context)).expect("a stream");
    let batches: Vec<RecordBatch> = futures::executor::block_on(stream.try_collect()).expect("classes");
    batches.iter().map(RecordBatch::num_rows).sum()
}

fn nodes(c: &mut Criterion) {
    let Some(adult) = Adult::read() else { return };
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let number = if is_quick() { 3 } else { NODES };
    let drawn: Vec<Node> = (0..number).map(|_| adult.lattice.sample(&mut rng)).collect();
    let combinations = adult.base.set.len();
    let sets = adult.sets(0);
    let mut plain = Plain::new(&adult.base);
    let rows = plain.rows.clone();
    let schema = Arc::new(Schema::new(vec![
        Field::new("key", DataType::UInt64, false),
        Field::new("rows", DataType::UInt64, false),
    ]));

    let rounds = if is_quick() { 1 } else { 15 };
    let times = in_turns(
        rounds,
        &drawn,
        &mut [
            ("product", &mut |n| by_product(&sets, n)),
            ("AggregateExec", &mut |n| by_aggregate(&adult, &schema, n)),
            ("roll_up", &mut |n| adult.base.set.roll_up(&adult.base.space, n).0.len()),
            ("plain", &mut |n| plain.group(&rows, n).len()),
        ],
    );
    println!(
        "node, Adult, {combinations} combinations, mean of {number} nodes, us: product {:.0}, of which grouping {:.0}; \
         AggregateExec {:.0}; plain hashbrown {:.0}; product / plain {:.2} (at most 1.4), AggregateExec / plain {:.2}",
        times[0] / number as f64,
        times[2] / number as f64,
        times[1] / number as f64,
        times[3] / number as f64,
        times[0] / times[3],
        times[1] / times[3],
    );

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

fn lattice(_: &mut Criterion) {
    let Some(adult) = Adult::read() else { return };
    if is_quick() {
        return;
    }
    let mut plain = Plain::new(&adult.base);
    let mut best: Option<(f64, f64)> = None;
    for _ in 0..3 {
        let (_, floor, classes) = timed(|| plain.whole_lattice(&adult.lattice));
        let evaluator = adult.evaluator(&["dm", "glm"], 5, 5);
        let mut context = Context::new(0, Budget::default());
        let exhaustive = search::build(&Call::bare("exhaustive")).expect("exhaustive");
        let (wall, cpu, done) = timed(|| exhaustive.run(&evaluator, &mut context));
        done.expect("the search ends");
        let counters = evaluator.counters();
        println!(
            "whole lattice, {} nodes, {classes} classes: product with dm and glm {:.2} s CPU, {:.2} s wall \
             (evaluated {}, rolled up {}, rows read {}); plain grouping {:.2} s CPU",
            context.assessed(),
            cpu.as_secs_f64(),
            wall.as_secs_f64(),
            counters.evaluated,
            counters.rolled_up,
            counters.rows_read,
            floor.as_secs_f64(),
        );
        let (floor, cpu) = (floor.as_secs_f64(), cpu.as_secs_f64());
        best = Some(best.map_or((cpu, floor), |(a, b)| (a.min(cpu), b.min(floor))));
    }
    if let Some((cpu, floor)) = best {
        println!("whole lattice, product / plain: {:.2} (at most 2.5)", cpu / floor);
    }
}

criterion_group!(benches, lattice, nodes);
criterion_main!(benches);
