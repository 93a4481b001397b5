//! Adaptive clustering: grows groups of rows that keep much information, and labels each group with
//! its lowest common ancestors.
//!
//! **With limits per row** (`personal_privacy`), this is the published algorithm. The combinations
//! are sorted by the quasi-identifiers, the first named column first. A group starts with the next
//! rows, the minimum number that may be released (k rows for k-anonymity). The next rows join the
//! group if they raise the information left in the group by at least as much as they would keep at
//! the start of the following group. **Interpretation** of the paper's line 6: the rows join when
//! [sum of ILeft over the group with these rows] - [the same sum without these rows] >= [sum of
//! these rows' ILeft in the group made of these rows and the rows after them, up to k]. A tail of
//! fewer than k rows joins the last group. Each group is generalized to the lowest common ancestors
//! in the hierarchies of its columns (local recoding). ILeft is compared in exact integers: a
//! common multiple of the hierarchies' leaf counts represents 1. WEIGHT multiplies the loss in a
//! column. The paper treats the sensitive attribute as one more dimension. Here it is not
//! generalized and cancels out. Afterwards, the sensitive values of each class are generalized
//! until every row's own limit is met (`crate::data::recode::personal`).
//!
//! **Without limits per row**, the sorted order is of little use: it keeps only the first named
//! column precise, and a release lost four times as much information as a release with mondrian.
//! Instead, a group starts with one combination and takes the combinations that add the least loss,
//! until the group satisfies the models (k-member clustering: Byun, Kamra, Bertino and Li, DASFAA
//! 2007, doi:10.1007/978-3-540-71703-4_18). **Departures** from that paper: a group chooses only
//! among the free combinations that are its neighbours in the order of some column, so the time
//! does not grow with the square of the table. The next group starts at the next combination, not
//! at the farthest. Afterwards, local search divides groups and moves combinations between them
//! while this lowers the loss, as in peel.
//!
//! **Interpretation**: rows that are equal in every quasi-identifier join or leave a group
//! together, because the algorithm divides the set of distinct combinations. If all combinations
//! are different, the algorithm with limits per row is the paper's, row by row.
//!
//! Every group is judged by all models when it is formed and whenever it changes.
//!
//! Example: `SEARCH USING adaptive_clustering`.
//!
//! Song et al., The k-anonymization method satisfying personalized privacy preservation, CET 46
//! (2015), doi:10.3303/CET1546031, section 6.

mod nearest;
mod sorted;
mod span;

use super::groups::Partition;
use super::partitioner::{Build, Found, Partitioner};
use super::peel;
use super::table::Table;
use crate::base::catalogue::{Entry, Info};
use crate::base::error::Result;
use crate::method::search::{Context, Stop};
use span::Spans;

/// The maximum number of rounds of local search, twice the default of peel.
const ROUNDS: u64 = 8;

/// The adaptive clustering algorithm.
#[derive(Debug, Clone, Copy)]
struct AdaptiveClustering;

impl Partitioner for AdaptiveClustering {
    fn run(&self, table: &dyn Table, context: &mut Context) -> Result<Found> {
        if table.rows_have_limits() {
            let (groups, stopped) = sorted::groups(table, context);
            return labelled(table, groups, stopped);
        }
        let (groups, stopped) = nearest::groups(table, context);
        peel::improved(table, groups, ROUNDS, stopped, context)
    }

    /// Returns the memory of the neighbour orders and of the local search, in bytes.
    fn bytes(&self, combinations: usize, columns: usize) -> usize {
        peel::bytes(combinations, columns) + combinations * 8 * columns
    }

    fn describe(&self) -> String {
        "grows groups by the combinations that lose least, and then moves rows between groups while this lowers the \
         loss; if rows have limits of their own, sorts rows by the quasi-identifiers and starts a new group if the next \
         rows keep more information in it"
            .into()
    }
}

/// Returns the partition into these groups. Each group is labelled with its lowest common
/// ancestors.
fn labelled(table: &dyn Table, groups: Vec<Vec<u32>>, stopped: Option<Stop>) -> Result<Found> {
    if let Some(Stop::Failed(e)) = stopped {
        return Err(e);
    }
    let spans = Spans::new(table);
    let labels: Vec<_> = groups.iter().map(|members| spans.span(members)).collect();
    let mut group_of = vec![0u32; table.len()];
    for (number, members) in groups.iter().enumerate() {
        members.iter().for_each(|c| group_of[*c as usize] = number as u32);
    }
    let columns = table.columns().iter().enumerate();
    let cells = columns.map(|(i, column)| labels.iter().map(|span| span.label(i, column)).collect());
    let cells = cells.collect();
    let lookups = table.columns().iter().map(|c| c.lookup.as_ref());
    Ok(Found {
        partition: Partition::new(lookups, group_of, cells)?,
        stopped,
    })
}

