use super::{ComputedTable, Operator, OperatorExec, Rows};
use crate::base::error::Result;
use arrow::array::{ArrayRef, AsArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt64Type};
use arrow::record_batch::RecordBatch;
use datafusion::common::stats::Precision;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::display::DisplayableExecutionPlan;
use datafusion::physical_plan::execution_plan::reset_plan_states;
use datafusion::physical_plan::metrics::MetricValue;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::statistics::StatisticsContext;
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::SessionContext;
use futures::{StreamExt, stream};
use std::fmt;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("n", DataType::UInt64, false)]))
}

fn batch(numbers: impl IntoIterator<Item = u64>) -> RecordBatch {
    let numbers: ArrayRef = Arc::new(UInt64Array::from_iter_values(numbers));
    RecordBatch::try_new(schema(), vec![numbers]).unwrap()
}

/// An operator that waits before each batch, so that its own time is known.
#[derive(Debug)]
struct Wait<const LOOKS: bool>(u64);

impl<const LOOKS: bool> fmt::Display for Wait<LOOKS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0)
    }
}

impl<const LOOKS: bool> Operator for Wait<LOOKS> {
    const NAME: &'static str = "WaitExec";
    const ONLY_LOOKS: bool = LOOKS;

    fn run(&self, input: SendableRecordBatchStream, _: SchemaRef, _: &Arc<TaskContext>) -> Result<Rows> {
        let wait = Duration::from_millis(self.0);
        Ok(input.inspect(move |_| sleep(wait)).boxed())
    }
}

/// A source that counts up.
#[derive(Debug)]
struct CountUp(u64);

impl fmt::Display for CountUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "to {}", self.0)
    }
}

impl Operator for CountUp {
    const NAME: &'static str = "CountUpExec";

    fn run(&self, mut input: SendableRecordBatchStream, _: SchemaRef, _: &Arc<TaskContext>) -> Result<Rows> {
        let to = self.0;
        let rows = async move {
            assert!(input.next().await.is_none());
            Ok(batch(0..to))
        };
        Ok(stream::once(rows).boxed())
    }

    fn estimate(&self, _: Option<usize>) -> Option<usize> {
        Some(self.0 as usize)
    }
}

async fn run(plan: &Arc<dyn ExecutionPlan>) -> Vec<u64> {
    let batches = collect(Arc::clone(plan), SessionContext::new().task_ctx())
        .await
        .unwrap();
    let numbers = |b: &RecordBatch| b.column(0).as_primitive::<UInt64Type>().values().to_vec();
    batches.iter().flat_map(numbers).collect()
}

fn nanoseconds(plan: &dyn ExecutionPlan) -> u128 {
    let metrics = plan.metrics().unwrap().aggregate_by_name();
    let time = metrics.iter().find_map(|m| match m.value() {
        MetricValue::ElapsedCompute(time) => Some(time.value()),
        _ => None,
    });
    time.unwrap() as u128
}

#[tokio::test]
async fn rows_and_own_time_are_shown() {
    let source = OperatorExec::source(Arc::new(CountUp(5)), schema());
    let below = OperatorExec::looking(Arc::new(source), Wait::<true>(60));
    let plan: Arc<dyn ExecutionPlan> = Arc::new(OperatorExec::looking(Arc::new(below), Wait::<true>(5)));
    let start = Instant::now();
    assert_eq!(run(&plan).await, [0, 1, 2, 3, 4]);
    let all = start.elapsed().as_nanos();
    let shown = DisplayableExecutionPlan::with_metrics(plan.as_ref())
        .indent(false)
        .to_string();
    for name in ["WaitExec: 5 ms", "WaitExec: 60 ms", "CountUpExec: to 5"] {
        let line = shown.lines().find(|l| l.contains(name)).unwrap();
        assert!(
            line.contains("output_rows=5") && line.contains("elapsed_compute="),
            "{shown}"
        );
    }
    let (own, of_input) = (nanoseconds(plan.as_ref()), nanoseconds(plan.children()[0].as_ref()));
    // The time that an operator waits for its input is counted only as time of the input, however
    // slow the machine is.
    assert!(
        own >= 5_000_000 && of_input >= 60_000_000,
        "{own} ns over {of_input} ns"
    );
    assert!(own + of_input <= all, "{own} ns over {of_input} ns, {all} ns in all");
}

#[tokio::test]
async fn a_plan_that_is_run_again_counts_anew() {
    let source: Arc<dyn ExecutionPlan> = Arc::new(OperatorExec::source(Arc::new(CountUp(5)), schema()));
    let plan: Arc<dyn ExecutionPlan> = Arc::new(OperatorExec::looking(source, Wait::<true>(0)));
    for plan in [Arc::clone(&plan), reset_plan_states(plan).unwrap()] {
        assert_eq!(plan.metrics().unwrap().output_rows(), None);
        run(&plan).await;
        assert_eq!(plan.metrics().unwrap().output_rows(), Some(5));
    }
}

#[test]
fn what_is_known_of_rows_is_never_exact() {
    let statistics = |plan: Arc<dyn ExecutionPlan>| {
        let found = StatisticsContext::new().compute(plan.as_ref(), &StatisticsArgs::new());
        found.unwrap().num_rows
    };
    let memory = || MemorySourceConfig::try_new_exec(&[vec![batch(0..3)]], schema(), None).unwrap();
    assert_eq!(statistics(memory()), Precision::Exact(3));
    let looking = OperatorExec::looking(memory(), Wait::<true>(0));
    assert_eq!(statistics(Arc::new(looking)), Precision::Inexact(3));
    let changing = OperatorExec::over(memory(), Wait::<false>(0), schema());
    assert_eq!(statistics(Arc::new(changing)), Precision::Absent);
    let source = OperatorExec::source(Arc::new(CountUp(5)), schema());
    assert_eq!(statistics(Arc::new(source)), Precision::Inexact(5));
}

#[tokio::test]
async fn a_table_is_made_when_it_is_read_column_by_column_or_not_at_all() {
    let session = SessionContext::new();
    let table = ComputedTable::new(CountUp(5), schema());
    session.register_table("t", Arc::new(table)).unwrap();
    for (sql, expected) in [
        ("SELECT n FROM t WHERE n > 2", vec![3, 4]),
        ("SELECT CAST(count(*) AS BIGINT UNSIGNED) FROM t", vec![5]),
    ] {
        let plan = session.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
        assert_eq!(run(&plan).await, expected, "{sql}");
    }
}
