//! The completions of the tab key.

use super::command::{self, Argument};
use super::highlight;
use super::lex::{Class, Piece, pieces};
use super::names::Names;
use crate::plain;
use crate::quoting::ident;
use std::collections::BTreeSet;

/// The completions at the cursor.
#[derive(Debug, PartialEq, Eq)]
pub enum Candidate {
    /// Paths of files.
    Files,
    /// These words, each replacing the text from this byte of the line on.
    Words(usize, Vec<String>),
}

/// Returns the completions at byte `pos` of `line`.
pub fn candidates(names: &Names, line: &str, pos: usize) -> Candidate {
    let text = &line[..pos];
    if let Some((name, argument)) = command::read(text) {
        let start = pos - argument.len();
        return match command::COMMANDS.iter().find(|c| c.name == name) {
            Some(entry) if text.trim_start().len() > name.len() => match entry.argument {
                Argument::File => Candidate::Files,
                Argument::Name => words(start, argument, [names.tables(), names.hierarchies()].concat()),
                Argument::Topic => words(start, argument, strings(command::topics(&names.registry()))),
                Argument::Words(all) => words(start, argument, all.iter().map(|w| w.to_string()).collect()),
                Argument::None => Candidate::Words(pos, vec![]),
            },
            _ => words(
                pos - text.trim_start().len(),
                name,
                command::COMMANDS.iter().map(|c| c.name.into()).collect(),
            ),
        };
    }
    let before = pieces(text);
    let (typed, start) = match before.last() {
        Some(Piece {
            class: Class::Text,
            open: true,
            ..
        }) => return Candidate::Files,
        Some(Piece {
            class: Class::Comment,
            open: true,
            ..
        }) => return Candidate::Words(pos, vec![]),
        Some(p) if matches!(p.class, Class::Word) || p.open => (&text[p.range.clone()], p.range.start),
        _ => ("", pos),
    };
    let context: Vec<&str> = before
        .iter()
        .filter(|p| p.range.end <= start && p.class != Class::Comment)
        .map(|p| &text[p.range.clone()])
        .filter(|t| !t.trim().is_empty())
        .collect();
    match fitting(names, &context, line) {
        Some(all) => words(start, typed, all),
        None => words(start, typed, anything(names, typed, line)),
    }
}

/// Returns the names that fit after the words before the cursor; `None` if anything may follow.
fn fitting(names: &Names, before: &[&str], line: &str) -> Option<Vec<String>> {
    let last = |n: usize| {
        before
            .iter()
            .rev()
            .nth(n)
            .map(|w| w.to_ascii_uppercase())
            .unwrap_or_default()
    };
    let registry = names.registry();
    match (last(1).as_str(), last(0).as_str()) {
        (_, "MINIMIZING") => Some(strings(registry.metrics.names())),
        (_, "SATISFYING") => Some(strings(registry.models.names())),
        ("SEARCH", "USING") => Some(strings(registry.searches.names().chain(registry.partitioners.names()))),
        (_, "USING") | (_, "HIERARCHY") => Some(quoted(names.hierarchies())),
        (_, "FROM" | "ANONYMIZE" | "JOIN" | "INTO" | "TABLE" | "VERIFY" | "DESCRIBE") => {
            let mut all = quoted(names.tables());
            all.extend(["HIERARCHY".to_string()].into_iter().filter(|_| last(0) == "DESCRIBE"));
            Some(all)
        }
        (table, ".") => {
            // The name before the dot is in the case in which it was typed.
            let typed = before.iter().rev().nth(1).copied().unwrap_or(table).trim_matches('"');
            let columns = names.columns(typed);
            Some(quoted(if columns.is_empty() {
                mentioned_columns(names, line)
            } else {
                columns
            }))
        }
        _ => None,
    }
}

/// Returns keywords and all names. Columns are those of the tables in the statement, or of all tables if it has none.
fn anything(names: &Names, typed: &str, line: &str) -> Vec<String> {
    let lower = typed.starts_with(|c: char| c.is_lowercase());
    let keyword = |w: &str| if lower { w.to_lowercase() } else { w.to_string() };
    let mut all: Vec<String> = highlight::keywords().map(keyword).collect();
    all.extend(quoted(
        [names.tables(), mentioned_columns(names, line), names.hierarchies()].concat(),
    ));
    let registry = names.registry();
    all.extend(strings(registry.models.names()));
    all.extend(strings(registry.metrics.names()));
    all.extend(strings(registry.searches.names().chain(registry.partitioners.names())));
    all.extend(
        registry
            .hierarchy_kinds
            .names()
            .map(|kind| keyword(&kind.to_uppercase())),
    );
    all
}

