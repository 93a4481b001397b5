//! The sections on the utility of a release: distributions, the class label, correlations, masks
//! and definitions.

mod class;
mod correlations;
mod definitions;
mod distributions;
pub(super) mod list;
mod masked;

use crate::base::error::Result;
use crate::method::utility::{Figure, MeasureKind, date_of};
use crate::release::report::bars::Bars;
use crate::release::report::block::{Block, Line, TableBlock};
use crate::release::report::number::number;

/// Returns a value of a figure as the content of a table cell; "withheld" or "not measured" if it
/// is `None`.
fn cell(figure: &Figure, value: Option<f64>) -> Line {
    let text = match (value, &figure.withheld) {
        (Some(value), _) => match figure.measure {
            MeasureKind::MeanDate => date_of(value).unwrap_or_else(|| number(value)),
            _ => number(value),
        },
        (None, Some(_)) => "withheld".into(),
        (None, None) => "not measured".into(),
    };
    text.into()
}

/// Returns the note of a figure as the content of a table cell: the reason why it is withheld, or
/// its own note. The cell is empty if there is neither.
fn note(figure: &Figure) -> Line {
    match &figure.withheld {
        Some(reason) => format!("withheld: {reason}").into(),
        None => figure.note.clone().unwrap_or_default().into(),
    }
}

/// Returns the sentence that says that these figures are rounded and why, as a paragraph; `None` if
/// none of them is.
fn rounding<'a>(mut figures: impl Iterator<Item = &'a Figure>) -> Option<Block> {
    let rounded = figures.find_map(|figure| figure.rounded.as_deref())?;
    Some(Block::Paragraph(format!("These figures are {rounded}.").into()))
}

/// Returns the bars with the table of their values. Without bars, only the table is returned.
fn evidence(bars: &Bars<'_>, table: TableBlock) -> Result<Block> {
    Ok(match bars.groups.is_empty() {
        true => Block::Table(table),
        false => Block::Evidence(bars.draw()?, table),
    })
}

/// Returns the name of the column to which a figure belongs; empty if it belongs to no column.
fn name(figure: &Figure) -> String {
    figure.column.clone().unwrap_or_default()
}
