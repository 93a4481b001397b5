//! The cells that may be suppressed, and the choice of suppressed cells.

use super::super::table::Grouping;

/// The difference below which two costs count as equal. Sums of the same weights in different
/// orders may differ by a rounding error.
pub(super) const TINY: f64 = 1e-9;

/// The cells of a table. A cell of a combination is suppressed in all rows of the combination
/// together.
pub(super) struct Problem {
    /// The number of rows of each combination.
    pub(super) rows: Vec<u64>,
    /// The released label of each cell if it is kept, and the label if it is suppressed. Ordered
    /// combination by combination.
    pub(super) labels: Vec<[u32; 2]>,
    /// The weight of a cell for each column; infinite if the column may not be suppressed.
    pub(super) weights: Vec<f64>,
    /// The weight of an entirely suppressed row.
    pub(super) row_weight: f64,
    /// The groupings whose groups must all be large enough.
    pub(super) groupings: Vec<Grouping>,
    /// The number of rows that may be entirely suppressed.
    pub(super) suppressible: u64,
}

/// A choice of suppressed cells and rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SuppressionChoice {
    /// For each cell, combination by combination: true if the cell is suppressed.
    pub(super) starred: Vec<bool>,
    /// For each combination: true if its rows are entirely suppressed.
    pub(super) gone: Vec<bool>,
}

impl Problem {
    /// Returns the choice that suppresses nothing.
    pub(super) fn none(&self) -> SuppressionChoice {
        SuppressionChoice {
            starred: vec![false; self.labels.len()],
            gone: vec![false; self.rows.len()],
        }
    }

    /// Returns the choice that suppresses every cell that may be suppressed.
    pub(super) fn all(&self) -> SuppressionChoice {
        let may = |cell: usize| self.may_star(cell % self.weights.len());
        SuppressionChoice {
            starred: (0..self.labels.len()).map(may).collect(),
            ..self.none()
        }
    }

    /// Returns true if cells of the column may be suppressed.
    pub(super) fn may_star(&self, column: usize) -> bool {
        self.weights[column].is_finite()
    }

    /// Returns the mean weight of a cell, or 1 if cells weigh nothing.
    pub(super) fn mean_weight(&self) -> f64 {
        let finite: Vec<f64> = self.weights.iter().copied().filter(|w| w.is_finite()).collect();
        let mean = finite.iter().sum::<f64>() / finite.len().max(1) as f64;
        if mean > 0.0 { mean } else { 1.0 }
    }

    /// Returns the blocks of each column whose cells may be suppressed. A block is all
    /// combinations, or the combinations that share a value of the column.
    pub(super) fn blocks(&self) -> Vec<(usize, Vec<u32>)> {
        let width = self.weights.len();
        let mut blocks = vec![];
        for column in (0..width).filter(|column| self.may_star(*column)) {
            let label = |combination: &u32| self.labels[*combination as usize * width + column];
            let mut all: Vec<u32> = (0..self.rows.len() as u32).collect();
            blocks.push((column, all.clone()));
            all.sort_by_key(label);
            let values = all.chunk_by(|a, b| label(a) == label(b)).filter(|with| with.len() > 1);
            blocks.extend(values.map(|with| (column, with.to_vec())));
        }
        blocks
    }
}

/// Combinations that are released with the same labels.
pub(super) struct CombinationGroup {
    pub(super) members: Vec<u32>,
    /// For each column: true if the cells of the members are suppressed.
    pub(super) starred: Vec<bool>,
}
