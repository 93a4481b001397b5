//! Utility: the information about the source that a release preserves.
//!
//! A released label represents the source values that it covers. The release does not reveal which
//! of these values a row had, so each row is divided evenly among them. The result is the
//! distribution with the maximum entropy that agrees with the labels (Kifer and Gehrke, Injecting
//! utility into anonymized datasets, SIGMOD 2006, section 3, doi:10.1145/1142473.1142499). A label
//! that covers one value is that value. A released number that represents a class, such as its
//! mean, is also a value, even if the source does not have it.
//!
//! p is the share of a value in the source, and q its share in the release:
//!
//! | measure | definition |
//! |---|---|
//! | total variation | sum of abs(p - q) / 2, from 0 to 1 |
//! | Kullback-Leibler divergence | sum of p log2(p / q) in bits, without smoothing: infinite if no released label covers a value of the source |
//! | earth mover's distance | for numbers, dates and timestamps: the mean of abs(running sum of p - q) over the m - 1 steps between the m values of the source and the release, as in t_closeness(t, ordered); NULL follows the greatest value |
//! | information about the class | the mutual information of the column's values and the class label, in bits, computed from the counts |
//! | Pearson's correlation | of two columns of numbers, dates or timestamps; a label is the mean of the values that it covers; rows with NULL in one of the columns are ignored |
//! | accuracy | the share of tested rows that a classifier classifies correctly |
//!
//! The classifiers are a decision tree ([`DecisionTree`](decision_tree::DecisionTree)) and naive
//! Bayes ([`NaiveBayes`](naive_bayes::NaiveBayes)). Both are trained once on the release and once
//! on the source, and tested on the same raw rows.
//!
//! Sums are computed over sorted rows or over whole numbers, so results do not depend on threads.
//!
//! A report rounds or withholds the figures that describe the values of only a few persons
//! ([`FigureBasis`]).

mod basis;
mod calendar_date;
mod compare;
mod correlation;
mod decision_tree;
mod distance;
mod exact_total;
mod figure;
mod information;
mod naive_bayes;
mod sample;
mod step_sums;
mod steps;
#[cfg(test)]
mod tests;

pub use basis::{FigureBasis, LEAST_PERSONS};
pub use calendar_date::date_of;
pub use compare::{MOST_CLASSES, ReleaseComparison};
pub(crate) use exact_total::ExactTotal;
#[cfg(test)]
pub use figure::Classifier;
pub use figure::{Figure, MeasureKind, Utility, to_two_decimals};
pub use sample::{ColumnLabels, ColumnValues, Sample};
pub(crate) use step_sums::StepSums;
pub(crate) use steps::Steps;
