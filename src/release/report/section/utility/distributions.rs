//! The section on the distribution of each column.

use super::{cell, evidence, name, note, rounding};
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

/// Returns the figure of a measure for the column of another figure.
fn find<'a>(utility: &'a Utility, measure: &MeasureKind, of: &Figure) -> Option<&'a Figure> {
    let mut found = utility.of(|m| m == measure).filter(|f| f.column == of.column);
    found.next()
}

/// Returns the cells of a column. `figure` is its total variation.
fn cells(utility: &Utility, figure: &Figure) -> Vec<Line> {
    let of = |measure: MeasureKind, value: fn(&Figure) -> Option<f64>| match find(utility, &measure, figure) {
        Some(found) => cell(found, value(found)),
        None => "not measured".into(),
    };
    let divergence = find(utility, &MeasureKind::KullbackLeibler, figure);
    let is_infinite = divergence.is_some_and(|f| f.value.is_none() && f.note.is_some());
    let moved = find(utility, &MeasureKind::EarthMover, figure);
    let moved = moved.filter(|f| f.value.is_some() || f.withheld.is_some());
    vec![
        Line::default().name(name(figure)),
        cell(figure, figure.value),
        match is_infinite {
            true => "infinite".into(),
            false => of(MeasureKind::KullbackLeibler, |f| f.value),
        },
        moved.map_or_else(|| "no order".into(), |f| cell(f, f.value)),
        of(MeasureKind::Labels, |f| f.value),
        of(MeasureKind::Labels, |f| f.of_source),
    ]
}

fn blocks(utility: &Utility) -> Result<Vec<Block>> {
    let columns = || utility.of(|m| *m == MeasureKind::TotalVariation);
    let moved = |figure: &Figure| find(utility, &MeasureKind::EarthMover, figure).and_then(|f| f.value);
    let given = columns().filter(|figure| figure.withheld.is_none());
    let bars = bars(
        given
            .map(|figure| (name(figure), [figure.value, moved(figure)]))
            .collect(),
    );
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
        table.row(cells(utility, figure));
        // The reason why figures of a column are withheld is noted once.
        let divergence = find(utility, &MeasureKind::KullbackLeibler, figure);
        let divergence = divergence.filter(|f| f.withheld.is_none() || figure.withheld.is_none());
        for noted in [Some(figure), divergence].into_iter().flatten() {
            if noted.value.is_none() && (noted.note.is_some() || noted.withheld.is_some()) {
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
        evidence(&bars, table)?,
    ];
    blocks.extend(rounding(columns()));
    if !notes.rows.is_empty() {
        blocks.push(Block::Table(notes));
    }
    Ok(blocks)
}
