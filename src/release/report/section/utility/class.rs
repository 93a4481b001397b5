//! The section on the class label: how much information the columns contain about it, and how
//! accurately classifiers predict it.

use super::{cell, name, note};
use crate::base::error::Result;
use crate::method::utility::{Figure, MeasureKind, Utility};
use crate::release::report::bars::{BarLayout, Bars};
use crate::release::report::block::{Block, Line, TableBlock};
use crate::release::report::number::{number, percent};
use crate::release::report::section::entry::Entry;

pub(in crate::release::report::section) const ENTRY: Entry<Utility> = Entry {
    id: "class",
    heading: "How much does the release say about the class?",
    answer: None,
    blocks,
};

fn blocks(utility: &Utility) -> Result<Vec<Block>> {
    let Some(class) = &utility.class else {
        return Ok(vec![]);
    };
    let text = Line::from("The class is ").name(class);
    let text = match &utility.testing {
        Some(rows) => text
            .text(". Classifiers were tested on the rows of ")
            .name(rows)
            .text("."),
        None => text.text(
            ". Classifiers were tested on the rows of the source, on which they were also trained, so both figures \
             are too high. UTILITY OF ... TESTING ON names other rows for the test.",
        ),
    };
    let mut blocks = vec![Block::Paragraph(text)];
    let label = |f: &Figure| match f.measure {
        MeasureKind::Accuracy(classifier) => classifier.to_string(),
        _ => name(f),
    };
    let found = utility.of(|m| matches!(m, MeasureKind::Accuracy(_)));
    let found: Vec<(String, &Figure)> = found.map(|f| (label(f), f)).collect();
    blocks.extend(side_by_side(
        "Accuracy of classifiers",
        "Classifier",
        &found,
        1.0,
        percent,
    )?);
    let found = utility.of(|m| *m == MeasureKind::Information);
    let found: Vec<(String, &Figure)> = found.map(|f| (name(f), f)).collect();
    let most = found.iter().filter_map(|(_, f)| f.of_source).fold(0.0, f64::max);
    let title = "Information about the class by column, in bits";
    blocks.extend(side_by_side(title, "Column", &found, most, number)?);
    Ok(blocks)
}

/// Returns a picture and a table that show the figures of the source and of the release side by
/// side, each with its label. Returns no blocks if there are no figures.
fn side_by_side(
    title: &str,
    heading: &str,
    figures: &[(String, &Figure)],
    most: f64,
    format: fn(f64) -> String,
) -> Result<Option<Block>> {
    if figures.is_empty() {
        return Ok(None);
    }
    let mut table = TableBlock::new(title, &[heading, "#Source", "#Release", "Note"]);
    for (label, figure) in figures {
        let first = Line::default().name(label);
        table.row(vec![first, cell(figure.of_source), cell(figure.value), note(figure)]);
    }
    let bars = Bars {
        title: title.into(),
        layout: BarLayout::Grouped,
        series: ["source", "release"],
        groups: figures
            .iter()
            .map(|(label, f)| (label.clone(), [f.of_source, f.value]))
            .collect(),
        most,
        format,
        line: None,
    };
    Ok(Some(Block::Evidence(bars.draw()?, table)))
}
