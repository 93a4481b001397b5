//! The section with the record of the release: the statement and its inputs.

use super::entry::Entry;
use crate::base::error::Result;
use crate::release::report::Report;
use crate::release::report::block::{Block, Line, TableBlock};
use crate::release::report::number::bytes;

pub(super) const ENTRY: Entry = Entry {
    id: "record",
    heading: "The statement, and what it read",
    answer: None,
    blocks,
};

fn blocks(report: &Report) -> Result<Vec<Block>> {
    let record = &report.record;
    let mut terms = vec![
        (Line::from("Made by"), Line::default().name(&report.software)),
        ("Statement".into(), Line::default().name(&record.statement)),
        (
            "SHA-256 of the full statement".into(),
            Line::default().name(&record.statement_sha256),
        ),
    ];
    if let Some(policy) = &record.policy {
        let digest = format!(", SHA-256 {}", policy.sha256);
        terms.push(("Policy".into(), Line::default().name(&policy.name).text(digest)));
    }
    let mut blocks = vec![Block::Terms(terms)];
    let mut table = TableBlock::new(
        "Files and tables that were read",
        &["Input", "#Size", "SHA-256, tag or version"],
    );
    for input in &record.inputs {
        table.row(vec![
            Line::default().name(&input.name),
            bytes(input.bytes).into(),
            Line::default().name(&input.content),
        ]);
    }
    if !table.rows.is_empty() {
        blocks.push(Block::Table(table));
    }
    Ok(blocks)
}
