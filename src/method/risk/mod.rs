//! Re-identification risk: the exposure of the people in a table to attackers.
//!
//! Every measure follows from the sizes of the equivalence classes ([`Histogram`]). For an attacker
//! who knows a population table, it also follows from the sizes of the same classes in the
//! population ([`PopulationHistogram`]). f is the size of a row's class in the table, F its size in
//! the population, n the number of rows and u the number of classes:
//!
//! | attacker | knows | a row's risk | highest | mean (success rate) |
//! |---|---|---|---|---|
//! | prosecutor | that the person is in the table | 1 / f | 1 / smallest f | u / n |
//! | journalist | a population that contains the table | 1 / F | 1 / smallest F | sum of 1 / F over rows / n |
//! | marketer | the same as the journalist, and attacks as many people as possible |  |  | as for the journalist; u / n without population |
//!
//! All values are shares of rows (of people under ENTITY), from 0 to 1. El Emam, Guide to the
//! De-Identification of Personal Health Information, CRC 2013, chapter 16; El Emam and Dankar,
//! Protecting privacy using k-anonymity, JAMIA 15(5), 2008, doi:10.1197/jamia.M2716. [`Uniqueness`]
//! estimates the population uniques. With sampling weights, a row has an individual risk
//! ([`Weighed`]). [`SpecialUniques`] finds rows that a few columns make unique.
//!
//! ```
//! use anonsql::internal::risk::{Histogram, Risk, RiskSettings};
//!
//! let histogram: Histogram = [(1, 2), (3, 1)].into_iter().collect();
//! let risk = Risk::of(&histogram, None, &RiskSettings::default())?;
//! assert_eq!((risk.prosecutor.highest, risk.prosecutor.mean), (1.0, 0.6));
//! # Ok::<(), anonsql::error::Error>(())
//! ```

mod above;
mod class_estimate;
mod histogram;
mod individual;
mod pitman;
mod snb;
mod special;
mod special_uniques;
#[cfg(test)]
mod tests;
mod uniqueness;
mod zayatz;

pub use above::Above;
pub use class_estimate::ClassEstimate;
pub use histogram::{Histogram, InPopulation, PopulationHistogram, subsets};
pub use individual::{Individual, Weighed};
pub use special_uniques::{MOST_COLUMNS, SpecialUniques, number_of_sets};
pub use uniqueness::{Estimate, Uniqueness};

use crate::base::error::{Error, Result};
use histogram::ratio;
use serde::Serialize;

/// The thresholds of release guidelines: El Emam 2013, chapter 18 (European Medicines Agency policy
/// 0070 uses 0.09).
pub const THRESHOLDS: [f64; 2] = [0.05, 0.09];

/// The optional inputs of the risk measures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RiskSettings {
    /// The share of the population that is in the table, above 0 and at most 1. The estimates of
    /// population uniqueness need it. If it is `None`, the estimates are omitted.
    pub sampling_fraction: Option<f64>,
    /// The thresholds of risk, above 0 and at most 1. For each threshold, the number and share of
    /// rows with a higher risk are computed.
    pub thresholds: Vec<f64>,
    /// The formula for the number of classes in the population, which the estimator SNB (slide
    /// negative binomial model) needs.
    pub class_estimate: ClassEstimate,
}

impl Default for RiskSettings {
    /// Returns the thresholds [`THRESHOLDS`] and no sampling fraction.
    fn default() -> Self {
        Self {
            sampling_fraction: None,
            thresholds: THRESHOLDS.to_vec(),
            class_estimate: ClassEstimate::default(),
        }
    }
}

/// The risk measures for one attacker. All are zero for a table without rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttackerRisk {
    /// The highest risk of a row: 1 / the size of the smallest class.
    pub highest: f64,
    /// The share of rows with the highest risk.
    pub rows_at_highest: f64,
    /// The mean risk of a row: the share of rows that an attacker who tries all rows is expected to
    /// re-identify.
    pub mean: f64,
    /// The lowest risk of a row: 1 / the size of the largest class.
    pub lowest: f64,
    /// The share of rows with the lowest risk.
    pub rows_at_lowest: f64,
    /// For each threshold, in ascending order: the rows whose risk is above the threshold.
    pub above: Vec<Above>,
}

