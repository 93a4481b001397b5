//! The division of one group: the choice of the column, the cut or the division into children, and
//! the label.

use super::options::{Mondrian, Split};
use crate::method::hierarchy::Label;
use crate::method::partition::table::{Column, Table};
use arrow::array::Array;
use std::ops::Range;

/// The maximum number of cuts tried per column if the models require more than a minimum number of
/// rows.
pub(super) const CUTS: usize = 64;

/// The state of one run: each group is a range of `combinations`.
pub(super) struct MondrianRun<'a> {
    mondrian: &'a Mondrian,
    table: &'a dyn Table,
    /// For each column: the ground code of each combination.
    codes: Vec<Vec<u32>>,
    /// The number of rows of each combination.
    rows: Vec<u64>,
    combinations: Vec<u32>,
    /// A buffer for the keys and combinations of a group during a sort.
    sorted: Vec<u64>,
}

/// The values of a group in one column, with their label and normalized width.
struct Span {
    low: u32,
    high: u32,
    label: Label,
    width: f64,
}

impl<'a> MondrianRun<'a> {
    /// Returns a run that starts with one group of all combinations.
    pub(super) fn new(mondrian: &'a Mondrian, table: &'a dyn Table) -> Self {
        let all = 0..table.len() as u32;
        let codes = |column| all.clone().map(|c| table.code(column, c)).collect();
        Self {
            mondrian,
            table,
            codes: (0..table.columns().len()).map(codes).collect(),
            rows: all.clone().map(|c| table.rows(c)).collect(),
            combinations: all.clone().collect(),
            sorted: vec![],
        }
    }

    pub(super) fn combinations(&self, group: Range<usize>) -> &[u32] {
        &self.combinations[group]
    }

    fn column(&self, column: usize) -> &Column {
        &self.table.columns()[column]
    }

    fn by_range(&self, column: usize) -> bool {
        self.mondrian.ranges.are_of(self.column(column))
    }

    fn rows(&self, group: Range<usize>) -> u64 {
        self.combinations[group].iter().map(|c| self.rows[*c as usize]).sum()
    }

