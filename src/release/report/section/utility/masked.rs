//! The section on the changes that randomly drawn masks make.

use super::{cell, name};
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
    let is_of_numbers = |m: &MeasureKind| matches!(m, MeasureKind::Total | MeasureKind::Mean | MeasureKind::Deviation);
    let figures: Vec<&Figure> = utility.of(is_of_numbers).collect();
    if figures.is_empty() {
        return Ok(vec![]);
    }
    let mut table = TableBlock::new(
        "Masked columns of numbers",
        &["Column", "Figure", "#Source", "#Release"],
    );
    for figure in figures {
        table.row(vec![
            Line::default().name(name(figure)),
            figure.measure.to_string().into(),
            cell(figure.of_source),
            cell(figure.value),
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
