//! `CREATE HIERARCHY`: names the levels of generalization of a column.

use crate::catalogue::Value;
use crate::error::Result;
use crate::sql::ast::{CreateHierarchy, Definition, Nulls, Unmapped};
use crate::sql::clause::options;
use crate::sql::cursor::Cursor;
use datafusion::sql::sqlparser::tokenizer::Token;

/// Reads what follows the words CREATE HIERARCHY.
pub(crate) fn read(c: &mut Cursor, or_replace: bool) -> Result<CreateHierarchy> {
    let if_not_exists = c.take("IF NOT EXISTS");
    let name = c.name("the name of the hierarchy")?;
    let (definition, at_end) = if c.take("FROM") {
        let path = c.string("a file in quotes")?;
        let options = if c.take("OPTIONS") { options::read(c)? } else { vec![] };
        (Definition::File { path, options }, false)
    } else {
        c.need("AS")
            .map_err(|_| c.expected("FROM 'file' or AS ...", ["FROM", "AS"]))?;
        definition(c)?
    };
    let mut created = CreateHierarchy {
        or_replace,
        if_not_exists,
        name,
        definition,
        unmapped: None,
        nulls: None,
    };
    if at_end {
        return Ok(created);
    }
    while !c.at_end() {
        let before = c.clone();
        if !match tail(c)? {
            Tail::Unmapped(u) => created.unmapped.replace(u).is_none(),
            Tail::Nulls(n) => created.nulls.replace(n).is_none(),
        } {
            return Err(before.error("this is given twice"));
        }
    }
    Ok(created)
}

enum Tail {
    Unmapped(Unmapped),
    Nulls(Nulls),
}

fn tail(c: &mut Cursor) -> Result<Tail> {
    if c.take("ON") {
        c.need("UNMAPPED")?;
        return match () {
            () if c.take("ERROR") => Ok(Tail::Unmapped(Unmapped::Error)),
            () if c.take("SUPPRESS") => Ok(Tail::Unmapped(Unmapped::Suppress)),
            () if c.take("TOP") => Ok(Tail::Unmapped(Unmapped::Top)),
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
        () if c.take("AS VALUE") => Ok(Tail::Nulls(Nulls::Value)),
        () if c.take("AS TOP") => Ok(Tail::Nulls(Nulls::Top)),
        () if c.take("ERROR") => Ok(Tail::Nulls(Nulls::Error)),
        () => Err(c.expected("AS VALUE, AS TOP or ERROR", ["AS", "ERROR"])),
    }
}

/// What follows AS; true when it took the whole rest.
fn definition(c: &mut Cursor) -> Result<(Definition, bool)> {
    let known = match () {
        () if c.take("INTERVALS") => intervals(c)?,
        () if c.take("PREFIX") => {
            let keep = c.list("characters", |c| c.whole("how many characters stay"))?;
            let mask = if c.take("MASK") {
                Some(c.string("a mask in quotes")?)
            } else {
                None
            };
            Definition::Prefix { keep, mask }
        }
        () if c.take("TRUNCATE") => Definition::Truncate(c.list("unit", |c| {
            c.name("a unit such as MONTH").map(|u| u.to_ascii_lowercase())
        })?),
        () if c.take("VALUES") => {
            let mut rows = vec![row(c)?];
            while c.take_token(&Token::Comma) {
                rows.push(row(c)?);
            }
            Definition::Values(rows)
        }
        () if c.take("QUANTILES") => {
            let groups = c.list("groups", |c| c.whole("a number of groups"))?;
            if c.take("BOUNDS") {
                let bounds = c.list("bound", bound)?;
                Definition::Bounds { groups, bounds }
            } else {
                c.need("OF")?;
                let (table, column) = c.table_column()?;
                Definition::Quantiles { groups, table, column }
            }
        }
        () if c.take("SUPPRESSION") => Definition::Suppression,
        () => return query(c),
    };
    Ok((known, false))
}

fn intervals(c: &mut Cursor) -> Result<Definition> {
    let widths = c.list("width", |c| c.number("a width"))?;
    let (mut origin, mut bottom, mut top) = (None, None, None);
    loop {
        let before = c.clone();
        let slot = match () {
            () if c.take("ORIGIN") => &mut origin,
            () if c.take("BOTTOM CODE") => &mut bottom,
            () if c.take("TOP CODE") => &mut top,
            () => {
                return Ok(Definition::Intervals {
                    widths,
                    origin,
                    bottom,
                    top,
                });
            }
        };
        if slot.replace(c.number("a number")?).is_some() {
            return Err(before.error("this is given twice"));
        }
    }
}

/// A bound of QUANTILES: a number, or a date or timestamp in quotes.
fn bound(c: &mut Cursor) -> Result<Value> {
    if c.looks_at_string() {
        c.string("a bound in quotes").map(Value::Text)
    } else {
        c.number("a bound")
    }
}

fn row(c: &mut Cursor) -> Result<Vec<Option<Value>>> {
    c.list("ground value, label", |c| {
        let before = c.clone();
        match c.value("a value")? {
            Value::Word(w) if w == "null" => Ok(None),
            Value::Word(_) => Err(before.expected("a value in quotes, a number, true, false or NULL", [])),
            value => Ok(Some(value)),
        }
    })
}

/// A query to the end, or to the options after it. A query that parses as a whole is one, so that a column called
/// `nulls` stays a column; parentheses around all of it are not part of its text.
fn query(c: &mut Cursor) -> Result<(Definition, bool)> {
    let (start, end) = (c.position(), c.tokens().len());
    if c.looks_at_token(&Token::LParen) && c.closing(start).is_some() {
        let mut inner = c.clone();
        if let Ok(text) = inner.query_in_parens()
            && (inner.at_end() || tail(&mut inner.clone()).is_ok())
        {
            *c = inner;
            return Ok((Definition::Query(text), false));
        }
    }
    let whole = c.query();
    if let Ok(text) = whole {
        *c = c.within(end..end);
        return Ok((Definition::Query(text), true));
    }
    // The options are at most six tokens: ON UNMAPPED TOP NULLS AS VALUE. The longest run of them is cut off.
    for cut in (end.saturating_sub(6).max(start + 1)..end).filter(|cut| *cut > start) {
        let mut rest = c.within(cut..end);
        let mut only_options = true;
        while only_options && !rest.at_end() {
            only_options = tail(&mut rest).is_ok();
        }
        if only_options {
            let text = c.within(start..cut).query()?;
            *c = c.within(cut..end);
            return Ok((Definition::Query(text), false));
        }
    }
    let kinds = [
        "INTERVALS",
        "PREFIX",
        "TRUNCATE",
        "VALUES",
        "QUANTILES",
        "SUPPRESSION",
        "SELECT",
    ];
    match (c.word_at(0).as_deref(), whole) {
        (Some("SELECT" | "WITH" | "TABLE" | "FROM"), Err(e)) => Err(e),
        _ => Err(c.expected(
            "a query, INTERVALS, PREFIX, TRUNCATE, VALUES, QUANTILES or SUPPRESSION",
            kinds,
        )),
    }
}
