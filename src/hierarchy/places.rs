//! The places where the rows of a hierarchy are written: lines of a file, or rows of a statement or
//! query. An error names these places instead of values.

/// The places where the rows of a hierarchy are written.
#[derive(Debug, Clone)]
pub(super) enum Places {
    /// By row: the number of its line in a file.
    Lines(Vec<u64>),
    /// The rows of a statement or query, counted from 1.
    Rows,
}

impl Places {
    /// Returns `line 17` or `row 17`; `row` counts from 0.
    pub(super) fn one(&self, row: usize) -> String {
        format!("{} {}", self.noun(), self.number(row))
    }

    /// Returns `lines 17 and 2040` or `rows 17 and 2040`.
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
