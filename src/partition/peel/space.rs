//! The classes of a run, and what they lose.

use crate::hierarchy::Label;
use crate::key::KeySchema;
use crate::partition::table::{Column, Table};

/// What a class has in one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    /// The lowest code, or the level of the lowest common ancestor.
    low: u32,
    /// The highest code, or a code under the ancestor.
    high: u32,
}

/// Combinations that are released with the same labels.
#[derive(Debug, Clone, Default)]
pub(super) struct Class {
    pub(super) members: Vec<u32>,
    pub(super) rows: u64,
    cells: Vec<Cell>,
    /// The loss of each row: the weighted sum of the cells' losses. It is infinite if a cell has no label.
    loss: f64,
}

impl Class {
    /// Returns the loss of all rows.
    pub(super) fn cost(&self) -> f64 {
        self.rows as f64 * self.loss
    }
}

/// The rows and the cost of the first combinations of a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prefix {
    pub(super) rows: u64,
    pub(super) cost: f64,
}

/// How labels are joined and what they lose, in one column.
#[derive(Debug)]
enum Scale {
    /// By code: the share of the column's leaves below the value. The label is a range.
    Range {
        below: Vec<f64>,
        null: Option<u32>,
        weight: f64,
    },
    /// By level and code: the label, and the loss under it. The label is the lowest common ancestor.
    Levels {
        labels: Vec<Vec<u32>>,
        losses: Vec<Vec<f64>>,
    },
}

/// The combinations of a table, with the losses of their labels.
pub(super) struct Space<'a> {
    pub(super) table: &'a dyn Table,
    pub(super) schema: KeySchema,
    scales: Vec<Scale>,
    /// The ground codes, combination by combination.
    codes: Vec<u32>,
    rows: Vec<u64>,
}

