//! The clauses that statements share. Each is one constant: how it starts, its syntax, an example, and how it is read.
//! They may stand in any order after the source; each at most once.

use super::ast::*;
use super::cursor::Cursor;
use crate::catalogue::{Call, Value};
use crate::error::Result;
use datafusion::sql::sqlparser::tokenizer::Token;

/// One clause.
pub(super) struct Clause {
    pub(super) start: &'static str,
    pub(super) syntax: &'static str,
    example: &'static str,
    read: fn(&mut Cursor, &mut Clauses) -> Result<()>,
}

/// What the clauses of a statement said.
#[derive(Default)]
pub(super) struct Clauses {
    pub(super) target: Option<Target>,
    pub(super) identifiers: Vec<Identifier>,
    pub(super) quasi_identifiers: Vec<QuasiIdentifier>,
    pub(super) sensitive: Vec<Sensitive>,
    pub(super) class: Option<String>,
    pub(super) keep: Vec<String>,
    pub(super) entity: Option<String>,
    pub(super) satisfying: Vec<Constraint>,
    pub(super) limit: Option<Limit>,
    pub(super) starred: Option<bool>,
    pub(super) minimizing: Vec<Goal>,
    pub(super) choice: Choice,
    pub(super) searches: Vec<Call>,
    pub(super) options: Vec<(String, Value)>,
    pub(super) report: Option<String>,
    pub(super) objectives: Vec<Objective>,
    pub(super) epsilon: Vec<f64>,
    pub(super) against: Option<Source>,
    pub(super) population: Option<Source>,
}

macro_rules! clauses {
    ($($name:ident: $start:literal, $syntax:literal, $example:literal, $read:expr;)*) => {
        $(pub(super) const $name: Clause = Clause { start: $start, syntax: $syntax, example: $example, read: $read };)*
        /// Every clause there is.
        pub(super) const ALL: &[Clause] = &[$($name),*];
    };
}

clauses! {
    TO: "TO",
        "TO 'target' [STORED AS PARQUET | CSV] [PARTITIONED BY (c, ...)] [OVERWRITE | IF NOT EXISTS] [OPTIONS (key value, ...)]",
        "TO 'released'", |c, s| { s.target = Some(target(c)?); Ok(()) };
    IDENTIFIERS: "IDENTIFIERS", "IDENTIFIERS (c [HASH WITH SECRET 'env:NAME' | 'file:PATH'], ...)",
        "IDENTIFIERS (name)", |c, s| { s.identifiers = c.list("column", identifier)?; Ok(()) };
    QUASI: "QUASI IDENTIFIERS", "QUASI IDENTIFIERS (c [USING hierarchy] [LEVELS a TO b] [WEIGHT w], ...)",
        "QUASI IDENTIFIERS (age, zip)", |c, s| { s.quasi_identifiers = c.list("column", quasi)?; Ok(()) };
    SENSITIVE: "SENSITIVE",
        "SENSITIVE (c [USING hierarchy] [RANDOMIZED [WITHIN CLASS | WITHIN (c, ...) | WITH MATRIX table]], ...)",
        "SENSITIVE (diagnosis)", |c, s| { s.sensitive = c.list("column", sensitive)?; Ok(()) };
    CLASS: "CLASS", "CLASS (c)", "CLASS (salary)", |c, s| { s.class = Some(c.column()?); Ok(()) };
    KEEP: "KEEP", "KEEP (c, ...)", "KEEP (visits)", |c, s| { s.keep = c.columns()?; Ok(()) };
    ENTITY: "ENTITY", "ENTITY (c)", "ENTITY (patient)", |c, s| { s.entity = Some(c.column()?); Ok(()) };
    SATISFYING: "SATISFYING", "SATISFYING model [ON column] [ON (c, ...)] [AND model ...]",
        "SATISFYING k_anonymity(5)", |c, s| { s.satisfying = constraints(c)?; Ok(()) };
    SUPPRESSING: "SUPPRESSING", "SUPPRESSING AT MOST p PERCENT | n ROWS",
        "SUPPRESSING AT MOST 1 PERCENT", |c, s| { s.limit = Some(limit(c)?); Ok(()) };
    SUPPRESSED: "SUPPRESSED", "SUPPRESSED ROWS DROPPED | STARRED",
        "SUPPRESSED ROWS STARRED", |c, s| { s.starred = Some(starred(c)?); Ok(()) };
    MINIMIZING: "MINIMIZING", "MINIMIZING metric | w * metric + w * metric ...",
        "MINIMIZING glm", |c, s| { s.minimizing = goals(c)?; Ok(()) };
    SEARCH: "SEARCH", "SEARCH USING algorithm [(option => value, ...)]", "SEARCH USING flash", search;
    NODE: "AT", "AT NODE (c level, ...)", "AT NODE (age 2, zip 1)", node;
    MANIFEST: "USING", "USING MANIFEST 'path'", "USING MANIFEST 'released/_manifest.json'", manifest;
    WITH: "WITH", "WITH (option = value, ...)", "WITH (seed = 42)", |c, s| { s.options = with(c)?; Ok(()) };
    REPORT: "REPORT", "REPORT TO 'report.html'", "REPORT TO 'report.html'", |c, s| {
        c.need("TO")?;
        s.report = Some(c.string("a path in quotes")?);
        Ok(())
    };
    OPTIMIZING: "OPTIMIZING", "OPTIMIZING MAX | MIN property [ON column], ...", "OPTIMIZING MAX k, MIN glm", objectives;
    EPSILON: "EPSILON", "EPSILON (e, ...)", "EPSILON (1, 0.01)", |c, s| {
        s.epsilon = c.list("number", |c| c.real("a number of at least 0"))?;
        Ok(())
    };
    AGAINST: "AGAINST", "AGAINST table | 'path' | (query)", "AGAINST raw", |c, s| { s.against = Some(source(c)?); Ok(()) };
    POPULATION: "POPULATION", "POPULATION table | 'path' | (query)", "POPULATION census",
        |c, s| { s.population = Some(source(c)?); Ok(()) };
}

