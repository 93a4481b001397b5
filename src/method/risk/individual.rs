//! The individual risk of a sample's rows with sampling weights.
//!
//! A class of f rows in the sample, whose weights sum to F, has about F rows in the population. Its
//! true size in the population is unknown. Given the sample, the size has a negative binomial
//! distribution with f successes and the success probability p = f / F. The risk of each row of the
//! class is the mean of 1 / size under this distribution:
//!
//! ```text
//! r = sum over h >= f of (1 / h) C(h - 1, f - 1) p^f (1 - p)^(h - f)
//! ```
//!
//! With q = 1 - p, r is p / q ln(1 / p) for f = 1, and p / q (1 / (f - 1) - r of f - 1 rows) for
//! greater f. If p is not below q, this recurrence loses digits. In that case, the hypergeometric
//! form r = p / f 2F1(1, 1; f + 1; q) converges fast and is used instead. A class with F = f has no
//! other rows in the population: r = 1 / f.
//!
//! **Interpretation**: for f > 2, sdcMicro's `indivRisk` by default replaces the sum by p / (f -
//! q), the first terms of a continued fraction. Here r is exact for every f, as in sdcMicro's
//! method "exact".
//!
//! Benedetti and Franconi, Statistical and technological solutions for controlled data
//! dissemination, New Techniques and Technologies for Statistics 1, 1998; Franconi and Polettini,
//! Individual risk estimation in mu-Argus: a review, PSD 2004, section 3,
//! doi:10.1007/978-3-540-25955-8_20.

use super::above::Above;

/// A class of the sample, with the sum of its weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weighed {
    /// f, the number of rows.
    pub rows: u64,
    /// F, the sum of the weights. At least f.
    pub weight: f64,
}

impl Weighed {
    /// Returns the individual risk of each row of the class.
    pub fn risk(&self) -> f64 {
        let rows = self.rows as f64;
        let p = (rows / self.weight).min(1.0);
        let q = 1.0 - p;
        if q <= 0.0 {
            return 1.0 / rows;
        }
        match p < q {
            true => (2..=self.rows).fold(p / q * (1.0 / p).ln(), |risk, f| p / q * (1.0 / (f - 1) as f64 - risk)),
            false => p / rows * hypergeometric(rows, q),
        }
    }
}

/// Returns 2F1(1, 1; f + 1; q). q must be at most one half.
fn hypergeometric(f: f64, q: f64) -> f64 {
    let (mut sum, mut term, mut n) = (1.0, 1.0, 0.0);
    while term > sum * f64::EPSILON {
        n += 1.0;
        term *= q * n / (f + n);
        sum += term;
    }
    sum
}

/// The summary of the individual risks of all rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Individual {
    /// The sum of all weights, the estimated size of the population.
    pub population: f64,
    /// The highest risk of a row.
    pub highest: f64,
    /// The expected number of rows that an attacker who tries all rows re-identifies.
    pub expected: f64,
    /// The mean risk of a row (the global risk of the file).
    pub mean: f64,
    /// For each threshold: the rows whose risk is above the threshold.
    pub above: Vec<Above>,
}

impl Individual {
    /// Returns the summary of these classes. All values are 0 if there are no rows.
    pub fn of(classes: &[Weighed], thresholds: &[f64]) -> Self {
        let risks: Vec<(u64, f64)> = classes.iter().map(|c| (c.rows, c.risk())).collect();
        let all: u64 = risks.iter().map(|(rows, _)| rows).sum();
        let share = |part: f64| if all == 0 { 0.0 } else { part / all as f64 };
        let expected = risks.iter().map(|(rows, risk)| *rows as f64 * risk).sum();
        let above = |threshold: &f64| {
            let rows = risks
                .iter()
                .filter(|(_, risk)| risk > threshold)
                .map(|(rows, _)| rows)
                .sum();
            Above {
                threshold: *threshold,
                rows,
                share: share(rows as f64),
            }
        };
        Self {
            population: classes.iter().map(|c| c.weight).sum(),
            highest: risks.iter().map(|(_, risk)| *risk).fold(0.0, f64::max),
            expected,
            mean: share(expected),
            above: thresholds.iter().map(above).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn risk(rows: u64, weight: f64) -> f64 {
        Weighed { rows, weight }.risk()
    }

    /// The data of sdcMicro's test of indivRisk with method = "exact" and without missing values.
    #[test]
    fn risks_are_those_of_sdc_micro() {
        let found = [(3, 108.0), (1, 45.5), (1, 17.0), (2, 100.0), (1, 123.5)].map(|(f, sum)| risk(f, sum));
        let published = [0.013_552_97, 0.085_791_29, 0.177_075_83, 0.018_778_83, 0.039_316_25];
        for (found, published) in found.iter().zip(published) {
            assert!((found - published).abs() < 1e-8, "{found} {published}");
        }
        // sdcMicro's method "approx" for f > 2 is close: 0.01369863.
        let p: f64 = 3.0 / 108.0;
        assert!((p / (3.0 - (1.0 - p)) - 0.013_698_63).abs() < 1e-8);
    }

    #[test]
    fn a_class_that_is_whole_has_its_own_size() {
        assert_eq!((risk(1, 1.0), risk(4, 4.0)), (1.0, 0.25));
        assert_eq!(Individual::of(&[], &[0.5]).mean, 0.0);
    }

    #[test]
    fn figures_of_two_classes() {
        let classes = [Weighed { rows: 1, weight: 1.0 }, Weighed { rows: 4, weight: 4.0 }];
        let found = Individual::of(&classes, &[0.3]);
        assert_eq!(
            (found.population, found.highest, found.expected, found.mean),
            (5.0, 1.0, 2.0, 0.4)
        );
        assert_eq!((found.above[0].rows, found.above[0].share), (1, 0.2));
    }

    proptest! {
        /// The risk is the mean of 1 / h over the negative binomial distribution, summed term by
        /// term.
        #[test]
        fn the_risk_is_the_mean_of_its_definition(f in 1u64..40, more in 0.0f64..200.0) {
            let weight = f as f64 + more;
            let p = f as f64 / weight;
            let (mut probability, mut mean, mut seen, mut h) = (p.powf(f as f64), 0.0, 0.0, f as f64);
            while seen < 1.0 - 1e-13 && h < 1e6 {
                mean += probability / h;
                seen += probability;
                probability *= (1.0 - p) * h / (h + 1.0 - f as f64);
                h += 1.0;
            }
            let found = risk(f, weight);
            prop_assert!((found - mean).abs() < 1e-9, "{} {}", found, mean);
        }
    }
}
