//! The figures of a comparison: counts, shares and distances, with names of columns and no value of
//! a row.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What a figure measures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The rows in classes.
    Rows,
    /// The distinct labels, beside the distinct values of the source.
    Labels,
    /// The total variation.
    TotalVariation,
    /// The divergence of Kullback and Leibler.
    KullbackLeibler,
    /// The earth mover's distance.
    EarthMover,
    /// The mutual information with the class.
    Information,
    /// Pearson's correlation with another column.
    Correlation(String),
    /// The mean absolute difference of all correlations.
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

/// The method that finds the class of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Classifier {
    /// The most frequent class, whatever the row.
    MostFrequentClass,
    /// Naive Bayes.
    NaiveBayes,
    /// A decision tree.
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

impl fmt::Display for Measure {
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

/// One figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The column that is measured; `None` for the whole table.
    pub column: Option<String>,
    /// What is measured.
    pub measure: Measure,
    /// The figure of the release; `None` if it could not be measured, or is infinite.
    pub value: Option<f64>,
    /// The same figure of the source, if the source has one.
    pub of_source: Option<f64>,
    /// A remark about the figure.
    pub note: Option<String>,
}

impl Figure {
    /// Returns a figure of the whole table.
    pub fn new(measure: Measure, value: Option<f64>) -> Self {
        Self {
            column: None,
            measure,
            value,
            of_source: None,
            note: None,
        }
    }

    /// Returns the figure as a figure of this column.
    pub fn of(self, column: &str) -> Self {
        Self {
            column: Some(column.into()),
            ..self
        }
    }

    /// Returns the figure with the same figure of the source.
    pub fn beside(self, of_source: Option<f64>) -> Self {
        Self { of_source, ..self }
    }

    /// Returns the figure with a note.
    pub fn note(self, note: impl Into<String>) -> Self {
        Self {
            note: Some(note.into()),
            ..self
        }
    }
}

/// All figures of a release.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Utility {
    /// The program that measured.
    pub software: String,
    /// The release: a table's name, a path, or "a query".
    pub release: String,
    /// The source: a table's name, a path, or "a query".
    pub source: String,
    /// The rows that classifiers were tested on, if they are not the rows of the source.
    pub testing: Option<String>,
    /// The class label.
    pub class: Option<String>,
    /// The figures, in the order of the answer.
    pub figures: Vec<Figure>,
}
