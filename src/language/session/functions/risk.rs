//! `risk('table', 'column', ...)` and `k_anonymity('table', 'column', ...)`: RISK OF for tools that
//! can only send SELECT.
//!
//! The arguments of both functions are the name of a table or a path, followed by the
//! quasi-identifiers. `risk` returns the rows of RISK OF. `k_anonymity` returns one row: the size
//! of the smallest class (NULL if there are no rows), the number of classes and the number of rows.
//! The classes are counted when the query is executed.

use super::hierarchies::Hierarchies;
use crate::base::catalogue::Info;
use crate::base::error::{Error, Result};
use crate::base::operator::{ComputedTable, Operator, Rows};
use crate::language::session::context::{AnonContext, SharedRegistry};
use crate::language::session::statements::risk::rows as risk_rows;
use crate::language::session::statements::risk::spec::RiskSpec;
use crate::language::sql::TableName;
use crate::language::sql::clause::{QuasiIdentifierClause, SourceClause};
use crate::release::observe::Silent;
use arrow::array::{ArrayRef, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::TableReference;
use datafusion::error::Result as DfResult;
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::logical_expr::Expr;
use datafusion::prelude::SessionContext;
use futures::{StreamExt, stream};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

pub(super) const RISK: Info = Info {
    name: "risk",
    summary: "the rows of RISK OF as a table: risk('table or path', 'column', ...)",
    params: &[],
    example: "SELECT * FROM risk('people', 'age', 'zip')",
    reference: "in-house",
};

pub(super) const K_ANONYMITY: Info = Info {
    name: "k_anonymity",
    summary: "the smallest class, the classes and the rows: k_anonymity('table or path', 'column', ...)",
    params: &[],
    example: "SELECT k FROM k_anonymity('people', 'age', 'zip')",
    reference: "in-house",
};

/// Registers the functions in a session.
pub(super) fn register(session: &SessionContext, hierarchies: &Hierarchies) {
    for what in [What::Risk, What::KAnonymity] {
        let function = Function {
            what,
            hierarchies: hierarchies.clone(),
        };
        session.register_udtf(what.name(), Arc::new(function));
    }
}

#[derive(Debug, Clone, Copy)]
enum What {
    Risk,
    KAnonymity,
}

impl What {
    fn name(self) -> &'static str {
        match self {
            What::Risk => RISK.name,
            What::KAnonymity => K_ANONYMITY.name,
        }
    }

    fn schema(self) -> SchemaRef {
        match self {
            What::Risk => risk_rows::schema(),
            What::KAnonymity => Arc::new(Schema::new(vec![
                Field::new("k", DataType::UInt64, true),
                Field::new("classes", DataType::UInt64, false),
                Field::new("rows", DataType::UInt64, false),
            ])),
        }
    }

    async fn rows(self, anon: &AnonContext, statement: &RiskSpec) -> Result<RecordBatch> {
        if matches!(self, What::Risk) {
            return risk_rows::batch(&anon.measure(statement).await?);
        }
        let classes = anon.measure_classes(statement).await?;
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from(vec![classes.smallest()])),
            Arc::new(UInt64Array::from(vec![classes.classes()])),
            Arc::new(UInt64Array::from(vec![classes.rows()])),
        ];
        Ok(RecordBatch::try_new(self.schema(), columns)?)
    }
}

#[derive(Debug)]
struct Function {
    what: What,
    hierarchies: Hierarchies,
}

impl TableFunctionImpl for Function {
    fn call_with_args(&self, args: TableFunctionArgs) -> DfResult<Arc<dyn TableProvider>> {
        let name = self.what.name();
        let usage = || {
            Error::usage(format!(
                "{name} takes the name of a table and its quasi-identifiers in single quotes: {name}('people', 'age', 'zip')"
            ))
        };
        let text = |expr: &Expr| match expr {
            Expr::Literal(value, _) => value.try_as_str().flatten().map(String::from),
            _ => None,
        };
        let texts: Option<Vec<String>> = args.exprs().iter().map(text).collect();
        let texts = texts.ok_or_else(usage)?;
        let [table, columns @ ..] = texts.as_slice() else {
            return Err(usage().into());
        };
        if columns.is_empty() {
            return Err(usage().into());
        }
        let state = args.session().as_any().downcast_ref::<SessionState>();
        let state = state.ok_or_else(|| Error::internal(format!("{name} in a session of another kind")))?;
        let session = SessionContext::new_with_state(state.clone());
        // The arguments cannot name a registered entry, so the default registry suffices.
        let registry = SharedRegistry::default();
        let anon = AnonContext::sharing(session, Arc::clone(&self.hierarchies.0), registry, Arc::new(Silent));
        let rows = Measuring {
            what: self.what,
            anon,
            statement: Arc::new(statement(table, columns)),
        };
        Ok(Arc::new(ComputedTable::new(rows, self.what.schema())))
    }
}

fn statement(table: &str, columns: &[String]) -> RiskSpec {
    let source = if table.contains('/') || Path::new(table).exists() {
        SourceClause::path(table)
    } else {
        let parts = TableReference::parse_str(table).to_vec();
        SourceClause::Table(TableName(parts))
    };
    let quasi = |column: &String| QuasiIdentifierClause {
        column: column.clone(),
        hierarchy: None,
        levels: None,
        weight: None,
        labels: None,
    };
    RiskSpec {
        source,
        quasi_identifiers: columns.iter().map(quasi).collect(),
        sensitive: vec![],
        entity: None,
        population: None,
        weight: None,
        keep: vec![],
        per_row: false,
        options: vec![],
    }
}

/// An operator that computes the risk when it is executed.
struct Measuring {
    what: What,
    anon: AnonContext,
    statement: Arc<RiskSpec>,
}

impl fmt::Debug for Measuring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what.name())
    }
}

impl fmt::Display for Measuring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.what.name(), self.statement.source)
    }
}

impl Operator for Measuring {
    const NAME: &'static str = "RiskExec";

    fn run(&self, _: SendableRecordBatchStream, _: SchemaRef, _: &Arc<TaskContext>) -> Result<Rows> {
        let (what, anon, statement) = (self.what, self.anon.clone(), Arc::clone(&self.statement));
        let rows = async move { Ok(what.rows(&anon, &statement).await?) };
        Ok(stream::once(rows).boxed())
    }
}
