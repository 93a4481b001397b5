//! A parsed ANONYMIZE as plain data that prints back as SQL. Other statements contain one too.

use crate::catalogue::Value;
use crate::error::Result;
use crate::quoting::ident;
use crate::sql::clause::list::{self as clause, Clause, Clauses};
use crate::sql::clause::{
    ChoiceClause, ConstraintClause, FileClause, GoalClause, IdentifierClause, LimitClause, QuasiIdentifierClause,
    RecodingClause, SensitiveClause, SourceClause, TargetClause, constraint, options, roles, source,
};
use crate::sql::cursor::Cursor;
use crate::sql::name::{list, names};
use std::fmt::{self, Display};

/// `ANONYMIZE source ...`
#[derive(Debug, Clone, PartialEq)]
pub struct AnonymizeSpec {
    /// The table, path or query that is anonymized.
    pub source: SourceClause,
    /// TO: the target; without it the statement returns the rows.
    pub target: Option<TargetClause>,
    /// IDENTIFIERS: the columns that are dropped or masked.
    pub identifiers: Vec<IdentifierClause>,
    /// QUASI IDENTIFIERS: the columns that are generalized.
    pub quasi_identifiers: Vec<QuasiIdentifierClause>,
    /// SENSITIVE: the sensitive attributes.
    pub sensitive: Vec<SensitiveClause>,
    /// CLASS: the class label.
    pub class: Option<String>,
    /// KEEP: the columns that are released as they are.
    pub keep: Vec<String>,
    /// ENTITY: the column that identifies a person.
    pub entity: Option<String>,
    /// POPULATION: the table in which models such as k_map count.
    pub population: Option<SourceClause>,
    /// SATISFYING: the constraints.
    pub satisfying: Vec<ConstraintClause>,
    /// SUPPRESSING AT MOST: the suppression limit.
    pub limit: Option<LimitClause>,
    /// SUPPRESSED ROWS: `Some(true)` is STARRED, `Some(false)` DROPPED.
    pub starred: Option<bool>,
    /// MINIMIZING: one metric, or the terms of a weighted sum; empty if not given.
    pub minimizing: Vec<GoalClause>,
    /// RECODING: whether equal values get equal labels in every row.
    pub recoding: Option<RecodingClause>,
    /// SEARCH USING, AT NODE or USING MANIFEST.
    pub choice: ChoiceClause,
    /// WITH: the options of the run.
    pub options: Vec<(String, Value)>,
    /// ACCEPTING WARNINGS ON: the columns whose warnings are accepted.
    pub accepting: Vec<String>,
    /// REPORT TO: the path of the report.
    pub report: Option<FileClause>,
}

const BASE: &[Clause] = &[
    clause::IDENTIFIERS,
    clause::QUASI,
    clause::SENSITIVE,
    clause::CLASS,
    clause::KEEP,
    clause::ENTITY,
    clause::POPULATION,
    clause::SATISFYING,
    clause::SUPPRESSING,
    clause::SUPPRESSED,
    clause::MINIMIZING,
    clause::RECODING,
    clause::SEARCH,
    clause::NODE,
    clause::MANIFEST,
    clause::WITH,
    clause::ACCEPTING,
];

/// Parses what follows the word ANONYMIZE: the clauses that all its forms share, and those of
/// `more`. Returns the spec and the parsed clauses, in which the values of `more` and lists of
/// recodings or searches remain.
pub(in crate::session) fn read(
    c: &mut Cursor,
    what: &str,
    more: &[Clause],
    satisfying: bool,
) -> Result<(AnonymizeSpec, Clauses)> {
    let source = source::read(c)?;
    let allowed: Vec<&Clause> = BASE.iter().chain(more).collect();
    let mut required = vec![&clause::QUASI];
    if satisfying {
        required.push(&clause::SATISFYING);
    }
    let mut s = clause::read(c, what, &allowed, &required)?;
    let anonymize = AnonymizeSpec {
        source,
        target: s.target.take(),
        identifiers: std::mem::take(&mut s.identifiers),
        quasi_identifiers: std::mem::take(&mut s.quasi_identifiers),
        sensitive: std::mem::take(&mut s.sensitive),
        class: s.class.take(),
        keep: std::mem::take(&mut s.keep),
        entity: s.entity.take(),
        population: s.population.take(),
        satisfying: std::mem::take(&mut s.satisfying),
        limit: s.limit,
        starred: s.starred,
        minimizing: std::mem::take(&mut s.minimizing),
        recoding: s.recoding,
        choice: std::mem::take(&mut s.choice),
        options: std::mem::take(&mut s.options),
        accepting: std::mem::take(&mut s.accepting),
        report: s.report.take(),
    };
    Ok((anonymize, s))
}

/// Fails if a list of searches or recodings is given, which only COMPARE accepts.
pub(in crate::session) fn single(c: &Cursor, clauses: &Clauses) -> Result<()> {
    let (what, example) = match (clauses.recodings.is_empty(), clauses.searches.is_empty()) {
        (true, true) => return Ok(()),
        (true, false) => ("searches", "SEARCH USING flash"),
        (false, _) => ("recodings", "RECODING LOCAL"),
    };
    Err(c.error(format_args!(
        "a list of {what} stands only in COMPARE ANONYMIZE; name one: {example}"
    )))
}

impl AnonymizeSpec {
    /// Returns the same statement without the literals of its queries. It still parses as a
    /// statement.
    pub(in crate::session) fn redacted(&self) -> Self {
        Self {
            source: self.source.redacted(),
            population: self.population.as_ref().map(SourceClause::redacted),
            ..self.clone()
        }
    }
}

