//! The measures of a comparison: counts, shares and distances. They contain names of columns, but
//! no values of rows.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The kind of a measure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeasureKind {
    /// The share of released rows.
    Rows,
    /// The number of distinct labels, next to the number of distinct values of the source.
    Labels,
    /// The total variation between release and source.
    TotalVariation,
    /// The Kullback-Leibler divergence between release and source.
    KullbackLeibler,
    /// The earth mover's distance between release and source.
    EarthMover,
    /// The mutual information of the column and the class.
    Information,
    /// Pearson's correlation with another column.
    Correlation(String),
    /// The mean absolute difference between the correlations in the release and in the source.
    Correlations,
    /// The sum of all values.
    Total,
    /// The mean of all values.
    Mean,
    /// The standard deviation of all values.
    Deviation,
    /// The accuracy of a classifier.
    Accuracy(Classifier),
}

/// The method that predicts the class of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Classifier {
    /// The prediction of the most frequent class for every row.
    MostFrequentClass,
    /// A naive Bayes classifier.
    NaiveBayes,
    /// A decision tree classifier.
    DecisionTree,
}

impl fmt::Display for Classifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MostFrequentClass => "most frequent class",
            Self::NaiveBayes => "naive Bayes",
            Self::DecisionTree => "decision tree",
        })
    }
}

impl fmt::Display for MeasureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows => f.write_str("rows released"),
            Self::Labels => f.write_str("distinct labels"),
            Self::TotalVariation => f.write_str("total variation"),
            Self::KullbackLeibler => f.write_str("Kullback-Leibler divergence"),
            Self::EarthMover => f.write_str("earth mover's distance"),
            Self::Information => f.write_str("information about the class"),
            Self::Correlation(other) => write!(f, "correlation with {other}"),
            Self::Correlations => f.write_str("mean difference of correlations"),
            Self::Total => f.write_str("total"),
            Self::Mean => f.write_str("mean"),
            Self::Deviation => f.write_str("standard deviation"),
            Self::Accuracy(classifier) => write!(f, "accuracy, {classifier}"),
        }
    }
}

/// One measured value of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The measured column. `None` for the whole table.
    pub column: Option<String>,
    /// The kind of the measure.
    pub measure: MeasureKind,
    /// The value for the release. `None` if it could not be measured or is infinite.
    pub value: Option<f64>,
    /// The value of the same measure for the source. `None` if the measure has no value for the
    /// source.
    pub of_source: Option<f64>,
    /// A remark about the value.
    pub note: Option<String>,
}

impl Figure {
    /// Returns a measure of the whole table.
    pub fn new(measure: MeasureKind, value: Option<f64>) -> Self {
        Self {
            column: None,
            measure,
            value,
            of_source: None,
            note: None,
        }
    }

    /// Returns the measure as a measure of this column.
    pub fn of(self, column: &str) -> Self {
        Self {
            column: Some(column.into()),
            ..self
        }
    }

    /// Returns the measure with the value for the source.
    pub fn beside(self, of_source: Option<f64>) -> Self {
        Self { of_source, ..self }
    }

    /// Returns the measure with a note.
    pub fn note(self, note: impl Into<String>) -> Self {
        Self {
            note: Some(note.into()),
            ..self
        }
    }
}

/// All measures of a release.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Utility {
    /// The program that made the comparison, with its version.
    pub software: String,
    /// The release: a table's name, a path, or "a query".
    pub release: String,
    /// The source: a table's name, a path, or "a query".
    pub source: String,
    /// The rows used to test classifiers. `None` if these are the rows of the source.
    pub testing: Option<String>,
    /// The name of the class label. `None` if there is no class label.
    pub class: Option<String>,
    /// The measures, in output order.
    pub figures: Vec<Figure>,
}
