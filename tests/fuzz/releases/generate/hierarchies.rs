//! Generates hierarchies of every kind over the columns of a table.

use super::Draw;
use super::data::{Planned, Purpose};
use crate::releases::arrays;
use crate::releases::case::{Hierarchy, Intervals, Listing, Nulls, Rule, Unmapped};
use crate::releases::judge::cell::{cells, is_text, plain_type};
use arrow::datatypes::DataType;
use std::collections::BTreeSet;

/// Gives most quasi-identifiers and sensitive columns a hierarchy.
pub fn all(draw: &mut Draw, planned: &mut Planned) -> Vec<Hierarchy> {
    let mut hierarchies = vec![];
    for i in 0..planned.purposes.len() {
        let wanted = match planned.purposes[i] {
            Purpose::Quasi => draw.chance(80),
            Purpose::Sensitive => draw.chance(50),
            _ => false,
        };
        if !wanted {
            continue;
        }
        let listed = planned.purposes[i] == Purpose::Sensitive;
        if let Some(rule) = rule(draw, planned, i, listed) {
            let name = format!("h{i}");
            planned.heights[i] = height(&rule);
            planned.hierarchies[i] = Some(name.clone());
            hierarchies.push(Hierarchy {
                name,
                rule,
                unmapped: *draw.weighted(&[(25, Unmapped::Error), (40, Unmapped::Suppress), (35, Unmapped::Top)]),
                nulls: *draw.weighted(&[(60, Nulls::Value), (35, Nulls::Top), (5, Nulls::Error)]),
            });
        }
    }
    hierarchies
}

fn rule(draw: &mut Draw, planned: &Planned, i: usize, listed: bool) -> Option<Rule> {
    let column = &planned.table.columns[i];
    let data_type = plain_type(&column.data_type);
    let quantiles = |draw: &mut Draw| Rule::Quantiles {
        groups: draw.pick(&[vec![2], vec![4, 2], vec![3], vec![8, 4, 2]]).clone(),
        column: column.name.clone(),
    };
    let texts: BTreeSet<String> = cells(&arrays::array(column), &column.data_type)
        .into_iter()
        .filter_map(|c| c.text)
        .collect();
    let suitable =
        data_type.is_numeric() || data_type.is_temporal() || is_text(data_type) || *data_type == DataType::Boolean;
    if !suitable || matches!(data_type, DataType::Duration(_)) {
        return None;
    }
    let kind = draw.below(100);
    if listed || kind < 25 {
        return listing(draw, &texts);
    }
    Some(match data_type {
        _ if kind < 33 => Rule::Suppression,
        t if t.is_numeric() => match kind {
            33..85 => intervals(draw),
            _ => quantiles(draw),
        },
        DataType::Date32 | DataType::Date64 => match kind {
            33..85 => Rule::Truncate(
                draw.pick(&[
                    vec!["MONTH", "YEAR"],
                    vec!["WEEK"],
                    vec!["DAY", "QUARTER", "DECADE", "CENTURY"],
                ])
                .clone(),
            ),
            _ => quantiles(draw),
        },
        DataType::Timestamp(..) => match kind {
            33..85 => Rule::Truncate(
                draw.pick(&[
                    vec!["HOUR", "DAY", "MONTH"],
                    vec!["SECOND", "MINUTE", "YEAR"],
                    vec!["DAY", "WEEK"],
                ])
                .clone(),
            ),
            _ => quantiles(draw),
        },
        t if t.is_temporal() => quantiles(draw),
        t if is_text(t) => Rule::Prefix {
            kept: draw.pick(&[vec![4, 3, 2], vec![1], vec![3, 0], vec![10, 5]]).clone(),
            mask: *draw.pick(&[None, None, Some('*'), Some('x'), Some('#')]),
        },
        _ => Rule::Suppression,
    })
}

fn intervals(draw: &mut Draw) -> Rule {
    let all: &[&[&str]] = &[
        &["5", "10", "20"],
        &["2", "6"],
        &["1", "10"],
        &["0.5", "1"],
        &["25"],
        &["3", "9", "27"],
    ];
    let widths = draw.pick(all);
    let code =
        |draw: &mut Draw, percent: usize, texts: &[&str]| draw.chance(percent).then(|| draw.pick(texts).to_string());
    Rule::Intervals(Intervals {
        widths: widths.iter().map(|w| w.to_string()).collect(),
        origin: code(draw, 25, &["1", "-3", "0.25", "7"]),
        bottom: code(draw, 20, &["3", "-2", "4.5"]),
        top: code(draw, 20, &["15", "20", "12.5"]),
    })
}

/// Lists most of the values and a few more, in groups of two, of four, and so on.
fn listing(draw: &mut Draw, texts: &BTreeSet<String>) -> Option<Rule> {
    let mut ground: Vec<String> = texts.iter().filter(|_| draw.chance(93)).cloned().collect();
    if draw.chance(30) {
        ground.push("nobody".into());
    }
    if draw.chance(20) {
        ground.reverse();
    }
    let levels = draw.between(0, 3);
    let top = draw.chance(40).then(|| draw.pick(&["*", "all", "any'"]).to_string());
    let (prefix, letters) = (*draw.pick(&["", "", "l'", "é, "]), ["g", "h", "i"]);
    let row = |(i, value): (usize, &String)| {
        let labels = (0..levels).map(|level| format!("{prefix}{}{}", letters[level], i >> (level + 1)));
        std::iter::once(value.clone())
            .chain(labels)
            .chain(top.clone())
            .collect()
    };
    let rows: Vec<Vec<String>> = ground.iter().enumerate().map(row).collect();
    let listing = *draw.weighted(&[(60, Listing::Values), (25, Listing::File), (15, Listing::Query)]);
    (!rows.is_empty() && rows[0].len() > 1).then_some(Rule::Listed(rows, listing))
}

fn height(rule: &Rule) -> usize {
    let hierarchy = Hierarchy {
        name: String::new(),
        rule: rule.clone(),
        unmapped: Unmapped::Error,
        nulls: Nulls::Value,
    };
    crate::releases::judge::ladder::Ladder::new(&hierarchy, &DataType::Int64, (&[], &DataType::Null)).height()
}
