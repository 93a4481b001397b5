//! The section on the changes that randomly drawn masks make.

use super::{cell, name, note};
use crate::base::error::Result;
use crate::method::utility::{Figure, MeasureKind, Utility};
use crate::release::report::block::{Block, Line, TableBlock};
use crate::release::report::section::entry::Entry;

pub(in crate::release::report::section) const ENTRY: Entry<Utility> = Entry {
    id: "masked",
    heading: "What do noise, swapping and chance change?",
    answer: None,
    blocks,
};

fn blocks(utility: &Utility) -> Result<Vec<Block>> {
    let figures: Vec<&Figure> = utility.of(is_moment).collect();
    if figures.is_empty() {
        return Ok(vec![]);
    }
    let mut table = TableBlock::new(
        "Masked columns of numbers, dates and timestamps",
        &["Column", "Figure", "#Source", "#Release", "Note"],
    );
    for figure in figures {
        table.row(vec![
            Line::default().name(name(figure)),
            what(&figure.measure).into(),
            cell(figure, figure.of_source),
            cell(figure, figure.value),
            note_of(figure),
        ]);
    }
    Ok(vec![
        Block::Paragraph(
            "Suppressed rows are in the figures of the source alone, so a total of the release is smaller by their \
             values."
                .into(),
        ),
        Block::Table(table),
    ])
}

/// Returns true for the measures of a single column of numbers, dates or timestamps.
fn is_moment(measure: &MeasureKind) -> bool {
    matches!(
        measure,
        MeasureKind::Total
            | MeasureKind::Mean
            | MeasureKind::Deviation
            | MeasureKind::MeanDate
            | MeasureKind::DeviationInDays
    )
}

/// Returns the name of a measure. A mean of dates is written as a date.
fn what(measure: &MeasureKind) -> String {
    match measure {
        MeasureKind::MeanDate => "mean".into(),
        other => other.to_string(),
    }
}

/// Returns the note of a figure. That of a mean of dates only repeats its dates, so it is left out.
fn note_of(figure: &Figure) -> Line {
    match (&figure.measure, &figure.withheld) {
        (MeasureKind::MeanDate, None) => Line::default(),
        _ => note(figure),
    }
}
