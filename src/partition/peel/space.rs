//! The classes of a run, and what they lose.

use crate::hierarchy::{Label, Lookup};
use crate::key::KeySchema;
use crate::partition::ranges::Ranges;
use crate::partition::table::{Column, Table};
use std::cell::Cell;
use std::sync::Arc;

/// What a class has in one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reach {
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
    cells: Vec<Reach>,
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
    /// The label is a range.
    Range(RangeLosses),
    /// The label is the lowest common ancestor.
    Levels(Ancestors),
}

/// The labels of a hierarchy up to the highest level that LEVELS allows, and their losses, in one column.
#[derive(Debug)]
struct Ancestors {
    /// By level and code: the label.
    labels: Vec<Vec<u32>>,
    /// By level and code: the loss under the label.
    losses: Vec<Vec<f64>>,
    /// By two codes: the lowest level where both have one label, if the column has few values; else empty.
    table: Vec<u8>,
}

/// The losses of the ranges that are released, in one column.
#[derive(Debug)]
struct RangeLosses {
    lookup: Arc<Lookup>,
    weight: f64,
    exact: bool,
    /// By lowest and highest code, if the column has few values; else empty.
    table: Vec<f64>,
}

/// The greatest number of values of a column whose losses are computed beforehand.
const FEW_VALUES: usize = 1024;

/// The combinations of a table, with the losses of their labels.
pub(super) struct Space<'a> {
    pub(super) table: &'a dyn Table,
    pub(super) schema: KeySchema,
    scales: Vec<Scale>,
    /// The ground codes, combination by combination.
    codes: Vec<u32>,
    rows: Vec<u64>,
    /// The number of cells that were joined or measured so far.
    work: Cell<u64>,
}

impl<'a> Space<'a> {
    /// Reads the combinations of `table`. `ranges` says how columns with an order are labelled.
    pub(super) fn new(table: &'a dyn Table, ranges: Ranges) -> Self {
        let columns = table.columns();
        let combinations = 0..table.len() as u32;
        let code = |c: u32| (0..columns.len()).map(move |column| table.code(column, c));
        Self {
            scales: columns.iter().map(|column| Scale::new(column, ranges)).collect(),
            codes: combinations.clone().flat_map(code).collect(),
            rows: combinations.map(|c| table.rows(c)).collect(),
            schema: KeySchema::new(columns.iter().map(|column| column.lookup.clone()).collect()),
            table,
            work: Cell::new(0),
        }
    }

