//! Adaptive clustering: sorts rows by their quasi-identifiers, and cuts them into groups where that keeps information.
//!
//! The combinations are sorted by the quasi-identifiers in the order in which they are named. A group starts with the
//! next rows, as few as may be released (k rows for k-anonymity). The rows that come next join the group if the
//! information left is then at least what they would keep at the head of the following group. **Interpretation** of the
//! paper's line 6: join when [sum of ILeft over the group with them] - [the same without] >= [sum of their ILeft in the
//! group made of them and the rows after, up to k]. A tail of fewer than k rows joins the last group. Each group is
//! generalized to the lowest common ancestors in the hierarchies of its columns (local recoding). ILeft is compared as
//! exact integers: a common multiple of the hierarchies' leaves stands for 1. WEIGHT multiplies what is lost in a
//! column. The sensitive attribute is one more dimension in the paper; it is not generalized here and cancels out.
//!
//! **Interpretation**: rows that are equal in every quasi-identifier join or leave a group together, because the
//! algorithm divides the set of distinct combinations. If all combinations are different, this is the paper's algorithm
//! row by row.
//!
//! With `personal_privacy` in force, the sensitive values of each class are then generalized until every row's own limit
//! holds (`crate::recode::personal`).
//!
//! Example: `SEARCH USING adaptive_clustering`.
//!
//! Song et al., The k-anonymization method satisfying personalized privacy preservation, CET 46 (2015),
//! doi:10.3303/CET1546031, section 6.

use super::groups::Partition;
use super::partitioner::{Build, Found, Partitioner};
use super::table::{Column, Table};
use crate::arithmetic::common_multiple;
use crate::catalogue::{Entry, Info};
use crate::error::Result;
use crate::hierarchy::Label;
use crate::search::{Context, Stop};

/// The adaptive clustering algorithm.
#[derive(Debug, Clone, Copy)]
struct AdaptiveClustering;

impl Partitioner for AdaptiveClustering {
    fn run(&self, table: &dyn Table, context: &mut Context) -> Result<Found> {
        let units = units(table.columns());
        let mut run = Run {
            table,
            units: &units,
            order: in_order(table),
        };
        let (mut groups, mut spans): (Vec<u32>, Vec<Span>) = (vec![0; table.len()], vec![]);
        let (mut at, mut stopped) = (0, None);
        while at < run.order.len() {
            if stopped.is_none() {
                stopped = context.check(0).err();
            }
            let end = if stopped.is_some() {
                run.order.len()
            } else {
                run.group(at)
            };
            let members = &run.order[at..end];
            let span = run.span(members);
            let is_tail = end == run.order.len() && !table.holds(members);
            match spans.last_mut().filter(|_| is_tail) {
                Some(last) => last.merge(&span, table.columns()),
                None => spans.push(span),
            }
            let number = spans.len() as u32 - 1;
            members.iter().for_each(|c| groups[*c as usize] = number);
            at = end;
        }
        run.order = vec![];
        if let Some(Stop::Failed(e)) = stopped {
            return Err(e);
        }
        let label = |column: usize| move |span: &Span| (span.levels[column], span.codes[column]);
        let cells = table.columns().iter().enumerate().map(|(i, column)| {
            let labels = spans.iter().map(label(i));
            labels
                .map(|(level, code)| Label::at(&column.lookup, level, code))
                .collect()
        });
        let cells = cells.collect();
        let lookups = table.columns().iter().map(|c| c.lookup.as_ref());
        Ok(Found {
            partition: Partition::new(lookups, groups, cells)?,
            stopped,
        })
    }

    fn describe(&self) -> String {
        "sorts by the quasi-identifiers and starts a new group where its first rows keep more information there".into()
    }
}

