//! Utility: how much a release still reveals about its source.
//!
//! A released label stands for the values of the source that it covers. The release does not show
//! which of these values a row had, so each row is divided evenly among them. This is the
//! distribution of the greatest entropy that agrees with the labels (Kifer and Gehrke, Injecting
//! utility into anonymized datasets, SIGMOD 2006, section 3, doi:10.1145/1142473.1142499). A label
//! that covers one value is that value. A released number that stands for a class, such as its
//! mean, is a value too, which the source need not have.
//!
//! With p the share of a value in the source, and q its share in the release:
//!
//! | measure | definition |
//! |---|---|
//! | total variation | sum of abs(p - q) / 2, in 0 to 1 |
//! | Kullback-Leibler divergence | sum of p log2(p / q) in bits, without smoothing: infinite if a value of the source is under no released label |
//! | earth mover's distance | for numbers, dates and timestamps: the mean of abs(running sum of p - q) over the m - 1 steps between the m values of the source and the release, as t_closeness(t, ordered) measures it; NULL stands after the greatest value |
//! | information about the class | the mutual information of the column's values and the class label, in bits, as the counts give it |
//! | Pearson's correlation | of two columns of numbers, dates or timestamps; a label is the mean of the values that it covers; rows with NULL in one of them do not count |
//! | accuracy | the share of tested rows whose class a classifier finds |
//!
//! The classifiers are a decision tree ([`DecisionTree`](decision_tree::DecisionTree)) and naive
//! Bayes ([`NaiveBayes`](naive_bayes::NaiveBayes)). Both are trained once on the release and once
//! on the source, and tested on the same raw rows.
//!
//! Sums run over sorted rows, so that figures do not depend on threads.

mod compare;
mod correlation;
mod decision_tree;
mod distance;
mod figure;
mod information;
mod naive_bayes;
mod sample;
#[cfg(test)]
mod tests;

pub use compare::{Comparison, MOST_CLASSES};
#[cfg(test)]
pub use figure::Classifier;
pub use figure::{Figure, Measure, Utility};
pub use sample::{Column, Labels, Sample};
