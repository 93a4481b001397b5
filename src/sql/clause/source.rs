//! `table | 'path' | ( query )`: the source of the rows of a statement.

use crate::error::Result;
use crate::quoting::literal;
use crate::sql::cursor::Cursor;
use crate::sql::name::TableName;
use datafusion::sql::sqlparser::tokenizer::Token;
use std::fmt::{self, Display};

/// The source of the rows of a statement.
#[derive(Debug, Clone, PartialEq)]
pub enum SourceClause {
    /// A table of the session.
    Table(TableName),
    /// A file, folder, glob or URL.
    Path(String),
    /// The text of a query.
    Query(String),
}

/// Parses `table | 'path' | ( query )`.
pub(crate) fn read(c: &mut Cursor) -> Result<SourceClause> {
    if c.looks_at_string() {
        return c.string("a path").map(SourceClause::Path);
    }
    if c.looks_at_token(&Token::LParen) {
        return c.query_in_parens().map(SourceClause::Query);
    }
    c.table()
        .map(SourceClause::Table)
        .map_err(|_| c.expected("a table, 'path' or (query)", []))
}

impl Display for SourceClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceClause::Table(name) => name.fmt(f),
            SourceClause::Path(path) => literal(path).fmt(f),
            SourceClause::Query(query) => write!(f, "({query})"),
        }
    }
}
