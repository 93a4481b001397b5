//! Special uniques: rows that a few of their columns already make unique.
//!
//! A row is *unique* on a set of columns if no other row has the same values in these columns. The
//! set is a *minimal sample unique* (MSU) of the row if the row is not unique on any smaller set
//! within it. The risk of a row is higher the fewer columns its MSUs have, and the more MSUs it has
//! (Elliot and others). With m columns, the score of a row is the sum of (m - s)! over its MSUs of
//! s columns.
//!
//! DIS-SUDA divides the risk of the whole file among the rows by their scores. The probability that
//! a match with a unique row is right is estimated for the file by d = f U / (f U + (1 - f) P),
//! with U unique rows, P rows in classes of two, and the sampling fraction f (Skinner and Elliot
//! 2002, doi:10.1111/1467-9868.00365). With e = 1 + (8 - m) / 20, and A the sum of score^-e over
//! all rows with a score, a row has
//!
//! ```text
//! dis = 1 / (1 + (U / d - U) / (score^e A))
//! ```
//!
//! **Interpretation**: MSUs of up to a given number of columns are searched, as by Manning, Haglin
//! and Keane. In the score, m remains the number of all columns, so a larger limit adds terms to
//! scores and changes none. The formula of dis is the formula of the authors' program and of
//! sdcMicro's `suda2`. Suppressed rows have no score.
//!
//! The search groups the rows by every set of columns up to the limit, smaller sets first. If a row
//! is unique on a set, the set is an MSU of the row unless it contains another MSU of the row.
//!
//! Elliot, Manning, Mayes, Gurd and Bane, SUDA: a program for detecting special uniques, 2005;
//! Manning, Haglin and Keane, A recursive search algorithm for statistical disclosure assessment,
//! Data Mining and Knowledge Discovery 16, 2008, doi:10.1007/s10618-007-0078-6.

use crate::base::error::Result;
use crate::base::pool::check_cancelled;
use std::collections::HashMap;

/// The maximum number of columns. With more columns, the sums of factorials could not be computed
/// exactly.
pub const MOST_COLUMNS: usize = 30;

/// The minimal sample uniques of a table, by class of equal rows. A class of several rows has no
/// MSU.
#[derive(Debug, Clone, PartialEq)]
pub struct SpecialUniques {
    /// The MSUs of each class in ascending order of size. An MSU is a set of columns with one bit
    /// per column.
    minimal: Vec<Vec<u32>>,
    columns: usize,
    /// The number of rows in classes of one row. The field `in_pairs` is the number of rows in
    /// classes of two rows.
    alone: u64,
    in_pairs: u64,
}

impl SpecialUniques {
    /// Finds the MSUs of up to `largest` columns. `columns` contains, for each column, the code of
    /// each class's value. `sizes` contains the number of rows of each class. No two classes may be
    /// equal. Fails only if the statement was cancelled.
    pub fn of(columns: &[Vec<u32>], sizes: &[u64], largest: usize) -> Result<Self> {
        let mut minimal: Vec<Vec<u32>> = vec![vec![]; sizes.len()];
        for set in sets(columns.len(), largest) {
            check_cancelled()?;
            for class in alone(columns, sizes, set) {
                let found = &mut minimal[class as usize];
                if found.iter().all(|smaller| smaller & set != *smaller) {
                    found.push(set);
                }
            }
        }
        let rows_in = |size: u64| size * sizes.iter().filter(|n| **n == size).count() as u64;
        Ok(Self {
            minimal,
            columns: columns.len(),
            alone: rows_in(1),
            in_pairs: rows_in(2),
        })
    }

    /// Returns the score of the rows of each class.
    pub fn scores(&self) -> Vec<f64> {
        let of_set = |set: &u32| factorial(self.columns - set.count_ones() as usize);
        let score = |sets: &Vec<u32>| sets.iter().map(of_set).sum::<u128>() as f64;
        self.minimal.iter().map(score).collect()
    }

    /// Returns the contribution of each column to the score of the rows of each class: the share of
    /// the score from MSUs with the column; `None` for a class without a score. An MSU of several
    /// columns counts for each column, so the shares of a row add up to 1 only if each of its MSUs
    /// has one column.
    pub fn contributions(&self) -> Vec<Vec<Option<f64>>> {
        let of_set = |set: &u32| factorial(self.columns - set.count_ones() as usize);
        let sum = |sets: &[u32], with: u32| {
            let sets = sets.iter().filter(|set| *set & with != 0);
            sets.map(of_set).sum::<u128>() as f64
        };
        let share = |sets: &Vec<u32>, column: usize| {
            let score = sum(sets, u32::MAX);
            (score > 0.0).then(|| sum(sets, 1 << column) / score)
        };
        let of_column = |column| self.minimal.iter().map(|sets| share(sets, column)).collect();
        (0..self.columns).map(of_column).collect()
    }

