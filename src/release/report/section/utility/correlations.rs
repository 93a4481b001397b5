//! The section on the correlations between columns.

use super::{cell, evidence, name, note, rounding};
use crate::base::error::Result;
use crate::method::utility::{Figure, MeasureKind, Utility};
use crate::release::report::bars::{BarLayout, Bars};
use crate::release::report::block::{Block, Line, TableBlock};
use crate::release::report::number::number;
use crate::release::report::section::entry::Entry;

/// The maximum number of pairs of columns in the picture. The table contains all pairs.
const DRAWN: usize = 12;

pub(in crate::release::report::section) const ENTRY: Entry<Utility> = Entry {
    id: "correlations",
    heading: "Are the correlations of the columns kept?",
    answer: None,
    blocks,
};

fn blocks(utility: &Utility) -> Result<Vec<Block>> {
    let pairs: Vec<&Figure> = utility.of(|m| matches!(m, MeasureKind::Correlation(_))).collect();
    if pairs.is_empty() {
        return Ok(vec![]);
    }
    let other = |figure: &Figure| match &figure.measure {
        MeasureKind::Correlation(other) => other.clone(),
        _ => String::new(),
    };
    let mut table = TableBlock::new(
        "Pearson's r by pair",
        &["Column", "With", "#Source", "#Release", "Note"],
    );
    for pair in &pairs {
        table.row(vec![
            Line::default().name(name(pair)),
            Line::default().name(other(pair)),
            cell(pair, pair.of_source),
            cell(pair, pair.value),
            note(pair),
        ]);
    }
    let mut drawn = pairs.clone();
    drawn.retain(|pair| pair.withheld.is_none() && pair.is_measured());
    let strength = |f: &Figure| f.of_source.map_or(0.0, f64::abs);
    drawn.sort_by(|a, b| strength(b).total_cmp(&strength(a)));
    drawn.truncate(DRAWN);
    let group = |f: &&Figure| {
        let label = format!("{}, {}", name(f), other(f));
        (label, [f.of_source.map(f64::abs), f.value.map(f64::abs)])
    };
    let bars = Bars {
        title: "Strength of the strongest correlations, without their sign".into(),
        layout: BarLayout::Grouped,
        series: ["source", "release"],
        groups: drawn.iter().map(group).collect(),
        most: 1.0,
        format: number,
        line: None,
    };
    let mut blocks = vec![
        Block::Paragraph(
            "A label of numbers, dates or timestamps is the mean of the values that it stands for.".into(),
        ),
        evidence(&bars, table)?,
    ];
    blocks.extend(rounding(pairs.iter().copied()));
    Ok(blocks)
}
