//! Cell suppression for models of classes, where a class is a group over all columns. The
//! suppressed cells are found by a walk over the sets of columns.

use super::super::table::Table;
use super::problem::CombinationGroup;
use crate::method::search::{Context, Stop};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The maximum number of cells that may be compared without finding a group to release. It bounds
/// the walk if there are many columns.
const PATIENCE: u64 = 1 << 29;

/// The indices of the columns whose cells are suppressed, ascending.
pub(super) type SuppressedColumns = Vec<usize>;

/// Rows that are released with the same labels.
#[derive(Debug, Clone)]
struct Group {
    members: Vec<u32>,
    rows: u64,
    /// For each column: the code at the lowest level; `None` if the cell is suppressed.
    cells: Vec<Option<u32>>,
}

/// The combinations of a table with the weights of their cells.
struct Cells<'a> {
    table: &'a dyn Table,
    /// The codes at the lowest level, combination by combination.
    codes: Vec<u32>,
    /// The weight of a cell for each column; infinite if the column may not be suppressed.
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

    /// Returns the cells that are equal in both groups. The other cells are `None`.
    fn alike(one: &[Option<u32>], other: &[Option<u32>]) -> Vec<Option<u32>> {
        let pairs = one.iter().zip(other);
        pairs.map(|(a, b)| a.filter(|_| a == b)).collect()
    }

    /// Returns the weight of the additional suppressed cells if two groups are released as one.
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

    /// Returns a group of one combination without suppressed cells.
    fn single(&self, combination: u32) -> Group {
        Group {
            members: vec![combination],
            rows: self.table.rows(combination),
            cells: self.codes(combination).iter().copied().map(Some).collect(),
        }
    }

    /// Removes from `left` the combinations whose groups satisfy the models when the columns of
    /// `suppressed` are suppressed, and returns these groups.
    fn released(&self, suppressed: &SuppressedColumns, left: &mut Vec<u32>) -> Vec<Group> {
        let kept: SuppressedColumns = (0..self.weights.len()).filter(|i| !suppressed.contains(i)).collect();
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

/// A set of columns on the heap of the walk, with its weight.
#[derive(Debug, PartialEq)]
struct Step {
    weight: f64,
    columns: SuppressedColumns,
}

impl Eq for Step {}

impl Ord for Step {
    /// Reverses the order of weights, so that the heap returns the step with the minimum weight
    /// first. Of steps with equal weights, the step with fewer columns comes first, and then the
    /// step whose columns are named first.
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

/// Every set of columns with a finite weight, in ascending order of weight. A set is reached from
/// the set without its last column, so the heap never contains a set twice.
pub(super) struct Ascent {
    weights: Vec<f64>,
    reached: BinaryHeap<Step>,
}

impl Ascent {
    pub(super) fn new(weights: &[f64]) -> Self {
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
    type Item = SuppressedColumns;

    fn next(&mut self) -> Option<SuppressedColumns> {
        let Step { columns, .. } = self.reached.pop()?;
        for column in columns.last().map_or(0, |last| last + 1)..self.weights.len() {
            let longer = [&columns[..], &[column]].concat();
            // Weights are added in column order, so a set always has the same weight.
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

/// Walks the sets of columns. Returns the released groups, the combinations in no group, and the
/// reason if the walk stopped early.
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

/// Returns the cost of joining the cheapest group, the index of the group, and the united group;
/// `None` if there is no group, or if the united group does not satisfy the models.
fn home(cells: &Cells, groups: &[Group], single: &Group) -> Option<(f64, usize, Group)> {
    let costs = groups.iter().map(|group| cells.cost_of_uniting(group, single)).zip(0..);
    let (cost, home) = costs.min_by(|a: &(f64, usize), b| a.0.total_cmp(&b.0))?;
    let united = cells.united(&groups[home], single);
    cells.holds(&united).then_some((cost, home, united))
}

/// Assigns the combinations that the walk left. Each combination joins a group, in which more cells
/// may then be suppressed, or is suppressed as a group of its own. The combinations that can join
/// no group come first, so that they are the first to use the suppression limit.
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
                // Not even all rows together satisfy the models.
                None => return together.members.into_iter().map(|c| cells.single(c)).collect(),
            },
        };
        together = cells.united(&together, &next);
    }
    groups.push(together);
    suppressed
}

/// Divides the combinations into groups that satisfy the models. Also returns the reason if the
/// walk stopped early.
pub(super) fn divide(table: &dyn Table, context: &Context) -> (Vec<CombinationGroup>, Option<Stop>) {
    let cells = Cells::new(table);
    let (mut groups, left, stopped) = walk(&cells, context);
    let suppressed = place(&cells, &mut groups, left);
    groups.extend(suppressed);
    let alike = |group: Group| CombinationGroup {
        starred: group.cells.iter().map(Option::is_none).collect(),
        members: group.members,
    };
    (groups.into_iter().map(alike).collect(), stopped)
}
