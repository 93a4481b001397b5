//! The measures of a comparison: counts, shares and distances. They contain names of columns, but
//! no values of rows.

use super::basis::FigureBasis;
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
    /// The mean of all dates or timestamps, in days since 1970-01-01.
    MeanDate,
    /// The standard deviation of all dates or timestamps, in days.
    DeviationInDays,
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

impl MeasureKind {
    /// Returns true for a measure that one row of a large source changes by little, whatever its
    /// values are. A value far from the others can change a correlation by any amount, and could be
    /// computed from the change. A value under no released label makes the Kullback-Leibler
    /// divergence infinite, and adds one to the number of distinct values. An accuracy can change
    /// by a larger amount if the row moves a split of a decision tree, but the accuracy does not
    /// show which row moved it.
    fn is_steady(&self) -> bool {
        matches!(
            self,
            Self::TotalVariation | Self::EarthMover | Self::Information | Self::Accuracy(_)
        )
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
            Self::MeanDate => f.write_str("mean, days since 1970-01-01"),
            Self::DeviationInDays => f.write_str("standard deviation, days"),
            Self::Accuracy(classifier) => write!(f, "accuracy, {classifier}"),
        }
    }
}

/// One measured value of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The measured column; `None` for the whole table.
    pub column: Option<String>,
    /// The kind of the measure.
    pub measure: MeasureKind,
    /// The value for the release; `None` if it could not be measured or is infinite.
    pub value: Option<f64>,
    /// The value of the same measure for the source; `None` if the measure has no value for the
    /// source.
    pub of_source: Option<f64>,
    /// A remark about the value.
    pub note: Option<String>,
    /// The reason why a report withholds the values that describe the source; `None` if it
    /// withholds none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub withheld: Option<String>,
    /// The note that a report rounds the values, with the reason; `None` if it does not round them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rounded: Option<String>,
    /// The persons on whose values the figure is based; `None` if it is not based on values.
    #[serde(skip)]
    pub basis: Option<FigureBasis>,
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
            withheld: None,
            rounded: None,
            basis: None,
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

    /// Returns the measure with this basis, in addition to the basis that it has.
    pub fn on(self, basis: FigureBasis) -> Self {
        let basis = self.basis.map_or(basis, |own| own.and(basis));
        Self {
            basis: Some(basis),
            ..self
        }
    }

    /// Returns true if the measure has a value for the release or for the source.
    pub fn is_measured(&self) -> bool {
        self.value.is_some() || self.of_source.is_some()
    }

    /// Returns the measure as a report gives it. If it describes the values of fewer than `least`
    /// persons, it is rounded, or only the value for the release is given, or no value is given.
    /// A correlation that is given is always rounded. Otherwise, a correlation with a column that
    /// is 1 for 12 persons, and one with a column that is 1 for only 11 of them, would together
    /// reveal the value of the remaining person.
    fn reported(self, least: u64) -> Self {
        let told = self.basis.and_then(|basis| Some((basis, basis.reason(least)?)));
        let Some((basis, reason)) = told else {
            return match self.measure {
                MeasureKind::Correlation(_) | MeasureKind::Correlations if self.is_measured() => self.with_two_decimals(
                    "rounded to two decimals, because the difference of two exact correlations can give the value of a \
                     person"
                        .into(),
                ),
                _ => self,
            };
        };
        if self.measure.is_steady() && basis.is_large(least) {
            let most = least.saturating_sub(1);
            return self.with_two_decimals(format!(
                "rounded to two decimals, because {most} or fewer persons were suppressed"
            ));
        }
        let is_of_release = matches!(
            self.measure,
            MeasureKind::Labels
                | MeasureKind::Total
                | MeasureKind::Mean
                | MeasureKind::Deviation
                | MeasureKind::MeanDate
                | MeasureKind::DeviationInDays
        );
        Self {
            value: self.value.filter(|_| is_of_release),
            of_source: None,
            note: None,
            withheld: Some(reason),
            ..self
        }
    }

    /// Returns the measure with values of two decimals. `reason` becomes the note about it.
    fn with_two_decimals(self, reason: String) -> Self {
        let note = match self.measure {
            // The original note contains the quotient of the two exact values.
            MeasureKind::Information => Some("bits".into()),
            _ => self.note,
        };
        Self {
            value: self.value.map(to_two_decimals),
            of_source: self.of_source.map(to_two_decimals),
            note,
            rounded: Some(reason),
            ..self
        }
    }
}

/// Returns the floating-point number that is nearest to `value` rounded to two decimals, so that it
/// is written with two decimals. Zero has no sign.
pub fn to_two_decimals(value: f64) -> f64 {
    (value * 100.0).round() / 100.0 + 0.0
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
    /// The rows used to test classifiers; `None` if these are the rows of the source.
    pub testing: Option<String>,
    /// The name of the class label; `None` if there is no class label.
    pub class: Option<String>,
    /// The measures, in output order.
    pub figures: Vec<Figure>,
    /// The reason why each row counts as a person, although the release has an entity; `None` if
    /// persons are counted, or if the release has no entity.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rows_as_persons: Option<String>,
}

impl Utility {
    /// Returns the measures. If each row counts as a person, the note on the number of released
    /// rows also gives the reason.
    pub fn remarked(mut self) -> Self {
        if let Some(why) = &self.rows_as_persons {
            let of_rows = self
                .figures
                .iter_mut()
                .filter(|figure| figure.measure == MeasureKind::Rows);
            for note in of_rows.filter_map(|figure| figure.note.as_mut()) {
                note.push_str(&format!("; each row counts as a person, because {why}"));
            }
        }
        self
    }

