//! An artificial table for tests: combinations with their rows by class label. A group satisfies
//! the model if it has at least k rows.

use super::{Column, Numbers, Partition, Partitioner, Table};
use crate::method::hierarchy::{Hierarchy, OnNull, OnUnmapped, values};
use crate::method::search::{Context, SearchBudget};
use arrow::array::{ArrayRef, Int64Array, StringArray};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Combinations of ground codes, each with its number of rows by class label.
#[derive(Debug, Clone)]
pub(super) struct Toy {
    pub(super) columns: Vec<Column>,
    pub(super) combinations: Vec<(Vec<u32>, Vec<u64>)>,
    pub(super) k: u64,
    pub(super) suppressible: u64,
    /// True if the table must check each group, as for models that depend on more than the number
    /// of rows.
    pub(super) asks: bool,
}

/// Returns a column over the values `0..groups.len()`. The level between the values and the top
/// contains the group of each value.
pub(super) fn column(groups: &[&str], numbers: bool) -> Column {
    let row = |(value, group): (usize, &&str)| [&value.to_string(), *group, "*"].map(|t| Some(t.to_string())).to_vec();
    let rows: Vec<_> = groups.iter().enumerate().map(row).collect();
    let rule = values::listed(&rows).unwrap();
    let hierarchy = Hierarchy::new("h", Arc::new(rule), OnUnmapped::Error, OnNull::Value).unwrap();
    let values = 0..groups.len() as i64;
    let values: ArrayRef = match numbers {
        true => Arc::new(values.collect::<Int64Array>()),
        false => Arc::new(values.map(|v| Some(v.to_string())).collect::<StringArray>()),
    };
    let lookup = Arc::new(hierarchy.bind(values).unwrap());
    Column {
        bottom: 0,
        top: lookup.top(),
        lookup,
        weight: 1.0,
        numbers: Numbers::Ranges,
    }
}

impl Toy {
    /// Returns a table with a column of numbers and a column of texts. `rows` is the number of rows
    /// of each pair of codes.
    pub(super) fn of_pairs(rows: &BTreeMap<(u32, u32), u64>, k: u64, asks: bool) -> Self {
        Self {
            columns: vec![
                column(&["a", "a", "b", "b", "b"], true),
                column(&["a", "a", "b", "b"], false),
            ],
            combinations: rows.iter().map(|((a, b), n)| (vec![*a, *b], vec![*n])).collect(),
            k,
            suppressible: 0,
            asks,
        }
    }

    pub(super) fn run(&self, partitioner: &dyn Partitioner) -> Partition {
        let mut context = Context::new(0, SearchBudget::default());
        let found = partitioner.run(self, &mut context).unwrap();
        assert!(found.stopped.is_none());
        found.partition
    }

    /// Returns the loss of a partition, computed from its labels.
    pub(super) fn loss(&self, partition: &Partition) -> f64 {
        let loss = |combination: usize| {
            let group = partition.groups()[combination] as usize;
            let columns = self.columns.iter().enumerate().map(|(i, column)| {
                let label = partition.labels(i)[partition.cells(i)[group] as usize];
                let spans = column.lookup.total_leaves() - 1;
                (label.leaves(&column.lookup) - 1) as f64 / spans as f64
            });
            self.rows(combination as u32) as f64 * columns.sum::<f64>()
        };
        (0..self.len()).map(loss).sum()
    }

    /// Returns the labels and the number of rows of each group.
    pub(super) fn groups(&self, partition: &Partition) -> Vec<(Vec<String>, u64)> {
        let group = |group: usize| {
            let label = |column: usize| {
                partition
                    .texts(column)
                    .value(partition.cells(column)[group] as usize)
                    .to_string()
            };
            let members = (0..self.len() as u32).filter(|c| partition.groups()[*c as usize] as usize == group);
            (
                (0..self.columns.len()).map(label).collect(),
                members.map(|c| self.rows(c)).sum(),
            )
        };
        (0..partition.len()).map(group).collect()
    }
}

impl Table for Toy {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn len(&self) -> usize {
        self.combinations.len()
    }

    fn code(&self, column: usize, combination: u32) -> u32 {
        self.combinations[combination as usize].0[column]
    }

    fn rows(&self, combination: u32) -> u64 {
        self.combinations[combination as usize].1.iter().sum()
    }

    fn holds(&self, combinations: &[u32]) -> bool {
        combinations.iter().map(|c| self.rows(*c)).sum::<u64>() >= self.k
    }

    fn least_rows(&self) -> u64 {
        if self.asks { 1 } else { self.k }
    }

    fn rows_suffice(&self) -> bool {
        !self.asks
    }

    fn suppressible(&self) -> u64 {
        self.suppressible
    }

    fn class_labels(&self) -> Option<usize> {
        Some(self.combinations.iter().map(|c| c.1.len()).max().unwrap_or(0))
    }

    fn for_each_class_label(&self, combination: u32, f: &mut dyn FnMut(u32, u64)) {
        let labels = self.combinations[combination as usize].1.iter().enumerate();
        labels
            .filter(|(_, n)| **n > 0)
            .for_each(|(label, n)| f(label as u32, *n));
    }
}
