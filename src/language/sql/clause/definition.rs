//! The definition of a hierarchy in CREATE HIERARCHY. The kind of the hierarchy describes its
//! clause, and this description determines how the clause is parsed and printed.

use super::{column, options};
use crate::base::catalogue::Value;
use crate::base::error::{Error, Result};
use crate::base::quoting::ident;
use crate::language::sql::cursor::Cursor;
use crate::language::sql::name::{TableName, list};
use crate::method::hierarchy::{GivenPart, Item, Kind, OnNull, OnUnmapped, Part, Takes};
use datafusion::sql::sqlparser::tokenizer::Token;
use std::fmt;

/// The definition of a hierarchy: its kind, and the values in the clause of its kind.
#[derive(Debug, Clone, PartialEq)]
pub struct DefinitionClause {
    /// The kind of the hierarchy.
    pub kind: Kind,
    /// The parts of the clause, by name, in the order of the clause. Optional parts that are not
    /// given are left out.
    pub given: Vec<(&'static str, GivenPart)>,
}

impl fmt::Display for DefinitionClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.clause.start)?;
        for (part, given) in &self.given {
            let parts = self.kind.clause.parts;
            if !parts.iter().any(|p| matches!(p, Part::First(name, _) if name == part)) {
                write!(f, " {part}")?;
            }
            write!(f, " {}", shown(given))?;
        }
        Ok(())
    }
}

/// Prints the value of a part of a clause.
fn shown(given: &GivenPart) -> impl fmt::Display + '_ {
    fmt::from_fn(move |f| match given {
        GivenPart::Value(value) => word(value, f),
        GivenPart::Values(values) => write!(f, "({})", list(values, word)),
        GivenPart::Rows(rows) => write!(f, "{}", list(rows, |row, f| write!(f, "({})", list(row, word)))),
        GivenPart::Options(all) => write!(f, "{}", options::pairs(all)),
        GivenPart::Column { table, column } => write!(f, "{}.{}", TableName(table.clone()), ident(column)),
        // Without the parentheses, ON UNMAPPED would be parsed as a part of the query.
        GivenPart::Query(query) => write!(f, "({query})"),
    })
}

/// Prints a value. Words are printed in upper case, because they are keywords of the clause.
fn word(value: &Value, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        Value::Word(word) => f.write_str(&word.to_ascii_uppercase()),
        other => write!(f, "{other}"),
    }
}

/// Parses a definition, which begins with `AS` or `FROM`.
pub(crate) fn read(c: &mut Cursor) -> Result<DefinitionClause> {
    // The longest match determines the kind: `AS` alone starts a query, and most other kinds start
    // with `AS` and a further word.
    let named = c.kinds().iter().filter(|kind| c.looks_at(kind.clause.start));
    let Some(kind) = named.max_by_key(|kind| kind.clause.start.len()).copied() else {
        let what = "FROM 'file' or AS ...";
        let mut starts = c.kinds().iter().map(|kind| kind.clause.start);
        let without_as = |start: &&str| start.strip_prefix("AS ").is_some_and(|word| c.looks_at(word));
        return Err(match starts.find(without_as) {
            Some(start) => c.expected_so(what, Some(format!("did you mean {start}?"))),
            None => c.expected(what, ["FROM", "AS"]),
        });
    };
    c.take(kind.clause.start);
    let given = parts(c, &kind)?;
    Ok(DefinitionClause { kind, given })
}

