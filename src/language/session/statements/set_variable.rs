//! `SET VARIABLE`: stores a value that later statements use as `$name`.

use super::entry::{Entry, Run, Statement};
use crate::base::error::{Error, Result};
use crate::base::quoting::ident;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::language::sql::cursor::Cursor;
use crate::language::sql::variable::Literal;
use datafusion::logical_expr::LogicalPlan;
use datafusion::scalar::ScalarValue;
use datafusion::sql::sqlparser::tokenizer::Token;
use futures::future::BoxFuture;
use std::fmt;

pub(super) const ENTRY: Entry = Entry {
    name: "SET VARIABLE",
    starts: &["SET VARIABLE"],
    summary: "names a value, which statements use as $name in place of a literal or a path",
    syntax: "SET VARIABLE name = value",
    example: "SET VARIABLE target = 'out/' || '2026'",
    answers: false,
    read: |c, _| read(c).map(Statement::new),
};

/// `SET VARIABLE name = expression`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SetVariable {
    /// The name of the variable.
    pub(super) name: String,
    /// The text of the expression.
    pub(super) value: String,
}

fn read(c: &mut Cursor) -> Result<SetVariable> {
    let name = c.name("the name of a variable, without $")?;
    c.need_token(&Token::Eq, "\"=\"")?;
    let value = c.constant()?;
    Ok(SetVariable { name, value })
}

impl fmt::Display for SetVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SET VARIABLE {} = {}", ident(&self.name), self.value)
    }
}

impl Run for SetVariable {
    fn kind(&self) -> &'static str {
        "set variable"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let frame = context.frame(&format!("SELECT {}", self.value)).await?;
            // The plan for a constant expression has only an empty relation as its input.
            let is_constant = match frame.logical_plan() {
                LogicalPlan::Projection(projection) => matches!(*projection.input, LogicalPlan::EmptyRelation(_)),
                _ => false,
            };
            if !is_constant {
                return Err(Error::usage(
                    "SET VARIABLE takes a constant: no query, no window and no aggregate",
                ));
            }
            let rows = frame.collect().await.map_err(Error::from_data)?;
            let row = rows
                .first()
                .filter(|batch| batch.num_rows() == 1 && batch.num_columns() == 1);
            let row = row.ok_or_else(|| Error::usage("SET VARIABLE takes one value"))?;
            let value = ScalarValue::try_from_array(row.column(0), 0)?;
            let value = Literal::of(&value).map_err(|e| e.context(format!("variable {}", self.name)))?;
            context.keep(&self.name, value)?;
            Answer::done(format!("variable {} set", self.name))
        })
    }
}
