//! The section on the rows whose released value is equal to or close to their own value, although
//! the mask is drawn at random.

use super::entry::Entry;
use crate::base::error::Result;
use crate::release::report::Report;
use crate::release::report::block::{Block, Line, TableBlock};
use crate::release::report::number::{count, share};

pub(super) const ENTRY: Entry = Entry {
    id: "own-values",
    heading: "How many rows keep their own value under noise, swapping and chance?",
    answer: None,
    blocks,
};

fn blocks(report: &Report) -> Result<Vec<Block>> {
    if report.own_values.is_empty() {
        return Ok(vec![]);
    }
    let mut table = TableBlock::new(
        "Rows that keep their own value",
        &[
            "Column",
            "#Rows counted",
            "#Rows that keep their own value",
            "#Rows whose own value is within 0.01 standard deviations",
        ],
    );
    for of in &report.own_values {
        let (rows, own, near) = match of.counts {
            None => ("not counted".into(), Line::default(), Line::default()),
            Some(counts) => (
                count(counts.rows).into(),
                share(counts.own, counts.rows).into(),
                match counts.near {
                    Some(near) => share(near, counts.rows).into(),
                    None => "no standard deviation".into(),
                },
            ),
        };
        table.row(vec![Line::default().name(&of.column), rows, own, near]);
    }
    let mut blocks = vec![
        Block::Paragraph(
            "In this share of rows, the released value is the person's own value. Whoever finds the row of a person learns it."
                .into(),
        ),
        Block::Table(table),
        Block::Paragraph(
            "The released rows with a value are counted, without suppressed rows. The standard deviation is that of the values \
             in the source of all rows with a released value."
                .into(),
        ),
    ];
    if report.own_values.iter().any(|of| of.counts.is_none()) {
        blocks.push(Block::Paragraph(
            "Columns are not counted if rows were suppressed for their own limits, because that is after the values were masked."
                .into(),
        ));
    }
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::masks::OwnRows;
    use crate::release::report::{OwnValues, ReportFormat, sample};

    #[test]
    fn a_column_has_its_shares_or_says_that_they_were_not_counted() {
        let mut report = sample::report();
        let page = |report: &Report| report.render(ReportFormat::Markdown).unwrap();
        let counts = |rows, own, near| Some(OwnRows { rows, own, near });
        let of = |column: &str, counts| OwnValues {
            column: column.into(),
            counts,
        };
        report.own_values = vec![
            of("income", counts(1_200, 0, Some(96))),
            of("ward", counts(1_000, 990, None)),
        ];
        let text = page(&report);
        assert!(text.contains("| `income` | 1,200 | 0% | 8% |"), "{text}");
        assert!(
            text.contains("| `ward` | 1,000 | 99% | no standard deviation |"),
            "{text}"
        );
        assert!(text.contains("the released value is the person's own value") && !text.contains("not counted"));
        report.own_values = vec![of("ward", None)];
        let text = page(&report);
        assert!(text.contains("| `ward` | not counted |  |  |") && text.contains("for their own limits"));
        report.own_values.clear();
        assert!(!page(&report).contains("keep their own value"));
    }

    #[test]
    fn json_has_the_counts() {
        let mut report = sample::report();
        let json = |report: &Report| -> serde_json::Value {
            serde_json::from_str(&report.render(ReportFormat::Json).unwrap()).unwrap()
        };
        report.own_values = vec![OwnValues {
            column: "income".into(),
            counts: Some(OwnRows {
                rows: 4,
                own: 1,
                near: None,
            }),
        }];
        assert_eq!(
            json(&report)["own_values"],
            serde_json::json!([{ "column": "income", "counts": { "rows": 4, "own": 1, "near": null } }])
        );
        report.own_values.clear();
        assert!(json(&report).get("own_values").is_none());
    }
}
