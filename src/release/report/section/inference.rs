//! The section on inference, with the information that a class reveals about the sensitive
//! attributes.

use super::entry::Entry;
use crate::base::error::Result;
use crate::release::report::Report;
use crate::release::report::block::{Block, Line, ShortAnswer, TableBlock, Tone};
use crate::release::report::number::{count, counted, number, share};

pub(super) const ENTRY: Entry = Entry {
    id: "inference",
    heading: "Can information be inferred concerning an individual?",
    answer: Some(|report| Some(answer(report))),
    blocks,
};

fn answer(report: &Report) -> ShortAnswer {
    let rows = report.rows_in_classes();
    let uniform = report.disclosure.iter().filter(|d| d.rows_in_uniform_classes > 0);
    let worst = uniform.max_by_key(|d| d.rows_in_uniform_classes);
    let unconstrained: Vec<&str> = report
        .disclosure
        .iter()
        .filter(|d| d.models.is_empty())
        .map(|d| d.attribute.as_str())
        .collect();
    if report.disclosure.is_empty() {
        return ShortAnswer {
            tone: Tone::Open,
            verdict: "Not assessed",
            text: "No sensitive attribute was named, so nothing was measured.".into(),
        };
    }
    if let Some(worst) = worst {
        return ShortAnswer {
            tone: Tone::Open,
            verdict: "Yes, for some",
            text: Line::from(format!(
                "{} ({}) {} in classes in which all have the same ",
                counted(worst.rows_in_uniform_classes, "record", "records"),
                share(worst.rows_in_uniform_classes, rows),
                if worst.rows_in_uniform_classes == 1 {
                    "is"
                } else {
                    "are"
                }
            ))
            .name(&worst.attribute)
            .text(": to know the class is to know the value."),
        };
    }
    if !unconstrained.is_empty() {
        return ShortAnswer {
            tone: Tone::Open,
            verdict: "Not constrained",
            text: Line::from("No model constrains ")
                .names(unconstrained)
                .text("; no class has a single value, but some may be nearly certain."),
        };
    }
    ShortAnswer {
        tone: Tone::Partial,
        verdict: "Limited",
        text: Line::from("The models limit how much a class reveals about ")
            .names(report.disclosure.iter().map(|d| d.attribute.as_str()))
            .text("; they do not exclude that it reveals something."),
    }
}

fn blocks(report: &Report) -> Result<Vec<Block>> {
    let mut blocks = vec![Block::Paragraph(
        "Inference means learning something about a person without finding the record. If all or nearly all \
             records of a class share a value, a person in the class very likely has it."
            .into(),
    )];
    if report.disclosure.is_empty() {
        return Ok(blocks);
    }
    let mut table = TableBlock::new(
        "What a class reveals about the sensitive attributes",
        &[
            "Sensitive attribute",
            "Constrained by",
            "#Fewest values in a class",
            "#Records in classes of one value",
            "#Greatest distance",
        ],
    );
    for d in &report.disclosure {
        let rows = d.rows_in_uniform_classes;
        table.row(vec![
            Line::default().name(&d.attribute),
            match d.models.is_empty() {
                true => Line::default().strong("nothing"),
                false => Line::default().names(d.models.iter().map(String::as_str)),
            },
            d.least_distinct.map_or_else(|| "no class".into(), count).into(),
            format!("{} ({})", count(rows), share(rows, report.rows_in_classes())).into(),
            d.greatest_distance.map_or_else(|| "no class".into(), number).into(),
        ]);
    }
    blocks.extend([
        Block::Table(table),
        Block::Paragraph(
            "The distance is between the values of a class and those of the whole source, from 0 (the class reveals \
             nothing new) to 1 (it reveals everything): the t of t-closeness, with all values equally far apart. An \
             attribute with many different values is far from the whole in any class."
                .into(),
        ),
    ]);
    Ok(blocks)
}
