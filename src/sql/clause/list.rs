//! The clauses that statements share. Each clause is one constant: its first keywords, its syntax, an example and its
//! parser. Clauses may stand in any order after the source, each at most once.

use super::choice::{self, ChoiceClause};
use super::constraint::{self, ConstraintClause};
use super::goal::{self, GoalClause, ObjectiveClause};
use super::options;
use super::roles::{self, IdentifierClause, QuasiIdentifierClause, SensitiveClause};
use super::source::{self, SourceClause};
use super::suppression::{self, LimitClause};
use super::target::{self, TargetClause};
use crate::catalogue::{Call, Value};
use crate::error::Result;
use crate::sql::cursor::Cursor;

/// A clause: its first keywords, its syntax, an example and its parser.
pub(crate) struct Clause {
    pub(crate) start: &'static str,
    pub(crate) syntax: &'static str,
    example: &'static str,
    read: fn(&mut Cursor, &mut Clauses) -> Result<()>,
}

/// The parsed clauses of a statement.
#[derive(Default)]
pub(crate) struct Clauses {
    pub(crate) target: Option<TargetClause>,
    pub(crate) identifiers: Vec<IdentifierClause>,
    pub(crate) quasi_identifiers: Vec<QuasiIdentifierClause>,
    pub(crate) sensitive: Vec<SensitiveClause>,
    pub(crate) class: Option<String>,
    pub(crate) keep: Vec<String>,
    pub(crate) entity: Option<String>,
    pub(crate) satisfying: Vec<ConstraintClause>,
    pub(crate) limit: Option<LimitClause>,
    pub(crate) starred: Option<bool>,
    pub(crate) minimizing: Vec<GoalClause>,
    pub(crate) choice: ChoiceClause,
    pub(crate) searches: Vec<Call>,
    pub(crate) options: Vec<(String, Value)>,
    pub(crate) accepting: Vec<String>,
    pub(crate) report: Option<String>,
    pub(crate) objectives: Vec<ObjectiveClause>,
    pub(crate) epsilon: Vec<f64>,
    pub(crate) against: Option<SourceClause>,
    pub(crate) population: Option<SourceClause>,
}

impl Clauses {
    fn choose(&mut self, c: &Cursor, choice: ChoiceClause) -> Result<()> {
        if self.choice != ChoiceClause::Default || !self.searches.is_empty() {
            return Err(c.error("only one of SEARCH USING, AT NODE and USING MANIFEST can be given"));
        }
        self.choice = choice;
        Ok(())
    }
}

macro_rules! clauses {
    ($($name:ident: $start:literal, $syntax:literal, $example:literal, $read:expr;)*) => {
        $(pub(crate) const $name: Clause = Clause { start: $start, syntax: $syntax, example: $example, read: $read };)*
        /// Every clause of the language.
        pub(crate) const ALL: &[Clause] = &[$($name),*];
    };
}

