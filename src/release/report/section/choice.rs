//! The section on how the levels were chosen, and on the alternative levels.

use super::entry::Entry;
use crate::base::error::Result;
use crate::release::report::block::{Block, Line, TableBlock};
use crate::release::report::number::{count, counted, grouped, number};
use crate::release::report::{FrontChart, FrontSummary, Report, neighbours};

pub(super) const ENTRY: Entry = Entry {
    id: "choice",
    heading: "How the levels were chosen",
    answer: None,
    blocks,
};

/// The maximum number of points of a front on the page. The JSON form contains all points.
const MOST_POINTS: usize = 40;

fn blocks(report: &Report) -> Result<Vec<Block>> {
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
            .text(format!(", which is {value} here. Status of the result: "))
            .strong(&choice.proof)
            .text(format!(". Seed {}.", choice.seed)),
    };
    let mut blocks = vec![Block::Paragraph(text)];
    if !choice.tried.is_empty() {
        let tried = format!("It lost least of those that were tried: {}.", choice.tried.join(", "));
        blocks.push(Block::Paragraph(tried.into()));
    }
    if let Some(advice) = &choice.advice {
        blocks.push(Block::Paragraph(
            Line::from("Worth a look: ").text(advice.as_str()).text("."),
        ));
    }
    if let Some(front) = &report.front {
        blocks.extend(pareto(front)?);
    }
    if !report.neighbours.is_empty() {
        blocks.extend(around(report)?);
    }
    Ok(blocks)
}

/// Returns the blocks about the released node and its neighbours.
fn around(report: &Report) -> Result<Vec<Block>> {
    let (metric, neighbours) = (&report.choice.metric, &report.neighbours);
    let finer = neighbours.iter().filter(|n| !n.coarser).count() as u64;
    let held = neighbours.iter().filter(|n| !n.coarser && n.holds).count() as u64;
    let finer = match (finer, held) {
        (0, _) => "No column has a finer level.".to_string(),
        (_, 0) => "With one level less of any column the models do not hold.".to_string(),
        (finer, held) => format!(
            "Of the {} with a finer level, the models hold for {}.",
            count(finer),
            count(held)
        ),
    };
    let text =
        format!("The neighbours of the released combination have one level more, or less, of one column. {finer}");
    let mut table = TableBlock::new(
        "The neighbours of the released combination",
        &["Level", "Promise", "#k", "#Suppressed", &format!("#{metric}")],
    );
    for neighbour in neighbours {
        table.row(vec![
            Line::default().name(neighbour.level()),
            if neighbour.holds { "holds" } else { "does not hold" }.into(),
            count(neighbour.k).into(),
            count(neighbour.suppressed).into(),
            neighbour.value.map_or_else(String::new, number).into(),
        ]);
    }
    let figure = neighbours::figure(neighbours, metric)?;
    Ok(vec![Block::Paragraph(text.into()), Block::Evidence(figure, table)])
}

fn pareto(front: &FrontSummary) -> Result<Vec<Block>> {
    if let [only] = front.points.as_slice() {
        let text = format!(
            "There is nothing to weigh: of the combinations assessed, {} is at least as good as every other in every objective.",
            only.node
        );
        return Ok(vec![Block::Paragraph(text.into())]);
    }
    let mut blocks = vec![Block::Paragraph(
        format!(
            "On the Pareto front are the {} that no other assessed combination beats in every objective. A gain in \
             one objective is a loss in another. Beyond the knee, little more can be gained.",
            counted(front.points.len() as u64, "combination", "combinations")
        )
        .into(),
    )];
    let mut headings = vec!["Levels".to_string()];
    headings.extend(front.objectives.iter().map(|o| format!("#{}", o.name)));
    headings.push("Mark".into());
    let mut table = TableBlock::new(
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
    blocks.push(match FrontChart::from(front).figure()? {
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