/// The catalogue entry of the partitioner `adaptive_clustering`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "adaptive_clustering",
        summary: "local recoding: groups grow by information left, each at its lowest common ancestors; greedy",
        params: &[],
        example: "SEARCH USING adaptive_clustering",
        reference: "Song et al., CET 46 (2015), doi:10.3303/CET1546031",
    },
    build: |_| Ok(Box::new(AdaptiveClustering)),
};

#[cfg(test)]
mod tests {
    use super::super::testing::{Toy, column};
    use super::*;
    use crate::method::search::SearchBudget;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Returns a table of two columns with these combinations and their rows. `groups` contains, by
    /// column, the group of each value.
    fn table(groups: [&[&str]; 2], combinations: impl IntoIterator<Item = ((u32, u32), u64)>, k: u64) -> Toy {
        let combinations = combinations.into_iter();
        Toy {
            columns: groups.map(|groups| column(groups, true)).to_vec(),
            combinations: combinations.map(|((a, b), n)| (vec![a, b], vec![n])).collect(),
            k,
            suppressible: 0,
            asks: false,
        }
    }

    /// Returns, for each combination, the labels that the published algorithm releases.
    fn labels(table: &Toy) -> Vec<Vec<String>> {
        let (groups, stopped) = sorted::groups(table, &Context::new(0, SearchBudget::default()));
        let partition = labelled(table, groups, stopped).unwrap().partition;
        let of_group: Vec<_> = table.groups(&partition).into_iter().map(|(labels, _)| labels).collect();
        partition
            .groups()
            .iter()
            .map(|g| of_group[*g as usize].clone())
            .collect()
    }

    /// Ages 5, 9, 8, 12, 19 and zip codes 12000, 14000, 19000, 22000, 24000. Each value is given as
    /// its rank in its column.
    #[test]
    fn the_papers_table_1_becomes_table_3() {
        let (young, old, low, high) = ("5-10", "11-20", "10001-20000", "20001-25000");
        let groups: [&[&str]; 2] = [&[young, young, young, old, old], &[low, low, low, high, high]];
        let rows = [(0, 0), (2, 1), (1, 2), (3, 3), (4, 4)].map(|codes| (codes, 1));
        let expected = [[young, low], [young, low], [young, low], [old, high], [old, high]];
        assert_eq!(labels(&table(groups, rows, 2)), expected);
    }

    /// Runs the published algorithm row by row, in fractions over 60. The leaf counts 2, 3, 4, 5
    /// and 6 of the hierarchies divide 60.
    fn by_definition(table: &Toy) -> Vec<Vec<String>> {
        let mut rows: Vec<usize> = (0..table.len()).collect();
        rows.sort_by_key(|i| &table.combinations[*i].0);
        let k = table.k as usize;
        let ancestor = |rows: &[usize], c: usize| {
            let lookup = &table.columns[c].lookup;
            let code = |i: &usize| table.code(c, *i as u32) as usize;
            let is_common = |level: &u8| {
                let codes = &lookup.level(*level).codes;
                rows.iter().all(|i| codes[code(i)] == codes[code(&rows[0])])
            };
            let level = (0..=lookup.top()).find(is_common).unwrap();
            let label = lookup.level(level).codes[code(&rows[0])];
            (lookup.level(level).leaves[label as usize], level, label)
        };
        // The ILeft of a tuple in a group, up to a constant. For each column it is 60, minus 60
        // (leaves - 1) / all.
        let left = |rows: &[usize]| -> i64 {
            (0..2)
                .map(|c| {
                    let all = table.columns[c].lookup.total_leaves() as i64;
                    60 - (ancestor(rows, c).0 as i64 - 1) * (60 / all)
                })
                .sum()
        };
        let sum = |rows: &[usize]| rows.len() as i64 * left(rows);
        let mut groups: Vec<Vec<usize>> = vec![];
        let mut at = 0;
        while at < rows.len() {
            let mut end = (at + k).min(rows.len());
            if end - at < k && !groups.is_empty() {
                groups.last_mut().unwrap().extend(&rows[at..end]);
                break;
            }
            while end < rows.len() {
                let tail = rows.len() - end < k;
                let gain = || sum(&rows[at..end + 1]) - sum(&rows[at..end]);
                if !tail && gain() < left(&rows[end..end + k]) {
                    break;
                }
                end += 1;
            }
            groups.push(rows[at..end].to_vec());
            at = end;
        }
        let mut labels = BTreeMap::new();
        for group in &groups {
            let text = |c: usize| {
                let (_, level, label) = ancestor(group, c);
                let texts = &table.columns[c].lookup.level(level).labels;
                let texts = arrow::compute::cast(texts, &arrow::datatypes::DataType::Utf8).unwrap();
                arrow::array::AsArray::as_string::<i32>(&texts)
                    .value(label as usize)
                    .to_string()
            };
            group
                .iter()
                .for_each(|i| drop(labels.insert(*i, vec![text(0), text(1)])));
        }
        labels.into_values().collect()
    }

