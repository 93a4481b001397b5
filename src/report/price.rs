//! The sections on what a release costs: what was lost, what was left out, and which alternatives there were.

use super::block::{Block, Line, Table};
use super::chart::{self, Bars, Layout};
use super::number::{count, counted, grouped, number, percent, share};
use super::{Front, Report, Role};
use crate::error::Result;

/// Points of a front in the page; the JSON form has all.
const MOST_POINTS: usize = 40;

pub(super) fn loss(report: &Report) -> Result<Vec<Block>> {
    let suppression = &report.suppression;
    let mut text = format!(
        "{} ({}) {} suppressed, in {}; {} might have been.",
        counted(suppression.rows, "record", "records"),
        share(suppression.rows, report.release.rows_in),
        if suppression.rows == 1 { "was" } else { "were" },
        counted(suppression.classes, "class", "classes"),
        count(suppression.limit)
    );
    if suppression.unmapped_rows > 0 {
        text += &format!(
            " Of them, {} had a value that its hierarchy does not know.",
            counted(suppression.unmapped_rows, "record", "records")
        );
    }
    text += match (suppression.rows, suppression.starred) {
        (0, _) => "",
        (_, true) => " They are in the release with * in every quasi-identifier and no sensitive value.",
        (_, false) => {
            " They are not in the release (record suppression). They are the rare ones: small groups are thinned out."
        }
    };
    let mut table = Table::new(
        "Loss by column",
        &["Column", "#By generalization", "#By suppression", "#Together"],
    );
    let mut groups = vec![];
    for column in report.with_role(Role::QuasiIdentifier) {
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
        layout: Layout::Stacked,
        series: ["by generalization", "by suppression"],
        groups,
        most: 1.0,
        format: percent,
        line: None,
    };
    Ok(vec![
        Block::Paragraph(text.into()),
        Block::Paragraph(
            "The loss of a column is the mean share of its hierarchy that a released value stands for (general loss): 0% when \
             every value is itself, 100% when all are *."
                .into(),
        ),
        Block::Evidence(bars.draw()?, table),
    ])
}

pub(super) fn choice(report: &Report) -> Result<Vec<Block>> {
    let choice = &report.choice;
    let value = number(choice.value);
    let text = match &choice.search {
        None => {
            Line::from("The levels were given in the statement; nothing was searched, and the result was checked. Its ")
                .name(&choice.metric)
                .text(format!(" is {value}."))
        }
        Some(search) => Line::from("The search ")
            .name(search)
            .text(match &choice.alternatives {
                Some(alternatives) => format!(
                    " assessed {} of {} combinations of levels for the least loss by ",
                    count(choice.assessed),
                    grouped(alternatives)
                ),
                None => " divided the table into classes with labels of their own, measured by ".into(),
            })
            .name(&choice.metric)
            .text(format!(", which is {value} here. What is known of the others: "))
            .strong(&choice.proof)
            .text(format!(". Seed {}.", choice.seed)),
    };
    let mut blocks = vec![Block::Paragraph(text)];
    if let Some(front) = &report.front {
        blocks.extend(pareto(front)?);
    }
    Ok(blocks)
}

fn pareto(front: &Front) -> Result<Vec<Block>> {
    if let [only] = front.points.as_slice() {
        let text = format!(
            "There is nothing to weigh: of the combinations assessed, {} is at least as good as every other in every objective.",
            only.node
        );
        return Ok(vec![Block::Paragraph(text.into())]);
    }
    let mut blocks = vec![Block::Paragraph(
        format!(
            "On the Pareto front are the {} that no other of those assessed beats in every objective; to gain in one is to lose in \
             another. The knee is where little more is to be gained.",
            counted(front.points.len() as u64, "combination", "combinations")
        )
        .into(),
    )];
    let mut headings = vec!["Levels".to_string()];
    headings.extend(front.objectives.iter().map(|o| format!("#{}", o.name)));
    headings.push("Mark".into());
    let mut table = Table::new(
        "The Pareto front",
        &headings.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    for point in front.points.iter().take(MOST_POINTS) {
        let mut cells = vec![Line::from(point.node.as_str())];
        cells.extend(point.values.iter().map(|v| Line::from(number(*v))));
        cells.push(Line::from(match (point.knee, point.released) {
            (true, true) => "knee, released",
            (true, false) => "knee",
            (false, true) => "released",
            (false, false) => "",
        }));
        table.row(cells);
    }
    blocks.push(match chart::front(front)? {
        Some(figure) => Block::Evidence(figure, table),
        None => Block::Table(table),
    });
    if front.points.len() > MOST_POINTS {
        let more = (front.points.len() - MOST_POINTS) as u64;
        blocks.push(Block::Paragraph(
            format!("{} more are in the JSON form of this report.", count(more)).into(),
        ));
    }
    Ok(blocks)
}
