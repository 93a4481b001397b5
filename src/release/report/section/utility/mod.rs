//! The sections on the utility of a release: distributions, the class label, correlations, masks
//! and definitions.

mod class;
mod correlations;
mod definitions;
mod distributions;
pub(super) mod list;
mod masked;

use crate::method::utility::Figure;
use crate::release::report::block::Line;
use crate::release::report::number::number;

/// Returns a value as the content of a table cell; "not measured" if it is `None`.
fn cell(value: Option<f64>) -> Line {
    value.map_or_else(|| "not measured".into(), number).into()
}

/// Returns the note of a figure as the content of a table cell; empty if there is no note.
fn note(figure: &Figure) -> Line {
    figure.note.clone().unwrap_or_default().into()
}

/// Returns the name of the column to which a figure belongs; empty if it belongs to no column.
fn name(figure: &Figure) -> String {
    figure.column.clone().unwrap_or_default()
}