    /// Returns the measures as a report gives them: those that describe the values of fewer than
    /// `least` persons are rounded or withheld.
    pub fn reported(self, least: u64) -> Self {
        let figures = self.figures.into_iter().map(|figure| figure.reported(least));
        Self {
            figures: figures.collect(),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_no_figure_of_the_values_of_few() {
        let of = |measure, persons| {
            let figure = Figure::new(measure, Some(2.0)).beside(Some(3.0)).note("of 3");
            figure.on(FigureBasis::new(persons, persons))
        };
        let few = of(MeasureKind::Mean, [9, 9]).reported(10);
        assert_eq!((few.value, few.of_source, &few.note), (Some(2.0), None, &None));
        assert!(few.withheld.is_some());
        let few = of(MeasureKind::TotalVariation, [99, 100]).reported(10);
        assert_eq!((few.value, few.of_source), (None, None));
        let many = of(MeasureKind::Mean, [90, 100]);
        assert_eq!(many.clone().reported(10), many);
        let rows = Figure::new(MeasureKind::Rows, Some(0.99)).note("99 of 100 rows");
        assert_eq!(rows.clone().reported(10), rows);
    }

    #[test]
    fn a_report_rounds_shares_of_a_large_source() {
        let of = |measure, persons| {
            let figure = Figure::new(measure, Some(0.1299)).beside(Some(0.7051));
            let figure = figure.note("bits; 18.4% of the source's are kept");
            figure.on(FigureBasis::new(persons, persons)).reported(10)
        };
        let accuracy = MeasureKind::Accuracy(Classifier::NaiveBayes);
        for measure in [
            MeasureKind::TotalVariation,
            MeasureKind::EarthMover,
            MeasureKind::Information,
            accuracy,
        ] {
            let share = of(measure.clone(), [997, 1_000]);
            assert_eq!((share.value, share.of_source), (Some(0.13), Some(0.71)), "{measure}");
            assert_eq!(share.withheld, None, "{measure}");
            let reason = "rounded to two decimals, because 9 or fewer persons were suppressed";
            assert_eq!(share.rounded.as_deref(), Some(reason), "{measure}");
            assert_eq!(of(measure.clone(), [996, 999]).of_source, None, "{measure}");
            // Ten persons, and none.
            for released in [990, 1_000] {
                let exact = of(measure.clone(), [released, 1_000]);
                assert_eq!((exact.value, exact.rounded), (Some(0.1299), None), "{measure}");
            }
        }
        let information = of(MeasureKind::Information, [997, 1_000]);
        assert_eq!(information.note.as_deref(), Some("bits"));
        for measure in [
            MeasureKind::Labels,
            MeasureKind::Total,
            MeasureKind::Mean,
            MeasureKind::KullbackLeibler,
            MeasureKind::Correlation("age".into()),
            MeasureKind::Correlations,
        ] {
            let figure = of(measure.clone(), [29_997, 30_000]);
            assert_eq!((figure.of_source, figure.rounded), (None, None), "{measure}");
            assert!(figure.withheld.is_some(), "{measure}");
        }
    }

    #[test]
    fn a_report_rounds_every_correlation() {
        for measure in [MeasureKind::Correlation("age".into()), MeasureKind::Correlations] {
            let exact = Figure::new(measure.clone(), Some(-0.001_2)).beside(Some(0.705_1));
            let given = exact.on(FigureBasis::new([1_000, 1_000], [1_000, 1_000])).reported(10);
            assert_eq!((given.value, given.of_source), (Some(0.0), Some(0.71)), "{measure}");
            assert!(given.value.is_some_and(f64::is_sign_positive), "{measure}");
            assert!(given.rounded.is_some() && given.withheld.is_none(), "{measure}");
            let none = Figure::new(measure.clone(), None).note("not measured: it has labels");
            assert_eq!(none.clone().reported(10), none, "{measure}");
        }
    }

    #[test]
    fn the_note_of_the_rows_says_why_rows_are_counted() {
        let of = |rows_as_persons: Option<&str>| {
            let rows = Figure::new(MeasureKind::Rows, Some(0.99)).note("99 of 100 rows");
            let utility = Utility {
                software: "anonsql".into(),
                release: "a".into(),
                source: "b".into(),
                testing: None,
                class: None,
                figures: vec![rows, Figure::new(MeasureKind::Labels, Some(2.0))],
                rows_as_persons: rows_as_persons.map(str::to_string),
            };
            let figures = utility.remarked().figures.into_iter();
            figures
                .map(|figure| figure.note.unwrap_or_default())
                .collect::<Vec<_>>()
        };
        assert_eq!(of(None), ["99 of 100 rows", ""]);
        let remarked = "99 of 100 rows; each row counts as a person, because nobody knows";
        assert_eq!(of(Some("nobody knows")), [remarked, ""]);
    }

    #[test]
    fn rounded_numbers_are_written_with_two_decimals() {
        for hundredths in 0..=300_u32 {
            let about = f64::from(hundredths) / 100.0 + 0.000_7;
            let text = to_two_decimals(about).to_string();
            let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            assert!(decimals <= 2, "{text}");
            assert!((to_two_decimals(about) - about).abs() < 0.005, "{text}");
        }
    }
}
