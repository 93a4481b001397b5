//! `table | 'path' [OPTIONS (...)] | delta.'path' [VERSION AS OF n | TIMESTAMP AS OF 'time'] |
//! ducklake.'catalog#table' [...] | ( query )`: the source of the rows of a statement.

use super::options;
use crate::base::catalogue::Value;
use crate::base::error::Result;
use crate::base::quoting::literal;
use crate::data::formats::{At, Entry, FORMATS};
use crate::language::sql::cursor::Cursor;
use crate::language::sql::name::TableName;
use datafusion::sql::sqlparser::tokenizer::Token;
use std::fmt::{self, Display};

/// The source of a statement's rows.
#[derive(Debug, Clone, PartialEq)]
pub enum SourceClause {
    /// A table of the session.
    Table(TableName),
    /// A file, folder, glob or URL.
    Path(PathClause),
    /// The text of a query.
    Query(String),
}

/// A file, folder, glob or URL, and how its files are read.
#[derive(Debug, Clone, PartialEq)]
pub struct PathClause {
    /// The path, as in the statement.
    pub path: String,
    /// OPTIONS: how the files are read.
    pub options: Vec<(String, Value)>,
    /// The table format at the path, and the version to read; `None` if the statement names no
    /// table format.
    pub lake: Option<(&'static Entry, At)>,
}

impl PathClause {
    /// Returns true if the statement names a table format that anonsql can only read, so that the
    /// table cannot be a release.
    pub fn is_read_only(&self) -> bool {
        self.lake.as_ref().is_some_and(|(format, _)| !format.is_written())
    }
}

impl SourceClause {
    /// Returns a path without options as a source.
    pub fn path(path: &str) -> Self {
        Self::Path(PathClause {
            path: path.into(),
            options: vec![],
            lake: None,
        })
    }
}

/// Parses `table | 'path' [OPTIONS (key value, ...)] | delta.'path' [...] |
/// ducklake.'catalog#table' [...] | ( query )`.
pub(crate) fn read(c: &mut Cursor) -> Result<SourceClause> {
    if c.looks_at_string() {
        let path = c.string("a path")?;
        let options = if c.take("OPTIONS") { options::read(c)? } else { vec![] };
        return Ok(SourceClause::Path(PathClause {
            path,
            options,
            lake: None,
        }));
    }
    if let Some(table) = of_lake(c)? {
        return Ok(SourceClause::Path(table));
    }
    if c.looks_at_token(&Token::LParen) {
        return c.query_in_parens().map(SourceClause::Query);
    }
    let what = "a table, 'path' or (query)";
    let (start, before) = (c.position(), c.clone());
    if let Some(advice) = misplaced(c) {
        return Err(before.expected_so(what, Some(advice)));
    }
    let table = c.table();
    if let Some(path) = c.cut(start) {
        return Err(before.expected_so(what, Some(format!("write a path in single quotes: {}", literal(&path)))));
    }
    table.map(SourceClause::Table).map_err(|_| match before.unquoted() {
        Some(advice) => before.expected_so(what, Some(advice)),
        None => before.expected(what, []),
    })
}

/// Parses `delta.'path' [VERSION AS OF n | TIMESTAMP AS OF 'time']`, and the same form for
/// DuckLake; returns `None` if the next tokens are another table name.
fn of_lake(c: &mut Cursor) -> Result<Option<PathClause>> {
    let word = c.word_at(0).unwrap_or_default();
    let Some(lake) = FORMATS.iter().find(|format| word.eq_ignore_ascii_case(format.word)) else {
        return Ok(None);
    };
    let mut after = c.clone();
    after.name("a table")?;
    if !(after.take_token(&Token::Period) && after.looks_at_string()) {
        return Ok(None);
    }
    let mut path = after.string("a path")?;
    let at = if after.take("VERSION AS OF") {
        At::Version(after.whole("the number of a version")?)
    } else if after.take("TIMESTAMP AS OF") {
        At::Timestamp(after.string("a time in quotes")?)
    } else {
        let (short, at) = At::of_name(&path);
        path = short.to_string();
        at
    };
    *c = after;
    Ok(Some(PathClause {
        path,
        options: vec![],
        lake: Some((lake, at)),
    }))
}

/// Returns a hint for a query without parentheses, or for FROM or TABLE before a table name. A
/// table may also be called `from` or `table`, so the tokens after the first word are examined as
/// well.
fn misplaced(c: &Cursor) -> Option<String> {
    let first = c.word_at(0)?;
    let mut after = c.clone();
    after.name("").ok()?;
    if after.looks_at_token(&Token::Period) {
        return None;
    }
    let goes_on = after.word_at(0).is_some_and(|word| !c.words().starts_clause(&word));
    match first.as_str() {
        "SELECT" if !after.at_end() && !c.words().starts_clause(&after.word_at(0).unwrap_or_default()) => {
            Some("write a query in parentheses: (SELECT ...)".into())
        }
        "FROM" | "TABLE" if goes_on || after.looks_at_string() => Some(format!("leave {first} out")),
        _ => None,
    }
}

impl Display for SourceClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceClause::Table(name) => name.fmt(f),
            SourceClause::Path(PathClause {
                path,
                lake: Some((lake, at)),
                ..
            }) => write!(f, "{}.{}{at}", lake.word, literal(path)),
            SourceClause::Path(named) => write!(f, "{}{}", literal(&named.path), options::written(&named.options, " ")),
            SourceClause::Query(query) => write!(f, "({query})"),
        }
    }
}
