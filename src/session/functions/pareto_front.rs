//! `pareto_front('ANONYMIZE ... OPTIMIZING ...')`: a front where a table stands, for tools that only send SELECT.

use crate::engine::Silent;
use crate::error::{Error, Result};
use crate::session::context::{AnonContext, Catalog, SharedRegistry};
use crate::session::statements::pareto::{ENTRY, Pareto, Request, schema};
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::datasource::{MemTable, TableType};
use datafusion::error::Result as DfResult;
use datafusion::execution::SessionState;
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionContext;
use std::fmt;
use std::sync::Arc;

/// The function. What stands in its argument follows PARETO FRONT OF in the statement.
#[derive(Clone)]
pub(in crate::session) struct ParetoFront {
    pub(in crate::session) hierarchies: Catalog,
    pub(in crate::session) registry: SharedRegistry,
}

impl fmt::Debug for ParetoFront {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("pareto_front")
    }
}

impl TableFunctionImpl for ParetoFront {
    fn call_with_args(&self, args: TableFunctionArgs) -> DfResult<Arc<dyn TableProvider>> {
        let text = match args.exprs() {
            [Expr::Literal(text, _)] => text.try_as_str().flatten(),
            _ => None,
        };
        let text = text.ok_or_else(usage)?;
        let request = read(text)?;
        Ok(Arc::new(FrontTable {
            schema: schema(&request)?,
            text: text.to_string(),
            function: self.clone(),
        }))
    }
}

fn usage() -> Error {
    Error::usage(
        "pareto_front takes the text of a request: \
         pareto_front('ANONYMIZE people QUASI IDENTIFIERS (age) OPTIMIZING MAX k, MIN glm')",
    )
}

fn read(text: &str) -> Result<Request> {
    let statement = ENTRY.parse(&format!("PARETO FRONT OF {text}"));
    let statement = statement.map_err(|e| e.context("pareto_front"))?;
    match statement.as_ref().and_then(|s| s.get::<Pareto>()) {
        Some(asked) if asked.anonymize.report.is_none() => {
            Request::new(asked.anonymize.clone(), asked.objectives.clone(), asked.epsilon.clone())
        }
        _ => Err(usage()),
    }
}

/// The front, computed when it is read.
struct FrontTable {
    schema: SchemaRef,
    text: String,
    function: ParetoFront,
}

impl fmt::Debug for FrontTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrontTable").finish_non_exhaustive()
    }
}

#[async_trait]
impl TableProvider for FrontTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let Some(session) = state.as_any().downcast_ref::<SessionState>() else {
            return Err(Error::usage("pareto_front needs a session of DataFusion's own kind").into());
        };
        let context = AnonContext::sharing(
            SessionContext::new_with_state(session.clone()),
            Arc::clone(&self.function.hierarchies),
            Arc::clone(&self.function.registry),
            Arc::new(Silent),
        );
        let (batch, _) = context.front(read(&self.text)?).await?;
        let table = MemTable::try_new(Arc::clone(&self.schema), vec![vec![batch]])?;
        table.scan(state, projection, filters, limit).await
    }
}
