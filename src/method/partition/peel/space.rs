//! The classes of a run, and their losses.

use super::scale::{Reach, Scale, losses, range};
use crate::method::hierarchy::Label;
use crate::method::key::KeySchema;
use crate::method::partition::ranges::Ranges;
use crate::method::partition::table::Table;
use std::cell::Cell;

/// Combinations that are released with the same labels.
#[derive(Debug, Clone, Default)]
pub(super) struct PeeledClass {
    pub(super) members: Vec<u32>,
    pub(super) rows: u64,
    cells: Vec<Reach>,
    /// The loss of each row: the weighted sum of the cells' losses; infinite if a cell has no
    /// label.
    loss: f64,
}

impl PeeledClass {
    /// Returns the loss over all rows.
    pub(super) fn cost(&self) -> f64 {
        self.rows as f64 * self.loss
    }
}

/// The number of rows and the cost of a class that consists of the first combinations in a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct PrefixCost {
    pub(super) rows: u64,
    pub(super) cost: f64,
}

/// The combinations of a table, with the losses of their labels.
pub(super) struct Space<'a> {
    pub(super) table: &'a dyn Table,
    pub(super) schema: KeySchema,
    scales: Vec<Scale>,
    /// The ground codes, combination by combination.
    codes: Vec<u32>,
    rows: Vec<u64>,
    /// The number of cells joined or measured so far.
    work: Cell<u64>,
}

impl<'a> Space<'a> {
    /// Reads the combinations of `table`. `ranges` determines the labels of ordered columns.
    pub(super) fn new(table: &'a dyn Table, ranges: Ranges) -> Self {
        let columns = table.columns();
        let combinations = 0..table.len() as u32;
        let code = |c: u32| (0..columns.len()).map(move |column| table.code(column, c));
        Self {
            scales: columns
                .iter()
                .map(|column| Scale::new(column, ranges, table.len()))
                .collect(),
            codes: combinations.clone().flat_map(code).collect(),
            rows: combinations.map(|c| table.rows(c)).collect(),
            schema: KeySchema::new(columns.iter().map(|column| column.lookup.clone()).collect()),
            table,
            work: Cell::new(0),
        }
    }

    /// Returns the number of cells joined or measured so far. It measures work independently of a
    /// clock.
    pub(super) fn work(&self) -> u64 {
        self.work.get()
    }

    /// Counts the cells of this many combinations as work.
    pub(super) fn worked(&self, combinations: usize) {
        self.work.set(self.work.get() + (combinations * self.columns()) as u64);
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
        matches!(self.scales[column], Scale::Range(_))
    }

    /// Returns, by ground code of a column, the position of the value in an order in which values
    /// under one label are adjacent.
    pub(super) fn places(&self, column: usize) -> Vec<u32> {
        let of = &self.table.columns()[column];
        match self.is_range(column) {
            true => (0..of.lookup.values().len() as u32).collect(),
            false => of.places(),
        }
    }

    /// Returns the loss of the range between two codes of a column with ranges.
    pub(super) fn loss_of_range(&self, column: usize, low: u32, high: u32) -> f64 {
        self.scales[column].loss(Reach { low, high })
    }

    /// Returns the time to find the losses of one class in all columns, in units of the time to
    /// look up a loss that was computed in advance.
    pub(super) fn cells_of_losses(&self) -> u64 {
        self.scales.iter().map(Scale::cells_of_loss).sum()
    }

    /// Returns true if a class may be released: it has labels and satisfies every model.
    pub(super) fn holds(&self, class: &PeeledClass) -> bool {
        class.loss.is_finite() && self.may_hold(&class.members, class.rows)
    }

    /// Returns true if these combinations satisfy every model. `rows` is the number of their rows.
    pub(super) fn may_hold(&self, members: &[u32], rows: u64) -> bool {
        rows >= self.table.least_rows() && (self.table.rows_suffice() || self.table.holds(members))
    }

    /// Returns the class of these combinations. At least one combination must be given.
    pub(super) fn class(&self, members: Vec<u32>) -> PeeledClass {
        self.worked(members.len());
        let mut members_left = members.iter();
        let mut class = members_left
            .next()
            .map_or_else(PeeledClass::default, |first| self.single(*first));
        members_left.for_each(|c| self.widen(&mut class, *c));
        class.loss = self.loss(&class.cells);
        class.members = members;
        class
    }

    fn single(&self, combination: u32) -> PeeledClass {
        PeeledClass {
            cells: (0..self.columns())
                .map(|column| self.cell(column, combination))
                .collect(),
            rows: self.rows(combination),
            ..PeeledClass::default()
        }
    }

    /// Returns the cell of a class that contains only this combination.
    fn cell(&self, column: usize, combination: u32) -> Reach {
        let code = self.codes(combination)[column];
        match self.scales[column] {
            Scale::Range(_) => Reach { low: code, high: code },
            Scale::Levels(_) => Reach {
                low: u32::from(self.table.columns()[column].bottom),
                high: code,
            },
        }
    }

    fn widen(&self, class: &mut PeeledClass, combination: u32) {
        for ((cell, scale), code) in class.cells.iter_mut().zip(&self.scales).zip(self.codes(combination)) {
            *cell = scale.with(*cell, *code);
        }
        class.rows += self.rows(combination);
    }

    fn loss(&self, cells: &[Reach]) -> f64 {
        self.scales
            .iter()
            .zip(cells)
            .map(|(scale, cell)| scale.loss(*cell))
            .sum()
    }

