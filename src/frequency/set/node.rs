//! The plan of a node: GROUP BY the generalized key, as a DataFusion operator over an in-memory frequency set.
//!
//! DataFusion's own AggregateExec answers the same and costs a third more (see performance.md); planning SQL text costs
//! ten times the grouping. EXPLAIN prints the SQL form, and a test holds both to the same classes.

use super::set::FrequencySet;
use super::space::Space;
use crate::error::Result;
use crate::lattice::Node;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::error::{DataFusionError, Result as DfResult};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, ReplaceChildrenOptions};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use futures::{StreamExt, TryStreamExt};
use std::fmt;
use std::sync::Arc;

/// `SELECT generalize(key, to), sum(rows), ... GROUP BY 1` over one frequency set.
#[derive(Debug)]
pub(crate) struct NodeExec {
    input: Arc<dyn ExecutionPlan>,
    space: Arc<Space>,
    from: Node,
    to: Node,
    cardinalities: Arc<[usize]>,
    properties: Arc<PlanProperties>,
}

impl NodeExec {
    /// The plan that answers the frequency set of `to` from that of a more specific node.
    pub(crate) fn plan(source: &FrequencySet, space: Arc<Space>, to: Node) -> Result<Arc<dyn ExecutionPlan>> {
        let batch = source.to_batch()?;
        let schema = batch.schema();
        let input = MemorySourceConfig::try_new_exec(&[vec![batch]], schema, None)?;
        Ok(Arc::new(Self::new(
            input,
            space,
            source.node().clone(),
            to,
            source.cardinalities().into(),
        )))
    }

    fn new(
        input: Arc<dyn ExecutionPlan>,
        space: Arc<Space>,
        from: Node,
        to: Node,
        cardinalities: Arc<[usize]>,
    ) -> Self {
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(input.schema()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            Boundedness::Bounded,
        ));
        Self {
            input,
            space,
            from,
            to,
            cardinalities,
            properties,
        }
    }
}

impl DisplayAs for NodeExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "NodeExec: from={}, to={}", self.from, self.to)
    }
}

impl ExecutionPlan for NodeExec {
    fn name(&self) -> &str {
        "NodeExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DfResult<TreeNodeRecursion>,
    ) -> DfResult<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let (Some(input), true) = (children.pop(), children.is_empty()) else {
            return Err(DataFusionError::Internal("NodeExec has one input".into()));
        };
        let Self {
            space,
            from,
            to,
            cardinalities,
            ..
        } = self.as_ref();
        Ok(Arc::new(Self::new(
            input,
            Arc::clone(space),
            from.clone(),
            to.clone(),
            Arc::clone(cardinalities),
        )))
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> DfResult<Arc<dyn ExecutionPlan>> {
        use datafusion::physical_plan::execution_plan::ChildrenPropertiesMode::Recompute;
        self.replace_children(children, ReplaceChildrenOptions::new(Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let input = self.input.execute(partition, context)?;
        let schema = self.schema();
        let (space, from, to) = (Arc::clone(&self.space), self.from.clone(), self.to.clone());
        let cardinalities = Arc::clone(&self.cardinalities);
        let output_schema = Arc::clone(&schema);
        let classes = async move {
            let batches: Vec<_> = input.try_collect().await?;
            let batch = match batches.as_slice() {
                [only] => only.clone(),
                // A memory source may cut a large batch into pieces.
                many => arrow::compute::concat_batches(&schema, many)?,
            };
            let source = FrequencySet::from_batch(&from, &batch, &cardinalities)?;
            Ok(source.roll_up(&space, &to).0.to_batch()?)
        };
        let stream = futures::stream::once(classes).boxed();
        Ok(Box::pin(RecordBatchStreamAdapter::new(output_schema, stream)))
    }
}