    fn codes(&self, column: usize, group: Range<usize>) -> impl Iterator<Item = u32> + '_ {
        let codes = &self.codes[column];
        self.combinations[group].iter().map(|c| codes[*c as usize])
    }

    fn label(&self, column: usize, group: Range<usize>) -> Label {
        let Column { lookup, bottom, .. } = self.column(column);
        if !self.by_range(column) {
            return Label::ancestor(lookup, *bottom, self.codes(column, group));
        }
        let (low, high) = least_and_greatest(self.codes(column, group));
        Label::range(lookup, low, high)
    }

    /// Returns the label of a final group in the release.
    pub(super) fn released(&self, column: usize, group: Range<usize>) -> Label {
        match self.label(column, group) {
            Label::Range { low, high } if !self.mondrian.ranges.exact => {
                Label::rounded(&self.column(column).lookup, low, high)
            }
            label => label,
        }
    }

    fn span(&self, column: usize, group: Range<usize>) -> Span {
        let Column { lookup, weight, .. } = self.column(column);
        let (low, high) = least_and_greatest(self.codes(column, group.clone()));
        let label = self.label(column, group);
        let width = match label {
            Label::Range { .. } | Label::Rounded { .. } => {
                let values = lookup.values();
                let last = (values.len() - 1).saturating_sub(usize::from(values.is_null(values.len() - 1)));
                let width = |low, high| {
                    let (least, greatest) = Label::Range { low, high }.extent(lookup).unwrap_or_default();
                    greatest - least
                };
                // A column with a single value has width 0.
                Some(width(low, high) / width(0, last as u32))
                    .filter(|w| w.is_finite())
                    .unwrap_or(0.0)
            }
            Label::Level { .. } if self.by_range(column) => f64::from(u8::from(low != high)),
            Label::Level { .. } => {
                let leaves = lookup.total_leaves().saturating_sub(1).max(1);
                label.leaves(lookup).saturating_sub(1) as f64 / leaves as f64
            }
        };
        Span {
            low,
            high,
            label,
            width: width * weight,
        }
    }

    /// Divides a group. Returns its parts, or `None` if no column divides the group. Reorders the
    /// combinations so that those of each part are adjacent.
    pub(super) fn divide(&mut self, group: Range<usize>) -> Option<Vec<Range<usize>>> {
        let rows = self.rows(group.clone());
        if group.len() < 2 || rows < self.table.least_rows().saturating_mul(2) {
            return None;
        }
        let spans: Vec<Span> = (0..self.table.columns().len())
            .map(|i| self.span(i, group.clone()))
            .collect();
        let mut columns: Vec<usize> = (0..spans.len()).filter(|i| spans[*i].low != spans[*i].high).collect();
        match self.mondrian.split {
            Split::Widest => columns.sort_by(|a, b| spans[*b].width.total_cmp(&spans[*a].width)),
            Split::MostDistinct => columns.sort_by_cached_key(|i| std::cmp::Reverse(self.distinct(*i, group.clone()))),
            Split::Loss | Split::First => {}
        }
        let divided = match self.mondrian.split {
            Split::Loss => self.least_loss(&columns, group.clone(), rows, &spans),
            _ => columns
                .iter()
                .find_map(|column| self.divide_along(*column, group.clone(), rows, spans[*column].label)),
        };
        if divided.is_some() || !self.mondrian.relaxed {
            return divided;
        }
        columns.retain(|column| self.by_range(*column));
        columns
            .into_iter()
            .find_map(|column| self.cut(column, group.clone(), rows, false))
    }

    /// Divides a group along one column. Returns `None` if the column does not divide the group.
    fn divide_along(
        &mut self,
        column: usize,
        group: Range<usize>,
        rows: u64,
        label: Label,
    ) -> Option<Vec<Range<usize>>> {
        match self.by_range(column) {
            true => self.cut(column, group, rows, true),
            false => self.children(column, group, label),
        }
    }

    /// Divides a group along the column whose parts lose least. Ties are broken by the order in
    /// which the columns are named.
    fn least_loss(
        &mut self,
        columns: &[usize],
        group: Range<usize>,
        rows: u64,
        spans: &[Span],
    ) -> Option<Vec<Range<usize>>> {
        let mut best: Option<(f64, Vec<Range<usize>>, Vec<u32>)> = None;
        for column in columns {
            let Some(parts) = self.divide_along(*column, group.clone(), rows, spans[*column].label) else {
                continue;
            };
            let loss = parts.iter().map(|part| self.loss(part.clone())).sum();
            if best.as_ref().is_none_or(|(least, ..)| loss < *least) {
                best = Some((loss, parts, self.combinations[group.clone()].to_vec()));
            }
        }
        let (_, parts, order) = best?;
        self.combinations[group].copy_from_slice(&order);
        Some(parts)
    }

    /// Returns the loss of a group: the sum over its cells of WEIGHT times the number of leaves
    /// under the label minus 1, divided by the number of all leaves of the column minus 1.
    fn loss(&self, group: Range<usize>) -> f64 {
        let columns = self.table.columns().iter().enumerate().map(|(i, column)| {
            let leaves = self.label(i, group.clone()).leaves(&column.lookup);
            let others = column.lookup.total_leaves().saturating_sub(1).max(1);
            column.weight * leaves.saturating_sub(1) as f64 / others as f64
        });
        columns.sum::<f64>() * self.rows(group.clone()) as f64
    }

    fn distinct(&self, column: usize, group: Range<usize>) -> usize {
        let mut codes: Vec<u32> = self.codes(column, group).collect();
        codes.sort_unstable();
        codes.dedup();
        codes.len()
    }

    /// Sorts the combinations of a group by the `key` of their code in a column, then by
    /// combination number.
    fn sort(&mut self, group: Range<usize>, column: usize, key: impl Fn(u32) -> u32) {
        self.sorted.clear();
        let (codes, combinations) = (&self.codes[column], &mut self.combinations[group]);
        let word = |c: &u32| u64::from(key(codes[*c as usize])) << 32 | u64::from(*c);
        self.sorted.extend(combinations.iter().map(word));
        self.sorted.sort_unstable();
        for (combination, sorted) in combinations.iter_mut().zip(&self.sorted) {
            *combination = *sorted as u32;
        }
    }

    /// Cuts a group in two in the order of a column, as close to half of its rows as the models
    /// allow on both sides. If `between_values` is true, equal values stay on the same side.
    /// Returns `None` if no cut is possible.
    fn cut(
        &mut self,
        column: usize,
        group: Range<usize>,
        rows: u64,
        between_values: bool,
    ) -> Option<Vec<Range<usize>>> {
        let table = self.table;
        self.sort(group.clone(), column, |code| code);
        let codes = &self.codes[column];
        let (least, mut below) = (table.least_rows(), 0);
        // Pairs of the distance to the median and the position of the cut.
        let mut cuts: Vec<(u64, usize)> = vec![];
        for at in group.start + 1..group.end {
            let (last, next) = (self.combinations[at - 1] as usize, self.combinations[at] as usize);
            below += self.rows[last];
            let may_cut = !between_values || codes[last] != codes[next];
            if may_cut && below >= least && rows - below >= least {
                cuts.push(((2 * below).abs_diff(rows), at));
            }
        }
        let sides = |at: usize| vec![group.start..at, at..group.end];
        if table.rows_suffice() {
            return cuts.into_iter().min().map(|(_, at)| sides(at));
        }
        cuts.sort_unstable();
        let holds = |part: &Range<usize>| table.holds(&self.combinations[part.clone()]);
        let mut tried = cuts.into_iter().take(CUTS).map(|(_, at)| sides(at));
        tried.find(|sides| sides.iter().all(holds))
    }

    /// Divides a group into the children of `label`. Pools the children that do not satisfy the
    /// models on their own.
    fn children(&mut self, column: usize, group: Range<usize>, label: Label) -> Option<Vec<Range<usize>>> {
        let Label::Level { level, .. } = label else { return None };
        let table = self.table;
        let children = &table.columns()[column].lookup.level(level.checked_sub(1)?).codes;
        self.sort(group.clone(), column, |code| children[code as usize]);
        let codes = &self.codes[column];
        let child = |c: u32| children[codes[c as usize] as usize];
        let mut parts: Vec<Vec<u32>> = vec![];
        for combinations in self.combinations[group.clone()].chunk_by(|a, b| child(*a) == child(*b)) {
            parts.push(combinations.to_vec());
        }
        let rows = |part: &Vec<u32>| part.iter().map(|c| self.rows[*c as usize]).sum::<u64>();
        let holds = |part: &Vec<u32>| rows(part) >= table.least_rows() && (table.rows_suffice() || table.holds(part));
        let (mut standing, pooled): (Vec<Vec<u32>>, Vec<Vec<u32>>) = parts.into_iter().partition(|p| holds(p));
        let mut pool = pooled.concat();
        while !pool.is_empty() && !holds(&pool) {
            let smallest = (0..standing.len()).min_by_key(|i| rows(&standing[*i]))?;
            pool.extend(standing.remove(smallest));
        }
        standing.extend(Some(pool).filter(|p| !p.is_empty()));
        if standing.len() < 2 {
            return None;
        }
        let mut start = group.start;
        let ranges = standing.iter().map(|part| {
            let range = start..start + part.len();
            start = range.end;
            range
        });
        let ranges = ranges.collect();
        for (slot, combination) in self.combinations[group].iter_mut().zip(standing.iter().flatten()) {
            *slot = *combination;
        }
        Some(ranges)
    }
}