    const NAMES: [&str; 3] = ["p", "q", "r"];

    proptest! {
        #[test]
        fn distinct_rows_are_grouped_as_defined(
            k in 1u64..5,
            cells in prop::collection::btree_set((0u32..6, 0u32..5), 1..25),
            first in prop::collection::vec(0usize..3, 6),
            second in prop::collection::vec(0usize..2, 5),
        ) {
            let groups = |of: &[usize]| -> Vec<&str> { of.iter().map(|g| NAMES[*g]).collect() };
            let table = table([&groups(&first), &groups(&second)], cells.into_iter().map(|cell| (cell, 1)), k);
            prop_assert_eq!(labels(&table), by_definition(&table));
        }

        /// A tail that does not satisfy the models joins the last group if the table checks each
        /// group. The label of that group then also covers the tail.
        #[test]
        fn labels_cover_their_combinations(
            k in 1u64..6,
            rows in prop::collection::btree_map((0u32..6, 0u32..5), 1u64..4, 1..25),
            first in prop::collection::vec(0usize..3, 6),
            second in prop::collection::vec(0usize..2, 5),
            asks: bool,
        ) {
            let names = |of: &[usize]| -> Vec<&str> { of.iter().map(|g| NAMES[*g]).collect() };
            let of_column = [names(&first), names(&second)];
            let all: u64 = rows.values().sum();
            let table = Toy { asks, ..table([&of_column[0], &of_column[1]], rows.clone(), k) };
            let mut sizes: BTreeMap<Vec<String>, u64> = BTreeMap::new();
            for (((a, b), n), labels) in rows.iter().zip(labels(&table)) {
                for (code, (label, groups)) in [a, b].into_iter().zip(labels.iter().zip(&of_column)) {
                    let covering = [code.to_string(), groups[*code as usize].to_string(), "*".to_string()];
                    prop_assert!(covering.contains(label), "{label} for {code}");
                }
                *sizes.entry(labels).or_default() += n;
            }
            prop_assert!(sizes.values().all(|n| *n >= k.min(all)));
        }

        /// Without limits per row, groups satisfy the models too, and local search never raises the
        /// loss.
        #[test]
        fn grown_groups_hold_and_moves_pay(
            k in 1u64..6,
            rows in prop::collection::btree_map((0u32..6, 0u32..5), 1u64..4, 1..25),
            asks: bool,
        ) {
            let table = Toy { asks, ..table([&["p", "p", "q", "q", "r", "r"], &["p", "q", "q", "p", "p"]], rows.clone(), k) };
            let (groups, stopped) = nearest::groups(&table, &Context::new(0, SearchBudget::default()));
            let grown = labelled(&table, groups, stopped).unwrap().partition;
            let moved = table.run(&AdaptiveClustering);
            prop_assert!(table.loss(&moved) <= table.loss(&grown) + 1e-9);
            if rows.values().sum::<u64>() >= k {
                prop_assert!(table.groups(&moved).iter().all(|(_, rows)| *rows >= k));
            }
        }

        #[test]
        fn every_group_has_k_rows_where_the_table_has(k in 1u64..8, rows in prop::collection::vec(1u64..6, 1..30)) {
            let groups: Vec<&str> = (0..30).map(|i| NAMES[i % 3]).collect();
            let combinations = rows.iter().zip(0u32..).map(|(n, i)| ((i, i * 7 % 30), *n));
            let table = table([&groups, &groups], combinations, k);
            let mut sizes: BTreeMap<Vec<String>, u64> = BTreeMap::new();
            labels(&table).into_iter().zip(&rows).for_each(|(label, n)| *sizes.entry(label).or_default() += n);
            let least = sizes.values().min().unwrap();
            prop_assert!(*least >= k.min(rows.iter().sum()));
        }
    }
}
