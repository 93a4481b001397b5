//! The rows of one version of a Delta table.

use super::bounds::without_bounds_of_floats;
use super::guard::{closed, reading};
use super::int96::with_checked_times;
use crate::delta::Table;
use crate::error::Result;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result as DfResult;
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
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
        let bare = |plan| Ok(Transformed::yes(with_checked_times(without_bounds_of_floats(plan))));
        let plan = plan.transform_up(bare).data()?;
        let config = session.config();
        let parallel = plan.repartitioned(config.target_partitions(), config.options())?;
        let reader = parallel.unwrap_or(plan);
        Ok(closed(reader, called))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        self.rows.supports_filters_pushdown(filters)
    }
}
