//! The section on loss, with the loss from generalization and the suppressed rows.

use super::entry::Entry;
use crate::base::error::Result;
use crate::release::report::bars::{BarLayout, Bars};
use crate::release::report::block::{Block, Line, ShortAnswer, TableBlock, Tone};
use crate::release::report::number::{count, counted, percent, share};
use crate::release::report::{Report, ReportedRole};

pub(super) const ENTRY: Entry = Entry {
    id: "loss",
    heading: "How much was lost, and what was left out?",
    answer: Some(answer),
    blocks,
};

/// The maximum loss that the answer describes as little. At this loss, a released value covers a
/// quarter of the hierarchy.
const LITTLE: f64 = 0.25;

/// Returns the short answer. It names the columns that lost all information, and among the other
/// columns the ones with the smallest and the largest loss. Returns `None` if there are no columns.
fn answer(report: &Report) -> Option<ShortAnswer> {
    let columns = report
        .with_role(ReportedRole::QuasiIdentifier)
        .chain(report.with_role(ReportedRole::ItemSet));
    let columns = columns.filter_map(|column| Some((column.name.as_str(), column.generalization.as_ref()?)));
    let (lost, left): (Vec<_>, Vec<_>) = columns.partition(|(_, g)| g.is_lost());
    let least = left.iter().min_by(|a, b| a.1.loss().total_cmp(&b.1.loss()));
    let most = left.iter().max_by(|a, b| a.1.loss().total_cmp(&b.1.loss()));
    let mut text = Line::default();
    if !lost.is_empty() {
        let what = if lost.len() == 1 {
            " no longer says anything. "
        } else {
            " no longer say anything. "
        };
        text = text.names(lost.iter().map(|(name, _)| *name)).text(what);
    }
    match (least, most) {
        (Some((least, a)), Some((most, b))) if least != most => {
            text = text.name(*least).text(format!(" lost {} and ", percent(a.loss())));
            text = text.name(*most).text(format!(" {}", percent(b.loss())));
            text = text.text(if left.len() > 2 {
                ", the others between them."
            } else {
                "."
            });
        }
        (Some((only, a)), _) => text = text.name(*only).text(format!(" lost {}.", percent(a.loss()))),
        (None, _) if lost.is_empty() => return None,
        (None, _) => {}
    }
    let (tone, verdict) = match (lost.is_empty(), most) {
        (false, _) => (Tone::Open, "Whole columns"),
        (true, Some((_, g))) if g.loss() <= LITTLE => (Tone::Good, "Little"),
        _ => (Tone::Partial, "Some detail"),
    };
    Some(ShortAnswer { tone, verdict, text })
}

/// Describes how many rows were suppressed, and whether they are in the release.
fn suppressed(report: &Report) -> String {
    let suppression = &report.suppression;
    let mut text = format!(
        "{} ({}) {} suppressed, in {}; the limit was {}.",
        counted(suppression.rows, "record", "records"),
        share(suppression.rows, report.release.rows_in),
        if suppression.rows == 1 { "was" } else { "were" },
        counted(suppression.classes, "class", "classes"),
        count(suppression.limit)
    );
    if suppression.unmapped_rows > 0 {
        text += &format!(
            " Of them, {} had a value that its hierarchy does not map.",
            counted(suppression.unmapped_rows, "record", "records")
        );
    }
    text += match (suppression.rows, suppression.starred) {
        (0, _) => "",
        (_, true) => " They are in the release with * in every quasi-identifier and no sensitive value.",
        (_, false) => {
            " They are not in the release (record suppression). They are the rare ones, so small groups lose members."
        }
    };
    text
}

fn blocks(report: &Report) -> Result<Vec<Block>> {
    let mut table = TableBlock::new(
        "Loss by column",
        &["Column", "#By generalization", "#By suppression", "#Together"],
    );
    let mut groups = vec![];
    for column in report
        .with_role(ReportedRole::QuasiIdentifier)
        .chain(report.with_role(ReportedRole::ItemSet))
    {
        if let Some(g) = &column.generalization {
            table.row(vec![
                Line::default().name(&column.name),
                percent(g.loss_by_generalization).into(),
                percent(g.loss_by_suppression).into(),
                percent(g.loss()).into(),
            ]);
            let parts = [Some(g.loss_by_generalization), Some(g.loss_by_suppression)];
            groups.push((column.name.clone(), parts));
        }
    }
    let bars = Bars {
        title: "Loss by column".into(),
        layout: BarLayout::Stacked,
        series: ["by generalization", "by suppression"],
        groups,
        most: 1.0,
        format: percent,
        line: None,
    };
    let mut about = "The loss of a column is the mean share of its hierarchy that a released value stands for \
                     (general loss): 0% if every value is unchanged, 100% if all are *."
        .to_string();
    if report.with_role(ReportedRole::ItemSet).next().is_some() {
        about += " Of a list of items it is the mean over the items of the released records, and suppression is that of items \
                  which were removed from all lists.";
    }
    Ok(vec![
        Block::Paragraph(suppressed(report).into()),
        Block::Paragraph(about.into()),
        Block::Evidence(bars.draw()?, table),
    ])
}
