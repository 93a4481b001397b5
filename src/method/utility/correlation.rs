//! Pearson's correlation of two columns of numbers, and the number of rows that decide it.
//!
//! The numbers are first converted to whole numbers of steps, so the results do not depend on the
//! order of the rows.

use super::step_sums::{ColumnSums, StepSums};
use super::steps::Steps;

/// The correlation of two columns of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Correlation {
    /// Pearson's r; `None` if one of the two columns does not vary.
    pub(super) r: Option<f64>,
    /// The number of rows in which both columns have a number.
    pub(super) rows: u64,
    /// The number of rows that decide r ([`StepSums::deciding`]).
    pub(super) deciding: u64,
}

/// Stands for the number of steps of a label that is not a number or has no rows. No number has it.
const NO_NUMBER: i64 = i64::MIN;

/// The labels of a column of numbers, as numbers of steps.
pub(super) struct LabelSteps {
    /// The number of steps of each label, or [`NO_NUMBER`].
    steps: Vec<i64>,
    /// The sums over all rows; `None` if a label with rows is not a number.
    sums: Option<ColumnSums>,
}

impl LabelSteps {
    /// Converts the numbers of labels to steps. Only the finite numbers of labels that occur in
    /// rows decide the steps; `rows` contains the number of rows of each label.
    pub(super) fn new(numbers: &[Option<f64>], rows: &[u64]) -> Self {
        let occurring = || numbers.iter().zip(rows).map(|(x, rows)| x.filter(|_| *rows > 0));
        let nothing = (f64::INFINITY, f64::NEG_INFINITY);
        let ends = occurring()
            .flatten()
            .fold(nothing, |(low, high), x| (low.min(x), high.max(x)));
        let scale = Steps::of_floats(ends);
        let steps: Vec<i64> = occurring().map(|x| x.map_or(NO_NUMBER, |x| scale.float(x))).collect();
        let has_all = steps.iter().zip(rows).all(|(x, rows)| *x != NO_NUMBER || *rows == 0);
        // The sums leave out labels without rows.
        let numbered = steps.iter().copied().zip(rows.iter().copied());
        let sums = has_all.then(|| ColumnSums::of(numbered));
        Self { steps, sums }
    }

    /// Returns the number of steps of a label; `None` if it is not a number or has no rows.
    fn known(&self, label: u32) -> Option<i64> {
        Some(self.steps[label as usize]).filter(|steps| *steps != NO_NUMBER)
    }
}

