//! Columns weighted by their information about the class label.

use crate::method::partition::table::{Column, Table};
use std::collections::BTreeMap;

/// The minimum factor by which the weight of a column is multiplied. The factor of the most
/// informative column is 1. The minimum is above 0, so the loss decides between divisions with
/// equal information about the class label.
const LEAST: f64 = 0.01;

/// A table whose columns are weighted by their information about the class label.
pub(super) struct Guided<'a> {
    table: &'a dyn Table,
    columns: Vec<Column>,
}

impl<'a> Guided<'a> {
    /// Multiplies the weight of each column by a factor: the mutual information of the column and
    /// the class label, divided by that of the most informative column. The factor is at least
    /// [`LEAST`]. If no column is informative, the weights do not change.
    pub(super) fn new(table: &'a dyn Table) -> Self {
        let told: Vec<f64> = (0..table.columns().len()).map(|c| information(table, c)).collect();
        let most = told.iter().copied().fold(0.0, f64::max);
        let share = |told: f64| if most > 0.0 { (told / most).max(LEAST) } else { 1.0 };
        let columns = table.columns().iter().zip(told).map(|(column, told)| Column {
            weight: column.weight * share(told),
            ..column.clone()
        });
        Self {
            table,
            columns: columns.collect(),
        }
    }
}

/// Returns the mutual information of a column and the class label in bits, at least 0. The
/// subtracted term is the information that a column with the same number of values would have by
/// chance (Miller, Note on the bias of information estimates, 1955).
fn information(table: &dyn Table, column: usize) -> f64 {
    let mut cells: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for c in 0..table.len() as u32 {
        let value = table.code(column, c);
        table.for_each_class_label(c, &mut |label, rows| *cells.entry((value, label)).or_default() += rows);
    }
    let (mut values, mut labels): (BTreeMap<u32, u64>, BTreeMap<u32, u64>) = (BTreeMap::new(), BTreeMap::new());
    for ((value, label), rows) in &cells {
        *values.entry(*value).or_default() += rows;
        *labels.entry(*label).or_default() += rows;
    }
    let all = values.values().sum::<u64>().max(1) as f64;
    let bits = cells.iter().map(|((value, label), rows)| {
        let (together, apart) = (*rows as f64, values[value] as f64 * labels[label] as f64);
        together / all * (together * all / apart).log2()
    });
    let by_chance = (cells.len() + 1) as f64 - (values.len() + labels.len()) as f64;
    (bits.sum::<f64>() - by_chance / (2.0 * all * std::f64::consts::LN_2)).max(0.0)
}

impl Table for Guided<'_> {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn len(&self) -> usize {
        self.table.len()
    }

    fn whole(&self) -> usize {
        self.table.whole()
    }

    fn code(&self, column: usize, combination: u32) -> u32 {
        self.table.code(column, combination)
    }

    fn rows(&self, combination: u32) -> u64 {
        self.table.rows(combination)
    }

    fn holds(&self, combinations: &[u32]) -> bool {
        self.table.holds(combinations)
    }

    fn least_rows(&self) -> u64 {
        self.table.least_rows()
    }

    fn rows_suffice(&self) -> bool {
        self.table.rows_suffice()
    }

    fn rows_have_limits(&self) -> bool {
        self.table.rows_have_limits()
    }

    fn suppressible(&self) -> u64 {
        self.table.suppressible()
    }

    fn class_labels(&self) -> Option<usize> {
        self.table.class_labels()
    }

    fn for_each_class_label(&self, combination: u32, f: &mut dyn FnMut(u32, u64)) {
        self.table.for_each_class_label(combination, f);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::partition::testing::{Toy, column};

    /// The first column equals the class label, the second is independent of it, and the third has
    /// a single value.
    #[test]
    fn a_column_weighs_what_it_tells() {
        let two = || column(&["a", "a"], false);
        let combinations = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let toy = Toy {
            columns: vec![two(), two(), two()],
            combinations: combinations
                .iter()
                .map(|(a, b)| {
                    (
                        vec![*a, *b, 0],
                        [50 * u64::from(*a == 0), 50 * u64::from(*a == 1)].to_vec(),
                    )
                })
                .collect(),
            k: 1,
            suppressible: 0,
            asks: false,
        };
        let bias = 1.0 / (2.0 * 200.0 * std::f64::consts::LN_2);
        assert!((information(&toy, 0) - 1.0 - bias).abs() < 1e-12);
        assert_eq!((information(&toy, 1), information(&toy, 2)), (0.0, 0.0));
        let weights: Vec<f64> = Guided::new(&toy).columns().iter().map(|c| c.weight).collect();
        assert_eq!(weights, [1.0, LEAST, LEAST]);
    }
}