/// Reads clauses to the end of the statement `what`: those of `allowed`, with all of `required`.
pub(super) fn read(c: &mut Cursor, what: &str, allowed: &[&Clause], required: &[&Clause]) -> Result<Clauses> {
    let mut clauses = Clauses::default();
    let mut seen: Vec<&str> = vec![];
    while !c.at_end() {
        let Some(clause) = ALL.iter().find(|clause| c.looks_at(clause.start)) else {
            let missing = required.iter().find(|r| !seen.contains(&r.start));
            let words = allowed.iter().flat_map(|a| a.start.split(' '));
            return Err(match missing {
                // `QUASI` alone: the clause is meant, its second word is wrong.
                _ if c.looks_at("QUASI") => {
                    c.need(QUASI.start)?;
                    c.expected(QUASI.syntax, words)
                }
                Some(clause) => c.expected(clause.syntax, words),
                None => c.expected(
                    &format!(
                        "{} or the end of the statement",
                        allowed
                            .iter()
                            .filter(|a| !seen.contains(&a.start))
                            .map(|a| a.start)
                            .collect::<Vec<_>>()
                            .join(", ")
                    ),
                    words,
                ),
            });
        };
        if !allowed.iter().any(|a| a.start == clause.start) {
            return Err(c.error(format_args!("{what} takes no {} clause", clause.start)));
        }
        if seen.contains(&clause.start) {
            return Err(c.error(format_args!("{} is given twice", clause.start)));
        }
        seen.push(clause.start);
        c.take(clause.start);
        (clause.read)(c, &mut clauses)?;
    }
    match required.iter().find(|r| !seen.contains(&r.start)) {
        Some(missing) => Err(c.error(format_args!(
            "{what} needs {}; example: {}",
            missing.start, missing.example
        ))),
        None => Ok(clauses),
    }
}

/// `table | 'path' | ( query )`.
pub(super) fn source(c: &mut Cursor) -> Result<Source> {
    if c.looks_at_string() {
        return c.string("a path").map(Source::Path);
    }
    if c.looks_at_token(&Token::LParen) {
        return c.query_in_parens().map(Source::Query);
    }
    c.table()
        .map(Source::Table)
        .map_err(|_| c.expected("a table, 'path' or (query)", []))
}

/// `OPTIONS (key value, ...)`, after its keyword.
pub(super) fn options(c: &mut Cursor) -> Result<Vec<(String, Value)>> {
    let mut all: Vec<(String, Value)> = vec![];
    c.list("key value", |c| {
        let before = c.clone();
        let key = if c.looks_at_string() {
            c.string("an option")?
        } else {
            let mut key = c.name("an option")?;
            while c.take_token(&Token::Period) {
                key = format!("{key}.{}", c.name("an option")?);
            }
            key
        };
        let value = c.value("a value")?;
        once(&before, &mut all, key, value)
    })?;
    Ok(all)
}

fn once(at: &Cursor, all: &mut Vec<(String, Value)>, key: String, value: Value) -> Result<()> {
    if all.iter().any(|(k, _)| *k == key) {
        return Err(at.error(format_args!("option {key} is given twice")));
    }
    all.push((key, value));
    Ok(())
}

