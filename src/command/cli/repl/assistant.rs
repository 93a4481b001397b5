//! Provides the line editor with completions and colours.

use super::complete::{self, Completion};
use super::highlight;
use super::names::Names;
use crate::base::plain;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};
use std::borrow::Cow;

/// The helper of the line editor for completion and colours.
pub struct Assistant {
    names: Names,
    /// The lines of the statement before the current line.
    before: String,
    files: FilenameCompleter,
}

impl Assistant {
    /// Creates a helper that completes the given names.
    pub fn new(names: Names) -> Self {
        Self {
            names,
            before: String::new(),
            files: FilenameCompleter::new(),
        }
    }

    /// Sets the lines of the statement before the current line.
    pub fn set_before(&mut self, lines: &str) {
        self.before.replace_range(.., lines);
    }
}

impl Helper for Assistant {}

impl Hinter for Assistant {
    type Hint = String;
}

impl Completer for Assistant {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        match complete::candidates(&self.names, &self.before, line, pos) {
            Completion::Files => {
                let (start, mut paths) = self.files.complete_path(line, pos)?;
                paths.retain(|p| !p.display.contains(plain::acts));
                Ok((start, paths))
            }
            Completion::Words(start, mut words) => {
                // A space is appended to a word that is already complete, so that the cursor moves
                // on. A tab in pasted text thus becomes a space as well.
                if let [only] = &mut words[..]
                    && line[start..pos].eq_ignore_ascii_case(only)
                {
                    only.push(' ');
                }
                let pair = |w: String| Pair {
                    display: w.trim_end().into(),
                    replacement: w,
                };
                Ok((start, words.into_iter().map(pair).collect()))
            }
        }
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        Cow::Owned(highlight::coloured(&self.before, line))
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Owned(format!("\x1b[1m{prompt}\x1b[0m"))
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        kind != CmdKind::MoveCursor
    }
}

/// Accepts every line, because the session itself joins the lines of a statement.
impl Validator for Assistant {}