    /// Returns the number of cells that were joined or measured so far: a measure of work that no clock disturbs.
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
        self.worked(members.len());
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
            Scale::Range(_) => Reach {
                low: *code,
                high: *code,
            },
            Scale::Levels(_) => Reach {
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

    fn loss(&self, cells: &[Reach]) -> f64 {
        self.scales
            .iter()
            .zip(cells)
            .map(|(scale, cell)| scale.loss(*cell))
            .sum()
    }

    /// Returns the rows and the cost of the first combination, of the first two, and so on.
    pub(super) fn costs_of_prefixes<'b>(&self, members: impl ExactSizeIterator<Item = &'b u32>) -> Vec<Prefix> {
        self.worked(members.len());
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

    /// Returns how much more all rows lose if `combination` joins `class`. It is infinite if it is not below `most`.
    pub(super) fn cost_of_joining(&self, class: &Class, combination: u32, most: f64) -> f64 {
        let cells = class.cells.iter().zip(&self.scales).zip(self.codes(combination));
        let losses = cells.map(|((cell, scale), code)| scale.loss(scale.with(*cell, *code)));
        self.more(class, self.rows(combination), 0.0, most, losses)
    }

    /// Returns the class where a combination loses least, with how much more all rows lose there.
    pub(super) fn cheapest<'b>(
        &self,
        classes: impl Iterator<Item = (usize, &'b Class)>,
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

    /// Returns how much more all rows lose if `block` joins `class`, counted from what `class` alone loses: the cost of both
    /// together less that of `class`. It is infinite if it is not below `most`.
    pub(super) fn cost_of_uniting(&self, class: &Class, block: &Class, most: f64) -> f64 {
        let cells = self.scales.iter().zip(&class.cells).zip(&block.cells);
        let losses = cells.map(|((scale, one), other)| scale.loss(scale.joined(*one, *other)));
        self.more(class, block.rows, block.loss, most, losses)
    }

    /// Returns how much more all rows lose if `rows` rows, each of which loses at least `least`, join `class`, whose labels
    /// then have these `losses`. It is infinite if it is not below `most`, and then not all losses may be looked at.
    fn more(&self, class: &Class, rows: u64, least: f64, most: f64, losses: impl Iterator<Item = f64>) -> f64 {
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

    /// Returns the label that a class is released with in a column.
    pub(super) fn label(&self, class: &Class, column: usize) -> Label {
        let lookup = &self.table.columns()[column].lookup;
        let Reach { low, high } = class.cells[column];
        match &self.scales[column] {
            Scale::Range(losses) => range(lookup, low, high, losses.exact),
            Scale::Levels(_) => Label::at(lookup, low as u8, high),
        }
    }

    /// Returns the level of a class in a column of a hierarchy.
    pub(super) fn level(&self, class: &Class, column: usize) -> u8 {
        class.cells[column].low as u8
    }

    /// Returns the mean loss of a row of these combinations at each level that LEVELS allows, by column, if a whole column is
    /// at that level. Levels above the first one where all of them have one label change nothing, and are left out.
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

/// Returns the loss of each ground code at a level.
fn losses(column: &Column, level: u8) -> Vec<f64> {
    let spans = column.lookup.total_leaves().saturating_sub(1).max(1) as f64;
    let level = column.lookup.level(level);
    let loss = |label: &u32| level.leaves[*label as usize].saturating_sub(1) as f64 / spans * column.weight;
    level.codes.iter().map(loss).collect()
}

impl Scale {
    fn new(column: &Column, ranges: Ranges) -> Self {
        let lookup = &column.lookup;
        if !ranges.by_hierarchy && lookup.is_ordered() {
            return Scale::Range(RangeLosses::new(column, ranges.exact));
        }
        Scale::Levels(Ancestors::new(column))
    }

    /// Returns the cell of a class that one more value joins.
    fn with(&self, cell: Reach, code: u32) -> Reach {
        match self {
            Scale::Range(_) => self.joined(cell, Reach { low: code, high: code }),
            Scale::Levels(_) => self.joined(cell, Reach { low: 0, high: code }),
        }
    }

    /// Returns the cell of two classes together. If no level that LEVELS allows has a label for both, the level is beyond
    /// the highest.
    fn joined(&self, one: Reach, other: Reach) -> Reach {
        match self {
            Scale::Range(_) => Reach {
                low: one.low.min(other.low),
                high: one.high.max(other.high),
            },
            Scale::Levels(ancestors) => ancestors.joined(one, other),
        }
    }

    fn loss(&self, Reach { low, high }: Reach) -> f64 {
        match self {
            Scale::Range(losses) => losses.loss(low, high),
            Scale::Levels(ancestors) => {
                let losses = ancestors.losses.get(low as usize);
                losses.map_or(f64::INFINITY, |losses| losses[high as usize])
            }
        }
    }
}

impl Ancestors {
    fn new(column: &Column) -> Self {
        let levels = || 0..=column.top;
        let mut ancestors = Self {
            labels: levels().map(|level| column.lookup.level(level).codes.clone()).collect(),
            losses: levels().map(|level| losses(column, level)).collect(),
            table: vec![],
        };
        let values = column.lookup.values().len();
        if values <= FEW_VALUES {
            let cell = |high: u32| Reach { low: 0, high };
            let pairs = (0..values as u32).flat_map(|one| (0..values as u32).map(move |other| (one, other)));
            let level = |(one, other)| ancestors.joined(cell(one), cell(other)).low as u8;
            ancestors.table = pairs.map(level).collect();
        }
        ancestors
    }

    fn joined(&self, one: Reach, other: Reach) -> Reach {
        let least = one.low.max(other.low);
        let (a, b) = (one.high as usize, other.high as usize);
        let common = match self.table.is_empty() {
            // Values under one label are under one label at every higher level, too.
            false => u32::from(self.table[a * self.losses[0].len() + b]),
            true => {
                let levels = self.labels.iter().skip(least as usize);
                least + levels.take_while(|labels| labels[a] != labels[b]).count() as u32
            }
        };
        Reach {
            low: least.max(common),
            high: one.high,
        }
    }
}

impl RangeLosses {
    fn new(column: &Column, exact: bool) -> Self {
        let mut losses = Self {
            lookup: Arc::clone(&column.lookup),
            weight: column.weight,
            exact,
            table: vec![],
        };
        let values = column.lookup.values().len();
        if values <= FEW_VALUES {
            let pairs = (0..values as u32).flat_map(|low| (0..values as u32).map(move |high| (low, high)));
            losses.table = pairs.map(|(low, high)| losses.computed(low, high.max(low))).collect();
        }
        losses
    }

    /// Returns the loss of the label that a class from `low` to `high` is released with.
    fn loss(&self, low: u32, high: u32) -> f64 {
        match self.table.is_empty() {
            true => self.computed(low, high),
            false => self.table[low as usize * self.lookup.values().len() + high as usize],
        }
    }

    fn computed(&self, low: u32, high: u32) -> f64 {
        let label = range(&self.lookup, low, high, self.exact);
        let spans = self.lookup.total_leaves().saturating_sub(1).max(1) as f64;
        label.leaves(&self.lookup).saturating_sub(1) as f64 / spans * self.weight
    }
}

/// Returns the label of values from `low` to `high`. `exact` ranges end at these values, others at round numbers.
fn range(lookup: &Lookup, low: u32, high: u32, exact: bool) -> Label {
    match exact {
        true => Label::range(lookup, low, high),
        false => Label::rounded(lookup, low, high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::{Hierarchy, OnNull, OnUnmapped, values};
    use arrow::array::{ArrayRef, StringArray};
    use proptest::prelude::*;

    /// Returns a column over as many values as a level has groups, with nested groups at every level and one above them.
    fn column(levels: &[Vec<u8>], top: u8) -> Column {
        let names: Vec<String> = (0..levels[0].len()).map(|value| value.to_string()).collect();
        let row = |value: usize| {
            // A label has the labels above it in its name, so groups nest.
            let groups = (0..levels.len()).map(|level| {
                let above: Vec<String> = levels[level..].iter().map(|groups| groups[value].to_string()).collect();
                Some(format!("{level}:{}", above.join(".")))
            });
            let labels = [Some(names[value].clone())].into_iter().chain(groups);
            labels.chain([Some("*".to_string())]).collect()
        };
        let rows: Vec<Vec<Option<String>>> = (0..names.len()).map(row).collect();
        let rule = values::listed(&rows).unwrap();
        let hierarchy = Hierarchy::new("h", Arc::new(rule), OnUnmapped::Error, OnNull::Value).unwrap();
        let values: ArrayRef = Arc::new(StringArray::from(names));
        let lookup = Arc::new(hierarchy.bind(values).unwrap());
        Column {
            bottom: 0,
            top: top.min(lookup.top()),
            lookup,
            weight: 1.0,
        }
    }

    /// Checks all pairs of values: their label is of the lowest level that both have reached where both have one label.
    fn labels_are_the_lowest_common(column: &Column) {
        let ancestors = Ancestors::new(column);
        let values = column.lookup.values().len() as u32;
        for (a, b) in (0..values).flat_map(|a| (0..values).map(move |b| (a, b))) {
            for (reached, other) in (0..=column.top).flat_map(|l| [(l, 0), (0, l), (l, column.top)]) {
                let alike = |level: &u8| {
                    let labels = &column.lookup.level(*level).codes;
                    labels[a as usize] == labels[b as usize]
                };
                let lowest = (reached.max(other)..=column.top).find(alike);
                let low = |level: u8| u32::from(level);
                let joined = ancestors.joined(
                    Reach {
                        low: low(reached),
                        high: a,
                    },
                    Reach {
                        low: low(other),
                        high: b,
                    },
                );
                assert_eq!(
                    joined.low,
                    lowest.map_or(low(column.top) + 1, low),
                    "{a} {b} {reached} {other}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn the_label_of_two_classes_is_their_lowest_common_ancestor(
            levels in (1usize..6).prop_flat_map(|n| prop::collection::vec(prop::collection::vec(0u8..3, n), 1..4)), top in 0u8..5
        ) {
            labels_are_the_lowest_common(&column(&levels, top));
        }
    }

    /// A hierarchy of the greatest height there is, whose top is left out and is not left out: a level beyond it is a
    /// number of the table, too.
    #[test]
    fn no_label_is_lost_in_the_highest_hierarchies() {
        let whole = column(&vec![vec![0, 1]; 198], u8::MAX);
        assert_eq!(whole.lookup.top(), 199);
        labels_are_the_lowest_common(&whole);
        labels_are_the_lowest_common(&column(&vec![vec![0, 1]; 198], 198));
    }
}
