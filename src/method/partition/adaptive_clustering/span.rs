//! The lowest common ancestors of a group, and their loss in exact integers.

use crate::base::arithmetic::common_multiple;
use crate::method::hierarchy::Label;
use crate::method::partition::table::{Column, Table};

/// The lowest common ancestors of some combinations, and the number of rows of these combinations.
#[derive(Debug, Clone)]
pub(super) struct CommonAncestors {
    pub(super) levels: Vec<u8>,
    pub(super) codes: Vec<u32>,
    pub(super) rows: u64,
}

impl CommonAncestors {
    /// Returns the label of the group in a column.
    pub(super) fn label(&self, column: usize, of: &Column) -> Label {
        Label::at(&of.lookup, self.levels[column], self.codes[column])
    }

    /// Adds the combinations of `other`. The lowest common ancestor of both is at least as high as
    /// either ancestor.
    pub(super) fn merge(&mut self, other: &Self, columns: &[Column]) {
        for (i, column) in columns.iter().enumerate() {
            let level = self.levels[i].max(other.levels[i]);
            self.levels[i] = common_level(column, level, self.codes[i], other.codes[i]);
        }
        self.rows += other.rows;
    }
}

/// Returns the lowest level, from `level` upwards, at which two values have the same label.
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

/// The combinations of a table, with the loss per additional leaf under a label for each column.
pub(super) struct Spans<'a> {
    pub(super) table: &'a dyn Table,
    units: Vec<u128>,
}

impl<'a> Spans<'a> {
    pub(super) fn new(table: &'a dyn Table) -> Self {
        Self {
            table,
            units: units(table.columns()),
        }
    }

    /// Returns the span of one combination, whose lowest common ancestor is itself.
    pub(super) fn single(&self, combination: u32) -> CommonAncestors {
        let columns = self.table.columns();
        CommonAncestors {
            levels: columns.iter().map(|c| c.bottom).collect(),
            codes: (0..columns.len()).map(|c| self.table.code(c, combination)).collect(),
            rows: self.table.rows(combination),
        }
    }

    pub(super) fn span(&self, members: &[u32]) -> CommonAncestors {
        let columns = self.table.columns();
        let mut members = members.iter().map(|c| self.single(*c));
        let mut all = members.next().unwrap_or_else(|| CommonAncestors {
            levels: columns.iter().map(|c| c.bottom).collect(),
            codes: vec![0; columns.len()],
            rows: 0,
        });
        members.for_each(|one| all.merge(&one, columns));
        all
    }

    /// Returns the loss of one row of a span, in the units of [`units`].
    pub(super) fn loss(&self, span: &CommonAncestors) -> u128 {
        let columns = self.table.columns().iter().zip(&self.units).enumerate();
        columns
            .map(|(i, (column, unit))| lost(column, span.levels[i], span.codes[i]) * unit)
            .sum()
    }

    /// Returns the additional loss over all rows if a combination joins a span.
    pub(super) fn loss_of_joining(&self, span: &CommonAncestors, combination: u32) -> u128 {
        let columns = self.table.columns().iter().zip(&self.units).enumerate();
        let loss: u128 = columns
            .map(|(i, (column, unit))| {
                let code = self.table.code(i, combination);
                lost(column, common_level(column, span.levels[i], span.codes[i], code), code) * unit
            })
            .sum();
        u128::from(span.rows + self.table.rows(combination)) * loss - u128::from(span.rows) * self.loss(span)
    }
}

/// Returns the number of leaves under a value's label at a level, minus one.
fn lost(column: &Column, level: u8, code: u32) -> u128 {
    let level = column.lookup.level(level);
    u128::from(level.leaves[level.codes[code as usize] as usize].saturating_sub(1))
}

/// The maximum common multiple of the leaf counts for which losses are exact. With a larger
/// multiple, losses are rounded.
const EXACT: u64 = 1 << 40;

/// Returns, for each column, the loss per additional leaf under a label: a common multiple of the
/// columns' leaf counts, divided by the column's leaf count. The loss is rounded if the multiple
/// exceeds [`EXACT`] or columns have weights.
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