fn with(c: &mut Cursor) -> Result<Vec<(String, Value)>> {
    let mut all = vec![];
    c.list("option = value", |c| {
        let before = c.clone();
        let key = c.name("an option")?;
        c.need_token(&Token::Eq, "\"=\"")?;
        let value = c.value("a value")?;
        once(&before, &mut all, key, value)
    })?;
    Ok(all)
}

fn target(c: &mut Cursor) -> Result<Target> {
    let path = c.string("a path in quotes")?;
    let mut target = Target {
        path,
        format: None,
        partitioned_by: vec![],
        exists: Exists::Error,
        options: vec![],
    };
    loop {
        let before = c.clone();
        let first = if c.take("STORED") {
            c.need("AS")?;
            let format = match () {
                () if c.take("PARQUET") => Format::Parquet,
                () if c.take("CSV") => Format::Csv,
                () => return Err(c.expected("PARQUET or CSV", ["PARQUET", "CSV"])),
            };
            target.format.replace(format).is_none()
        } else if c.take("PARTITIONED") {
            c.need("BY")?;
            std::mem::replace(&mut target.partitioned_by, c.columns()?).is_empty()
        } else if c.take("OVERWRITE") {
            std::mem::replace(&mut target.exists, Exists::Overwrite) == Exists::Error
        } else if c.take("IF") {
            c.need("NOT EXISTS")?;
            std::mem::replace(&mut target.exists, Exists::Skip) == Exists::Error
        } else if c.take("OPTIONS") {
            std::mem::replace(&mut target.options, options(c)?).is_empty()
        } else {
            return Ok(target);
        };
        if !first {
            return Err(before.error("this part of TO is given twice, or OVERWRITE together with IF NOT EXISTS"));
        }
    }
}

fn identifier(c: &mut Cursor) -> Result<Identifier> {
    let column = c.name("a column")?;
    if !c.take("HASH") {
        return Ok(Identifier { column, hash: None });
    }
    c.need("WITH SECRET")?;
    let what = "'env:NAME' or 'file:PATH' (the secret itself never stands in a statement)";
    let before = c.clone();
    let text = c.string(what)?;
    let hash = match text.split_once(':') {
        Some(("env", name)) if !name.is_empty() => Secret::Env(name.to_string()),
        Some(("file", path)) if !path.is_empty() => Secret::File(path.to_string()),
        _ => return Err(before.expected(what, [])),
    };
    Ok(Identifier {
        column,
        hash: Some(hash),
    })
}

fn quasi(c: &mut Cursor) -> Result<QuasiIdentifier> {
    let mut qi = QuasiIdentifier {
        column: c.name("a column")?,
        hierarchy: None,
        levels: None,
        weight: None,
    };
    loop {
        let before = c.clone();
        let first = if c.take("USING") {
            qi.hierarchy.replace(c.name("a hierarchy")?).is_none()
        } else if c.take("LEVELS") {
            let from = c.whole("a level")?;
            c.need("TO")?;
            let to = c.whole("a level")?;
            if from > to {
                return Err(before.error(format_args!("LEVELS {from} TO {to} is empty")));
            }
            qi.levels.replace((from, to)).is_none()
        } else if c.take("WEIGHT") {
            qi.weight.replace(c.real("a weight of at least 0")?).is_none()
        } else {
            break;
        };
        if !first {
            return Err(before.error("this is given twice for one column"));
        }
    }
    if !c.looks_at_token(&Token::Comma) && !c.looks_at_token(&Token::RParen) {
        return Err(c.expected("USING, LEVELS, WEIGHT, \",\" or \")\"", ["USING", "LEVELS", "WEIGHT"]));
    }
    Ok(qi)
}

fn sensitive(c: &mut Cursor) -> Result<Sensitive> {
    let column = c.name("a column")?;
    let hierarchy = if c.take("USING") {
        Some(c.name("a hierarchy")?)
    } else {
        None
    };
    let randomized = match () {
        () if !c.take("RANDOMIZED") => None,
        () if c.take("WITHIN CLASS") => Some(Randomize::Class),
        () if c.take("WITHIN") => Some(Randomize::Columns(c.columns()?)),
        () if c.take("WITH") => {
            c.need("MATRIX")?;
            Some(Randomize::Matrix(c.table()?))
        }
        () => Some(Randomize::Table),
    };
    if !c.looks_at_token(&Token::Comma) && !c.looks_at_token(&Token::RParen) {
        return Err(c.expected(
            "USING, RANDOMIZED, \",\" or \")\"",
            ["USING", "RANDOMIZED", "WITHIN", "WITH"],
        ));
    }
    Ok(Sensitive {
        column,
        hierarchy,
        randomized,
    })
}