/// Returns the combinations sorted by the values of the columns, the first named column first.
fn in_order(table: &dyn Table) -> Vec<u32> {
    let mut order: Vec<u32> = (0..table.len() as u32).collect();
    let columns = table.columns().len();
    order.sort_unstable_by(|a, b| {
        let codes = (0..columns).map(|c| table.code(c, *a).cmp(&table.code(c, *b)));
        codes.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    order
}

/// The greatest common multiple of leaves for which losses are exact; beyond it they are rounded.
const EXACT: u64 = 1 << 40;

/// Returns the loss per additional leaf under a label, by column: a common multiple of the columns' leaves, divided by
/// the leaves of the column. The loss is rounded if the multiple would be too large or columns have weights.
fn units(columns: &[Column]) -> Vec<u128> {
    let leaves = || columns.iter().map(|c| c.lookup.total_leaves().max(1));
    let multiple = common_multiple(leaves(), EXACT);
    let one = multiple.unwrap_or(EXACT);
    let unit = |(column, leaves): (&Column, u64)| match column.weight {
        1.0 => u128::from(one + leaves / 2) / u128::from(leaves),
        weight => (weight * one as f64 / leaves as f64).round() as u128,
    };
    match multiple.filter(|_| columns.iter().all(|c| c.weight == 1.0)) {
        Some(one) => leaves().map(|leaves| u128::from(one / leaves)).collect(),
        None => columns.iter().zip(leaves()).map(unit).collect(),
    }
}

/// The lowest common ancestors of some combinations, and their rows.
#[derive(Debug, Clone)]
struct Span {
    levels: Vec<u8>,
    codes: Vec<u32>,
    rows: u64,
}

impl Span {
    /// Adds the combinations of `other`: the lowest common ancestor of two groups is at least as high as that of either
    /// group.
    fn merge(&mut self, other: &Self, columns: &[Column]) {
        for (i, column) in columns.iter().enumerate() {
            let level = self.levels[i].max(other.levels[i]);
            self.levels[i] = common_level(column, level, self.codes[i], other.codes[i]);
        }
        self.rows += other.rows;
    }
}

/// Returns the lowest level, from `level` on, at which two values have the same label.
fn common_level(column: &Column, mut level: u8, one: u32, other: u32) -> u8 {
    let lookup = &column.lookup;
    let differ = |level: u8| {
        let codes = &lookup.level(level).codes;
        codes[one as usize] != codes[other as usize]
    };
    while level < lookup.top() && differ(level) {
        level += 1;
    }
    level
}

struct Run<'a> {
    table: &'a dyn Table,
    units: &'a [u128],
    order: Vec<u32>,
}

impl Run<'_> {
    /// Returns the span of one combination, whose lowest common ancestor is itself.
    fn single(&self, combination: u32) -> Span {
        let columns = self.table.columns();
        Span {
            levels: columns.iter().map(|c| c.bottom).collect(),
            codes: (0..columns.len()).map(|c| self.table.code(c, combination)).collect(),
            rows: self.table.rows(combination),
        }
    }

    fn span(&self, members: &[u32]) -> Span {
        let columns = self.table.columns();
        let mut members = members.iter().map(|c| self.single(*c));
        let mut all = members.next().unwrap_or_else(|| Span {
            levels: vec![0; columns.len()],
            codes: vec![0; columns.len()],
            rows: 0,
        });
        members.for_each(|one| all.merge(&one, columns));
        all
    }

    /// Returns the loss of each row of a span.
    fn loss(&self, span: &Span) -> u128 {
        let columns = self.table.columns().iter().zip(self.units).enumerate();
        let loss = |(i, (column, unit)): (usize, (&Column, &u128))| {
            let level = column.lookup.level(span.levels[i]);
            let leaves = level.leaves[level.codes[span.codes[i] as usize] as usize];
            u128::from(leaves.saturating_sub(1)) * unit
        };
        columns.map(loss).sum()
    }

    /// Returns the end of the group that starts at `start`.
    fn group(&self, start: usize) -> usize {
        let columns = self.table.columns();
        let mut group = self.single(self.order[start]);
        let mut end = start + 1;
        while end < self.order.len()
            && !(group.rows >= self.table.least_rows() && self.table.holds(&self.order[start..end]))
        {
            group.merge(&self.single(self.order[end]), columns);
            end += 1;
        }
        while let Some(next) = self.following(end) {
            let joining = self.single(self.order[end]);
            let mut larger = group.clone();
            larger.merge(&joining, columns);
            // Information left is what is not lost, so "a sum at least as large" becomes "a loss at most as large".
            let lost_more = u128::from(larger.rows) * self.loss(&larger) - u128::from(group.rows) * self.loss(&group);
            if lost_more > u128::from(joining.rows) * self.loss(&next) {
                return end;
            }
            group = larger;
            end += 1;
        }
        self.order.len()
    }

    /// Returns the span of the fewest combinations from `start` on that have enough rows for a group; `None` if too few
    /// rows are left.
    fn following(&self, start: usize) -> Option<Span> {
        let columns = self.table.columns();
        let mut left = self.order[start..].iter();
        let mut span = self.single(*left.next()?);
        while span.rows < self.table.least_rows() {
            span.merge(&self.single(*left.next()?), columns);
        }
        Some(span)
    }
}

/// The catalogue entry.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "adaptive_clustering",
        summary: "local recoding: sorted rows in greedy groups by information left, each at its lowest common ancestors",
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
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// A table over two columns, given by the group of each value, with these combinations and their rows.
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

    /// Returns the released labels of every combination.
    fn labels(table: &Toy) -> Vec<Vec<String>> {
        let partition = table.run(&AdaptiveClustering);
        let of_group: Vec<_> = table.groups(&partition).into_iter().map(|(labels, _)| labels).collect();
        partition
            .groups()
            .iter()
            .map(|g| of_group[*g as usize].clone())
            .collect()
    }

    /// Ages 5, 9, 8, 12, 19 with zip codes 12000, 14000, 19000, 22000, 24000, each as its rank in its column.
    #[test]
    fn the_papers_table_1_becomes_table_3() {
        let (young, old, low, high) = ("5-10", "11-20", "10001-20000", "20001-25000");
        let groups: [&[&str]; 2] = [&[young, young, young, old, old], &[low, low, low, high, high]];
        let rows = [(0, 0), (2, 1), (1, 2), (3, 3), (4, 4)].map(|codes| (codes, 1));
        let expected = [[young, low], [young, low], [young, low], [old, high], [old, high]];
        assert_eq!(labels(&table(groups, rows, 2)), expected);
    }

    /// The algorithm row by row as in definitions.md, in fractions over 60, which hierarchies of 2, 3, 4, 5 or 6 leaves
    /// divide.
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
        // ILeft of a tuple in a group, up to a constant: 60 for each column, minus 60 (leaves - 1) / all.
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

        /// If the table is asked group by group, a tail that does not hold joins the last group, whose label then
        /// covers both.
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
