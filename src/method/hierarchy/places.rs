//! The positions at which the rows of a hierarchy are written: lines of a file, or rows of a
//! statement or query. An error names these positions instead of values.

/// The positions at which the rows of a hierarchy are written.
#[derive(Debug, Clone)]
pub(super) enum Places {
    /// For each row, the number of its line in a file.
    Lines(Vec<u64>),
    /// The rows of a statement or query, counted from 1.
    Rows,
}

impl Places {
    /// Returns `line 17` or `row 17`. `row` is a row index, counted from 0.
    pub(super) fn one(&self, row: usize) -> String {
        format!("{} {}", self.noun(), self.number(row))
    }

    /// Returns `lines 17 and 2040` or `rows 17 and 2040`, for two row indices.
    pub(super) fn two(&self, (one, other): (usize, usize)) -> String {
        format!("{}s {} and {}", self.noun(), self.number(one), self.number(other))
    }

    fn noun(&self) -> &'static str {
        match self {
            Self::Lines(_) => "line",
            Self::Rows => "row",
        }
    }

    fn number(&self, row: usize) -> u64 {
        match self {
            Self::Lines(lines) => lines.get(row).copied().unwrap_or_default(),
            Self::Rows => row as u64 + 1,
        }
    }
}
