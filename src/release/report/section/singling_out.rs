//! The section on singling out, with the equivalence classes by size.

use super::entry::{Entry, nothing_released};
use crate::base::error::Result;
use crate::release::report::bars::{BarLayout, Bars};
use crate::release::report::block::{Block, Line, ShortAnswer, TableBlock, Tone};
use crate::release::report::number::{count, counted, percent, share};
use crate::release::report::{Bin, Report, ReportedRole};

pub(super) const ENTRY: Entry = Entry {
    id: "singling-out",
    heading: "Is it still possible to single out an individual?",
    answer: Some(|report| Some(answer(report))),
    blocks,
};

fn answer(report: &Report) -> ShortAnswer {
    let (one, many) = report.unit();
    let [_, (alone, all)] = report.alone();
    match report.release.smallest_class {
        None => nothing_released(),
        Some(least) if least > 1 => ShortAnswer {
            tone: Tone::Good,
            verdict: "Not by the quasi-identifiers",
            text: format!(
                "Every released record shares all its quasi-identifiers with those of at least {}.",
                counted(least - 1, &format!("other {one}"), &format!("other {many}"))
            )
            .into(),
        },
        Some(_) => ShortAnswer {
            tone: Tone::Open,
            verdict: "Yes",
            text: format!(
                "{} ({}) {} alone in the release with {} quasi-identifiers.",
                counted(alone, one, many),
                share(alone, all),
                if alone == 1 { "is" } else { "are" },
                if alone == 1 { "its" } else { "their" },
            )
            .into(),
        },
    }
}

fn blocks(report: &Report) -> Result<Vec<Block>> {
    let [(before, all_before), (after, all_after)] = report.alone();
    let (one, many) = report.unit();
    let line = Line::from("Singling out means isolating the records of one person. Someone who knows a person's ")
        .names(report.with_role(ReportedRole::QuasiIdentifier).map(|c| c.name.as_str()))
        .text(format!(
            " can do it if no other {one} has the same values. This was the case for {} ({}) in the source, and for \
             {} in the release.",
            counted(before, one, many),
            share(before, all_before),
            match after {
                0 => "none".to_string(),
                n => format!("{} ({})", count(n), share(n, all_after)),
            },
        ));
    let line = match &report.release.entity {
        Some(_) => line.text(" A person with records in several classes counts in each of them."),
        None => line,
    };
    let bars = bars(report, [all_before, all_after]);
    Ok(vec![
        Block::Paragraph(line),
        Block::Evidence(bars.draw()?, table(report)),
    ])
}

/// Returns the table of the classes by size.
fn table(report: &Report) -> TableBlock {
    let (_, many) = report.unit();
    let members = if report.release.entity.is_some() {
        "Persons"
    } else {
        "Records"
    };
    let mut table = TableBlock::new(
        "Equivalence classes by size",
        &[
            &format!("Size, in {many}"),
            "#Classes before",
            &format!("#{members} before"),
            "#Classes after",
            &format!("#{members} after"),
        ],
    );
    for bin in &report.class_sizes {
        table.row(vec![
            size(bin).into(),
            count(bin.before.classes).into(),
            count(bin.before.members).into(),
            count(bin.after.classes).into(),
            count(bin.after.members).into(),
        ]);
    }
    table
}

/// Returns the bar chart of the classes by size. Each bar is the share of the members, before or
/// after the release. `all_before` and `all_after` are the total numbers of members.
fn bars(report: &Report, [all_before, all_after]: [u64; 2]) -> Bars<'static> {
    let (_, many) = report.unit();
    let part = |part: u64, all: u64| Some(if all == 0 { 0.0 } else { part as f64 / all as f64 });
    Bars {
        title: format!("Share of the {many} by the size of their class"),
        layout: BarLayout::Grouped,
        series: ["before", "after"],
        groups: report
            .class_sizes
            .iter()
            .map(|b| {
                (
                    size(b),
                    [part(b.before.members, all_before), part(b.after.members, all_after)],
                )
            })
            .collect(),
        most: 1.0,
        format: percent,
        line: report.release.required_class_size.and_then(|k| {
            let at = report.class_sizes.iter().position(|b| b.from == k)?;
            Some((at, format!("required: {k} or more")))
        }),
    }
}

fn size(bin: &Bin) -> String {
    match bin.to {
        Some(to) if to == bin.from => count(to),
        Some(to) => format!("{} to {}", count(bin.from), count(to)),
        None => format!("{} or more", count(bin.from)),
    }
}
