//! What no entry claims: DataFusion's own statements, and those of them that hold an ANONYMIZE.

use super::{STATEMENTS, Statement, wrapped};
use crate::error::Result;
use crate::sql::cursor::Cursor;

/// Reads the statement with DataFusion's parser, which has the first word on it: only what it refuses is tried as a
/// statement around an ANONYMIZE.
pub(super) fn read(c: &mut Cursor) -> Result<Statement> {
    let refused = match c.datafusion(c.tokens()) {
        Ok(statement) => return Ok(Statement::DataFusion(Box::new(statement), c.text(0..c.tokens().len()))),
        Err(e) => e,
    };
    if let Some(statement) = wrapped::read(c)? {
        return Ok(statement);
    }
    // `RISK adult`: the first word is one of ours, a later one is missing.
    for start in STATEMENTS.iter().flat_map(|s| s.starts) {
        let first = start.split(' ').next().unwrap_or(start);
        if c.looks_at(first) && !matches!(first, "CREATE" | "DROP" | "SHOW" | "DESCRIBE" | "DESC" | "EXPLAIN") {
            c.need(start)?;
        }
    }
    Err(refused)
}