    /// Returns the DIS-SUDA score of the rows of each class, for a sample with this sampling
    /// fraction.
    pub fn dis(&self, fraction: f64) -> Vec<f64> {
        let scores = self.scores();
        let (alone, in_pairs) = (self.alone as f64, self.in_pairs as f64);
        let file = fraction * alone / (fraction * alone + (1.0 - fraction) * in_pairs);
        let exponent = 1.0 + (8.0 - self.columns as f64) / 20.0;
        let scored = scores.iter().filter(|score| **score > 0.0);
        let adjustment: f64 = scored.map(|score| score.powf(-exponent)).sum();
        let dis = |score: &f64| match *score > 0.0 {
            true => 1.0 / (1.0 + (alone / file - alone) / (score.powf(exponent) * adjustment)),
            false => 0.0,
        };
        scores.iter().map(dis).collect()
    }
}

/// Returns the number of sets of 1 to `largest` columns out of `columns`.
pub fn number_of_sets(columns: usize, largest: usize) -> u64 {
    let mut ways = 1u64;
    let mut all = 0u64;
    for size in 1..=largest.min(columns) {
        ways = ways * (columns - size + 1) as u64 / size as u64;
        all += ways;
    }
    all
}

/// Returns every set of 1 to `largest` columns out of `columns`, smaller sets first.
fn sets(columns: usize, largest: usize) -> Vec<u32> {
    let mut all = vec![];
    let mut last = vec![0u32];
    for _ in 0..largest.min(columns) {
        // Each set is extended by the columns after its last column.
        let longer = last.iter().flat_map(|set| {
            let next = 32 - set.leading_zeros();
            (next..columns as u32).map(move |column| set | 1 << column)
        });
        last = longer.collect();
        all.extend(&last);
    }
    all
}

/// Returns, in ascending order, the classes that consist of one row that is unique on a set of
/// columns.
fn alone(columns: &[Vec<u32>], sizes: &[u64], set: u32) -> Vec<u32> {
    let chosen = || {
        columns
            .iter()
            .enumerate()
            .filter(|(i, _)| set >> i & 1 == 1)
            .map(|(_, column)| column)
    };
    let mut groups: HashMap<Vec<u32>, (u32, u64)> = HashMap::new();
    for (class, size) in sizes.iter().enumerate() {
        let key = chosen().map(|column| column[class]).collect();
        groups.entry(key).or_insert((class as u32, 0)).1 += size;
    }
    let mut found: Vec<u32> = groups
        .into_values()
        .filter(|(_, n)| *n == 1)
        .map(|(class, _)| class)
        .collect();
    found.sort_unstable();
    found
}

