//! The section on the release, with the source, the target, and the role and treatment of every
//! column.

use super::entry::Entry;
use crate::base::error::Result;
use crate::release::report::block::{Block, Line, TableBlock};
use crate::release::report::number::{bytes, count, counted};
use crate::release::report::{ColumnSummary, Report, ReportedRole};

pub(super) const ENTRY: Entry = Entry {
    id: "release",
    heading: "What was released, and how",
    answer: None,
    blocks,
};

fn blocks(report: &Report) -> Result<Vec<Block>> {
    let release = &report.release;
    let mut facts: Vec<(Line, Line)> = vec![("Source".into(), Line::default().name(&release.source))];
    match &release.target {
        Some(target) => facts.push(("Released to".into(), Line::default().name(target))),
        None => facts.push(("Released to".into(), "the answer of the statement: no files".into())),
    }
    if let Some(files) = &release.files {
        let size = format!(
            "{}, {}; SHA-256 of the manifest ",
            counted(files.count, "file", "files"),
            bytes(files.bytes)
        );
        facts.push(("Files".into(), Line::from(size).name(&files.manifest_sha256)));
    }
    facts.push((
        "A person is".into(),
        match &release.entity {
            Some(entity) => persons(Line::from("a distinct value of ").name(entity), report),
            None => "a record".into(),
        },
    ));
    if let Some(population) = &release.population {
        facts.push(("Population".into(), Line::default().name(population)));
    }
    let mut table = TableBlock::new(
        "Columns, their roles and what was done to them",
        &["Column", "Role", "What was done", "#Level"],
    );
    for column in &report.columns {
        let level = column
            .generalization
            .as_ref()
            .and_then(|g| Some(format!("{} of {}", g.level?, g.top)));
        table.row(vec![
            Line::default().name(&column.name),
            role(column.role).into(),
            done(column),
            level.unwrap_or_default().into(),
        ]);
    }
    Ok(vec![Block::Terms(facts), Block::Table(table)])
}

/// Appends the number of persons in the source, and the number of those that are in no released
/// class. Returns `line` unchanged if persons were not counted.
fn persons(line: Line, report: &Report) -> Line {
    let (Some(read), Some(left)) = (report.release.persons_in, report.release.persons_out) else {
        return line;
    };
    let gone = match read.saturating_sub(left) {
        0 => "all are in a class of the release".to_string(),
        gone => format!(
            "{} of them {} in no class of the release",
            count(gone),
            if gone == 1 { "is" } else { "are" }
        ),
    };
    line.text(format!(
        ": {} in the source; {gone}",
        counted(read, "person", "persons")
    ))
}

fn role(role: ReportedRole) -> &'static str {
    match role {
        ReportedRole::DirectIdentifier => "direct identifier",
        ReportedRole::QuasiIdentifier => "quasi-identifier",
        ReportedRole::ItemSet => "quasi-identifier, a list of items",
        ReportedRole::Sensitive => "sensitive attribute",
        ReportedRole::ClassLabel => "class label",
        ReportedRole::Kept => "other attribute",
        ReportedRole::Entity => "data principal",
    }
}

fn done(column: &ColumnSummary) -> Line {
    let text = Line::from(column.technique.as_str());
    match &column.generalization {
        Some(g) if g.level.is_none_or(|level| level > 0 && level < g.top) => {
            let text = text.text(format!(": {}", g.rule));
            match &g.hierarchy {
                Some(hierarchy) => text.text(" (hierarchy ").name(hierarchy).text(format!(", {})", g.kind)),
                None => text,
            }
        }
        _ => text,
    }
}
