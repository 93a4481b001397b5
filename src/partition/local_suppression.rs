//! Local suppression: single cells become `*`, and all others keep their values.
//!
//! No value is generalized: a cell has its value (at the lowest level that LEVELS allows) or the single label at the top
//! of its hierarchy. The algorithm looks for few suppressed cells, where WEIGHT says how many cells of another column a
//! cell is worth.
//!
//! 1. **Walk.** The sets of columns are walked in the order of ascending weight. At each set the rows that are left are
//!    grouped by all other columns. A group that holds all models is released with `*` in the columns of the set, and its
//!    rows are taken away. So each group is released at the set of least weight where it holds among what is left.
//!    With many columns the walk ends when a fixed amount of work finds no group.
//! 2. **What is left** holds in no group by itself. Each combination joins the released group where the fewest cells
//!    more are suppressed, those of the group included. A combination that can join no group, or whose cells weigh less
//!    than what that would take, is suppressed as a row if that is allowed. Otherwise all rows that are left join groups
//!    until they hold.
//!
//! **Guarantee.** Every class holds all class-level models: a class is all rows with equal released labels, where `*`
//! equals `*` only. This is stricter than counting a missing value as equal to any value, as sdcMicro's localSuppression
//! does: there, a row with `*` can be one of k with rows that a reader can tell from it.
//! **Interpretation**: as there, the search is greedy. The least number of cells is NP-hard to find (Meyerson and
//! Williams, On the complexity of optimal k-anonymity, PODS 2004, doi:10.1145/1055558.1055591).
//!
//! In a column that LEVELS ends below the top of its hierarchy, a cell gets the label of the highest of these levels in
//! place of `*`, and rows with other labels of that level are never in one group. A column that LEVELS keeps at one level
//! is never suppressed.
//!
//! Example: `SEARCH USING local_suppression`.
//!
//! Templ, Kowarik and Meindl, Statistical disclosure control for micro-data using the R package sdcMicro, Journal of
//! Statistical Software 67(4), 2015, section 3.2, doi:10.18637/jss.v067.i04.

use super::groups::Partition;
use super::partitioner::{Build, Found, Partitioner};
use super::table::Table;
use crate::catalogue::{Entry, Info};
use crate::error::Result;
use crate::hierarchy::Label;
use crate::search::{Context, Stop};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

#[derive(Debug, Clone, Copy)]
struct LocalSuppression;

/// The number of cells that may be compared since the last released group. It bounds the walk over many columns.
const PATIENCE: u64 = 1 << 29;

/// Columns whose cells are suppressed, as positions among the columns, ascending.
type Columns = Vec<usize>;

/// Rows that are released with the same labels.
#[derive(Debug, Clone)]
struct Group {
    members: Vec<u32>,
    rows: u64,
    /// For each column the code at the lowest level, or `None` if the cell is suppressed.
    cells: Vec<Option<u32>>,
}

/// The combinations of a table with the weights of their cells.
struct Cells<'a> {
    table: &'a dyn Table,
    /// The codes at the lowest level, combination by combination.
    codes: Vec<u32>,
    /// The weight of a cell by column; infinite if the column may not be suppressed.
    weights: Vec<f64>,
}

impl<'a> Cells<'a> {
    fn new(table: &'a dyn Table) -> Self {
        let columns = table.columns();
        let codes = |combination: u32| {
            let codes = columns.iter().enumerate();
            codes.map(move |(i, c)| c.lookup.level(c.bottom).codes[table.code(i, combination) as usize])
        };
        Self {
            codes: (0..table.len() as u32).flat_map(codes).collect(),
            weights: columns
                .iter()
                .map(|c| if c.bottom < c.top { c.weight } else { f64::INFINITY })
                .collect(),
            table,
        }
    }

    fn codes(&self, combination: u32) -> &[u32] {
        let width = self.weights.len();
        &self.codes[combination as usize * width..(combination as usize + 1) * width]
    }

    /// Returns the weight of the suppressed cells of one row.
    fn weight(&self, cells: &[Option<u32>]) -> f64 {
        let cells = cells.iter().zip(&self.weights);
        cells.filter(|(cell, _)| cell.is_none()).map(|(_, weight)| weight).sum()
    }

    fn holds(&self, group: &Group) -> bool {
        let table = self.table;
        self.weight(&group.cells).is_finite()
            && group.rows >= table.least_rows()
            && (table.rows_suffice() || table.holds(&group.members))
    }

    fn rows(&self, members: &[u32]) -> u64 {
        members.iter().map(|c| self.table.rows(*c)).sum()
    }

    /// Returns the cells that two groups have alike.
    fn alike(one: &[Option<u32>], other: &[Option<u32>]) -> Vec<Option<u32>> {
        let pairs = one.iter().zip(other);
        pairs.map(|(a, b)| a.filter(|_| a == b)).collect()
    }

