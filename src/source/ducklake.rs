//! The rows of one snapshot of a DuckLake table.

use super::guard::{closed, reading};
use super::int96::with_checked_times;
use crate::ducklake::{Table, failed_scan};
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

/// A table of the rows of one snapshot. Filters stay outside: with them, the crate leaves files out by bounds that the catalog
/// says.
#[derive(Debug)]
pub(crate) struct DuckLakeRows {
    rows: Arc<dyn TableProvider>,
    table: Arc<Table>,
}

impl DuckLakeRows {
    /// Creates the table of the rows of a snapshot.
    pub(crate) fn new(table: Table) -> Self {
        let rows = table.rows();
        let table = Arc::new(table);
        Self { rows, table }
    }

    /// Returns the snapshot.
    pub(crate) fn snapshot(&self) -> &Arc<Table> {
        &self.table
    }
}

#[async_trait]
impl TableProvider for DuckLakeRows {
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
        _: &[Expr],
        _: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let called = format!("{:?}", self.table);
        let doing = format!("cannot read {called}");
        let scan = async {
            let plan = self.rows.scan(session, projection, &[], None).await;
            plan.map_err(|e| failed_scan(&doing, e))
        };
        let plan = reading(&called, scan).await?;
        let checked = |plan| Ok(Transformed::yes(with_checked_times(plan)));
        let plan = plan.transform_up(checked).data()?;
        Ok(closed(plan, called))
    }
}
