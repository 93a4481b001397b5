//! `RECODING`, `SEARCH USING`, `AT NODE` and `USING MANIFEST`: the clauses that determine the
//! released node or partition.

use crate::base::catalogue::Call;
use crate::base::error::Result;
use crate::base::quoting::{ident, literal};
use crate::data::drift::OnDrift;
use crate::language::sql::cursor::Cursor;
use crate::language::sql::name::{call, list};
use datafusion::sql::sqlparser::tokenizer::Token;
use std::fmt::{self, Display};

/// Whether equal values have equal labels in all rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecodingClause {
    /// RECODING GLOBAL: one level per column, for all rows.
    Global,
    /// RECODING LOCAL: the table is divided into groups, and each group has its own labels.
    Local,
}

/// The clause that determines the released node.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ChoiceClause {
    /// No clause is given, so the default search is used.
    #[default]
    Default,
    /// SEARCH USING: a search with its options.
    Search(Call),
    /// AT NODE: a level for each column.
    Node(Vec<(String, u32)>),
    /// USING MANIFEST: the node of an earlier release.
    Manifest {
        /// The path of the release, or of its manifest.
        path: String,
        /// ON DRIFT: how drift is treated; `None` if the clause is not given.
        on_drift: Option<OnDrift>,
    },
}

/// Parses the clause after `RECODING`: one recoding, or a list of recodings.
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

/// Parses the clause after `SEARCH USING`: one algorithm, or a list of algorithms. With a list, the
/// choice is [`ChoiceClause::Default`].
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

/// Parses `MANIFEST 'path' [ON DRIFT ERROR | WARN | SEARCH]`.
pub(crate) fn manifest(c: &mut Cursor) -> Result<ChoiceClause> {
    if !c.take("MANIFEST") {
        return Err(c.expected(
            "USING MANIFEST 'path', USING POLICY name, or SEARCH USING algorithm",
            ["MANIFEST", "POLICY"],
        ));
    }
    let path = c.string("a path in quotes")?;
    let on_drift = match c.take("ON") {
        true => Some(on_drift(c)?),
        false => None,
    };
    Ok(ChoiceClause::Manifest { path, on_drift })
}

fn on_drift(c: &mut Cursor) -> Result<OnDrift> {
    c.need("DRIFT")?;
    match () {
        () if c.take("ERROR") => Ok(OnDrift::Error),
        () if c.take("WARN") => Ok(OnDrift::Warn),
        () if c.take("SEARCH") => Ok(OnDrift::Search),
        () => {
            let meant = match c.word_at(0).as_deref() {
                Some("FAIL" | "STOP" | "ABORT" | "RAISE") => Some("did you mean ERROR?".to_string()),
                Some("IGNORE" | "ALLOW" | "CONTINUE" | "WARNING") => Some("did you mean WARN?".to_string()),
                Some("REPLACE" | "RESEARCH" | "REFIT" | "ADAPT") => Some("did you mean SEARCH?".to_string()),
                _ => None,
            };
            Err(match meant {
                Some(meant) => c.expected_so("ERROR, WARN or SEARCH", Some(meant)),
                None => c.expected("ERROR, WARN or SEARCH", ["ERROR", "WARN", "SEARCH"]),
            })
        }
    }
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
            ChoiceClause::Manifest { path, on_drift } => {
                write!(f, "USING MANIFEST {}", literal(path))?;
                on_drift.map_or(Ok(()), |on_drift| write!(f, " ON DRIFT {on_drift}"))
            }
        }
    }
}
