//! The script that SUGGEST ROLES writes. It runs without changes unless it needs a table for which
//! no CREATE statement is known.

use super::draft::Draft;
use super::needed::Needed;
use super::row::{Row, WARNING};
use super::spec::SuggestRoles;
use crate::base::plain;
use std::fmt::Write;

/// The maximum width of a comment line, in characters.
const WIDTH: usize = 116;

/// Returns the script: the roles as a comment, followed by the statements. `told` describes the
/// outcome of the trial.
pub(super) fn written(suggest: &SuggestRoles, draft: &Draft, needed: &Needed, columns: &[Row], told: &str) -> String {
    let mut text = String::new();
    comment(&mut text, "", &format!("{suggest}: {WARNING}."));
    comment(&mut text, "", &format!("The trial of this statement: {told}."));
    text += "--\n";
    for row in columns {
        let name = row.column.as_deref().unwrap_or_default();
        let lost = row.loss.map_or_else(String::new, |loss| format!(", loses {loss:.2}"));
        comment(
            &mut text,
            "    ",
            &format!("{name}: {}{lost}: {}", row.role, row.reason),
        );
    }
    text.push('\n');
    if let Some(them) = Some(needed.tables.join(", ")).filter(|them| !them.is_empty()) {
        comment(
            &mut text,
            "",
            &format!("It needs {them}: put the statement that makes it here, or in a script that is run before."),
        );
    }
    for view in &needed.views {
        let _ = writeln!(text, "{view};");
    }
    for hierarchy in draft.hierarchies.iter().flatten() {
        let _ = writeln!(text, "{}", hierarchy.statement);
    }
    let _ = write!(text, "\n{:#};\n\n{};\n", draft.anonymize, draft.verify());
    text
}

/// Describes how to run the script at `path`.
pub(super) fn told(path: &str, needed: &Needed) -> String {
    match needed.tables.join(", ") {
        none if none.is_empty() => format!("written: anonsql {path}"),
        them => format!("written: anonsql prepare.sql {path}, where prepare.sql has the statement that makes {them}"),
    }
}

/// Appends `said` to `text` as comment lines of at most [`WIDTH`] characters. All lines after the
/// first are indented by `indent`.
fn comment(text: &mut String, indent: &str, said: &str) {
    let (said, mut width) = (plain::line(said), 0);
    text.push_str("--");
    for word in said.split(' ') {
        let length = 1 + word.chars().count();
        if width + length > WIDTH && width > 0 {
            text.push_str("\n--");
            text.push_str(indent);
            width = indent.len();
        }
        text.push(' ');
        text.push_str(word);
        width += length;
    }
    text.push('\n');
}