/// Prints the statement on one line; with `{:#}`, each clause on its own line.
impl Display for AnonymizeSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gap = if f.alternate() { "\n  " } else { " " };
        write!(f, "ANONYMIZE {}", self.source)?;
        if let Some(target) = &self.target {
            write!(f, "{gap}{target}")?;
        }
        if !self.identifiers.is_empty() {
            write!(f, "{gap}IDENTIFIERS ({})", list(&self.identifiers, Display::fmt))?;
        }
        write!(f, "{gap}{}", roles::quasi_identifiers(&self.quasi_identifiers))?;
        write!(f, "{}", roles::sensitives(&self.sensitive, gap))?;
        if let Some(class) = &self.class {
            write!(f, "{gap}CLASS ({})", ident(class))?;
        }
        if !self.keep.is_empty() {
            write!(f, "{gap}KEEP ({})", names(&self.keep))?;
        }
        if let Some(entity) = &self.entity {
            write!(f, "{gap}ENTITY ({})", ident(entity))?;
        }
        if let Some(population) = &self.population {
            write!(f, "{gap}POPULATION {population}")?;
        }
        if !self.satisfying.is_empty() {
            write!(f, "{gap}{}", constraint::written(&self.satisfying))?;
        }
        if let Some(limit) = &self.limit {
            write!(f, "{gap}SUPPRESSING AT MOST {limit}")?;
        }
        if let Some(starred) = self.starred {
            write!(
                f,
                "{gap}SUPPRESSED ROWS {}",
                if starred { "STARRED" } else { "DROPPED" }
            )?;
        }
        for (i, goal) in self.minimizing.iter().enumerate() {
            f.write_str(if i == 0 { gap } else { " + " })?;
            write!(f, "{}{goal}", if i == 0 { "MINIMIZING " } else { "" })?;
        }
        if let Some(recoding) = self.recoding {
            write!(f, "{gap}RECODING {recoding}")?;
        }
        if self.choice != ChoiceClause::Default {
            write!(f, "{gap}{}", self.choice)?;
        }
        write!(f, "{}", options::written_with(&self.options, gap))?;
        if !self.accepting.is_empty() {
            write!(f, "{gap}ACCEPTING WARNINGS ON ({})", names(&self.accepting))?;
        }
        self.report
            .as_ref()
            .map_or(Ok(()), |path| write!(f, "{gap}REPORT TO {path}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::statements::parse::parse;

    fn anonymize(source: &str, more: &str) -> AnonymizeSpec {
        let sql = format!("ANONYMIZE {source} QUASI IDENTIFIERS (age) {more} SATISFYING k_anonymity(2)");
        let statement = parse(&sql).unwrap().remove(0);
        statement.get::<AnonymizeSpec>().unwrap().clone()
    }

    #[test]
    fn no_literal_of_a_query_is_left_and_it_reads_as_a_statement() {
        for query in [
            "SELECT * FROM people WHERE name = 'Secret' AND age > 7777",
            "SELECT * FROM people WHERE name <> $$Secret$$",
            "SELECT /* Secret */ * FROM people WHERE name LIKE '%Secret%' ESCAPE '7' -- Secret\n",
            "SELECT * FROM people WHERE born = DATE '7777-01-01' OR stay > INTERVAL '7777' DAY",
            "SELECT * FROM people WHERE name IN ('Secret', U&'Secret', N'Secret', E'Secret') LIMIT 7777 OFFSET 7777",
            "SELECT *, 7777 AS n, -7777 AS m, 0x7777 AS h, X'7777' AS x FROM people ORDER BY 1",
            "WITH p AS (SELECT * FROM people WHERE name = 'Secret') SELECT * FROM p UNION ALL VALUES (7777, 'Secret')",
            "SELECT CASE WHEN name = 'Secret' THEN 7777 ELSE CAST('Secret' AS TEXT) END FROM generate_series(7777, 7778)",
            "SELECT * FROM (VALUES ('Secret', 7777)) AS t (a, b) WHERE a BETWEEN 'Secret' AND 'Secret'",
            "SELECT substring(name FROM 7777 FOR 7777), extract(year FROM born), trim('Secret' FROM name) FROM people",
            "SELECT s['Secret'], l[7777], position('Secret' IN name), MAP {'Secret': 7777} FROM people",
            "SELECT sum(x) OVER (ORDER BY y ROWS BETWEEN 7777 PRECEDING AND CURRENT ROW) FROM people",
            "SELECT * FROM people WHERE TIMESTAMP '7777-01-01 00:00:00' < t AND name SIMILAR TO 'Secret'",
        ] {
            for (source, more) in [
                (format!("({query})"), String::new()),
                ("people".into(), format!("POPULATION ({query})")),
            ] {
                let redacted = anonymize(&source, &more).redacted();
                let text = redacted.to_string();
                assert!(!text.contains("Secret") && !text.contains("777"), "{query}: {text}");
                assert_eq!(parse(&text).unwrap().len(), 1, "{text}");
                assert_eq!(redacted.redacted().to_string(), text);
            }
        }
    }

    #[test]
    fn what_is_no_literal_stays() {
        let all = "(SELECT name, age FROM people WHERE hiv = true AND age > ? AND name <> '?' AND left IS NULL)";
        let query = all.replace("> ?", "> 30").replace("'?'", "'Ann'");
        assert_eq!(anonymize(&query, "").redacted().source.to_string(), all);
        for source in ["'data/people.csv'", "(SELECT name, age FROM 'data/people.csv')"] {
            let path = anonymize(source, "");
            assert_eq!(path.redacted(), path);
        }
    }
}
