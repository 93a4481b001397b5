//! `'path' [OVERWRITE]`: a single file that a statement writes.

use crate::base::error::Result;
use crate::base::quoting::literal;
use crate::language::sql::cursor::Cursor;
use std::fmt::{self, Display};

/// A single file that a statement writes.
#[derive(Debug, Clone, PartialEq)]
pub struct FileClause {
    /// The path, as in the statement.
    pub path: String,
    /// Whether OVERWRITE is given: an existing file is then replaced even if no statement wrote it.
    pub overwrite: bool,
}

/// Parses `'path' [OVERWRITE]`. The error for a missing path calls the path `what`.
pub(crate) fn read(c: &mut Cursor, what: &str) -> Result<FileClause> {
    Ok(FileClause {
        path: c.string(what)?,
        overwrite: c.take("OVERWRITE"),
    })
}

impl Display for FileClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let overwrite = if self.overwrite { " OVERWRITE" } else { "" };
        write!(f, "{}{overwrite}", literal(&self.path))
    }
}
