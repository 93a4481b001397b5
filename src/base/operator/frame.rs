//! The frame, which implements `ExecutionPlan` for an [`Operator`].

use crate::base::error::{Error, Result};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::common::Statistics;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result as DfResult};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::execution_plan::{
    Boundedness, ChildrenPropertiesMode, EmissionType, ReplaceChildrenOptions, SchedulingType,
};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet, Time};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::stream::{EmptyRecordBatchStream, RecordBatchStreamAdapter};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, ExecutionPlanProperties, Partitioning, PlanProperties,
};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A stream of batches of rows.
pub type Rows = BoxStream<'static, DfResult<RecordBatch>>;

/// How an operator reads the partitions of its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputPartitions {
    /// The operator runs once for each partition, independently of the other partitions.
    Each,
    /// The operator runs once, on a single partition that contains all rows in their order. The
    /// operator keeps this order, so the optimizer may move a sort from above the operator to below
    /// it.
    Ordered,
    /// The operator itself executes its input, with all its partitions ([`Operator::run_whole`]).
    Whole,
}

/// A transformation of a stream of rows. `Display` writes its description for a plan.
pub trait Operator: fmt::Debug + fmt::Display + Send + Sync + 'static {
    /// The name of the operator in a plan.
    const NAME: &'static str;
    /// How the operator reads the partitions of its input.
    const INPUT: InputPartitions = InputPartitions::Each;
    /// Whether the operator returns the rows unchanged, so that all properties of the input are
    /// true of the output.
    const ONLY_LOOKS: bool = false;

    /// Returns the output rows for one input partition, with the schema that the operator was
    /// created with. A source gets an empty input stream.
    fn run(&self, input: SendableRecordBatchStream, schema: SchemaRef, context: &Arc<TaskContext>) -> Result<Rows> {
        let _ = (input, schema, context);
        Err(Error::internal(format!("{} reads no single partition", Self::NAME)))
    }

    /// Returns the output rows of an operator that executes its input itself
    /// ([`InputPartitions::Whole`]).
    fn run_whole(&self, input: &Arc<dyn ExecutionPlan>, schema: SchemaRef, context: &Arc<TaskContext>) -> Result<Rows> {
        let _ = (input, schema, context);
        Err(Error::internal(format!("{} reads single partitions", Self::NAME)))
    }

    /// Returns a source that produces only the output columns with these indices. Returns `None` if
    /// the operator is not such a source, or if the source computes every column anyway.
    fn narrowed(&self, columns: &[usize]) -> Option<Self>
    where
        Self: Sized,
    {
        let _ = columns;
        None
    }

    /// Returns the operator for another execution of the plan, without what the executions so far
    /// have counted. Returns `None` if an execution leaves nothing in the operator.
    fn renewed(&self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// Returns the approximate number of output rows for `input` input rows; `None` if the number
    /// is not known.
    fn estimate(&self, input: Option<usize>) -> Option<usize> {
        input.filter(|_| Self::ONLY_LOOKS)
    }
}

