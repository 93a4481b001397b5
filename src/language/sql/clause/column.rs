//! A column of a table or of a path: `table.column` and `'path' [OPTIONS (...)].column`.

use super::options;
use crate::base::error::Result;
use crate::language::sql::cursor::Cursor;
use crate::language::sql::name::TableName;
use crate::language::sql::path_options::named;
use datafusion::sql::sqlparser::tokenizer::Token;

/// Parses a column of a table or of a path.
pub(crate) fn read(c: &mut Cursor) -> Result<(TableName, String)> {
    let before = c.clone();
    if c.looks_at_string() {
        let path = c.string("a path")?;
        let given = if c.take("OPTIONS") { options::read(c)? } else { vec![] };
        c.need_token(&Token::Period, "\".\" and a column")?;
        return Ok((TableName(vec![named(path, &given)]), c.name("a column")?));
    }
    let mut parts = c.parts("table.column")?;
    match parts.pop() {
        Some(column) if (1..=3).contains(&parts.len()) => Ok((TableName(parts), column)),
        _ => Err(before.expected("table.column", [])),
    }
}