impl<'a> Space<'a> {
    /// Reads the combinations of `table`. `ranges` labels columns with an order by ranges instead of by hierarchies.
    pub(super) fn new(table: &'a dyn Table, ranges: bool) -> Self {
        let columns = table.columns();
        let combinations = 0..table.len() as u32;
        let code = |c: u32| (0..columns.len()).map(move |column| table.code(column, c));
        Self {
            scales: columns.iter().map(|column| Scale::new(column, ranges)).collect(),
            codes: combinations.clone().flat_map(code).collect(),
            rows: combinations.map(|c| table.rows(c)).collect(),
            schema: KeySchema::new(columns.iter().map(|column| column.lookup.clone()).collect()),
            table,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn columns(&self) -> usize {
        self.scales.len()
    }

    pub(super) fn codes(&self, combination: u32) -> &[u32] {
        let at = combination as usize * self.columns();
        &self.codes[at..at + self.columns()]
    }

    pub(super) fn rows(&self, combination: u32) -> u64 {
        self.rows[combination as usize]
    }

    pub(super) fn is_range(&self, column: usize) -> bool {
        matches!(self.scales[column], Scale::Range { .. })
    }

    /// Returns true if a class may be released: it has labels, and every model holds.
    pub(super) fn holds(&self, class: &Class) -> bool {
        class.loss.is_finite() && self.may_hold(&class.members, class.rows)
    }

    /// Returns true if every model holds for these combinations, which have `rows` rows.
    pub(super) fn may_hold(&self, members: &[u32], rows: u64) -> bool {
        rows >= self.table.least_rows() && (self.table.rows_suffice() || self.table.holds(members))
    }

    /// Returns the class of these combinations, of which there is at least one.
    pub(super) fn class(&self, members: Vec<u32>) -> Class {
        let mut members_left = members.iter();
        let mut class = members_left
            .next()
            .map_or_else(Class::default, |first| self.single(*first));
        members_left.for_each(|c| self.widen(&mut class, *c));
        class.loss = self.loss(&class.cells);
        class.members = members;
        class
    }

    fn single(&self, combination: u32) -> Class {
        let columns = self
            .table
            .columns()
            .iter()
            .zip(&self.scales)
            .zip(self.codes(combination));
        let cell = |((column, scale), code): ((&Column, &Scale), &u32)| match scale {
            Scale::Range { .. } => Cell {
                low: *code,
                high: *code,
            },
            Scale::Levels { .. } => Cell {
                low: u32::from(column.bottom),
                high: *code,
            },
        };
        Class {
            cells: columns.map(cell).collect(),
            rows: self.rows(combination),
            ..Class::default()
        }
    }

    fn widen(&self, class: &mut Class, combination: u32) {
        for ((cell, scale), code) in class.cells.iter_mut().zip(&self.scales).zip(self.codes(combination)) {
            *cell = scale.with(*cell, *code);
        }
        class.rows += self.rows(combination);
    }

    fn loss(&self, cells: &[Cell]) -> f64 {
        self.scales
            .iter()
            .zip(cells)
            .map(|(scale, cell)| scale.loss(*cell))
            .sum()
    }

    /// Returns the rows and the cost of the first combination, of the first two, and so on.
    pub(super) fn costs_of_prefixes<'b>(&self, members: impl Iterator<Item = &'b u32>) -> Vec<Prefix> {
        let mut class: Option<Class> = None;
        let costs = members.map(|member| {
            let class = match &mut class {
                Some(class) => {
                    self.widen(class, *member);
                    class
                }
                None => class.insert(self.single(*member)),
            };
            Prefix {
                rows: class.rows,
                cost: class.rows as f64 * self.loss(&class.cells),
            }
        });
        costs.collect()
    }

    /// Returns how much more all rows lose if `combination` joins `class`.
    pub(super) fn cost_of_joining(&self, class: &Class, combination: u32) -> f64 {
        let cells = class.cells.iter().zip(&self.scales).zip(self.codes(combination));
        let loss: f64 = cells
            .map(|((cell, scale), code)| scale.loss(scale.with(*cell, *code)))
            .sum();
        (class.rows + self.rows(combination)) as f64 * loss - class.cost()
    }

    /// Returns the class of the combinations of two classes, of which `a` is not empty.
    pub(super) fn united(&self, a: &Class, b: &Class) -> Class {
        let mut cells = a.cells.clone();
        for ((cell, scale), other) in cells.iter_mut().zip(&self.scales).zip(&b.cells) {
            *cell = scale.joined(*cell, *other);
        }
        Class {
            members: [a.members.as_slice(), &b.members].concat(),
            rows: a.rows + b.rows,
            loss: self.loss(&cells),
            cells,
        }
    }

    /// Adds a combination to a class.
    pub(super) fn join(&self, class: &mut Class, combination: u32) {
        self.widen(class, combination);
        class.loss = self.loss(&class.cells);
        class.members.push(combination);
    }

    /// Returns the loss of a suppressed row.
    pub(super) fn greatest_loss(&self) -> f64 {
        self.table.columns().iter().map(|c| c.weight).sum()
    }

    /// Returns the label of a class in a column. `exact` ranges end at values of the class.
    pub(super) fn label(&self, class: &Class, column: usize, exact: bool) -> Label {
        let lookup = &self.table.columns()[column].lookup;
        let Cell { low, high } = class.cells[column];
        match (&self.scales[column], exact) {
            (Scale::Range { .. }, true) => Label::range(lookup, low, high),
            (Scale::Range { .. }, false) => Label::rounded(lookup, low, high),
            (Scale::Levels { .. }, _) => Label::at(lookup, low as u8, high),
        }
    }

    /// Returns the level of a class in a column of a hierarchy.
    pub(super) fn level(&self, class: &Class, column: usize) -> u8 {
        class.cells[column].low as u8
    }

    /// Returns the mean loss of a row at each level that LEVELS allows, by column, if a whole column is at that level.
    pub(super) fn losses_by_level(&self) -> Vec<Vec<f64>> {
        let all: u64 = self.rows.iter().sum();
        let columns = self.table.columns().iter().enumerate();
        let losses = columns.map(|(i, column)| {
            let mut rows = vec![0u64; column.lookup.values().len()];
            for c in 0..self.len() as u32 {
                rows[self.codes(c)[i] as usize] += self.rows(c);
            }
            let mean = |level: u8| {
                let losses = losses(column, level);
                let sum: f64 = rows.iter().zip(&losses).map(|(rows, loss)| *rows as f64 * loss).sum();
                sum / all.max(1) as f64
            };
            (column.bottom..=column.top).map(mean).collect()
        });
        losses.collect()
    }
}

/// Returns the loss of each ground code at a level.
fn losses(column: &Column, level: u8) -> Vec<f64> {
    let spans = column.lookup.total_leaves().saturating_sub(1).max(1) as f64;
    let level = column.lookup.level(level);
    let loss = |label: &u32| level.leaves[*label as usize].saturating_sub(1) as f64 / spans * column.weight;
    level.codes.iter().map(loss).collect()
}

impl Scale {
    fn new(column: &Column, ranges: bool) -> Self {
        let lookup = &column.lookup;
        if !(ranges && lookup.is_ordered()) {
            let levels = || 0..=column.top;
            return Scale::Levels {
                labels: levels().map(|level| lookup.level(level).codes.clone()).collect(),
                losses: levels().map(|level| losses(column, level)).collect(),
            };
        }
        let spans = lookup.total_leaves().saturating_sub(1).max(1) as f64;
        let values = lookup.values();
        let below = |code: u32| Label::Range { low: 0, high: code }.leaves(lookup).saturating_sub(1) as f64 / spans;
        Scale::Range {
            below: (0..values.len() as u32).map(below).collect(),
            null: (0..values.len() as u32)
                .rev()
                .find(|code| values.is_null(*code as usize)),
            weight: column.weight,
        }
    }

    /// Returns the cell of a class that one more value joins.
    fn with(&self, cell: Cell, code: u32) -> Cell {
        match self {
            Scale::Range { .. } => self.joined(cell, Cell { low: code, high: code }),
            Scale::Levels { .. } => self.joined(cell, Cell { low: 0, high: code }),
        }
    }

    /// Returns the cell of two classes together. If no level that LEVELS allows has a label for both, the level is beyond
    /// the highest.
    fn joined(&self, one: Cell, other: Cell) -> Cell {
        match self {
            Scale::Range { .. } => Cell {
                low: one.low.min(other.low),
                high: one.high.max(other.high),
            },
            Scale::Levels { labels, .. } => {
                let mut level = one.low.max(other.low) as usize;
                let differ = |labels: &Vec<u32>| labels[one.high as usize] != labels[other.high as usize];
                while labels.get(level).is_some_and(differ) {
                    level += 1;
                }
                Cell {
                    low: level as u32,
                    high: one.high,
                }
            }
        }
    }

    fn loss(&self, Cell { low, high }: Cell) -> f64 {
        match self {
            Scale::Range { .. } if low == high => 0.0,
            Scale::Range { null, weight, .. } if *null == Some(high) => *weight,
            Scale::Range { below, weight, .. } => (below[high as usize] - below[low as usize]) * weight,
            Scale::Levels { losses, .. } => losses
                .get(low as usize)
                .map_or(f64::INFINITY, |losses| losses[high as usize]),
        }
    }
}
