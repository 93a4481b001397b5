//! The section on the distribution of each column.

use super::{cell, name, note};
use crate::base::error::Result;
use crate::method::utility::{Figure, MeasureKind, Utility};
use crate::release::report::bars::{BarLayout, Bars};
use crate::release::report::block::{Block, Line, TableBlock};
use crate::release::report::number::number;
use crate::release::report::section::entry::Entry;

pub(in crate::release::report::section) const ENTRY: Entry<Utility> = Entry {
    id: "distributions",
    heading: "How far are the distributions of the columns from the source's?",
    answer: None,
    blocks,
};

fn bars(groups: Vec<(String, [Option<f64>; 2])>) -> Bars<'static> {
    Bars {
        title: "Distance from the source by column".into(),
        layout: BarLayout::Grouped,
        series: ["total variation", "earth mover's"],
        groups,
        most: 1.0,
        format: number,
        line: None,
    }
}

fn blocks(utility: &Utility) -> Result<Vec<Block>> {
    let find = |measure: MeasureKind, of: &Figure| {
        let mut found = utility.of(|m| *m == measure).filter(|f| f.column == of.column);
        found.next()
    };
    let moved = |figure: &Figure| find(MeasureKind::EarthMover, figure).and_then(|f| f.value);
    let columns = || utility.of(|m| *m == MeasureKind::TotalVariation);
    let group = |figure: &Figure| (name(figure), [figure.value, moved(figure)]);
    let bars = bars(columns().map(group).collect());
    let mut table = TableBlock::new(
        "Distance from the source by column",
        &[
            "Column",
            "#Total variation",
            "#Divergence, bits",
            "#Earth mover's",
            "#Labels",
            "#Values",
        ],
    );
    let mut notes = TableBlock::new("Columns with a note", &["Column", "Measure", "Note"]);
    for figure in columns() {
        let labels = find(MeasureKind::Labels, figure);
        let divergence = find(MeasureKind::KullbackLeibler, figure);
        let bits = divergence
            .filter(|f| f.value.is_none() && f.note.is_some())
            .map(|_| "infinite".into());
        table.row(vec![
            Line::default().name(name(figure)),
            cell(figure.value),
            bits.unwrap_or_else(|| cell(divergence.and_then(|f| f.value))),
            match moved(figure) {
                None => "no order".into(),
                distance => cell(distance),
            },
            cell(labels.and_then(|f| f.value)),
            cell(labels.and_then(|f| f.of_source)),
        ]);
        for noted in [Some(figure), divergence].into_iter().flatten() {
            if noted.value.is_none() && noted.note.is_some() {
                let measure = noted.measure.to_string().into();
                notes.row(vec![Line::default().name(name(noted)), measure, note(noted)]);
            }
        }
    }
    let mut blocks = vec![
        Block::Paragraph(
            "0 means that the release has the distribution of the source, and 1 that the two have nothing in common. \
             A label is spread evenly over its values."
                .into(),
        ),
        Block::Evidence(bars.draw()?, table),
    ];
    if !notes.rows.is_empty() {
        blocks.push(Block::Table(notes));
    }
    Ok(blocks)
}