impl Correlation {
    /// Returns the correlation of two columns. `rows` contains the two labels of each row, and how
    /// often the row occurs. The result does not depend on the order of the rows.
    pub(super) fn of<'r>(columns: [&LabelSteps; 2], rows: impl Iterator<Item = (&'r u32, &'r u32, &'r u64)>) -> Self {
        let [one, other] = columns;
        let sums = match [one.sums, other.sums] {
            // All labels with rows are numbers.
            [Some(of_one), Some(of_other)] => {
                let products = rows.fold(0, |sum, (a, b, n)| {
                    let product = i128::from(one.steps[*a as usize]) * i128::from(other.steps[*b as usize]);
                    sum + if *n == 1 { product } else { product * i128::from(*n) }
                });
                StepSums::of_columns([of_one, of_other], products)
            }
            _ => {
                let mut sums = StepSums::default();
                for (a, b, n) in rows {
                    if let (Some(x), Some(y)) = (one.known(*a), other.known(*b)) {
                        sums.add(x, y, *n);
                    }
                }
                sums
            }
        };
        Self {
            r: sums.correlation(),
            rows: sums.rows(),
            deciding: sums.deciding(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the correlation of weighted pairs of numbers. Each pair has labels of its own.
    fn correlation(pairs: &[(f64, f64, u64)]) -> Correlation {
        let counts: Vec<u64> = pairs.iter().map(|pair| pair.2).collect();
        let labels: Vec<u32> = (0..pairs.len() as u32).collect();
        let rows = || labels.iter().zip(&labels).zip(&counts).map(|((a, b), n)| (a, b, n));
        let numbers =
            |of: fn(&(f64, f64, u64)) -> f64| -> Vec<Option<f64>> { pairs.iter().map(|pair| Some(of(pair))).collect() };
        let [x, y] = [numbers(|pair| pair.0), numbers(|pair| pair.1)];
        let steps = [&x, &y].map(|numbers| LabelSteps::new(numbers, &counts));
        let found = Correlation::of([&steps[0], &steps[1]], rows());
        // With a further label that is not a number, all sums are added pair by pair.
        let counts: Vec<u64> = counts.iter().copied().chain([1]).collect();
        let [x, y] = [x, y].map(|numbers| LabelSteps::new(&[numbers, vec![None]].concat(), &counts));
        assert_eq!(Correlation::of([&x, &y], rows()), found);
        found
    }

    /// Returns the number of steps of each label.
    fn known(labels: &LabelSteps) -> Vec<Option<i64>> {
        (0..labels.steps.len() as u32)
            .map(|label| labels.known(label))
            .collect()
    }

    #[test]
    fn labels_without_rows_do_not_decide_the_steps() {
        let labels = LabelSteps::new(&[Some(1.0), Some(1e300), None, Some(3.0)], &[2, 0, 5, 1]);
        assert_eq!(known(&labels), [Some(-(1 << 46)), None, None, Some(1 << 46)]);
        assert!(labels.sums.is_none());
        let labels = LabelSteps::new(&[None, Some(7.0)], &[0, 1]);
        assert_eq!((known(&labels), labels.sums.is_some()), (vec![None, Some(0)], true));
        assert!(LabelSteps::new(&[], &[]).steps.is_empty());
    }

    #[test]
    fn rows_that_differ_from_most_others_decide() {
        let one = [(0.0, 1.0, 399), (1.0, 7.0, 1)];
        assert_eq!(correlation(&one).deciding, 1);
        let swapped = one.map(|(x, y, count)| (y, x, count));
        assert_eq!(correlation(&swapped).deciding, 1);
        let ten = [(0.0, 0.0, 195), (0.0, 1.0, 195), (1.0, 0.0, 5), (1.0, 1.0, 5)];
        assert_eq!(correlation(&ten).deciding, 10);
        assert_eq!(correlation(&[(1.0, 2.0, 3), (2.0, 2.0, 3)]).deciding, 0);
        assert_eq!(correlation(&[]).deciding, 0);
    }

    proptest! {
        /// Any order and any grouping of the rows gives the same result, which is close to the
        /// result of the definition.
        #[test]
        fn the_order_of_the_rows_does_not_matter(
            rows in prop::collection::vec((-1e9..1e9f64, prop::sample::select(vec![-0.5, 0.0, 3.25, 1e12])), 1..40).prop_shuffle(),
            few: bool,
        ) {
            let few = |x: f64| if few { x.signum() } else { x };
            let rows: Vec<(f64, f64, u64)> = rows.into_iter().map(|(x, y)| (few(x), y, 1)).collect();
            let mut sorted = rows.clone();
            sorted.sort_by(|a, b| a.partial_cmp(b).unwrap());
            let mut grouped: Vec<(f64, f64, u64)> = vec![];
            for (x, y, _) in &sorted {
                match grouped.last_mut().filter(|last| (last.0, last.1) == (*x, *y)) {
                    Some(last) => last.2 += 1,
                    None => grouped.push((*x, *y, 1)),
                }
            }
            let found = correlation(&rows);
            prop_assert_eq!(found, correlation(&sorted));
            prop_assert_eq!(found, correlation(&grouped));
            let n = rows.len() as f64;
            let mean = |of: &dyn Fn(&(f64, f64, u64)) -> f64| rows.iter().map(of).sum::<f64>() / n;
            let (x, y) = (mean(&|row| row.0), mean(&|row| row.1));
            let xy = mean(&|row| (row.0 - x) * (row.1 - y));
            let (xx, yy) = (mean(&|row| (row.0 - x).powi(2)), mean(&|row| (row.1 - y).powi(2)));
            match found.r {
                Some(r) => prop_assert!((r - xy / (xx.sqrt() * yy.sqrt())).abs() < 1e-9),
                None => prop_assert!(rows.iter().all(|row| row.0 == rows[0].0) || rows.iter().all(|row| row.1 == rows[0].1)),
            }
        }
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let ends = [(f64::MAX, 1.0, 1), (f64::MIN, 0.0, 1), (0.0, 0.5, 1 << 32)];
        assert!((correlation(&ends).r.unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(correlation(&ends).deciding, 2);
    }

    #[test]
    fn correlations_by_hand() {
        let of = |pairs: &[(f64, f64, u64)]| correlation(pairs).r;
        let close = |found: Option<f64>, r: f64| assert!((found.unwrap() - r).abs() < 1e-12, "{found:?} {r}");
        close(of(&[(1.0, 2.0, 1), (2.0, 4.0, 3), (3.0, 6.0, 1)]), 1.0);
        close(of(&[(1.0, 1.0, 2), (2.0, -1.0, 2)]), -1.0);
        assert_eq!(of(&[(1.0, 1.0, 2), (1.0, -1.0, 2)]), None);
        assert_eq!(of(&[]), None);
        // x = 1, 2, 3, y = 1, 3, 2: covariance 1, deviations sqrt(2) each.
        close(of(&[(1.0, 1.0, 1), (2.0, 3.0, 1), (3.0, 2.0, 1)]), 0.5);
    }
}