fn mentioned_columns(names: &Names, line: &str) -> Vec<String> {
    let words: Vec<&str> = pieces(line)
        .into_iter()
        .filter(|p| matches!(p.class, Class::Word | Class::Quoted))
        .map(|p| line[p.range].trim_matches('"'))
        .collect();
    let tables = names.tables();
    let mentioned: Vec<&String> = tables
        .iter()
        .filter(|t| words.iter().any(|w| w.eq_ignore_ascii_case(t)))
        .collect();
    let of = if mentioned.is_empty() {
        tables.iter().collect()
    } else {
        mentioned
    };
    of.into_iter().flat_map(|t| names.columns(t)).collect()
}

fn strings(names: impl IntoIterator<Item = &'static str>) -> Vec<String> {
    names.into_iter().map(String::from).collect()
}

fn quoted(names: Vec<String>) -> Vec<String> {
    names.iter().map(|n| ident(n).to_string()).collect()
}

/// Returns the words that begin with the typed text, ignoring case and quotes, and that contain no control characters.
fn words(start: usize, typed: &str, all: Vec<String>) -> Candidate {
    let typed = typed.trim_start_matches('"').to_lowercase();
    let fits = |w: &String| w.trim_start_matches('"').to_lowercase().starts_with(&typed) && !w.contains(plain::acts);
    let found: BTreeSet<String> = all.into_iter().filter(fits).collect();
    Candidate::Words(start, found.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::METRICS;
    use crate::session::AnonContext;
    use datafusion::prelude::SessionContext;
    use tokio::runtime::Runtime;

    fn found(line: &str) -> Vec<String> {
        let runtime = Runtime::new().unwrap();
        let context = AnonContext::new(SessionContext::new());
        runtime
            .block_on(context.sql(
                "CREATE TABLE people AS SELECT 1 AS age, 'x' AS \"Zip Code\"; CREATE TABLE other AS SELECT 1 AS ago;
                 CREATE HIERARCHY age_groups AS VALUES (1, 'any')",
            ))
            .unwrap();
        let names = Names::new(context, runtime.handle().clone());
        match candidates(&names, line, line.len()) {
            Candidate::Words(_, words) => words,
            Candidate::Files => vec!["<files>".into()],
        }
    }

    #[test]
    fn clauses_decide_what_fits() {
        assert_eq!(found("SELECT * FROM pe"), ["people"]);
        assert_eq!(found("... MINIMIZING gl"), ["glm"]);
        assert!(
            found("... MINIMIZING ")
                .iter()
                .all(|w| METRICS.iter().any(|m| m.info.name == w))
        );
        assert_eq!(found("ANONYMIZE people SATISFYING k_"), ["k_anonymity", "k_map"]);
        assert_eq!(found("... SEARCH USING fl"), ["flash"]);
        assert_eq!(found("QUASI IDENTIFIERS (age USING a"), ["age_groups"]);
        assert_eq!(found("SELECT people.a"), ["age"]);
        assert_eq!(found("SELECT people.\"z"), ["\"Zip Code\""]);
    }

    #[test]
    fn words_keep_the_case_they_are_typed_in() {
        assert_eq!(found("ANONYM"), ["ANONYMIZE"]);
        assert_eq!(found("anonym"), ["anonymize"]);
    }

    #[test]
    fn columns_come_from_the_tables_that_are_mentioned() {
        let names = |line| -> Vec<String> { found(line).into_iter().filter(|w| w != "against").collect() };
        assert_eq!(names("ANONYMIZE people QUASI IDENTIFIERS (ag"), ["age", "age_groups"]);
        assert_eq!(names("SELECT ag"), ["age", "age_groups", "ago"]);
    }

    #[test]
    fn paths_stand_in_quotes_and_comments_are_left_alone() {
        assert_eq!(found("SELECT * FROM 'da"), ["<files>"]);
        assert_eq!(found("\\i da"), ["<files>"]);
        assert!(found("SELECT 1 -- sel").is_empty());
    }

    #[test]
    fn commands_are_completed_with_their_arguments() {
        assert_eq!(found("\\ti"), ["\\timing"]);
        assert_eq!(found("\\d peo"), ["people"]);
        assert_eq!(found("\\format js"), ["json"]);
    }
}