    /// Returns the weight of the cells that are suppressed more if two groups are released as one.
    fn cost_of_uniting(&self, one: &Group, other: &Group) -> f64 {
        let united = self.weight(&Self::alike(&one.cells, &other.cells));
        let more = |group: &Group| group.rows as f64 * (united - self.weight(&group.cells));
        more(one) + more(other)
    }

    fn united(&self, one: &Group, other: &Group) -> Group {
        Group {
            members: [one.members.as_slice(), &other.members].concat(),
            rows: one.rows + other.rows,
            cells: Self::alike(&one.cells, &other.cells),
        }
    }

    /// Returns the combination as a group whose cells all have their values.
    fn single(&self, combination: u32) -> Group {
        Group {
            members: vec![combination],
            rows: self.table.rows(combination),
            cells: self.codes(combination).iter().copied().map(Some).collect(),
        }
    }

    /// Takes the groups that hold with the columns of `suppressed` out of `left`.
    fn released(&self, suppressed: &Columns, left: &mut Vec<u32>) -> Vec<Group> {
        let kept: Columns = (0..self.weights.len()).filter(|i| !suppressed.contains(i)).collect();
        let values = |combination: u32| {
            let codes = self.codes(combination);
            kept.iter().map(|i| codes[*i])
        };
        left.sort_unstable_by(|a, b| values(*a).cmp(values(*b)).then(a.cmp(b)));
        let (mut released, mut remain) = (vec![], vec![]);
        for members in left.chunk_by(|a, b| values(*a).eq(values(*b))) {
            let rows = self.rows(members);
            if rows < self.table.least_rows() {
                remain.extend_from_slice(members);
                continue;
            }
            let mut cells = self.single(members[0]).cells;
            suppressed.iter().for_each(|i| cells[*i] = None);
            let group = Group {
                members: members.to_vec(),
                rows,
                cells,
            };
            match self.holds(&group) {
                true => released.push(group),
                false => remain.extend(group.members),
            }
        }
        *left = remain;
        released
    }
}

/// A set of columns on the way.
#[derive(Debug, PartialEq)]
struct Step {
    weight: f64,
    columns: Columns,
}

impl Eq for Step {}

impl Ord for Step {
    /// The greatest step of a heap is the one of least weight. Ties: fewer columns, then the first named.
    fn cmp(&self, other: &Self) -> Ordering {
        let ties = || (other.columns.len(), &other.columns).cmp(&(self.columns.len(), &self.columns));
        other.weight.total_cmp(&self.weight).then_with(ties)
    }
}

impl PartialOrd for Step {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Every set of columns with a finite weight, in the order of ascending weight. A set is reached from the set without its
/// last column, so the heap holds no more than what was reached.
struct Ascent {
    weights: Vec<f64>,
    reached: BinaryHeap<Step>,
}

impl Ascent {
    fn new(weights: &[f64]) -> Self {
        let none = Step {
            weight: 0.0,
            columns: vec![],
        };
        Self {
            weights: weights.to_vec(),
            reached: [none].into(),
        }
    }
}

impl Iterator for Ascent {
    type Item = Columns;

