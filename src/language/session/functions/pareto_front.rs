//! `pareto_front('ANONYMIZE ... OPTIMIZING ...')`: a table with a Pareto front, for tools that can
//! only send SELECT.

use crate::base::catalogue::Info;
use crate::base::error::{Error, Result};
use crate::base::operator::{ComputedTable, Operator, Rows};
use crate::language::session::context::{AnonContext, NamedHierarchies, SharedRegistry};
use crate::language::session::statements::pareto::{ENTRY, FrontRequest, Pareto, schema};
use crate::language::sql::variable::Variables;
use crate::release::observe::Silent;
use arrow::datatypes::SchemaRef;
use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::error::Result as DfResult;
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::logical_expr::Expr;
use datafusion::prelude::SessionContext;
use futures::{StreamExt, stream};
use std::fmt;
use std::sync::Arc;

pub(super) const INFO: Info = Info {
    name: "pareto_front",
    summary: "the rows of PARETO FRONT OF as a table: pareto_front('ANONYMIZE ... OPTIMIZING ...')",
    params: &[],
    example: "SELECT k, glm FROM pareto_front('ANONYMIZE people QUASI IDENTIFIERS (age) OPTIMIZING MAX k, MIN glm')",
    reference: "in-house",
};

/// The table function `pareto_front`. Its argument is the text of a PARETO FRONT OF statement
/// without these keywords.
#[derive(Clone)]
pub(in crate::language::session) struct ParetoFrontFunction {
    pub(in crate::language::session) hierarchies: NamedHierarchies,
    pub(in crate::language::session) registry: SharedRegistry,
}

impl fmt::Debug for ParetoFrontFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("pareto_front")
    }
}

impl TableFunctionImpl for ParetoFrontFunction {
    fn call_with_args(&self, args: TableFunctionArgs) -> DfResult<Arc<dyn TableProvider>> {
        let text = match args.exprs() {
            [Expr::Literal(text, _)] => text.try_as_str().flatten(),
            _ => None,
        };
        let text = text.ok_or_else(usage)?;
        let schema = schema(&read(text)?)?;
        let session = args.session().as_any().downcast_ref::<SessionState>();
        let session = session.ok_or_else(|| Error::usage("pareto_front needs DataFusion's own kind of session"))?;
        let front = Searching {
            text: text.to_string(),
            anon: AnonContext::sharing(
                SessionContext::new_with_state(session.clone()),
                Arc::clone(&self.hierarchies),
                Arc::clone(&self.registry),
                Arc::new(Silent),
            ),
        };
        Ok(Arc::new(ComputedTable::new(front, schema)))
    }
}

fn usage() -> Error {
    Error::usage(
        "pareto_front takes the text of a request: \
         pareto_front('ANONYMIZE people QUASI IDENTIFIERS (age) OPTIMIZING MAX k, MIN glm')",
    )
}

fn read(text: &str) -> Result<FrontRequest> {
    let statement = ENTRY.parse(&format!("PARETO FRONT OF {text}"), &Variables::default());
    let statement = statement.map_err(|e| e.context("pareto_front"))?;
    match statement.as_ref().and_then(|s| s.get::<Pareto>()) {
        Some(asked) if asked.anonymize.using.is_some() => Err(Error::usage(
            "pareto_front cannot use the policies of the session; write PARETO FRONT OF ANONYMIZE ... USING POLICY",
        )),
        Some(asked) if asked.anonymize.report.is_none() => {
            FrontRequest::new(asked.anonymize.clone(), asked.objectives.clone(), asked.epsilon.clone())
        }
        _ => Err(usage()),
    }
}

/// An operator that computes the Pareto front when it is executed.
struct Searching {
    text: String,
    anon: AnonContext,
}

impl fmt::Debug for Searching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Searching").finish_non_exhaustive()
    }
}

impl fmt::Display for Searching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("of a request")
    }
}

impl Operator for Searching {
    const NAME: &'static str = "ParetoFrontExec";

    fn run(&self, _: SendableRecordBatchStream, _: SchemaRef, _: &Arc<TaskContext>) -> Result<Rows> {
        let (request, anon) = (read(&self.text)?, self.anon.clone());
        let rows = async move { Ok(anon.front(request).await?.0) };
        Ok(stream::once(rows).boxed())
    }
}
