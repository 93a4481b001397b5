//! Tables whose rows an operator computes when they are read.

use super::frame::{Operator, OperatorExec};
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use std::sync::Arc;

/// A table whose rows are computed by its source operator each time the table is read.
#[derive(Debug)]
pub struct ComputedTable<O> {
    source: Arc<O>,
    schema: SchemaRef,
}

impl<O: Operator> ComputedTable<O> {
    /// Creates the table of the rows of `source`, which have this `schema`.
    pub fn new(source: O, schema: SchemaRef) -> Self {
        let source = Arc::new(source);
        Self { source, schema }
    }

    /// Returns the source of the rows.
    pub fn source(&self) -> &O {
        &self.source
    }
}

#[async_trait]
impl<O: Operator> TableProvider for ComputedTable<O> {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let whole = || Arc::new(OperatorExec::source(Arc::clone(&self.source), self.schema()));
        let Some(columns) = projection else {
            return Ok(whole());
        };
        match self.source.narrowed(columns) {
            Some(narrowed) => {
                let schema = Arc::new(self.schema.project(columns)?);
                Ok(Arc::new(OperatorExec::source(Arc::new(narrowed), schema)))
            }
            None => project(whole(), columns),
        }
    }
}

/// Returns `plan` restricted to the columns with these indices.
pub fn project(plan: Arc<dyn ExecutionPlan>, columns: &[usize]) -> DfResult<Arc<dyn ExecutionPlan>> {
    let schema = plan.schema();
    let exprs = columns.iter().map(|i| {
        let name = schema.field(*i).name();
        ProjectionExpr::new(Arc::new(Column::new(name, *i)), name.clone())
    });
    Ok(Arc::new(ProjectionExec::try_new(exprs, plan)?))
}