impl AttackerRisk {
    fn of(classes: &PopulationHistogram, thresholds: &[f64]) -> Self {
        let all: u64 = classes.0.values().map(|c| c.rows).sum();
        let end = |entry: Option<(&u64, &InPopulation)>| match entry {
            Some((size, found)) => (1.0 / *size as f64, ratio(found.rows, all)),
            None => (0.0, 0.0),
        };
        let (highest, rows_at_highest) = end(classes.0.first_key_value());
        let (lowest, rows_at_lowest) = end(classes.0.last_key_value());
        let found: f64 = classes
            .0
            .iter()
            .map(|(size, found)| found.rows as f64 / *size as f64)
            .sum();
        let above = |threshold: &f64| {
            let at_risk = classes.0.iter().filter(|(size, _)| 1.0 / **size as f64 > *threshold);
            let rows = at_risk.map(|(_, found)| found.rows).sum();
            Above {
                threshold: *threshold,
                rows,
                share: ratio(rows, all),
            }
        };
        let mut thresholds = thresholds.to_vec();
        thresholds.sort_by(f64::total_cmp);
        thresholds.dedup();
        Self {
            highest,
            rows_at_highest,
            mean: if all == 0 { 0.0 } else { found / all as f64 },
            lowest,
            rows_at_lowest,
            above: thresholds.iter().map(above).collect(),
        }
    }
}

/// The risk measures of a table. "Rows" are people under ENTITY.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Risk {
    /// n, the number of rows. Suppressed rows are excluded.
    pub rows: u64,
    /// u, the number of equivalence classes.
    pub classes: u64,
    /// n / u, the mean size of a class.
    pub average_class_size: f64,
    /// The size of the smallest class; `None` if there are no rows.
    pub smallest_class: Option<u64>,
    /// The size of the largest class; `None` if there are no rows.
    pub largest_class: Option<u64>,
    /// The number of rows that are alone in their class.
    pub sample_uniques: u64,
    /// The share of the sample uniques among the n rows.
    pub sample_uniqueness: f64,
    /// The measures for an attacker who knows that the person is in the table.
    pub prosecutor: AttackerRisk,
    /// The measures for an attacker who knows a population that contains the table; `None` if no
    /// population is given. Without it, the prosecutor's measures are upper bounds.
    pub journalist: Option<AttackerRisk>,
    /// The share of rows that an attacker who tries all rows is expected to re-identify.
    pub marketer: f64,
    /// The estimates of population uniqueness; `None` if no sampling fraction is given.
    pub population_uniqueness: Option<Uniqueness>,
    /// The number of classes of each size.
    pub histogram: Histogram,
}

impl Risk {
    /// Returns the measures of a table with these classes, and optionally with a population.
    ///
    /// Fails with a usage error if a setting is outside its range, and with a data error if the two
    /// histograms do not have the same number of rows.
    pub fn of(sample: &Histogram, population: Option<&PopulationHistogram>, settings: &RiskSettings) -> Result<Self> {
        settings.check()?;
        let rows = sample.rows();
        if let Some(population) = population {
            let there = population
                .0
                .iter()
                .filter(|(size, _)| **size > 0)
                .map(|(_, p)| p.rows)
                .sum::<u64>();
            if there != rows {
                return Err(Error::data(format!(
                    "the population does not contain the table: {} of {rows} rows have no row in it with the same \
                     quasi-identifiers",
                    rows.abs_diff(there)
                )));
            }
        }
        let prosecutor = AttackerRisk::of(&PopulationHistogram::from(sample), &settings.thresholds);
        let journalist = population.map(|population| AttackerRisk::of(population, &settings.thresholds));
        Ok(Self {
            rows,
            classes: sample.classes(),
            average_class_size: ratio(rows, sample.classes()),
            smallest_class: sample.smallest(),
            largest_class: sample.largest(),
            sample_uniques: sample.uniques(),
            sample_uniqueness: ratio(sample.uniques(), rows),
            marketer: journalist.as_ref().map_or_else(|| sample.distinction(), |j| j.mean),
            prosecutor: AttackerRisk {
                mean: sample.distinction(),
                ..prosecutor
            },
            journalist,
            population_uniqueness: settings
                .sampling_fraction
                .map(|fraction| Uniqueness::of(sample, fraction, settings.class_estimate)),
            histogram: sample.clone(),
        })
    }
}

impl RiskSettings {
    fn check(&self) -> Result<()> {
        let share = |what: &str, value: f64| match value > 0.0 && value <= 1.0 {
            true => Ok(()),
            false => Err(Error::usage(format!(
                "{what} {value} is outside its range: above 0 and at most 1"
            ))),
        };
        for threshold in &self.thresholds {
            share("threshold", *threshold)?;
        }
        self.sampling_fraction
            .map_or(Ok(()), |fraction| share("sampling_fraction", fraction))
    }
}
