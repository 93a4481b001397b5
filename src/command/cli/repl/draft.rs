//! Collects the lines of a statement while the user types it.

use super::lex::{PieceClass, pieces};
use crate::language::sql;

/// An input that the last typed line has completed.
#[derive(Debug, PartialEq, Eq)]
pub enum Typed {
    /// A backslash command, or a word such as `exit`.
    Command(String),
    /// One or more statements.
    Statements(String),
}

impl Typed {
    /// Returns the typed text.
    pub fn text(&self) -> &str {
        match self {
            Self::Command(text) | Self::Statements(text) => text,
        }
    }
}

/// The lines of an incomplete statement.
#[derive(Debug, Default)]
pub struct IncompleteStatement {
    text: String,
}

impl IncompleteStatement {
    /// Returns the lines so far. Each ends with a line break.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds a line. Returns the input if this line completes it, and `None` otherwise. A backslash
    /// command may come between the lines of a statement. All other commands, which `is_command`
    /// recognizes, must come before the first line.
    pub fn add(&mut self, line: &str, is_command: impl Fn(&str) -> bool) -> Option<Typed> {
        let between = line.trim_start().starts_with('\\') && !self.is_inside_quotes();
        if between || (self.text.is_empty() && is_command(line)) {
            return Some(Typed::Command(line.to_string()));
        }
        if self.text.is_empty() && line.trim().is_empty() {
            return None;
        }
        self.text.push_str(line);
        if sql::is_complete(&self.text) {
            return Some(Typed::Statements(self.take()));
        }
        self.text.push('\n');
        None
    }

    /// Removes the lines so far, and returns them.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// Returns true if the next line begins inside a string, a quoted name or a comment.
    fn is_inside_quotes(&self) -> bool {
        let last = pieces(&self.text).pop();
        last.is_some_and(|p| p.open && matches!(p.class, PieceClass::Text | PieceClass::Quoted | PieceClass::Comment))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statements(text: &str) -> Option<Typed> {
        Some(Typed::Statements(text.into()))
    }

    fn add(draft: &mut IncompleteStatement, line: &str) -> Option<Typed> {
        draft.add(line, |line| line == "exit")
    }

    fn command(text: &str) -> Option<Typed> {
        Some(Typed::Command(text.into()))
    }

    #[test]
    fn a_statement_ends_with_a_semicolon() {
        let mut draft = IncompleteStatement::default();
        assert_eq!(add(&mut draft, ""), None);
        assert_eq!(add(&mut draft, "SELECT"), None);
        assert_eq!(add(&mut draft, ""), None);
        assert_eq!(draft.text(), "SELECT\n\n");
        assert_eq!(add(&mut draft, "1;"), statements("SELECT\n\n1;"));
        assert_eq!(draft.text(), "");
        assert_eq!(
            add(&mut draft, "SELECT 1; SELECT 2;"),
            statements("SELECT 1; SELECT 2;")
        );
    }

    #[test]
    fn commands_stand_between_lines_but_not_in_quotes() {
        let mut draft = IncompleteStatement::default();
        assert_eq!(add(&mut draft, "exit"), command("exit"));
        assert_eq!(add(&mut draft, "SELECT '"), None);
        assert_eq!(add(&mut draft, "\\q"), None);
        assert_eq!(add(&mut draft, "exit"), None);
        assert_eq!(add(&mut draft, "'"), None);
        assert_eq!(add(&mut draft, "\\timing"), command("\\timing"));
        assert_eq!(add(&mut draft, ";"), statements("SELECT '\n\\q\nexit\n'\n;"));
    }
}
