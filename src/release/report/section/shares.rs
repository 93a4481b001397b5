//! The section on the distribution of the records over the labels of each column.

use super::entry::Entry;
use crate::base::error::Result;
use crate::release::report::block::{Block, Line, TableBlock};
use crate::release::report::number::count;
use crate::release::report::shares::Shares;
use crate::release::report::{LabelShare, Report, ReportedRole};

pub(super) const ENTRY: Entry = Entry {
    id: "shares",
    heading: "How the records are spread over the labels",
    answer: None,
    blocks,
};

const TITLE: &str = "Shares of the records by label";

fn blocks(report: &Report) -> Result<Vec<Block>> {
    let mut table = TableBlock::new(TITLE, &["Column", "#Labels", "Percent before", "Percent after"]);
    let mut columns = vec![];
    for column in report.with_role(ReportedRole::QuasiIdentifier) {
        let Some(g) = &column.generalization else { continue };
        let Some(labels) = g.labels.filter(|labels| *labels > 0) else {
            continue;
        };
        let (before, after) = match g.shares.as_slice() {
            [] => ("not shown".into(), Line::default()),
            shares => {
                columns.push((column.name.as_str(), shares));
                let of = |share: fn(&LabelShare) -> u8| {
                    let shares = shares.iter().map(|of| share(of).to_string());
                    Line::from(shares.collect::<Vec<_>>().join(" "))
                };
                (of(|share| share.before), of(|share| share.after))
            }
        };
        table.row(vec![
            Line::default().name(&column.name),
            count(labels).into(),
            before,
            after,
        ]);
    }
    if table.rows.is_empty() {
        return Ok(vec![]);
    }
    let about = "The records of the source and of the released classes by released label, in the order of the \
                 labels' values. The labels are not named. Shares are whole percents, for at most 30 labels and at \
                 least 1,000 records, because more would reveal the suppressed records.";
    let picture = Shares {
        title: TITLE,
        series: ["before", "after"],
        columns,
    };
    let shown = match picture.columns.is_empty() {
        true => Block::Table(table),
        false => Block::Evidence(picture.draw()?, table),
    };
    Ok(vec![Block::Paragraph(about.into()), shown])
}
