//! Labels that cover all values under coarser combinations.
//!
//! An algorithm uses one ground value to represent each label of a combination. If combinations
//! start above the ground level, the label covers further values. Algorithms that keep within
//! LEVELS use no lower labels, so their labels cover all values. Other algorithms label single
//! values and ranges of values. This module widens these labels.

use super::groups::Partition;
use super::table::{Column, Table};
use crate::base::error::Result;
use crate::method::hierarchy::Label;

/// Returns the partition with labels that cover every value under each of its combinations.
pub fn widened(partition: Partition, table: &dyn Table) -> Result<Partition> {
    if table.columns().iter().all(|column| column.bottom == 0) {
        return Ok(partition);
    }
    let cells = table.columns().iter().enumerate().map(|(i, column)| {
        let labels = partition.labels(i);
        let mut ends: Vec<(u32, u32)> = vec![(u32::MAX, 0); partition.len()];
        let under = under(column);
        for (combination, group) in partition.groups().iter().enumerate() {
            let (low, high) = under[table.code(i, combination as u32) as usize];
            let (least, greatest) = &mut ends[*group as usize];
            (*least, *greatest) = ((*least).min(low), (*greatest).max(high));
        }
        let cells = partition.cells(i).iter().zip(ends);
        cells
            .map(|(label, ends)| wide(labels[*label as usize], column, ends))
            .collect()
    });
    let cells = cells.collect();
    let lookups = table.columns().iter().map(|column| column.lookup.as_ref());
    Partition::new(lookups, partition.groups().to_vec(), cells)
}

/// Returns, by ground code, the lowest and the highest code with the same label at the lowest level
/// that LEVELS allows in a column.
fn under(column: &Column) -> Vec<(u32, u32)> {
    let least = &column.lookup.level(column.bottom).representatives;
    let mut greatest = least.clone();
    for (code, representative) in (0..).zip(least) {
        greatest[*representative as usize] = code;
    }
    least.iter().map(|code| (*code, greatest[*code as usize])).collect()
}

/// Returns a label that covers the values of `label` and of the codes from `least` to `greatest`.
fn wide(label: Label, column: &Column, (least, greatest): (u32, u32)) -> Label {
    let lookup = &column.lookup;
    match label {
        Label::Level { level, code } => Label::at(lookup, level.max(column.bottom), code),
        Label::Range { low, high } => Label::range(lookup, low.min(least), high.max(greatest)),
        Label::Rounded { low, high } => Label::rounded(lookup, low.min(least), high.max(greatest)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::build;
    use super::super::testing::Toy;
    use super::*;
    use crate::base::catalogue::{Argument, Call, Value};
    use crate::method::hierarchy::Cover;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::sync::Arc;

    /// Returns the table with its combinations generalized to these levels.
    fn at(rows: &BTreeMap<(u32, u32), u64>, bottoms: (u8, u8), k: u64) -> Toy {
        let mut table = Toy::of_pairs(rows, k, false);
        (table.columns[0].bottom, table.columns[1].bottom) = bottoms;
        let mut coarse: BTreeMap<Vec<u32>, Vec<u64>> = BTreeMap::new();
        for (codes, rows) in std::mem::take(&mut table.combinations) {
            let columns = table.columns.iter().zip(codes);
            let codes = columns.map(|(c, code)| c.lookup.level(c.bottom).representatives[code as usize]);
            coarse.entry(codes.collect()).or_insert_with(|| vec![0])[0] += rows[0];
        }
        table.combinations = coarse.into_iter().collect();
        table
    }

    proptest! {
        #[test]
        fn labels_cover_every_value_under_a_combination(
            rows in prop::collection::btree_map((0u32..5, 0u32..4), 1u64..5, 1..20),
            bottoms in (0u8..3, 0u8..3),
            k in 1u64..6,
        ) {
            let table = at(&rows, bottoms, k);
            let exact = Argument { name: Some("ranges".into()), value: Value::Word("exact".into()) };
            let with = |name: &str, args| Call { args, ..Call::bare(name) };
            let names = ["mondrian", "peel", "top_down", "adaptive_clustering"].map(|name| with(name, vec![]));
            let exact = ["mondrian", "peel"].map(|name| with(name, vec![exact.clone()]));
            for call in names.into_iter().chain(exact) {
                let partitioner = build(&call).unwrap();
                let found = table.run(partitioner.as_ref());
                let groups = found.groups().to_vec();
                let found = widened(found, &table).unwrap();
                prop_assert!(found.len() <= groups.iter().max().map_or(0, |g| *g as usize + 1));
                for (i, column) in table.columns.iter().enumerate() {
                    let cover = Cover::new(Arc::clone(&column.lookup), found.texts(i).as_ref().clone()).unwrap();
                    let representatives = &column.lookup.level(column.bottom).representatives;
                    for (combination, group) in found.groups().iter().enumerate() {
                        let label = found.cells(i)[*group as usize];
                        let own = table.code(i, combination as u32);
                        let under = (0..representatives.len()).filter(|code| representatives[*code] == own);
                        for code in under {
                            prop_assert!(cover.covers(code as u32, label), "{call}: column {i}, value {code}");
                        }
                    }
                }
            }
        }
    }
}
