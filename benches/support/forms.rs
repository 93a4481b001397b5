//! Counts the classes of one node in two ways: as the product does, and by DataFusion's own
//! aggregation.

use super::adult::Adult;
use anonsql::internal::frequency::FrequencySets;
use anonsql::internal::lattice::Node;
use arrow::array::{ArrayRef, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::RecordBatch;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::TaskContext;
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::AggregateExprBuilder;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode, PhysicalGroupBy};
use futures::TryStreamExt;
use std::sync::Arc;

/// Returns the schema of packed keys with their row counts.
pub fn schema() -> Arc<Schema> {
    Arc::new(Schema::new(vec![
        Field::new("key", DataType::UInt64, false),
        Field::new("rows", DataType::UInt64, false),
    ]))
}

/// Counts the classes as the product does, without any cached frequency set of another node.
pub fn by_product(sets: &FrequencySets, node: &Node) -> usize {
    sets.get(node).expect("a node's classes").len()
}

/// Counts the classes with AggregateExec over a memory source of generalized keys.
pub fn by_aggregate(adult: &Adult, schema: &Arc<Schema>, node: &Node) -> usize {
    let set = adult.base.held().expect("Adult is in memory");
    let keys = adult.base.key_schema.generalize(set.keys(), set.node(), node);
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
