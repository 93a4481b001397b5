//! A parsed ANONYMIZE as plain data, which can be printed as SQL. Some other statements contain an
//! ANONYMIZE as well.

use crate::base::error::Result;
use crate::base::quoting::ident;
use crate::language::sql::clause::list::{self as clause, Clauses, StatementClause};
use crate::language::sql::clause::{FileClause, PolicyClause, SourceClause, TargetClause, source};
use crate::language::sql::cursor::Cursor;
use std::fmt::{self, Display};

/// `ANONYMIZE source ...`
#[derive(Debug, Clone, PartialEq)]
pub struct AnonymizeSpec {
    /// The table, path or query that is anonymized.
    pub source: SourceClause,
    /// TO: the target; if it is not given, the statement returns the released rows.
    pub target: Option<TargetClause>,
    /// USING POLICY: the name of the policy that provides the roles, the models and the limits.
    pub using: Option<String>,
    /// The clauses that a policy can have. With USING POLICY, these are only the clauses that the
    /// policy leaves to the statement.
    pub policy: PolicyClause,
    /// REPORT TO: the path of the report.
    pub report: Option<FileClause>,
}

/// The clauses that a policy can have.
pub(in crate::language::session) const OF_A_POLICY: &[StatementClause] = &[
    clause::IDENTIFIERS,
    clause::QUASI,
    clause::SENSITIVE,
    clause::CLASS,
    clause::KEEP,
    clause::ENTITY,
    clause::POPULATION,
    clause::SATISFYING,
    clause::FOLLOWING,
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

/// Parses the text after the word ANONYMIZE: the clauses that all forms of ANONYMIZE share, and the
/// clauses in `more`. The statement is called `what` in errors, and `satisfying` tells whether the
/// clause SATISFYING is required. Returns the spec and all parsed clauses. The parsed clauses also
/// contain the values of the clauses in `more`, and lists of recodings or searches.
pub(in crate::language::session) fn read(
    c: &mut Cursor,
    what: &str,
    more: &[StatementClause],
    satisfying: bool,
) -> Result<(AnonymizeSpec, Clauses)> {
    let source = source::read(c)?;
    let allowed: Vec<&StatementClause> = OF_A_POLICY.iter().chain([&clause::POLICY]).chain(more).collect();
    let mut required = vec![&clause::QUASI];
    if satisfying {
        required.push(&clause::SATISFYING);
    }
    let mut s = clause::read(c, what, &allowed, &required)?;
    let anonymize = AnonymizeSpec {
        source,
        target: s.target.take(),
        using: s.using.take(),
        policy: std::mem::take(&mut s.policy),
        report: s.report.take(),
    };
    Ok((anonymize, s))
}

/// Fails if the statement has a list of searches or recodings, because only COMPARE accepts a list.
pub(in crate::language::session) fn single(c: &Cursor, clauses: &Clauses) -> Result<()> {
    let (what, example) = match (clauses.recodings.is_empty(), clauses.searches.is_empty()) {
        (true, true) => return Ok(()),
        (true, false) => ("searches", "SEARCH USING flash"),
        (false, _) => ("recodings", "RECODING LOCAL"),
    };
    Err(c.error(format_args!(
        "only COMPARE ANONYMIZE takes a list of {what}; name one: {example}"
    )))
}

impl AnonymizeSpec {
    /// Returns the same statement without the literals in its queries. The result can still be
    /// parsed.
    pub(in crate::language::session) fn redacted(&self) -> Self {
        Self {
            source: self.source.redacted(),
            policy: self.policy.redacted(),
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
        if let Some(name) = &self.using {
            write!(f, "{gap}USING POLICY {}", ident(name))?;
        }
        write!(f, "{}", self.policy.written(gap))?;
        self.report
            .as_ref()
            .map_or(Ok(()), |path| write!(f, "{gap}REPORT TO {path}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::session::statements::parse::parse;

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