/// Parses the parts of a clause. Optional parts may be given in any order.
fn parts(c: &mut Cursor, kind: &Kind) -> Result<Vec<(&'static str, GivenPart)>> {
    let parts = kind.clause.parts;
    let mut given: Vec<Option<(&'static str, GivenPart)>> = vec![None; parts.len()];
    for (part, given) in parts.iter().zip(&mut given) {
        *given = match part {
            Part::First(name, takes) => Some((*name, content(c, takes)?)),
            Part::OneOf(all) => Some(one_of(c, all)?),
            Part::Maybe(..) => None,
        };
    }
    loop {
        let before = c.clone();
        let maybe = parts.iter().zip(&mut given).find_map(|(part, given)| match part {
            Part::Maybe(start, takes) if c.looks_at(start) => Some((*start, takes, given)),
            _ => None,
        });
        let Some((start, takes, given)) = maybe else { break };
        c.take(start);
        if given.replace((start, content(c, takes)?)).is_some() {
            return Err(before.error("this is given twice"));
        }
    }
    Ok(given.into_iter().flatten().collect())
}

fn one_of(c: &mut Cursor, all: &[(&'static str, Takes)]) -> Result<(&'static str, GivenPart)> {
    let Some((start, takes)) = all.iter().find(|(start, _)| c.looks_at(start)) else {
        let starts: Vec<&str> = all.iter().map(|(start, _)| *start).collect();
        return Err(c.expected(&starts.join(" or "), starts));
    };
    c.take(start);
    Ok((start, content(c, takes)?))
}

fn content(c: &mut Cursor, takes: &Takes) -> Result<GivenPart> {
    Ok(match takes {
        Takes::One(of, what) => GivenPart::Value(item(c, *of, what)?),
        Takes::List(name, of, what) => GivenPart::Values(c.list(name, |c| item(c, *of, what))?),
        Takes::Rows(name, of, what) => {
            let row = |c: &mut Cursor| c.list(name, |c| item(c, *of, what));
            let mut rows = vec![row(c)?];
            while c.take_token(&Token::Comma) {
                rows.push(row(c)?);
            }
            GivenPart::Rows(rows)
        }
        Takes::Options => GivenPart::Options(options::read(c)?),
        Takes::Column => {
            let (table, column) = column::read(c)?;
            GivenPart::Column { table: table.0, column }
        }
        Takes::Query => GivenPart::Query(query(c)?),
    })
}

fn item(c: &mut Cursor, item: Item, what: &str) -> Result<Value> {
    match item {
        Item::Whole => c.whole::<u32>(what).map(|n| Value::Integer(i64::from(n))),
        Item::NumberOrText if c.looks_at_string() => c.string(what).map(Value::Text),
        Item::Number | Item::NumberOrText => c.number(what),
        Item::Text | Item::Path => c.string(what).map(Value::Text),
        Item::Word => c.name(what).map(|word| Value::Word(word.to_ascii_lowercase())),
        Item::Literal => {
            let before = c.clone();
            let value = c.value(what)?;
            let what = "a value in quotes, a number, true, false or NULL";
            match value {
                Value::Word(word) if word != "null" => Err(before.expected(what, [])),
                Value::Fraction(..) => Err(before.expected(what, [])),
                value => Ok(value),
            }
        }
    }
}

/// Parses a query. It extends to the end of the statement, or to the exceptions (ON UNMAPPED,
/// NULLS) after it. If all remaining tokens form a query, they are the query, so that a column
/// called `nulls` remains a column. Parentheses around the whole query are dropped.
fn query(c: &mut Cursor) -> Result<String> {
    let (start, end) = (c.position(), c.tokens().len());
    if c.looks_at_token(&Token::LParen) && c.closing(start).is_some() {
        let mut inner = c.clone();
        if let Ok(text) = inner.query_in_parens()
            && (inner.at_end() || Exception::read(&mut inner.clone()).is_ok())
        {
            *c = inner;
            return Ok(text);
        }
    }
    let whole = c.query();
    if let Ok(text) = whole {
        *c = c.within(end..end);
        return Ok(text);
    }
    // All exceptions together have at most six tokens: ON UNMAPPED TOP NULLS AS VALUE. The query
    // ends before the longest sequence of final tokens that parses as exceptions.
    for cut in (end.saturating_sub(6).max(start + 1)..end).filter(|cut| *cut > start) {
        let mut rest = c.within(cut..end);
        let mut only_exceptions = true;
        while only_exceptions && !rest.at_end() {
            only_exceptions = Exception::read(&mut rest).is_ok();
        }
        if only_exceptions {
            let text = c.within(start..cut).query()?;
            *c = c.within(cut..end);
            return Ok(text);
        }
    }
    match (c.word_at(0).as_deref(), whole) {
        (Some("SELECT" | "WITH" | "TABLE" | "FROM"), Err(e)) => Err(e),
        _ => Err(no_kind(c)),
    }
}

/// Returns the error for a text that begins neither a query nor a kind of hierarchy.
fn no_kind(c: &Cursor) -> Error {
    let kinds = c
        .kinds()
        .iter()
        .filter_map(|kind| kind.clause.start.strip_prefix("AS "));
    let kinds: Vec<&str> = kinds.collect();
    let named = match kinds.split_last() {
        Some((last, others)) => format!("a query, {} or {last}", others.join(", ")),
        None => "a query".to_string(),
    };
    c.expected(&named, kinds.into_iter().chain(["SELECT"]))
}

/// A clause that may follow a definition.
pub(crate) enum Exception {
    /// ON UNMAPPED: the treatment of values that the hierarchy does not map.
    Unmapped(OnUnmapped),
    /// NULLS: the treatment of NULL.
    Null(OnNull),
}

impl Exception {
    pub(crate) fn read(c: &mut Cursor) -> Result<Self> {
        if c.take("ON") {
            c.need("UNMAPPED")?;
            return match () {
                () if c.take("ERROR") => Ok(Self::Unmapped(OnUnmapped::Error)),
                () if c.take("SUPPRESS") => Ok(Self::Unmapped(OnUnmapped::Suppress)),
                () if c.take("TOP") => Ok(Self::Unmapped(OnUnmapped::Top)),
                () => Err(c.expected("ERROR, SUPPRESS or TOP", ["ERROR", "SUPPRESS", "TOP"])),
            };
        }
        if !c.take("NULLS") {
            return Err(c.expected(
                "ON UNMAPPED, NULLS or the end of the statement",
                ["ON", "UNMAPPED", "NULLS"],
            ));
        }
        match () {
            () if c.take("AS VALUE") => Ok(Self::Null(OnNull::Value)),
            () if c.take("AS TOP") => Ok(Self::Null(OnNull::Top)),
            () if c.take("ERROR") => Ok(Self::Null(OnNull::Error)),
            () => Err(c.expected("AS VALUE, AS TOP or ERROR", ["AS", "ERROR"])),
        }
    }
}
