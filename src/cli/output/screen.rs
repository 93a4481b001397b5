//! The terminal that shows tables, with its settings.

use crate::plain;
use console::Term;

/// The condition for showing a result on its side, with a line for each value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expanded {
    /// Always.
    On,
    /// Never.
    Off,
    /// If the result is too wide for a table, and its lines fit on the screen.
    Auto,
}

/// The terminal that shows tables, with its settings.
#[derive(Debug, Clone)]
pub struct Screen {
    /// The width in columns.
    pub columns: usize,
    /// The height in lines.
    pub lines: usize,
    /// The condition for showing results on their side.
    pub expanded: Expanded,
    /// The text for NULL.
    pub null: String,
    /// Whether colours are used.
    pub colours: bool,
    /// Whether the user can type commands such as `\x`, so that messages may name them.
    pub prompts: bool,
}

impl Screen {
    /// Returns the terminal of standard output; `None` if standard output is not a terminal.
    /// `prompts` tells whether the user can type commands.
    pub fn standard(prompts: bool) -> Option<Self> {
        let terminal = Term::stdout();
        let (lines, columns) = size(&terminal).filter(|_| terminal.is_term())?;
        Some(Self {
            columns,
            lines,
            expanded: Expanded::Auto,
            null: "NULL".into(),
            colours: console::colors_enabled(),
            prompts,
        })
    }

    /// Reads the size of the terminal again, because it may have changed.
    pub fn measure(&mut self) {
        if let Some(size) = size(&Term::stdout()) {
            (self.lines, self.columns) = size;
        }
    }

    /// Returns the text for NULL, dimmed if colours are used.
    pub(super) fn shown_null(&self) -> String {
        match self.colours && !self.null.is_empty() {
            true => format!("\x1b[2m{}\x1b[0m", plain::line(&self.null)),
            false => plain::line(&self.null),
        }
    }
}

/// Returns the lines and columns of a terminal; `None` if its size is unknown.
fn size(terminal: &Term) -> Option<(usize, usize)> {
    let (lines, columns) = terminal.size_checked()?;
    (lines > 0 && columns > 0).then_some((lines.into(), columns.into()))
}
