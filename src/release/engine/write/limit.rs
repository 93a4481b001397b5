//! Decides when a file is full: after a given number of rows, or at about a given number of bytes.
//!
//! The size of a file in bytes is known only when its rows are encoded, which several threads do at
//! once. Files must end at the same row for any number of threads. The first row group, or the
//! first file if it is smaller, is therefore measured. The result determines the number of rows of
//! all other files.

use super::sink::ROW_GROUP;

/// The maximum size of a file, in rows or in bytes.
pub(super) struct Limit {
    /// The maximum number of rows of a file, whatever its size in bytes.
    rows: u64,
    /// The approximate number of bytes of a file; `None` if it is not limited, or once the first
    /// rows have been measured.
    size: Option<u64>,
}

impl Limit {
    pub(super) fn new(rows: Option<u64>, size: Option<u64>) -> Self {
        Self {
            rows: rows.unwrap_or(u64::MAX),
            size,
        }
    }

    /// Returns the maximum number of rows of a file, as far as it is known.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns true if the first rows have not been measured yet.
    pub(super) fn is_open(&self) -> bool {
        self.size.is_some()
    }

    /// Records that `rows` rows took `bytes` bytes.
    pub(super) fn learn(&mut self, rows: u64, bytes: u64) {
        let Some(size) = self.size.take() else {
            return;
        };
        let fit = u128::from(size) * u128::from(rows) / u128::from(bytes.max(1));
        let fit = u64::try_from(fit).unwrap_or(u64::MAX).max(1);
        let group = ROW_GROUP as u64;
        // Parquet is read by row groups, so a file with several row groups ends with a complete row
        // group.
        let whole = match fit < group {
            true => fit,
            false => fit - fit % group,
        };
        // A file that already has more rows is full.
        self.rows = self.rows.min(whole);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rows_tell_how_many_fit() {
        let group = ROW_GROUP as u64;
        for (rows, size, learned, expected) in [
            (None, None, (group, 1 << 20), u64::MAX),
            (None, Some(4 << 20), (group, 1 << 20), 4 * group),
            (None, Some(9 << 19), (group, 1 << 20), 4 * group),
            (None, Some(1 << 20), (group, 2 << 20), group / 2),
            (Some(10), Some(1 << 20), (group, 2 << 20), 10),
            (None, Some(1 << 20), (1, 8 << 20), 1),
            (None, Some(1 << 20), (5, 0), 5 * (1 << 20)),
        ] {
            let mut limit = Limit::new(rows, size);
            assert_eq!(limit.is_open(), size.is_some());
            limit.learn(learned.0, learned.1);
            assert_eq!((limit.rows(), limit.is_open()), (expected, false));
        }
    }
}
