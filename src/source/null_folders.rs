//! Tables of files in folders that stand for NULL.
//!
//! DataFusion 55.2 rules out folders by a filter, and does not apply the filter to the rows again. It takes a filter that is
//! NULL for either of true and false, so `year < 2025` may keep the rows whose year is NULL. Here the filter is applied
//! again.

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::datasource::listing::ListingTable;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use std::any::Any;
use std::sync::Arc;

/// A table of files in folders, some of which stand for NULL.
#[derive(Debug)]
pub(crate) struct NullFolders(pub(crate) ListingTable);

/// Returns the table of files that a provider is, if it is one.
pub(crate) fn files_of(provider: &dyn TableProvider) -> Option<&ListingTable> {
    let provider = provider as &dyn Any;
    let wrapped = provider.downcast_ref::<NullFolders>().map(|folders| &folders.0);
    wrapped.or_else(|| provider.downcast_ref::<ListingTable>())
}

#[async_trait]
impl TableProvider for NullFolders {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }

    fn table_type(&self) -> TableType {
        self.0.table_type()
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        let inexact = |support| match support {
            TableProviderFilterPushDown::Exact => TableProviderFilterPushDown::Inexact,
            other => other,
        };
        let supported = self.0.supports_filters_pushdown(filters)?;
        Ok(supported.into_iter().map(inexact).collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        self.0.scan(state, projection, filters, limit).await
    }
}