    fn next(&mut self) -> Option<Columns> {
        let Step { columns, .. } = self.reached.pop()?;
        for column in columns.last().map_or(0, |last| last + 1)..self.weights.len() {
            let longer = [&columns[..], &[column]].concat();
            // The sum in the order of columns: the same for the same set.
            let weight: f64 = longer.iter().map(|c| self.weights[*c]).sum();
            if weight.is_finite() {
                self.reached.push(Step {
                    weight,
                    columns: longer,
                });
            }
        }
        Some(columns)
    }
}

/// Walks the sets of columns. Returns the released groups, the combinations in none, and why the walk ended early.
fn walk(cells: &Cells, context: &Context) -> (Vec<Group>, Vec<u32>, Option<Stop>) {
    let mut left: Vec<u32> = (0..cells.table.len() as u32).collect();
    let (mut groups, mut nodes, mut patience) = (vec![], 0, PATIENCE);
    for columns in Ascent::new(&cells.weights) {
        nodes += 1;
        if let Err(stop) = context.check(nodes) {
            return (groups, left, Some(stop));
        }
        let work = (left.len() * cells.weights.len()) as u64;
        if left.is_empty() || cells.rows(&left) < cells.table.least_rows() || patience < work {
            break;
        }
        let released = cells.released(&columns, &mut left);
        patience = if released.is_empty() { patience - work } else { PATIENCE };
        groups.extend(released);
    }
    left.sort_unstable();
    (groups, left, None)
}

/// Returns the group that a combination joins with the fewest cells suppressed more, if that group then holds: the cost,
/// its position, and the two as one.
fn home(cells: &Cells, groups: &[Group], single: &Group) -> Option<(f64, usize, Group)> {
    let costs = groups.iter().map(|group| cells.cost_of_uniting(group, single)).zip(0..);
    let (cost, home) = costs.min_by(|a: &(f64, usize), b| a.0.total_cmp(&b.0))?;
    let united = cells.united(&groups[home], single);
    cells.holds(&united).then_some((cost, home, united))
}

/// Places what the walk left: in groups that it widens, or in groups of one combination that are suppressed. The
/// combinations that can join no group come first, because they must be suppressed.
fn place(cells: &Cells, groups: &mut Vec<Group>, left: Vec<u32>) -> Vec<Group> {
    let mut suppressible = cells.table.suppressible();
    let row_weight: f64 = cells.table.columns().iter().map(|c| c.weight).sum();
    let singles = left.into_iter().map(|c| cells.single(c));
    let (joining, alone): (Vec<Group>, Vec<Group>) = singles.partition(|single| home(cells, groups, single).is_some());
    let (mut suppressed, mut homeless): (Vec<Group>, Vec<Group>) = (vec![], vec![]);
    for single in alone.into_iter().chain(joining) {
        match home(cells, groups, &single) {
            Some((cost, home, united)) if single.rows > suppressible || cost <= single.rows as f64 * row_weight => {
                groups[home] = united;
            }
            _ if single.rows <= suppressible => {
                suppressible -= single.rows;
                suppressed.push(single);
            }
            _ => homeless.push(single),
        }
    }
    let Some(mut together) = homeless.into_iter().reduce(|a, b| cells.united(&a, &b)) else {
        return suppressed;
    };
    while !cells.holds(&together) {
        let costs = groups
            .iter()
            .map(|group| cells.cost_of_uniting(&together, group))
            .zip(0..);
        let nearest = costs.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, nearest)| nearest);
        let next = match nearest {
            Some(nearest) => groups.remove(nearest),
            None => match suppressed.pop() {
                Some(single) => single,
                // Not even all rows together hold.
                None => return together.members.into_iter().map(|c| cells.single(c)).collect(),
            },
        };
        together = cells.united(&together, &next);
    }
    groups.push(together);
    suppressed
}

impl Partitioner for LocalSuppression {
    fn run(&self, table: &dyn Table, context: &mut Context) -> Result<Found> {
        let cells = Cells::new(table);
        let (mut groups, left, stopped) = walk(&cells, context);
        if let Some(Stop::Failed(e)) = stopped {
            return Err(e);
        }
        let suppressed = place(&cells, &mut groups, left);
        groups.extend(suppressed);
        let mut of_combination = vec![0u32; table.len()];
        for (number, group) in groups.iter().enumerate() {
            group
                .members
                .iter()
                .for_each(|c| of_combination[*c as usize] = number as u32);
        }
        let columns = table.columns().iter().enumerate();
        let labels = columns.map(|(i, column)| {
            let label = |group: &Group| {
                let level = if group.cells[i].is_some() {
                    column.bottom
                } else {
                    column.top
                };
                let member = group.members.first().map_or(0, |member| table.code(i, *member));
                Label::at(&column.lookup, level, member)
            };
            groups.iter().map(label).collect()
        });
        let lookups = table.columns().iter().map(|c| c.lookup.as_ref());
        Ok(Found {
            partition: Partition::new(lookups, of_combination, labels.collect())?,
            stopped,
        })
    }

    fn describe(&self) -> String {
        "suppresses single cells, in the columns of least weight where rows become alike".into()
    }
}

/// The catalogue entry.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "local_suppression",
        summary: "local recoding: single cells become *, all others keep their values; greedy",
        params: &[],
        example: "SEARCH USING local_suppression",
        reference: "Templ, Kowarik and Meindl, JSS 2015, doi:10.18637/jss.v067.i04",
    },
    build: |_| Ok(Box::new(LocalSuppression)),
};

#[cfg(test)]
mod tests {
    use super::super::testing::{Toy, column};
    use super::*;
    use proptest::prelude::*;

    /// The number of suppressed cells of a partition, weighted; a suppressed row counts as all of its cells.
    fn weight(toy: &Toy, partition: &Partition) -> f64 {
        let groups = toy.groups(partition).into_iter();
        let weight = |(labels, rows): (Vec<String>, u64)| {
            let columns = toy.columns.iter().zip(&labels);
            let starred = columns.filter(|(_, label)| rows < toy.k || *label == "*");
            rows as f64 * starred.map(|(column, _)| column.weight).sum::<f64>()
        };
        groups.map(weight).sum()
    }