clauses! {
    TO: "TO",
        "TO 'target' [STORED AS PARQUET | CSV] [PARTITIONED BY (c, ...)] [OVERWRITE | IF NOT EXISTS] [OPTIONS (key value, ...)]",
        "TO 'released'", |c, s| { s.target = Some(target::read(c)?); Ok(()) };
    IDENTIFIERS: "IDENTIFIERS", "IDENTIFIERS (c [HASH WITH SECRET 'env:NAME' | 'file:PATH'], ...)",
        "IDENTIFIERS (name)", |c, s| { s.identifiers = c.list("column", roles::identifier)?; Ok(()) };
    QUASI: "QUASI IDENTIFIERS", "QUASI IDENTIFIERS (c [USING hierarchy] [LEVELS a TO b] [WEIGHT w], ...)",
        "QUASI IDENTIFIERS (age, zip)", |c, s| { s.quasi_identifiers = c.list("column", roles::quasi)?; Ok(()) };
    SENSITIVE: "SENSITIVE",
        "SENSITIVE (c [USING hierarchy] [RANDOMIZED [WITHIN CLASS | WITHIN (c, ...) | WITH MATRIX table]], ...)",
        "SENSITIVE (diagnosis)", |c, s| { s.sensitive = c.list("column", roles::sensitive)?; Ok(()) };
    CLASS: "CLASS", "CLASS (c)", "CLASS (salary)", |c, s| { s.class = Some(c.column()?); Ok(()) };
    KEEP: "KEEP", "KEEP (c, ...)", "KEEP (visits)", |c, s| { s.keep = c.columns()?; Ok(()) };
    ENTITY: "ENTITY", "ENTITY (c)", "ENTITY (patient)", |c, s| { s.entity = Some(c.column()?); Ok(()) };
    SATISFYING: "SATISFYING", "SATISFYING model [ON column] [ON (c, ...)] [AND model ...]",
        "SATISFYING k_anonymity(5)", |c, s| { s.satisfying = constraint::read(c)?; Ok(()) };
    SUPPRESSING: "SUPPRESSING", "SUPPRESSING AT MOST p PERCENT | n ROWS",
        "SUPPRESSING AT MOST 1 PERCENT", |c, s| { s.limit = Some(suppression::limit(c)?); Ok(()) };
    SUPPRESSED: "SUPPRESSED", "SUPPRESSED ROWS DROPPED | STARRED",
        "SUPPRESSED ROWS STARRED", |c, s| { s.starred = Some(suppression::starred(c)?); Ok(()) };
    MINIMIZING: "MINIMIZING", "MINIMIZING metric | w * metric + w * metric ...",
        "MINIMIZING glm", |c, s| { s.minimizing = goal::goals(c)?; Ok(()) };
    SEARCH: "SEARCH", "SEARCH USING algorithm [(option => value, ...)]", "SEARCH USING flash", |c, s| {
        c.need("USING")?;
        let before = c.clone();
        let (choice, searches) = choice::search(c)?;
        s.choose(&before, choice)?;
        s.searches = searches;
        Ok(())
    };
    NODE: "AT", "AT NODE (c level, ...)", "AT NODE (age 2, zip 1)", |c, s| {
        let before = c.clone();
        let node = choice::node(c)?;
        s.choose(&before, node)
    };
    MANIFEST: "USING", "USING MANIFEST 'path'", "USING MANIFEST 'released/_manifest.json'", |c, s| {
        let before = c.clone();
        let manifest = choice::manifest(c)?;
        s.choose(&before, manifest)
    };
    WITH: "WITH", "WITH (option = value, ...)", "WITH (seed = 42)", |c, s| { s.options = options::read_with(c)?; Ok(()) };
    ACCEPTING: "ACCEPTING", "ACCEPTING WARNINGS ON (c, ...)", "ACCEPTING WARNINGS ON (invoice)",
        |c, s| { c.need("WARNINGS ON")?; s.accepting = c.columns()?; Ok(()) };
    REPORT: "REPORT", "REPORT TO 'report.html'", "REPORT TO 'report.html'", |c, s| {
        c.need("TO")?;
        s.report = Some(c.string("a path in quotes")?);
        Ok(())
    };
    OPTIMIZING: "OPTIMIZING", "OPTIMIZING MAX | MIN property [ON column], ...", "OPTIMIZING MAX k, MIN glm",
        |c, s| { s.objectives = goal::objectives(c)?; Ok(()) };
    EPSILON: "EPSILON", "EPSILON (e, ...)", "EPSILON (1, 0.01)", |c, s| {
        s.epsilon = c.list("number", |c| c.real("a number of at least 0"))?;
        Ok(())
    };
    AGAINST: "AGAINST", "AGAINST table | 'path' | (query)", "AGAINST raw", |c, s| { s.against = Some(source::read(c)?); Ok(()) };
    POPULATION: "POPULATION", "POPULATION table | 'path' | (query)", "POPULATION census",
        |c, s| { s.population = Some(source::read(c)?); Ok(()) };
}

/// Parses clauses up to the end of the statement `what`. Fails unless all are in `allowed` and all of `required` are
/// given.
pub(crate) fn read(c: &mut Cursor, what: &str, allowed: &[&Clause], required: &[&Clause]) -> Result<Clauses> {
    let mut clauses = Clauses::default();
    let mut seen: Vec<&str> = vec![];
    while !c.at_end() {
        let Some(clause) = ALL.iter().find(|clause| c.looks_at(clause.start)) else {
            let missing = required.iter().find(|r| !seen.contains(&r.start));
            let words = allowed.iter().flat_map(|a| a.start.split(' '));
            return Err(match missing {
                // After `QUASI` alone, the clause is clear and its second word is wrong.
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
