//! The terminal on which tables are shown, with its settings.

use crate::base::plain;
use console::Term;

/// The condition under which a result is shown in expanded form, with one line for each value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expanded {
    /// Always.
    On,
    /// Never.
    Off,
    /// If the result is too wide for a table, and its expanded form fits on the screen.
    Auto,
}

/// The terminal on which tables are shown, with its settings.
#[derive(Debug, Clone)]
pub struct Screen {
    /// The width in character columns.
    pub columns: usize,
    /// The height in lines.
    pub lines: usize,
    /// The condition under which results are shown in expanded form.
    pub expanded: Expanded,
    /// The text that is shown for NULL.
    pub null: String,
    /// Whether colours are used.
    pub colours: bool,
    /// Whether the user can type commands such as `\x`, so that messages may mention them.
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

    /// Updates the size of the terminal, which may have changed.
    pub fn measure(&mut self) {
        if let Some(size) = size(&Term::stdout()) {
            (self.lines, self.columns) = size;
        }
    }

    /// Returns the text that is shown for NULL, dimmed if colours are used.
    pub(super) fn shown_null(&self) -> String {
        match self.colours && !self.null.is_empty() {
            true => format!("\x1b[2m{}\x1b[0m", plain::line(&self.null)),
            false => plain::line(&self.null),
        }
    }
}

/// Returns the number of lines and columns of a terminal; `None` if its size is unknown.
fn size(terminal: &Term) -> Option<(usize, usize)> {
    let (lines, columns) = terminal.size_checked()?;
    (lines > 0 && columns > 0).then_some((lines.into(), columns.into()))
}
