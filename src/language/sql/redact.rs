//! Removes the literals from the queries of a statement, so that a manifest can contain a source
//! such as `(SELECT * FROM people WHERE name <> 'Ann')` without its data values.
//!
//! Numbers become `?`, and other literals become `'?'`. TRUE, FALSE and NULL are kept, as are the
//! names of tables and columns. Paths are kept as well, because they reveal the location of data
//! and not its content.

use super::clause::{PathClause, SourceClause};
use super::path_options;
use super::versioned::with_versions;
use super::visit::{StatementPartMut, visit_parsed_mut};
use crate::base::catalogue;
use datafusion::sql::parser::{DFParserBuilder, Statement};
use datafusion::sql::sqlparser::ast::{self, ObjectName, ObjectNamePart, Value, ValueWithSpan};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer, Whitespace};
use std::collections::HashSet;

/// The replacement for a query from which the literals cannot be removed.
const HIDDEN: &str = "SELECT '?'";

impl SourceClause {
    /// Returns the same source without the literals in its query, and without the data values in
    /// its options.
    pub fn redacted(&self) -> Self {
        match self {
            SourceClause::Query(query) => SourceClause::Query(redact(query).unwrap_or_else(|| HIDDEN.into())),
            SourceClause::Path(named) => SourceClause::Path(PathClause {
                options: without_values(&named.options),
                ..named.clone()
            }),
            SourceClause::Table(_) => self.clone(),
        }
    }
}

/// The option of a path whose value may be a data value.
const OF_THE_DATA: &str = "null_value";

/// Returns the options of a path, in which `?` replaces a data value.
fn without_values(options: &[(String, catalogue::Value)]) -> Vec<(String, catalogue::Value)> {
    let is_of_the_data = |key: &str| key.rsplit('.').next() == Some(OF_THE_DATA);
    let shown = |(key, value): &(String, catalogue::Value)| match is_of_the_data(key) {
        true => (key.clone(), catalogue::Value::Text("?".into())),
        false => (key.clone(), value.clone()),
    };
    options.iter().map(shown).collect()
}

fn redact(query: &str) -> Option<String> {
    let mut statement = parsed(&with_versions(query))?;
    let mut redactor = Redactor::default();
    visit_parsed_mut(&mut statement, &mut |part| redactor.redact(part));
    let text = statement.to_string();
    let reads_back = parsed(&text)?.to_string() == text;
    // Any other quoted text belongs to a part of the query in which the parser does not mark
    // literals, so it may contain data.
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

/// Replaces literals in a parsed query.
#[derive(Default)]
struct Redactor {
    /// The names of the tables, some of which are quoted paths.
    tables: HashSet<String>,
}

impl Redactor {
    fn redact(&mut self, part: StatementPartMut<'_>) {
        match part {
            StatementPartMut::Relation(name) => self.redact_options(name),
            StatementPartMut::Value(value) => redact_value(value),
            _ => {}
        }
    }

    /// Removes the data values from the options of the paths in a name.
    fn redact_options(&mut self, name: &mut ObjectName) {
        for part in &mut name.0 {
            let ObjectNamePart::Identifier(ident) = part else {
                continue;
            };
            match path_options::divided(&ident.value) {
                Ok(None) => {}
                Ok(Some((path, options))) => ident.value = path_options::named(path, &without_values(&options)),
                // If the options cannot be parsed, the whole name is replaced.
                Err(_) => ident.value = "?".into(),
            }
            self.tables.insert(ident.value.clone());
        }
    }
}

fn redact_value(value: &mut ValueWithSpan) {
    value.value = match &value.value {
        Value::Null | Value::Boolean(_) => return,
        Value::Number(..) | Value::Placeholder(_) => Value::Placeholder("?".into()),
        _ => Value::SingleQuotedString("?".into()),
    };
}
