//! The rows of one version of a Delta table.

use super::bounds::without_bounds_of_floats;
use super::guard::{closed, reading};
use super::int96::{check_times, with_checked_times};
use crate::delta::Table;
use crate::error::Result;
use crate::hierarchy::plain_type;
use arrow::datatypes::{DataType, SchemaRef};
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

    /// Returns true if what the log says of a file decides whether a row in it can pass a filter: the values of
    /// partitions, and the bounds of whole numbers and dates. Bounds of decimals and of doubles are rounded to the digits of
    /// a double and know no NaN, those of times are cut to milliseconds, and those of texts to their first letters.
    fn is_decided(&self, filter: &Expr) -> bool {
        let (schema, partitions) = (self.rows.schema(), self.table.partition_columns());
        let is_decided = |name: &str| {
            let data_type = schema.field_with_name(name).map(|field| plain_type(field.data_type()));
            let is_bounded = |data_type: &DataType| data_type.is_integer() || *data_type == DataType::Date32;
            partitions.iter().any(|column| column == name) || data_type.is_ok_and(is_bounded)
        };
        filter.column_refs().iter().all(|column| is_decided(&column.name))
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
        let are_checked = self.table.deletes_rows();
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
        let parallel = plan.repartitioned(config.target_partitions(), config.options())?;
        let reader = parallel.unwrap_or(plan);
        Ok(closed(reader, called))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        use TableProviderFilterPushDown::{Inexact, Unsupported};
        // What rules out files is applied to the rows again.
        let supported = filters.iter().map(|filter| match self.is_decided(filter) {
            true => Inexact,
            false => Unsupported,
        });
        Ok(supported.collect())
    }
}
