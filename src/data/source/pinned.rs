//! The rows of one version of a table, for all table formats.

use super::bounds::without_bounds_of_floats;
use super::guard::{closed, reading};
use super::int96::{check_times, with_checked_times};
use crate::base::error::Result;
use crate::data::formats::{PinnedTable, ScanParameters};
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result as DfResult;
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

/// A table with the rows of one version of another table. The files of a version never change, so
/// every scan reads the same rows.
#[derive(Debug)]
pub(crate) struct PinnedRows {
    rows: Arc<dyn TableProvider>,
    table: Arc<dyn PinnedTable>,
}

impl PinnedRows {
    /// Creates a table with the rows of a version.
    pub(crate) fn new(table: Arc<dyn PinnedTable>, state: &SessionState) -> Result<Self> {
        let rows = table.rows(state)?;
        Ok(Self { rows, table })
    }

    /// Returns the table at its pinned version.
    pub(crate) fn table(&self) -> &Arc<dyn PinnedTable> {
        &self.table
    }
}

#[async_trait]
impl TableProvider for PinnedRows {
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
        let asked = ScanParameters {
            projection,
            filters,
            limit,
        };
        let scan = self.table.scan(self.rows.as_ref(), session, asked);
        let plan = reading(&called, scan).await?;
        let are_checked = self.table.reads_by_place();
        if are_checked {
            check_times(&plan).await?;
        }
        let bare = |plan| {
            let plan = without_bounds_of_floats(plan);
            Ok(Transformed::yes(if are_checked {
                plan
            } else {
                with_checked_times(plan)
            }))
        };
        let plan = plan.transform_up(bare).data()?;
        let config = session.config();
        let parallel = match self.table.is_divided() {
            true => plan.repartitioned(config.target_partitions(), config.options())?,
            false => None,
        };
        Ok(closed(parallel.unwrap_or(plan), called))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        use TableProviderFilterPushDown::{Inexact, Unsupported};
        let schema = self.rows.schema();
        // The scan uses a filter only to exclude files, so DataFusion must apply it to the rows,
        // too.
        let supported = filters.iter().map(|filter| match self.table.decides(filter, &schema) {
            true => Inexact,
            false => Unsupported,
        });
        Ok(supported.collect())
    }
}
