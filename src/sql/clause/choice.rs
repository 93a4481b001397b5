//! `RECODING`, `SEARCH USING`, `AT NODE` and `USING MANIFEST`: how the released node or partition is found.

use crate::catalogue::Call;
use crate::error::Result;
use crate::quoting::{ident, literal};
use crate::sql::cursor::Cursor;
use crate::sql::name::{call, list};
use datafusion::sql::sqlparser::tokenizer::Token;
use std::fmt::{self, Display};

/// Whether equal values get equal labels in every row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecodingClause {
    /// RECODING GLOBAL: one level per column, for all rows.
    Global,
    /// RECODING LOCAL: the table is divided, and each group has labels of its own.
    Local,
}

/// How the released node is found.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ChoiceClause {
    /// No clause is given: the default search.
    #[default]
    Default,
    /// SEARCH USING: a search with its options.
    Search(Call),
    /// AT NODE: a level per column.
    Node(Vec<(String, u32)>),
    /// USING MANIFEST: the node of an earlier release.
    Manifest(String),
}

/// Parses what follows `RECODING`: one recoding, or a list of them.
pub(crate) fn recoding(c: &mut Cursor) -> Result<(Option<RecodingClause>, Vec<RecodingClause>)> {
    if c.looks_at_token(&Token::LParen) {
        return Ok((None, c.list("GLOBAL or LOCAL", one_recoding)?));
    }
    Ok((Some(one_recoding(c)?), vec![]))
}

fn one_recoding(c: &mut Cursor) -> Result<RecodingClause> {
    match () {
        () if c.take("GLOBAL") => Ok(RecodingClause::Global),
        () if c.take("LOCAL") => Ok(RecodingClause::Local),
        () => Err(c.expected("GLOBAL or LOCAL", ["GLOBAL", "LOCAL"])),
    }
}

/// Parses what follows `SEARCH USING`: one algorithm, or a list of them with [`ChoiceClause::Default`].
pub(crate) fn search(c: &mut Cursor) -> Result<(ChoiceClause, Vec<Call>)> {
    if c.looks_at_token(&Token::LParen) {
        let searches = c.list("search", |c| c.call("a search"))?;
        return Ok((ChoiceClause::Default, searches));
    }
    let search = c.call("a search such as flash")?;
    Ok((ChoiceClause::Search(search), vec![]))
}

/// Parses `NODE (c level, ...)`.
pub(crate) fn node(c: &mut Cursor) -> Result<ChoiceClause> {
    c.need("NODE")?;
    let levels = c.list("column level", |c| Ok((c.name("a column")?, c.whole("a level")?)))?;
    Ok(ChoiceClause::Node(levels))
}

/// Parses `MANIFEST 'path'`.
pub(crate) fn manifest(c: &mut Cursor) -> Result<ChoiceClause> {
    if !c.take("MANIFEST") {
        return Err(c.expected("USING MANIFEST 'path', or SEARCH USING algorithm", ["MANIFEST"]));
    }
    c.string("a path in quotes").map(ChoiceClause::Manifest)
}

impl Display for RecodingClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RecodingClause::Global => "GLOBAL",
            RecodingClause::Local => "LOCAL",
        })
    }
}

/// Prints the clause; [`ChoiceClause::Default`] prints nothing.
impl Display for ChoiceClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChoiceClause::Default => Ok(()),
            ChoiceClause::Search(search) => write!(f, "SEARCH USING {}", call(search)),
            ChoiceClause::Node(node) => {
                let level = |(c, l): &(String, u32), f: &mut fmt::Formatter<'_>| write!(f, "{} {l}", ident(c));
                write!(f, "AT NODE ({})", list(node, level))
            }
            ChoiceClause::Manifest(path) => write!(f, "USING MANIFEST {}", literal(path)),
        }
    }
}
