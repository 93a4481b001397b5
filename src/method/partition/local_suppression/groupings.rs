//! Cell suppression for models of groups over some of the quasi-identifiers.

use super::super::table::{Grouping, Table};
use super::problem::{CombinationGroup, Problem};
use super::search::search;
use crate::method::search::{Context, Stop};

/// Divides the combinations. Each combination is a group of its own here, because groups with the
/// same labels are merged later. Returns for each combination which of its cells are suppressed,
/// and the reason if the search stopped early. Entirely suppressed rows keep their cells. They are
/// recognized later because one of their groups is too small.
pub(super) fn divide(table: &dyn Table, context: &mut Context) -> (Vec<CombinationGroup>, Option<Stop>) {
    let problem = problem(table);
    let mut rng = context.rng.clone();
    let mut stopped = None;
    let choice = search(&problem, &mut rng, &mut || {
        stopped = stopped.take().or(context.check(0).err());
        stopped.is_some()
    });
    let width = table.columns().len();
    let starred = |combination: usize| match choice.gone[combination] {
        true => vec![false; width],
        false => choice.starred[combination * width..(combination + 1) * width].to_vec(),
    };
    let alike = |combination: usize| CombinationGroup {
        members: vec![combination as u32],
        starred: starred(combination),
    };
    ((0..table.len()).map(alike).collect(), stopped)
}

fn problem(table: &dyn Table) -> Problem {
    let columns = table.columns();
    let labels = |combination: u32| {
        columns.iter().enumerate().map(move |(i, column)| {
            let code = table.code(i, combination) as usize;
            [column.bottom, column.top].map(|level| column.lookup.level(level).codes[code])
        })
    };
    Problem {
        rows: (0..table.len() as u32).map(|c| table.rows(c)).collect(),
        labels: (0..table.len() as u32).flat_map(labels).collect(),
        weights: columns
            .iter()
            .map(|c| if c.bottom < c.top { c.weight } else { f64::INFINITY })
            .collect(),
        row_weight: columns.iter().map(|c| c.weight).sum(),
        groupings: groupings(table),
        suppressible: table.suppressible(),
    }
}

/// Returns the groupings of the table and the grouping into classes. Omits each grouping that is
/// implied by another: the other contains all of its columns and requires at least as many rows.
fn groupings(table: &dyn Table) -> Vec<Grouping> {
    let classes = Grouping {
        columns: (0..table.columns().len()).collect(),
        least: table.least_rows(),
    };
    let mut all: Vec<Grouping> = table.groupings().to_vec();
    all.push(classes);
    all.retain(|grouping| grouping.least > 1);
    // The groupings with the most columns and the most required rows come first, so each grouping
    // follows those that imply it.
    all.sort_by(|a, b| (b.columns.len(), b.least, &a.columns).cmp(&(a.columns.len(), a.least, &b.columns)));
    let mut kept: Vec<Grouping> = vec![];
    for grouping in all {
        let is_within = |wider: &Grouping| grouping.columns.iter().all(|column| wider.columns.contains(column));
        if !kept
            .iter()
            .any(|wider| wider.least >= grouping.least && is_within(wider))
        {
            kept.push(grouping);
        }
    }
    kept
}
