//! The section that defines the measures.

use crate::base::error::Result;
use crate::method::utility::Utility;
use crate::release::report::block::{Block, Line};
use crate::release::report::section::entry::Entry;

pub(in crate::release::report::section) const ENTRY: Entry<Utility> = Entry {
    id: "definitions",
    heading: "What the measures are",
    answer: None,
    blocks,
};

const TERMS: &[(&str, &str)] = &[
    (
        "Total variation",
        "half the sum, over the values of both, of the difference between their shares in the source and in the release.",
    ),
    (
        "Divergence",
        "of Kullback and Leibler, in bits: the sum of p log2(p / q), p the share of a value in the source and q in the \
         release. It is not smoothed, and infinite where a value of the source is under no released label.",
    ),
    (
        "Earth mover's distance",
        "for numbers, dates and timestamps: the mean, over the steps from one value to the next, of the share of rows that \
         has to be moved across the step.",
    ),
    (
        "Information",
        "the mutual information of a column and the class, in bits, as the counts give it.",
    ),
    (
        "Accuracy",
        "the share of tested rows whose class a classifier finds: the most frequent class, naive Bayes (Laplace's estimate, \
         and normal distributions for numbers), and a decision tree (Gini impurity, at most 8 cuts deep, at least 7 rows \
         in a leaf).",
    ),
];

fn blocks(_: &Utility) -> Result<Vec<Block>> {
    let terms = TERMS.iter().map(|(term, text)| (Line::from(*term), Line::from(*text)));
    Ok(vec![Block::Terms(terms.collect())])
}
