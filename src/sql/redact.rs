//! A statement without the literals of its queries: what a manifest may say of a source such as
//! `(SELECT * FROM people WHERE name <> 'Ann')`.
//!
//! Numbers become `?`, other literals `'?'`; TRUE, FALSE and NULL stay. Names of tables and columns stay, and so do
//! paths, which say where data is and not what is in it.

use super::ast::{Anonymize, Source};
use datafusion::sql::parser::{DFParserBuilder, Statement};
use datafusion::sql::sqlparser::ast::{self, ObjectName, Value, ValueWithSpan, VisitMut, VisitorMut};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer, Whitespace};
use std::collections::HashSet;
use std::convert::Infallible;
use std::ops::ControlFlow;

/// What stands for a query that cannot be told without its literals.
const HIDDEN: &str = "SELECT '?'";

impl Anonymize {
    /// The same statement without the literals of its queries; it reads as a statement like any other.
    pub fn redacted(&self) -> Self {
        let redacted = |source: &Source| match source {
            Source::Query(query) => Source::Query(redact(query).unwrap_or_else(|| HIDDEN.into())),
            other => other.clone(),
        };
        Self {
            source: redacted(&self.source),
            population: self.population.as_ref().map(redacted),
            ..self.clone()
        }
    }
}

fn redact(query: &str) -> Option<String> {
    let mut statement = parsed(query)?;
    let mut redactor = Redactor::default();
    let _: ControlFlow<Infallible> = statement.visit(&mut redactor);
    let text = statement.to_string();
    let reads_back = parsed(&text)?.to_string() == text;
    // A text in quotes that is neither was where the parser keeps no literals.
    let tokens = Tokenizer::new(&GenericDialect {}, &text).tokenize().ok()?;
    let is_known = |text: &String| text == "?" || redactor.tables.contains(text);
    let is_redacted = tokens.iter().all(|token| match token {
        Token::SingleQuotedString(text) => is_known(text),
        Token::Word(_) | Token::Number(..) | Token::Placeholder(_) | Token::Whitespace(Whitespace::Space) => true,
        other => other.to_string().chars().all(|c| c.is_ascii_punctuation()),
    });
    (reads_back && is_redacted).then_some(text)
}

fn parsed(query: &str) -> Option<ast::Statement> {
    let mut statements = DFParserBuilder::new(query).build().ok()?.parse_statements().ok()?;
    match (statements.pop_front(), statements.pop_front()) {
        (Some(Statement::Statement(one)), None) => Some(*one),
        _ => None,
    }
}

/// Takes literals away.
#[derive(Default)]
struct Redactor {
    /// The names of tables, which may be paths in quotes.
    tables: HashSet<String>,
}

impl VisitorMut for Redactor {
    type Break = Infallible;

    fn pre_visit_relation(&mut self, name: &mut ObjectName) -> ControlFlow<Infallible> {
        let parts = name.0.iter().filter_map(|part| part.as_ident());
        self.tables.extend(parts.map(|ident| ident.value.clone()));
        ControlFlow::Continue(())
    }

    fn pre_visit_value(&mut self, value: &mut ValueWithSpan) -> ControlFlow<Infallible> {
        value.value = match &value.value {
            Value::Null | Value::Boolean(_) => return ControlFlow::Continue(()),
            Value::Number(..) | Value::Placeholder(_) => Value::Placeholder("?".into()),
            _ => Value::SingleQuotedString("?".into()),
        };
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::{Statement, parse};

    fn anonymize(source: &str, more: &str) -> Anonymize {
        let sql = format!("ANONYMIZE {source} QUASI IDENTIFIERS (age) {more} SATISFYING k_anonymity(2)");
        match parse(&sql).unwrap().remove(0) {
            Statement::Anonymize(anonymize) => *anonymize,
            other => panic!("{other}"),
        }
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