fn least_and_greatest(codes: impl Iterator<Item = u32>) -> (u32, u32) {
    codes.fold((u32::MAX, 0), |(low, high), code| (low.min(code), high.max(code)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::mondrian;
    use super::*;
    use crate::method::partition::testing::{Toy, column};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// `split => loss` divides along the column whose parts lose least. The test computes the
        /// loss from the members of the parts.
        #[test]
        fn the_division_of_least_loss_is_taken(
            rows in prop::collection::btree_map((0u32..6, 0u32..4), 1u64..5, 1..20), k in 1u64..6, asks: bool, heavy in 1u8..4
        ) {
            let mut columns = vec![column(&["a"; 6], true), column(&["a", "a", "b", "c"], false)];
            columns[1].weight = f64::from(heavy);
            let combinations = rows.iter().map(|((a, b), n)| (vec![*a, *b], vec![*n])).collect();
            let toy = Toy { columns, combinations, k, suppressible: 0, asks };
            let lost = |run: &MondrianRun, parts: Vec<Range<usize>>| {
                let lost = |part: Range<usize>| {
                    let members: Vec<&(Vec<u32>, Vec<u64>)> = run.combinations(part).iter().map(|c| &toy.combinations[*c as usize]).collect();
                    let [numbers, names] = [0, 1].map(|i| members.iter().map(|m| m.0[i]).collect::<BTreeSet<u32>>());
                    let range = numbers.last().unwrap() - numbers.first().unwrap();
                    let under = if names.len() == 1 { 1 } else if names.iter().all(|n| *n < 2) { 2 } else { 4 };
                    let share = f64::from(range) / 5.0 + f64::from(heavy) * f64::from(under - 1) / 3.0;
                    share * members.iter().map(|m| m.1[0]).sum::<u64>() as f64
                };
                parts.into_iter().map(lost).sum::<f64>()
            };
            let by_loss = Mondrian { split: Split::Loss, ..mondrian(false) };
            let (whole, all) = (0..toy.len(), rows.values().sum::<u64>());
            let mut run = MondrianRun::new(&by_loss, &toy);
            let taken = run.divide(whole.clone()).map(|parts| lost(&run, parts));
            let alone = (0..2).filter_map(|i| {
                let label = run.label(i, whole.clone());
                let varies = toy.combinations.iter().any(|c| c.0[i] != toy.combinations[0].0[i]);
                let parts = run.divide_along(i, whole.clone(), all, label).filter(|_| varies && all >= 2 * toy.least_rows());
                parts.map(|parts| lost(&run, parts))
            });
            match (taken, alone.min_by(f64::total_cmp)) {
                (Some(taken), Some(least)) => prop_assert!((taken - least).abs() < 1e-9, "{} is not {}", taken, least),
                (taken, least) => prop_assert_eq!(taken, least),
            }
            if all >= k {
                prop_assert!(toy.groups(&toy.run(&by_loss)).iter().all(|(_, rows)| *rows >= k));
            }
        }

        /// The relaxed mode divides a group if it has 2k + m - 1 rows or more and an ordered column
        /// varies in it. In both modes, the parts together are the group, each part satisfies the
        /// models, and cuts between values leave the parts in order.
        #[test]
        fn large_groups_are_divided(
            rows in prop::collection::btree_map((0u32..6, 0u32..4), 1u64..5, 1..20), k in 1u64..6, relaxed: bool, asks: bool
        ) {
            let columns = vec![column(&["a"; 6], true), column(&["b"; 4], true)];
            let combinations: Vec<(Vec<u32>, Vec<u64>)> = rows.iter().map(|((a, b), n)| (vec![*a, *b], vec![*n])).collect();
            let (all, most) = (rows.values().sum::<u64>(), rows.values().copied().max().unwrap_or(0));
            let toy = Toy { columns, combinations, k, suppressible: 0, asks };
            let mondrian = mondrian(relaxed);
            let mut run = MondrianRun::new(&mondrian, &toy);
            let whole = 0..toy.len();
            let parts = run.divide(whole.clone());
            let must = if relaxed { all >= 2 * k + most - 1 } else { all > 4 * (k - 1) + most };
            prop_assert!(parts.is_some() || !must || toy.len() == 1);
            let Some(parts) = parts else { return Ok(()) };
            prop_assert_eq!(parts.iter().map(Range::len).sum::<usize>(), toy.len());
            let mut moved = run.combinations.clone();
            moved.sort_unstable();
            prop_assert_eq!(moved, (0..toy.len() as u32).collect::<Vec<u32>>());
            for part in &parts {
                prop_assert!(run.rows(part.clone()) >= k);
            }
            let apart = |column| {
                let spans: Vec<Span> = parts.iter().map(|p| run.span(column, p.clone())).collect();
                spans[0].high < spans[1].low || spans[1].high < spans[0].low
            };
            prop_assert!(relaxed || apart(0) || apart(1));
        }
    }
}
