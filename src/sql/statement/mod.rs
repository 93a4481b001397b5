//! The statements, each one file and one line here.

mod anonymize;
mod check_hierarchy;
mod compare;
mod create_hierarchy;
mod describe_hierarchy;
mod drop_hierarchy;
mod explain;
mod lattice;
mod pareto;
mod plain;
mod risk;
mod show_hierarchies;
mod suggest;
mod verify;
mod wrapped;

use super::ast::Statement;
use super::cursor::Cursor;
use crate::error::Result;

/// A statement: how it is recognised, what help says, and how it is read.
pub struct Entry {
    /// What it is called in help.
    pub name: &'static str,
    /// The keywords it starts with, one text for each form; a `*` stands for one more token of any kind.
    pub starts: &'static [&'static str],
    /// One line for people.
    pub summary: &'static str,
    /// Its syntax.
    pub syntax: &'static str,
    /// An example, which parses.
    pub example: &'static str,
    /// Reads what follows its keywords; `start` is the index of the form in `starts`.
    parse: fn(&mut Cursor, start: usize) -> Result<Statement>,
}

/// Every statement that anonsql adds to DataFusion's.
pub const STATEMENTS: &[Entry] = &[
    create_hierarchy::ENTRY,
    drop_hierarchy::ENTRY,
    show_hierarchies::ENTRY,
    describe_hierarchy::ENTRY,
    check_hierarchy::ENTRY,
    anonymize::ENTRY,
    explain::ENTRY,
    pareto::ENTRY,
    lattice::ENTRY,
    compare::ENTRY,
    verify::ENTRY,
    risk::ENTRY,
    suggest::ENTRY,
];

/// Reads one statement.
pub(super) fn read(mut cursor: Cursor) -> Result<Statement> {
    for entry in STATEMENTS {
        for (index, start) in entry.starts.iter().enumerate() {
            let words = start.trim_end_matches(" *");
            let more = words.len() < start.len();
            let mut after = cursor.clone();
            if after.take(words) && !(more && after.at_end()) {
                let statement = (entry.parse)(&mut after, index)?;
                after.end()?;
                return Ok(statement);
            }
        }
    }
    plain::read(&mut cursor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::parse;

    #[test]
    fn every_example_parses_and_prints_back() {
        for entry in STATEMENTS {
            let statement = parse(entry.example)
                .unwrap_or_else(|e| panic!("{}: {e}", entry.name))
                .remove(0);
            assert!(!matches!(statement, Statement::DataFusion(..)), "{}", entry.name);
            assert_eq!(parse(&statement.to_string()).unwrap(), [statement], "{}", entry.name);
        }
    }

    #[test]
    fn a_cut_statement_is_an_error_not_a_panic() {
        for entry in STATEMENTS {
            for (end, _) in entry.example.char_indices().filter(|(_, c)| *c == ' ') {
                let _ = parse(&entry.example[..end]);
            }
        }
    }
}
