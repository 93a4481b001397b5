//! The section on levels, with the labels at each level of a hierarchy and the released level.

use super::entry::Entry;
use crate::base::error::Result;
use crate::release::report::block::{Block, Line, TableBlock};
use crate::release::report::{Report, ReportedRole};

pub(super) const ENTRY: Entry = Entry {
    id: "levels",
    heading: "The meaning of each level",
    answer: None,
    blocks,
};

fn blocks(report: &Report) -> Result<Vec<Block>> {
    let mut table = TableBlock::new("Levels of each column", &["Column", "#Level", "Meaning"]);
    for column in report
        .with_role(ReportedRole::QuasiIdentifier)
        .chain(report.with_role(ReportedRole::ItemSet))
    {
        let Some(g) = &column.generalization else { continue };
        for (level, rule) in (0..).zip(&g.levels) {
            let rule = Line::from(rule.as_str());
            table.row(vec![
                Line::default().name(&column.name),
                level.to_string().into(),
                match g.level == Some(level) {
                    true => rule.text(" ").strong("(released)"),
                    false => rule,
                },
            ]);
        }
    }
    Ok(match table.rows.is_empty() {
        true => vec![],
        false => vec![Block::Table(table)],
    })
}