fn factorial(n: usize) -> u128 {
    (1..=n as u128).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the classes of these rows in the order of their first rows: the codes for each
    /// column, the sizes, and the class of each row.
    fn classes<T: PartialEq, const M: usize>(rows: &[[T; M]]) -> (Vec<Vec<u32>>, Vec<u64>, Vec<usize>) {
        let (mut first, mut sizes, mut class_of) = (vec![], vec![], vec![]);
        for row in rows {
            let class = first.iter().position(|other| *other == row).unwrap_or(first.len());
            if class == first.len() {
                first.push(row);
                sizes.push(0);
            }
            sizes[class] += 1;
            class_of.push(class);
        }
        let code = |c: usize, value: &T| rows.iter().position(|row| row[c] == *value).unwrap() as u32;
        let columns = (0..M)
            .map(|c| first.iter().map(|row| code(c, &row[c])).collect())
            .collect();
        (columns, sizes, class_of)
    }

    /// Returns the special uniques of these rows, the class of each row, and its score.
    fn scores<const M: usize>(rows: &[[&str; M]]) -> (SpecialUniques, Vec<usize>, Vec<f64>) {
        let (columns, sizes, class_of) = classes(rows);
        let found = SpecialUniques::of(&columns, &sizes, M).unwrap();
        let scores = found.scores();
        let by_row = class_of.iter().map(|class| scores[*class]).collect();
        (found, class_of, by_row)
    }

    /// The example of the guide to statistical disclosure control of the International Household
    /// Survey Network. sdcMicro uses it to test suda2.
    const HOUSEHOLD: [[&str; 4]; 10] = [
        ["urban", "female", "secondary incomplete", "employed"],
        ["urban", "female", "secondary incomplete", "employed"],
        ["urban", "female", "primary incomplete", "non-LF"],
        ["urban", "male", "secondary complete", "employed"],
        ["rural", "female", "secondary complete", "unemployed"],
        ["urban", "male", "secondary complete", "employed"],
        ["urban", "female", "primary complete", "non-LF"],
        ["urban", "male", "post-secondary", "unemployed"],
        ["urban", "female", "secondary incomplete", "non-LF"],
        ["urban", "female", "secondary incomplete", "non-LF"],
    ];

    #[test]
    fn scores_are_those_of_sdc_micro() {
        assert_eq!(
            scores(&HOUSEHOLD).2,
            [0.0, 0.0, 6.0, 0.0, 12.0, 0.0, 6.0, 10.0, 0.0, 0.0]
        );
        // The book example of sdcMicro's tests.
        let (young, old) = ("20s", "60s");
        let rows = [
            [young, "male", "50k+", "highschool"],
            [young, "male", "50k+", "highschool"],
            [young, "male", "50k-", "highschool"],
            [young, "male", "50k-", "highschool"],
            [young, "female", "50k-", "university"],
            [young, "female", "50k-", "highschool"],
            [young, "female", "50k-", "middleschool"],
            [old, "male", "50k-", "university"],
        ];
        assert_eq!(scores(&rows).2[4..], [4.0, 2.0, 6.0, 8.0]);
    }

    /// Computed by hand. The third row is unique on its schooling alone (score 3!). The fifth is
    /// unique on its region (3!), on its schooling and sex (2!), as an unemployed woman (2!), and
    /// on its schooling and work (2!). The eighth is unique on its schooling (3!), as an unemployed
    /// man (2!), and as a man in town (2!).
    #[test]
    fn contributions_by_hand() {
        let (found, class_of, _) = scores(&HOUSEHOLD);
        let contributions = found.contributions();
        let of_row = |row: usize| {
            contributions
                .iter()
                .map(|column| column[class_of[row]])
                .collect::<Vec<_>>()
        };
        assert_eq!(of_row(0), [None; 4]);
        assert_eq!(of_row(2), [0.0, 0.0, 1.0, 0.0].map(Some));
        assert_eq!(of_row(4), [6.0, 4.0, 4.0, 4.0].map(|score| Some(score / 12.0)));
        assert_eq!(of_row(7), [2.0, 2.0, 6.0, 4.0].map(|score| Some(score / 10.0)));
    }

    #[test]
    fn dis_by_hand() {
        // Four rows are unique. The pairs are rows 0 and 1, 3 and 5, 8 and 9: d = 0.4 / (0.4 +
        // 0.9 * 6) at f = 0.1.
        let (found, class_of, _) = scores(&HOUSEHOLD);
        assert_eq!((found.alone, found.in_pairs), (4, 6));
        let (d, e) = (0.4 / 5.8, 1.2f64);
        let scores = [6.0f64, 12.0, 6.0, 10.0];
        let sum: f64 = scores.iter().map(|s| s.powf(-e)).sum();
        let wanted = |score: f64| 1.0 / (1.0 + (4.0 / d - 4.0) / (score.powf(e) * sum));
        let dis = found.dis(0.1);
        for (row, score) in [2, 4, 6, 7].into_iter().zip(scores) {
            assert!((dis[class_of[row]] - wanted(score)).abs() < 1e-12);
        }
        assert_eq!(dis[0], 0.0);
        // If the sample is the population, every unique row is found.
        assert_eq!(found.dis(1.0)[class_of[4]], 1.0);
    }

    #[test]
    fn sets_are_counted_and_smaller_ones_come_first() {
        assert_eq!(sets(3, 2), [0b1, 0b10, 0b100, 0b11, 0b101, 0b110]);
        assert_eq!(
            (number_of_sets(3, 2), number_of_sets(20, 3), number_of_sets(2, 9)),
            (6, 1350, 3)
        );
        assert_eq!(SpecialUniques::of(&[], &[], 3).unwrap().scores(), Vec::<f64>::new());
    }

    proptest! {
        /// A set is an MSU of a row if and only if the row is unique on it, and not unique on any
        /// of its subsets. The test compares all pairs.
        #[test]
        fn minimal_sets_agree_with_comparing_all_pairs(
            rows in prop::collection::vec(prop::array::uniform4(0u32..3), 0..16),
            largest in 1usize..5,
        ) {
            let (columns, sizes, class_of) = classes(&rows);
            let is_unique = |row: usize, set: u32| {
                let same = |other: &[u32; 4]| (0..4).all(|c| set >> c & 1 == 0 || other[c] == rows[row][c]);
                rows.iter().filter(|other| same(other)).count() == 1
            };
            let found = SpecialUniques::of(&columns, &sizes, largest).unwrap();
            for (row, class) in class_of.iter().enumerate() {
                let mut wanted: Vec<u32> = (1u32..16)
                    .filter(|set| set.count_ones() as usize <= largest && is_unique(row, *set))
                    .filter(|set| (1..*set).all(|less| less & set != less || !is_unique(row, less)))
                    .collect();
                let mut minimal = found.minimal[*class].clone();
                wanted.sort_unstable();
                minimal.sort_unstable();
                prop_assert_eq!(minimal, wanted);
            }
        }
    }
}
