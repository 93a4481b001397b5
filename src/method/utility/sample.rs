//! A table as a list of its rows of labels. Each label has a list of the values that it covers.

/// A column and its values: the values of the source and of the test rows, and released values that
/// the source does not have.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnValues {
    /// The name of the column.
    pub name: String,
    /// The number of distinct values. A value is represented by its index in the ascending order of
    /// all values, with NULL last.
    pub values: usize,
    /// Each value as a number, if the values are numbers, dates or timestamps. The inner `None` is
    /// NULL.
    pub numbers: Option<Vec<Option<f64>>>,
}

/// The labels of a column. For each label: the values that it covers, ascending.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnLabels {
    /// The values under the labels, label by label.
    values: Vec<u32>,
    /// For each label, the index in `values` after its last value.
    ends: Vec<usize>,
}

impl ColumnLabels {
    /// Returns the labels of raw values. Each label covers one value.
    pub fn raw(values: usize) -> Self {
        Self {
            values: (0..values as u32).collect(),
            ends: (1..=values).collect(),
        }
    }

    /// Returns the labels that cover these values.
    pub fn of(covered: impl IntoIterator<Item = impl AsRef<[u32]>>) -> Self {
        let mut labels = Self::default();
        covered.into_iter().for_each(|values| labels.push(values.as_ref()));
        labels
    }

    /// Adds a label that covers these values.
    pub fn push(&mut self, covered: &[u32]) {
        self.values.extend_from_slice(covered);
        self.ends.push(self.values.len());
    }

    /// Returns the number of labels.
    pub fn number(&self) -> usize {
        self.ends.len()
    }

    /// Returns the values that a label covers.
    pub fn covered(&self, label: usize) -> &[u32] {
        let start = label.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.values[start..self.ends[label]]
    }

    /// Returns the values that each label covers.
    pub fn all(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.number()).map(move |label| self.covered(label))
    }

    /// Returns the mean of the numbers under each label; `None` if no value under it has a number.
    pub(super) fn numbers(&self, numbers: &[Option<f64>]) -> Vec<Option<f64>> {
        let mean = |values: &[u32]| {
            let known = values.iter().filter_map(|v| numbers[*v as usize]);
            let (sum, n) = known.fold((0.0, 0u64), |(sum, n), x| (sum + x, n + 1));
            (n > 0).then(|| sum / n as f64)
        };
        self.all().map(mean).collect()
    }
}

/// The rows of a table. If classifiers are trained on them, they are distinct and in ascending
/// order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The labels of each column.
    pub labels: Vec<ColumnLabels>,
    /// For each column: the label of each row.
    pub columns: Vec<Vec<u32>>,
    /// The number of occurrences of each row.
    pub counts: Vec<u64>,
}

impl Sample {
    /// Returns a sample of rows without columns.
    pub fn empty(counts: &[u64]) -> Self {
        Self {
            labels: vec![],
            columns: vec![],
            counts: counts.to_vec(),
        }
    }

    /// Adds a column with its labels and the label of each row.
    pub fn push(&mut self, labels: ColumnLabels, rows: Vec<u32>) {
        self.labels.push(labels);
        self.columns.push(rows);
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the number of rows with each label of a column.
    pub(super) fn by_label(&self, column: usize) -> Vec<u64> {
        let mut rows = vec![0; self.labels[column].number()];
        for (label, n) in self.columns[column].iter().zip(&self.counts) {
            rows[*label as usize] += n;
        }
        rows
    }

    /// Returns the share of each of the values of a column. `by_label` is the number of rows with
    /// each of its labels.
    pub(super) fn distribution(&self, column: usize, values: usize, by_label: &[u64]) -> Vec<f64> {
        let all = self.rows() as f64;
        let mut shares = vec![0.0; values];
        for (covered, rows) in self.labels[column].all().zip(by_label) {
            let each = *rows as f64 / covered.len() as f64 / all;
            covered
                .iter()
                .filter(|_| *rows > 0)
                .for_each(|v| shares[*v as usize] += each);
        }
        shares
    }

    /// Returns the class of each row. A class label is released unchanged, so its label
    /// covers one value.
    pub(super) fn classes(&self, class: usize) -> Vec<u32> {
        let covered = |label: &u32| self.labels[class].covered(*label as usize);
        let value = |label: &u32| covered(label).first().copied().unwrap_or(0);
        self.columns[class].iter().map(value).collect()
    }

    /// Returns the number of rows with each value of a column and each of `classes` classes. The
    /// classes of a value are adjacent. A row counts evenly for the values under its label.
    pub(super) fn joint(&self, column: usize, values: usize, class: usize, classes: usize) -> Vec<f64> {
        let labels = &self.labels[column];
        let mut rows = vec![0u64; labels.number() * classes];
        let found = self.columns[column].iter().zip(self.classes(class)).zip(&self.counts);
        for ((label, class), n) in found {
            rows[*label as usize * classes + class as usize] += n;
        }
        let mut joint = vec![0.0; values * classes];
        for (label, covered) in labels.all().enumerate() {
            let rows = &rows[label * classes..][..classes];
            if rows.iter().all(|n| *n == 0) {
                continue;
            }
            for value in covered {
                let cells = &mut joint[*value as usize * classes..][..classes];
                let shared = cells.iter_mut().zip(rows);
                shared.for_each(|(cell, n)| *cell += *n as f64 / covered.len() as f64);
            }
        }
        joint
    }
}