    /// Returns the number of rows and the cost of the class of the first combination, of the first
    /// two combinations, and so on.
    pub(super) fn costs_of_prefixes<'b>(&self, members: impl ExactSizeIterator<Item = &'b u32>) -> Vec<PrefixCost> {
        self.worked(members.len());
        let mut class: Option<PeeledClass> = None;
        let costs = members.map(|member| {
            let class = match &mut class {
                Some(class) => {
                    self.widen(class, *member);
                    class
                }
                None => class.insert(self.single(*member)),
            };
            PrefixCost {
                rows: class.rows,
                cost: class.rows as f64 * self.loss(&class.cells),
            }
        });
        costs.collect()
    }

    /// Returns the additional loss over all rows if `combination` joins `class`. Returns infinity
    /// if the additional loss is not below `most`.
    pub(super) fn cost_of_joining(&self, class: &PeeledClass, combination: u32, most: f64) -> f64 {
        let cells = class.cells.iter().zip(&self.scales).zip(self.codes(combination));
        let losses = cells.map(|((cell, scale), code)| scale.loss(scale.with(*cell, *code)));
        self.more(class, self.rows(combination), 0.0, most, losses)
    }

    /// Returns the class in which a combination loses least, with the additional loss over all
    /// rows.
    pub(super) fn cheapest<'b>(
        &self,
        classes: impl Iterator<Item = (usize, &'b PeeledClass)>,
        combination: u32,
    ) -> Option<(f64, usize)> {
        let mut best = None;
        for (number, class) in classes {
            let most = best.map_or(f64::INFINITY, |(more, _)| more);
            let more = self.cost_of_joining(class, combination, most);
            if more < most {
                best = Some((more, number));
            }
        }
        best
    }

    /// Returns the additional loss over all rows if `block` joins `class`: the cost of both
    /// together minus the cost of `class` alone. Returns infinity if the additional loss is not
    /// below `most`.
    pub(super) fn cost_of_uniting(&self, class: &PeeledClass, block: &PeeledClass, most: f64) -> f64 {
        let cells = self.scales.iter().zip(&class.cells).zip(&block.cells);
        let losses = cells.map(|((scale, one), other)| scale.loss(scale.joined(*one, *other)));
        self.more(class, block.rows, block.loss, most, losses)
    }

    /// Returns the additional loss over all rows if `rows` rows join `class` and the labels of the
    /// class then have these `losses`. `least` is the loss of each joining row before it joins,
    /// which is a lower bound on the sum of `losses`. Returns infinity if the additional loss is
    /// not below `most`. In that case, `losses` may not be read to the end.
    fn more(&self, class: &PeeledClass, rows: u64, least: f64, most: f64, losses: impl Iterator<Item = f64>) -> f64 {
        let rows = (class.rows + rows) as f64;
        let most = (most + class.cost()) / rows;
        if class.loss.max(least) >= most {
            return f64::INFINITY;
        }
        self.worked(1);
        let mut loss = 0.0;
        for own in losses {
            loss += own;
            if loss >= most {
                return f64::INFINITY;
            }
        }
        rows * loss - class.cost()
    }

    /// Returns the class that unites two classes. `a` must not be empty.
    pub(super) fn united(&self, a: &PeeledClass, b: &PeeledClass) -> PeeledClass {
        let mut cells = a.cells.clone();
        for ((cell, scale), other) in cells.iter_mut().zip(&self.scales).zip(&b.cells) {
            *cell = scale.joined(*cell, *other);
        }
        PeeledClass {
            members: [a.members.as_slice(), &b.members].concat(),
            rows: a.rows + b.rows,
            loss: self.loss(&cells),
            cells,
        }
    }

    /// Adds a combination to a class.
    pub(super) fn join(&self, class: &mut PeeledClass, combination: u32) {
        self.widen(class, combination);
        class.loss = self.loss(&class.cells);
        class.members.push(combination);
    }

    /// Returns the loss of a suppressed row.
    pub(super) fn greatest_loss(&self) -> f64 {
        self.table.columns().iter().map(|c| c.weight).sum()
    }

    /// Returns the label of a class in a column.
    pub(super) fn label(&self, class: &PeeledClass, column: usize) -> Label {
        let lookup = &self.table.columns()[column].lookup;
        let Reach { low, high } = class.cells[column];
        match &self.scales[column] {
            Scale::Range(losses) => range(lookup, low, high, losses.exact),
            Scale::Levels(_) => Label::at(lookup, low as u8, high),
        }
    }

    /// Returns the level of a class in a column with labels of a hierarchy.
    pub(super) fn level(&self, class: &PeeledClass, column: usize) -> u8 {
        class.cells[column].low as u8
    }

    /// Returns, for each column and level of LEVELS, the mean loss of a row of these combinations
    /// if the whole column is at that level. Omits the levels above the first level at which all
    /// these combinations have the same label, because these levels change nothing.
    pub(super) fn losses_by_level(&self, combinations: &[u32]) -> Vec<Vec<f64>> {
        let all: u64 = combinations.iter().map(|c| self.rows(*c)).sum();
        let columns = self.table.columns().iter().enumerate();
        let losses = columns.map(|(i, column)| {
            let mut rows = vec![0u64; column.lookup.values().len()];
            for c in combinations {
                rows[self.codes(*c)[i] as usize] += self.rows(*c);
            }
            let values: Vec<usize> = (0..rows.len()).filter(|code| rows[*code] > 0).collect();
            let is_one = |level: u8| {
                let labels = &column.lookup.level(level).codes;
                values.iter().all(|code| labels[*code] == labels[values[0]])
            };
            let mean = |level: u8| {
                let losses = losses(column, level);
                let sum: f64 = values.iter().map(|code| rows[*code] as f64 * losses[*code]).sum();
                sum / all.max(1) as f64
            };
            let top = (column.bottom..column.top)
                .find(|level| is_one(*level))
                .unwrap_or(column.top);
            (column.bottom..=top).map(mean).collect()
        });
        losses.collect()
    }
}