/// An [`Operator`] as a node of a plan, with one input, or with no input if it is a source.
#[derive(Debug)]
pub struct OperatorExec<O> {
    input: Option<Arc<dyn ExecutionPlan>>,
    operator: Arc<O>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl<O: Operator> OperatorExec<O> {
    /// Creates an operator that returns the rows of its input with the same schema.
    pub fn looking(input: Arc<dyn ExecutionPlan>, operator: O) -> Self {
        let schema = input.schema();
        Self::over(input, operator, schema)
    }

    /// Creates an operator that computes rows with `schema` from the rows of `input`.
    pub fn over(input: Arc<dyn ExecutionPlan>, operator: O, schema: SchemaRef) -> Self {
        Self::assemble(Some(input), Arc::new(operator), schema)
    }

    /// Creates an operator that has no input and produces rows with `schema`.
    pub fn source(operator: Arc<O>, schema: SchemaRef) -> Self {
        Self::assemble(None, operator, schema)
    }

    /// Returns the operator without its plan node.
    pub(crate) fn operator(&self) -> &O {
        &self.operator
    }

    /// Creates an operator that was received from another machine. `input` is `None` if the
    /// operator is a source.
    pub(crate) fn restored(input: Option<Arc<dyn ExecutionPlan>>, operator: O, schema: SchemaRef) -> Self {
        Self::assemble(input, Arc::new(operator), schema)
    }

    fn assemble(input: Option<Arc<dyn ExecutionPlan>>, operator: Arc<O>, schema: SchemaRef) -> Self {
        let new = |partitioning, emission, boundedness| {
            let equivalences = EquivalenceProperties::new(Arc::clone(&schema));
            PlanProperties::new(equivalences, partitioning, emission, boundedness)
        };
        let one = Partitioning::UnknownPartitioning(1);
        let properties = match &input {
            Some(input) if O::ONLY_LOOKS => Arc::clone(input.properties()),
            Some(input) => {
                let partitioning = match O::INPUT {
                    InputPartitions::Each => input.output_partitioning().clone(),
                    InputPartitions::Ordered | InputPartitions::Whole => one,
                };
                Arc::new(new(partitioning, input.pipeline_behavior(), input.boundedness()))
            }
            None => {
                let source = new(one, EmissionType::Incremental, Boundedness::Bounded);
                Arc::new(source.with_scheduling_type(SchedulingType::Cooperative))
            }
        };
        Self {
            input,
            operator,
            properties,
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }
}

impl<O: Operator> DisplayAs for OperatorExec<O> {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", O::NAME, self.operator)
    }
}

impl<O: Operator> ExecutionPlan for OperatorExec<O> {
    fn name(&self) -> &str {
        O::NAME
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        let required = match O::INPUT {
            InputPartitions::Each | InputPartitions::Whole => Distribution::UnspecifiedDistribution,
            InputPartitions::Ordered => Distribution::SinglePartition,
        };
        self.input.iter().map(|_| required.clone()).collect()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        self.input
            .iter()
            .map(|_| O::INPUT == InputPartitions::Ordered)
            .collect()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.input.iter().collect()
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
        if children.len() != self.input.iter().len() {
            return Err(DataFusionError::Internal(format!("{} has one input at most", O::NAME)));
        }
        let replaced = Self::assemble(children.pop(), Arc::clone(&self.operator), self.schema());
        Ok(Arc::new(replaced))
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> DfResult<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn reset_state(self: Arc<Self>) -> DfResult<Arc<dyn ExecutionPlan>> {
        let operator = self.operator.renewed();
        let operator = operator.map_or_else(|| Arc::clone(&self.operator), Arc::new);
        Ok(Arc::new(Self::assemble(self.input.clone(), operator, self.schema())))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let below = Time::new();
        let timer = metrics.elapsed_compute().timer();
        let rows = match (&self.input, O::INPUT) {
            (Some(input), InputPartitions::Whole) => self.operator.run_whole(input, self.schema(), &context)?,
            (Some(input), _) => {
                let input = timed(input.execute(partition, Arc::clone(&context))?, below.clone());
                self.operator.run(input, self.schema(), &context)?
            }
            (None, _) => {
                let nothing = Box::pin(EmptyRecordBatchStream::new(self.schema()));
                self.operator.run(nothing, self.schema(), &context)?
            }
        };
        timer.done();
        let rows = measured(rows, metrics, below);
        Ok(match self.input {
            Some(_) => Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)),
            None => Box::pin(cooperative(RecordBatchStreamAdapter::new(self.schema(), rows))),
        })
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        self.input.iter().map(|_| ChildStats::At(partition)).collect()
    }

    /// Statistics are never exact. If they were, DataFusion would take the result of a count from
    /// them without running the operator, whose purpose may be to prove a property of the rows.
    fn statistics_from_inputs(&self, inputs: &[Arc<Statistics>], _: &StatisticsArgs) -> DfResult<Arc<Statistics>> {
        if let (true, [input]) = (O::ONLY_LOOKS, inputs) {
            return Ok(Arc::new(input.as_ref().clone().to_inexact()));
        }
        let rows = inputs.first().and_then(|input| input.num_rows.get_value());
        let rows = self
            .operator
            .estimate(rows.copied())
            .map_or(Precision::Absent, Precision::Inexact);
        Ok(Arc::new(Statistics::new_unknown(&self.schema()).with_num_rows(rows)))
    }
}

/// Returns the stream, and adds the time of each of its polls to `time`.
fn timed(mut input: SendableRecordBatchStream, time: Time) -> SendableRecordBatchStream {
    let schema = input.schema();
    let rows = stream::poll_fn(move |context| {
        let _timer = time.timer();
        input.poll_next_unpin(context)
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, rows))
}

/// Returns the rows of an operator as a stream that records the operator's metrics. `below` is the
/// time that the operator waits for its input, and is not counted as time of the operator.
fn measured(mut rows: Rows, metrics: BaselineMetrics, below: Time) -> Rows {
    let rows = stream::poll_fn(move |context| {
        let (start, before) = (Instant::now(), below.value());
        let poll = rows.poll_next_unpin(context);
        let waited = Duration::from_nanos((below.value() - before) as u64);
        metrics
            .elapsed_compute()
            .add_duration(start.elapsed().saturating_sub(waited));
        metrics.record_poll(poll)
    });
    rows.boxed()
}
