//! A plan of another crate as one reader.

use super::guard::damaged;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result as DfResult;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties};
use futures::StreamExt;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The plan that reads a version, as one reader: the crate relies on what is below its own operator, so no rule of the
/// optimizer may change it. Nothing of what the crate knows of the rows goes out, such as their number, their bounds and their
/// order: it comes from metadata that others wrote. Panics become errors.
#[derive(Debug)]
pub(super) struct Closed {
    reader: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
    called: String,
}

impl Closed {
    /// Creates the reader of what is called so in errors.
    pub(super) fn new(reader: Arc<dyn ExecutionPlan>, called: String) -> Self {
        let partitions = reader.output_partitioning().partition_count();
        let properties = PlanProperties::new(
            EquivalenceProperties::new(reader.schema()),
            Partitioning::UnknownPartitioning(partitions),
            reader.pipeline_behavior(),
            reader.boundedness(),
        );
        Self {
            reader,
            properties: Arc::new(properties),
            called,
        }
    }
}

impl DisplayAs for Closed {
    fn fmt_as(&self, t: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        self.reader.fmt_as(t, f)
    }
}

impl ExecutionPlan for Closed {
    fn name(&self) -> &str {
        self.reader.name()
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![]
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> DfResult<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DfResult<TreeNodeRecursion>,
    ) -> DfResult<TreeNodeRecursion> {
        self.reader.apply_expressions(f)
    }

    fn metrics(&self) -> Option<MetricsSet> {
        self.reader.metrics()
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let called = self.called.clone();
        let open = || self.reader.execute(partition, context);
        let rows = catch_unwind(AssertUnwindSafe(open)).unwrap_or_else(|_| Err(damaged(&called).into()))?;
        let schema = rows.schema();
        let rows = AssertUnwindSafe(rows).catch_unwind();
        let rows = rows.map(move |batch| batch.unwrap_or_else(|_| Err(damaged(&called).into())));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}
