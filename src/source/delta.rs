//! The rows of one version of a Delta table.

use super::bounds::without_bounds_of_floats;
use super::guard::{damaged, reading};
use crate::delta::Table;
use crate::error::Result;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::error::Result as DfResult;
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::StreamExt;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A table of the rows of one version. The files of a version are never changed, so it reads the same each time.
#[derive(Debug)]
pub(crate) struct DeltaRows {
    rows: Arc<dyn TableProvider>,
    table: Arc<Table>,
}

impl DeltaRows {
    /// Creates the table of the rows of a version.
    pub(crate) fn new(table: Table, state: &SessionState) -> Result<Self> {
        let rows = table.rows(state)?;
        let table = Arc::new(table);
        Ok(Self { rows, table })
    }

    /// Returns the version.
    pub(crate) fn version(&self) -> &Arc<Table> {
        &self.table
    }
}

#[async_trait]
impl TableProvider for DeltaRows {
    fn schema(&self) -> SchemaRef {
        self.rows.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let called = format!("{:?}", self.table);
        let scan = async { Ok(self.rows.scan(session, projection, filters, limit).await?) };
        let plan = reading(&called, scan).await?;
        let bare = |plan| Ok(Transformed::yes(without_bounds_of_floats(plan)));
        let plan = plan.transform_up(bare).data()?;
        let config = session.config();
        let parallel = plan.repartitioned(config.target_partitions(), config.options())?;
        let reader = parallel.unwrap_or(plan);
        Ok(Arc::new(Closed { reader, called }))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        self.rows.supports_filters_pushdown(filters)
    }
}

/// The plan that reads a version, as one reader: the crate relies on what is below its own operator, so no rule of the
/// optimizer may change it. Panics become errors.
#[derive(Debug)]
struct Closed {
    reader: Arc<dyn ExecutionPlan>,
    called: String,
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
        self.reader.properties()
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
