//! The sections on the utility of a release: distributions, the class, correlations.

mod class;
mod correlations;
mod definitions;
mod distributions;
pub(super) mod list;
mod masked;

use crate::report::block::Line;
use crate::report::number::number;
use crate::utility::Figure;

/// Returns a figure as a cell of a table.
fn cell(value: Option<f64>) -> Line {
    value.map_or_else(|| "not measured".into(), number).into()
}

/// Returns the note of a figure as a cell of a table.
fn note(figure: &Figure) -> Line {
    figure.note.clone().unwrap_or_default().into()
}

/// Returns the name of a figure's column.
fn name(figure: &Figure) -> String {
    figure.column.clone().unwrap_or_default()
}
