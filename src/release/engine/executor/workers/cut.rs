//! Divides a release into buckets before it is written.
//!
//! The classes determine how many rows the release has, and the order of the rows as far as it
//! depends on the quasi-identifiers. The classes in each file, and the number of its rows, are
//! therefore known before any file is written. A bucket contains the files that one worker orders
//! and writes: one file, or several if a class is larger than a file. If two buckets share a class,
//! both receive all rows of the class, and each bucket takes its own rows: the first `skip` rows
//! and the last `rest` rows of its classes are in other buckets.

use crate::data::recode::{ClassPlace, Range};
use serde::{Deserialize, Serialize};

/// The number, folder and rows of a file before it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PlannedFile {
    /// The number of the file in the release.
    pub(super) number: usize,
    /// The path of the folders that contain the file: empty, or with a slash at the end.
    pub(super) partition: String,
    /// The number of rows of the file.
    pub(super) rows: u64,
}

/// Consecutive files with the range of their classes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Bucket {
    /// The range of the classes. Its bucket number is assigned later.
    pub(super) range: Range,
    /// The number of rows of these classes that are in earlier files.
    pub(super) skip: u64,
    /// The files, in the order of their rows.
    pub(super) files: Vec<PlannedFile>,
    /// The number of rows of these classes that are in later files.
    pub(super) rest: u64,
}

impl Bucket {
    /// Returns the number of rows of the bucket's classes.
    pub(super) fn rows(&self) -> u64 {
        self.skip + self.files.iter().map(|file| file.rows).sum::<u64>() + self.rest
    }
}

/// A class before the release is divided: its position in the order of the release, the path of its
/// folders, and its number of rows.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub(super) place: ClassPlace,
    pub(super) partition: String,
    pub(super) rows: u64,
}

/// Divides classes into files of at most `rows_per_file` rows, numbered from `begun`, and groups
/// the files into buckets. Every class must have at least one row. The classes must ascend by
/// `place`, and no two may have the same `place`.
pub(super) fn cut(classes: &[Placed], rows_per_file: u64, begun: usize) -> Vec<Bucket> {
    let mut files: Vec<(PlannedFile, Span)> = vec![];
    let mut open: Option<String> = None;
    for (number, class) in classes.iter().enumerate() {
        let mut done = 0;
        while done < class.rows {
            let is_new = match (&open, files.last()) {
                (Some(partition), Some((file, _))) => *partition != class.partition || file.rows >= rows_per_file,
                _ => true,
            };
            if is_new {
                open = Some(class.partition.clone());
                let file = PlannedFile {
                    number: begun + files.len(),
                    partition: class.partition.clone(),
                    rows: 0,
                };
                let span = Span {
                    first: number,
                    before: done,
                    last: number,
                    until: done,
                };
                files.push((file, span));
            }
            if let Some((file, span)) = files.last_mut() {
                let take = (class.rows - done).min(rows_per_file - file.rows);
                file.rows += take;
                done += take;
                (span.last, span.until) = (number, done);
            }
        }
    }
    let mut buckets: Vec<(Vec<PlannedFile>, Span)> = vec![];
    for (file, span) in files {
        // A file within one class joins the bucket that ends with this class, because a bucket of
        // its own would contain only rows of this class.
        match buckets
            .last_mut()
            .filter(|(_, last)| span.first == span.last && last.last == span.first)
        {
            Some((files, last)) => {
                files.push(file);
                (last.last, last.until) = (span.last, span.until);
            }
            None => buckets.push((vec![file], span)),
        }
    }
    let bucket = |(files, span): (Vec<PlannedFile>, Span)| Bucket {
        range: Range {
            bucket: 0,
            low: classes[span.first].place.clone(),
            high: classes[span.last].place.clone(),
        },
        skip: span.before,
        files,
        rest: classes[span.last].rows - span.until,
    };
    buckets.into_iter().map(bucket).collect()
}

/// The rows of a file or a bucket: from row index `before` (inclusive) of the class with index
/// `first` to row index `until` (exclusive) of the class with index `last`.
struct Span {
    first: usize,
    before: u64,
    last: usize,
    until: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Tests that files are as long as allowed, that buckets have all rows of their classes,
        /// and that each file is in exactly one bucket.
        #[test]
        fn every_row_is_in_one_file(
            rows in prop::collection::vec((1u64..60, 0u8..3), 1..40),
            most in 1u64..50,
        ) {
            let mut rows = rows;
            rows.sort_by_key(|(_, partition)| *partition);
            let class = |(i, (rows, partition)): (usize, &(u64, u8))| Placed {
                place: vec![i as u64],
                partition: format!("p={partition}/"),
                rows: *rows,
            };
            let classes: Vec<Placed> = rows.iter().enumerate().map(class).collect();
            let buckets = cut(&classes, most, 7);
            let files: Vec<&PlannedFile> = buckets.iter().flat_map(|b| &b.files).collect();
            // The expected files are filled row by row, one file after the other.
            let mut expected: Vec<(String, u64)> = vec![];
            for class in &classes {
                for _ in 0..class.rows {
                    match expected.last_mut().filter(|(p, n)| *p == class.partition && *n < most) {
                        Some((_, n)) => *n += 1,
                        None => expected.push((class.partition.clone(), 1)),
                    }
                }
            }
            let found: Vec<(String, u64)> = files.iter().map(|f| (f.partition.clone(), f.rows)).collect();
            prop_assert_eq!(found, expected);
            prop_assert!(files.iter().enumerate().all(|(i, f)| f.number == i + 7));
            let before = |i: usize| classes[..i].iter().map(|c| c.rows).sum::<u64>();
            let mut at = 0;
            for bucket in &buckets {
                let (low, high) = (bucket.range.low[0] as usize, bucket.range.high[0] as usize);
                prop_assert_eq!(at, before(low) + bucket.skip);
                prop_assert_eq!(bucket.rows(), before(high + 1) - before(low));
                prop_assert!(bucket.skip < classes[low].rows && bucket.rest < classes[high].rows);
                at += bucket.files.iter().map(|f| f.rows).sum::<u64>();
            }
            prop_assert_eq!(at, before(classes.len()));
            // No class is given to more than two buckets.
            for class in 0..classes.len() as u64 {
                let of = buckets.iter().filter(|b| b.range.low[0] <= class && class <= b.range.high[0]);
                prop_assert!(of.count() <= 2);
            }
        }
    }
}
