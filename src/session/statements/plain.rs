//! DataFusion's own statements: everything that no entry of the list recognises.

use super::entry::{Run, Statement};
use super::wrapped;
use crate::engine::keep_files_unnamed;
use crate::error::{Error, Result};
use crate::session::answer::Answer;
use crate::session::context::AnonContext;
use crate::source::{SOURCE, check_arrow_files, reading};
use crate::sql::cursor::Cursor;
use async_trait::async_trait;
use datafusion::sql::parser::Statement as DfStatement;
use datafusion::sql::sqlparser::ast;
use std::fmt;

/// A statement of DataFusion with its source text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plain {
    statement: DfStatement,
    text: String,
}

/// Parses the statement with DataFusion's parser first. Only a statement that DataFusion refuses is tried as a
/// statement around an ANONYMIZE.
pub(super) fn read(c: &Cursor) -> Result<Statement> {
    let refused = match c.datafusion(c.tokens()) {
        Ok(statement) => {
            let text = c.text(0..c.tokens().len());
            return Ok(Statement::new(Plain { statement, text }));
        }
        Err(e) => e,
    };
    if let Some(statement) = wrapped::read(c)? {
        return Ok(statement);
    }
    // `RISK adult`: the first word begins a statement of ours, and a later keyword is missing.
    for start in &c.words().starts {
        let first = start.split(' ').next().unwrap_or(start);
        if c.looks_at(first) && !matches!(first, "CREATE" | "DROP" | "SHOW" | "DESCRIBE" | "DESC" | "EXPLAIN") {
            c.clone().need(start)?;
        }
    }
    Err(refused)
}

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[async_trait]
impl Run for Plain {
    fn kind(&self) -> &'static str {
        "sql"
    }

    async fn run(&self, context: &AnonContext) -> Result<Answer> {
        let is_query = matches!(&self.statement, DfStatement::Statement(s) if matches!(**s, ast::Statement::Query(_)));
        if let DfStatement::CreateExternalTable(table) = &self.statement
            && table.file_type.eq_ignore_ascii_case("arrow")
        {
            table.locations.iter().try_for_each(|l| check_arrow_files(l))?;
        }
        let planned = async {
            context.frame(&self.text).await.map_err(match is_query {
                true => Error::from,
                false => Error::from_statement,
            })
        };
        let rows = reading(SOURCE, planned).await?;
        keep_files_unnamed(&context.session)?;
        Answer::query(rows).await
    }
}