fn constraints(c: &mut Cursor) -> Result<Vec<Constraint>> {
    let mut all = vec![];
    loop {
        let model = c.call("a privacy model such as k_anonymity(5)")?;
        let mut constraint = Constraint {
            model,
            sensitive: None,
            subset: vec![],
        };
        while c.looks_at("ON") {
            let before = c.clone();
            c.take("ON");
            let first = if c.looks_at_token(&Token::LParen) {
                std::mem::replace(&mut constraint.subset, c.columns()?).is_empty()
            } else {
                constraint
                    .sensitive
                    .replace(c.name("a column, or (columns)")?)
                    .is_none()
            };
            if !first {
                return Err(before.error("ON is given twice for one model"));
            }
        }
        all.push(constraint);
        if !c.take("AND") {
            return Ok(all);
        }
    }
}

fn limit(c: &mut Cursor) -> Result<Limit> {
    c.need("AT MOST")?;
    let before = c.clone();
    let number = c.digits("a number, then PERCENT or ROWS")?;
    if c.take("PERCENT") {
        return Percent::parse(&number)
            .map(Limit::Percent)
            .ok_or_else(|| before.expected("a percentage from 0 to 100 with at most 15 decimals", []));
    }
    c.need("ROWS")
        .map_err(|_| c.expected("PERCENT or ROWS", ["PERCENT", "ROWS"]))?;
    number
        .parse()
        .map(Limit::Rows)
        .map_err(|_| before.expected("a whole number of rows", []))
}

fn starred(c: &mut Cursor) -> Result<bool> {
    c.need("ROWS")?;
    match () {
        () if c.take("STARRED") => Ok(true),
        () if c.take("DROPPED") => Ok(false),
        () => Err(c.expected("DROPPED or STARRED", ["DROPPED", "STARRED"])),
    }
}

fn goals(c: &mut Cursor) -> Result<Vec<Goal>> {
    let mut all = vec![];
    loop {
        let mut weighted = c.clone();
        let weight = match weighted.digits("") {
            Ok(_) => {
                let weight = c.real("a weight of at least 0")?;
                c.need_token(&Token::Mul, "\"*\" and a metric")?;
                weight
            }
            Err(_) => 1.0,
        };
        all.push(Goal {
            weight,
            metric: c.call("a metric such as glm, or a weighted sum 0.7 * glm + 0.3 * cm")?,
        });
        if !c.take_token(&Token::Plus) {
            return Ok(all);
        }
    }
}

fn choose(c: &Cursor, clauses: &mut Clauses, choice: Choice) -> Result<()> {
    if clauses.choice != Choice::Default || !clauses.searches.is_empty() {
        return Err(c.error("only one of SEARCH USING, AT NODE and USING MANIFEST can be given"));
    }
    clauses.choice = choice;
    Ok(())
}

fn search(c: &mut Cursor, clauses: &mut Clauses) -> Result<()> {
    c.need("USING")?;
    let before = c.clone();
    if c.looks_at_token(&Token::LParen) {
        let searches = c.list("search", |c| c.call("a search"))?;
        choose(&before, clauses, Choice::Default)?;
        clauses.searches = searches;
        return Ok(());
    }
    let search = c.call("a search such as flash")?;
    choose(&before, clauses, Choice::Search(search))
}

fn node(c: &mut Cursor, clauses: &mut Clauses) -> Result<()> {
    let before = c.clone();
    c.need("NODE")?;
    let levels = c.list("column level", |c| Ok((c.name("a column")?, c.whole("a level")?)))?;
    choose(&before, clauses, Choice::Node(levels))
}

fn manifest(c: &mut Cursor, clauses: &mut Clauses) -> Result<()> {
    let before = c.clone();
    c.need("MANIFEST")?;
    let path = c.string("a path in quotes")?;
    choose(&before, clauses, Choice::Manifest(path))
}

fn objectives(c: &mut Cursor, clauses: &mut Clauses) -> Result<()> {
    loop {
        let max = match () {
            () if c.take("MAX") => true,
            () if c.take("MIN") => false,
            () => return Err(c.expected("MAX or MIN", ["MAX", "MIN"])),
        };
        let property = c.call("k, l or a metric")?;
        let on = if c.take("ON") {
            Some(c.name("a sensitive column")?)
        } else {
            None
        };
        clauses.objectives.push(Objective { max, property, on });
        if !c.take_token(&Token::Comma) {
            return Ok(());
        }
    }
}