    /// The least weight of any choice of suppressed columns for each combination, found by trying every one.
    fn least(toy: &Toy) -> f64 {
        let (width, mut best) = (toy.columns.len(), f64::INFINITY);
        let choices = 1u32 << width;
        let mut chosen = vec![0u32; toy.len()];
        loop {
            let mut groups: std::collections::BTreeMap<Vec<Option<u32>>, u64> = Default::default();
            let mut weight = 0.0;
            for (c, mask) in chosen.iter().enumerate() {
                let cells = (0..width).map(|i| Some(toy.combinations[c].0[i]).filter(|_| mask >> i & 1 == 0));
                *groups.entry(cells.collect()).or_default() += toy.rows(c as u32);
                let starred = (0..width).filter(|i| mask >> i & 1 == 1);
                weight += toy.rows(c as u32) as f64 * starred.map(|i| toy.columns[i].weight).sum::<f64>();
            }
            if groups.values().all(|rows| *rows >= toy.k) {
                best = best.min(weight);
            }
            let Some(next) = chosen.iter().position(|mask| mask + 1 < choices) else {
                return best;
            };
            chosen[next] += 1;
            chosen[..next].fill(0);
        }
    }

    proptest! {
        /// Every group holds where all rows together do, no cell has anything but its value or `*`, and no fewer cells are
        /// suppressed than by the best of all choices.
        #[test]
        fn groups_hold_and_cells_are_values_or_stars(
            rows in prop::collection::btree_map((0u32..3, 0u32..3), 1u64..4, 1..6), k in 1u64..6, asks: bool, heavy in 1u8..4
        ) {
            let mut columns = vec![column(&["a", "a", "b"], true), column(&["a", "b", "b"], false)];
            columns[1].weight = f64::from(heavy);
            let combinations = rows.iter().map(|((a, b), n)| (vec![*a, *b], vec![*n])).collect();
            let toy = Toy { columns, combinations, k, suppressible: 0, asks };
            let partition = toy.run(&LocalSuppression);
            for (i, (codes, _)) in toy.combinations.iter().enumerate() {
                let group = partition.groups()[i] as usize;
                for (column, code) in codes.iter().enumerate() {
                    let text = partition.texts(column).value(partition.cells(column)[group] as usize);
                    prop_assert!(text == "*" || text == code.to_string());
                }
            }
            if rows.values().sum::<u64>() >= k {
                prop_assert!(toy.groups(&partition).iter().all(|(_, rows)| *rows >= k));
                prop_assert!(weight(&toy, &partition) >= least(&toy) - 1e-9);
            }
        }

        #[test]
        fn sets_ascend(weights in prop::collection::vec(0u8..4, 1..6)) {
            let weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
            let sets: Vec<Columns> = Ascent::new(&weights).collect();
            let weight = |set: &Columns| set.iter().map(|c| weights[*c]).sum::<f64>();
            prop_assert!(sets.is_sorted_by(|a, b| weight(a) <= weight(b)));
            prop_assert_eq!(sets.into_iter().collect::<std::collections::BTreeSet<_>>().len(), 1 << weights.len());
        }
    }

    fn shown(toy: &Toy) -> Vec<(String, u64)> {
        let groups = toy.groups(&toy.run(&LocalSuppression)).into_iter();
        groups.map(|(labels, rows)| (labels.join(" "), rows)).collect()
    }

    /// (0, 0) holds by itself. (1, 1) and (1, 2) hold without the second column, (1, 1) and (0, 1) without the first.
    fn toy(heavy: f64, suppressible: u64) -> Toy {
        let mut columns = vec![column(&["a", "b"], false), column(&["a", "b", "b"], false)];
        columns[1].weight = heavy;
        let combinations = [((0, 0), 2), ((0, 1), 1), ((1, 1), 1), ((1, 2), 1)];
        Toy {
            columns,
            combinations: combinations
                .iter()
                .map(|((a, b), n)| (vec![*a, *b], vec![*n]))
                .collect(),
            k: 2,
            suppressible,
            asks: false,
        }
    }

    #[test]
    fn the_lighter_column_is_suppressed() {
        let texts = |toy| {
            shown(&toy)
                .into_iter()
                .map(|(t, n)| format!("{t}: {n}"))
                .collect::<Vec<_>>()
        };
        // Without the first column (0, 1) and (1, 1) are alike; (1, 2) joins them, or is suppressed.
        assert_eq!(texts(toy(3.0, 0)), ["* *: 3", "0 0: 2"]);
        assert_eq!(texts(toy(3.0, 1)), ["* 1: 2", "0 0: 2", "1 2: 1"]);
        // Without the second column (1, 1) and (1, 2) are alike; (0, 1) joins (0, 0).
        assert_eq!(texts(toy(0.5, 0)), ["0 *: 3", "1 *: 2"]);
    }

    #[test]
    fn a_column_below_the_top_keeps_its_values() {
        let mut toy = toy(1.0, 5);
        toy.columns[0].top = 1;
        let groups = shown(&toy);
        assert!(groups.iter().all(|(text, _)| !text.starts_with('*')), "{groups:?}");
    }
}
