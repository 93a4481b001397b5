//! The steps of the second scan as DataFusion operators.
//!
//! A [`Step`] says what becomes of a stream of rows; [`StepExec`] is the operator around it, and the one place that says
//! how a step is placed in a plan. DataFusion's optimizer goes over a plan that is queried as a table, so what a step
//! relies on has to be said, or a sort below it is taken for needless, and its rows are dealt out to other partitions.

use crate::error::Result;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result as DfResult};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, LexOrdering, OrderingRequirements, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, ExecutionPlanProperties, Partitioning, PlanProperties,
};
use futures::stream::BoxStream;
use std::fmt;
use std::sync::Arc;

/// Batches of rows.
pub type Rows = BoxStream<'static, DfResult<RecordBatch>>;

/// What becomes of a stream of rows. `Display` is what a plan shows of it.
pub trait Step: fmt::Debug + fmt::Display + Send + Sync + 'static {
    /// The operator's name.
    const NAME: &'static str;
    /// Whether it needs all rows in one stream, in the order they come in.
    const IN_ORDER: bool;
    /// Whether rows come out as they came in, so that all that is known of those is known of these.
    const ONLY_LOOKS: bool = false;

    /// The rows that come out, with the schema that the operator was made with.
    fn run(&self, input: SendableRecordBatchStream, schema: SchemaRef, context: &Arc<TaskContext>) -> Result<Rows>;
}

/// A [`Step`] as an operator with one input.
#[derive(Debug)]
pub struct StepExec<S> {
    input: Arc<dyn ExecutionPlan>,
    step: Arc<S>,
    order: Option<LexOrdering>,
    properties: Arc<PlanProperties>,
}

impl<S: Step> StepExec<S> {
    /// The operator that answers the rows of its input, whose schema is theirs.
    pub fn looking(input: Arc<dyn ExecutionPlan>, step: S) -> Self {
        let schema = input.schema();
        Self::over(input, Arc::new(step), None, schema)
    }

    /// The operator that answers rows of `schema`.
    pub(super) fn new(input: Arc<dyn ExecutionPlan>, step: S, schema: SchemaRef) -> Self {
        Self::over(input, Arc::new(step), None, schema)
    }

    /// The same, over rows that have to come in this order.
    pub(super) fn ordered(input: Arc<dyn ExecutionPlan>, step: S, order: LexOrdering, schema: SchemaRef) -> Self {
        Self::over(input, Arc::new(step), Some(order), schema)
    }

    fn over(input: Arc<dyn ExecutionPlan>, step: Arc<S>, order: Option<LexOrdering>, schema: SchemaRef) -> Self {
        if S::ONLY_LOOKS {
            let properties = Arc::clone(input.properties());
            return Self {
                input,
                step,
                order,
                properties,
            };
        }
        let partitioning = match S::IN_ORDER {
            true => Partitioning::UnknownPartitioning(1),
            false => input.output_partitioning().clone(),
        };
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            partitioning,
            input.pipeline_behavior(),
            input.boundedness(),
        );
        Self {
            input,
            step,
            order,
            properties: Arc::new(properties),
        }
    }
}

impl<S: Step> DisplayAs for StepExec<S> {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", S::NAME, self.step)
    }
}

impl<S: Step> ExecutionPlan for StepExec<S> {
    fn name(&self) -> &str {
        S::NAME
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        vec![match S::IN_ORDER {
            true => Distribution::SinglePartition,
            false => Distribution::UnspecifiedDistribution,
        }]
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        vec![self.order.clone().map(OrderingRequirements::from)]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
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
            return Err(DataFusionError::Internal(format!("{} has one input", S::NAME)));
        };
        let (step, order) = (Arc::clone(&self.step), self.order.clone());
        Ok(Arc::new(Self::over(input, step, order, self.schema())))
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> DfResult<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let input = self.input.execute(partition, Arc::clone(&context))?;
        let rows = self.step.run(input, self.schema(), &context)?;
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}
