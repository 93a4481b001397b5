//! The helper of the line editor: completion, colours, and the check that a text is complete.

use super::complete::{self, Candidate};
use super::names::Names;
use super::{command, highlight};
use crate::plain;
use crate::sql;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};
use std::borrow::Cow;

/// The helper of the line editor.
pub struct Assistant {
    names: Names,
    files: FilenameCompleter,
}

impl Assistant {
    /// Creates a helper that knows the names of a session.
    pub fn new(names: Names) -> Self {
        Self {
            names,
            files: FilenameCompleter::new(),
        }
    }
}

impl Helper for Assistant {}

impl Hinter for Assistant {
    type Hint = String;
}

impl Completer for Assistant {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        match complete::candidates(&self.names, line, pos) {
            Candidate::Files => {
                let (start, mut paths) = self.files.complete_path(line, pos)?;
                paths.retain(|p| !p.display.contains(plain::acts));
                Ok((start, paths))
            }
            Candidate::Words(start, words) => {
                let pair = |w: String| Pair {
                    display: w.clone(),
                    replacement: w,
                };
                Ok((start, words.into_iter().map(pair).collect()))
            }
        }
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        Cow::Owned(highlight::coloured(line))
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Owned(format!("\x1b[1m{prompt}\x1b[0m"))
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        kind != CmdKind::MoveCursor
    }
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        let text = context.input();
        let complete = command::read(text).is_some() || sql::is_complete(text);
        Ok(if complete {
            ValidationResult::Valid(None)
        } else {
            ValidationResult::Incomplete
        })
    }
}
