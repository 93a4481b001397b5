//! The comparison of a release with its source, and the computation of its measures.

use super::basis::FigureBasis;
use super::correlation::{Correlation, LabelSteps};
use super::decision_tree::DecisionTree;
use super::distance::{earth_mover, kullback_leibler, total_variation};
use super::figure::{Classifier, Figure, MeasureKind};
use super::information::mutual_information;
use super::naive_bayes::NaiveBayes;
use super::sample::{ColumnValues, Sample};
use crate::base::pool::map;

/// The maximum number of distinct values of a class label.
pub const MOST_CLASSES: usize = 100;

/// A release with its source, limited to the columns that both have and whose labels can be parsed.
#[derive(Debug, Clone)]
pub struct ReleaseComparison {
    /// The columns.
    pub columns: Vec<ColumnValues>,
    /// The rows of the source.
    pub source: Sample,
    /// The released rows. Suppressed rows are excluded.
    pub release: Sample,
    /// The rows used to test classifiers; `None` if these are the rows of the source.
    pub testing: Option<Sample>,
    /// The index of the class label in `columns`; `None` if there is no class label.
    pub class: Option<usize>,
}

impl ReleaseComparison {
    /// Returns the measures of this comparison in output order.
    #[cfg(test)]
    pub fn figures(&self) -> Vec<Figure> {
        let mut figures = vec![self.of_rows()];
        figures.extend((0..self.columns.len()).flat_map(|column| self.of_column(column)));
        figures.extend(self.of_relations());
        figures
    }

    /// Returns the measures of relations between columns: correlations and classifiers.
    pub fn of_relations(&self) -> Vec<Figure> {
        let mut figures = self.correlations();
        figures.extend(self.classifiers());
        figures
    }

    /// Returns the numbers of rows in the release and in the source.
    fn rows(&self) -> [u64; 2] {
        [self.release.rows(), self.source.rows()]
    }

    /// Returns the basis of figures of all rows, in which each row is a person.
    pub fn basis(&self) -> FigureBasis {
        FigureBasis::new(self.rows(), self.rows())
    }

    /// Returns the measure of the share of released rows.
    pub fn of_rows(&self) -> Figure {
        let [released, read] = self.rows();
        let share = (read > 0).then(|| released as f64 / read as f64);
        Figure::new(MeasureKind::Rows, share).note(format!("{released} of {read} rows"))
    }

    /// Returns the measures of one column: its labels, its distribution and its information about
    /// the class.
    pub fn of_column(&self, column: usize) -> Vec<Figure> {
        let ColumnValues { name, values, numbers } = &self.columns[column];
        let [of_source, of_release] = [&self.source, &self.release].map(|sample| sample.by_label(column));
        let mut p = self.source.distribution(column, *values, &of_source);
        let mut q = self.release.distribution(column, *values, &of_release);
        // Values that occur only in the tested rows are ignored.
        let is_there: Vec<bool> = p.iter().zip(&q).map(|(p, q)| *p > 0.0 || *q > 0.0).collect();
        for shares in [&mut p, &mut q] {
            let mut is_there = is_there.iter();
            shares.retain(|_| is_there.next() == Some(&true));
        }
        let occurring = |by_label: &[u64]| by_label.iter().filter(|rows| **rows > 0).count();
        let labels = Some(occurring(&of_release) as f64);
        let raw = occurring(&of_source);
        let mut figures = vec![Figure::new(MeasureKind::Labels, labels).beside(Some(raw as f64))];
        let has_rows = self.release.rows() > 0 && self.source.rows() > 0;
        let measured = |distance: f64| has_rows.then_some(distance);
        figures.push(Figure::new(
            MeasureKind::TotalVariation,
            measured(total_variation(&p, &q)),
        ));
        let divergence = Figure::new(MeasureKind::KullbackLeibler, None);
        figures.push(match kullback_leibler(&p, &q) {
            _ if !has_rows => divergence,
            bits if bits.is_finite() => divergence_of(bits),
            _ => {
                let gone = p.iter().zip(&q).filter(|(p, q)| **p > 0.0 && **q == 0.0).count();
                divergence.note(format!(
                    "infinite: {gone} values of the source are under no released label"
                ))
            }
        });
        if numbers.is_some() {
            figures.push(Figure::new(MeasureKind::EarthMover, measured(earth_mover(&p, &q))));
        }
        if let Some(class) = self.class.filter(|class| *class != column) {
            figures.push(self.information(column, class));
        }
        figures.into_iter().map(|figure| figure.of(name)).collect()
    }

    /// Returns the information of a column about the class, in the release and in the source.
    fn information(&self, column: usize, class: usize) -> Figure {
        let classes = self.columns[class].values;
        let bits = |sample: &Sample| {
            let joint = sample.joint(column, self.columns[column].values, class, classes);
            (sample.rows() > 0).then(|| mutual_information(&joint, classes))
        };
        let (released, raw) = (bits(&self.release), bits(&self.source));
        let figure = Figure::new(MeasureKind::Information, released).beside(raw);
        match (released, raw) {
            (Some(released), Some(raw)) if raw > 0.0 => {
                figure.note(format!("bits; {:.1}% of the source's are kept", 100.0 * released / raw))
            }
            _ => figure.note("bits"),
        }
    }

    /// Returns the correlation of every pair of columns of numbers, and the mean absolute
    /// difference between the release and the source.
    fn correlations(&self) -> Vec<Figure> {
        let numeric: Vec<usize> = (0..self.columns.len())
            .filter(|c| self.columns[*c].numbers.is_some())
            .collect();
        let samples = [&self.release, &self.source];
        let steps = map(2 * numeric.len(), |at| {
            let (sample, column) = (samples[at % 2], numeric[at / 2]);
            let numbers = self.columns[column].numbers.as_deref().unwrap_or_default();
            LabelSteps::new(&sample.labels[column].numbers(numbers), &sample.by_label(column))
        });
        let indices = 0..numeric.len();
        let pairs: Vec<(usize, usize)> = indices
            .clone()
            .flat_map(|i| (i + 1..indices.end).map(move |j| (i, j)))
            .collect();
        let found = map(2 * pairs.len(), |at| {
            let ((i, j), sample) = (pairs[at / 2], samples[at % 2]);
            let columns = [&steps[2 * i + at % 2], &steps[2 * j + at % 2]];
            let labels = sample.columns[numeric[i]].iter().zip(&sample.columns[numeric[j]]);
            Correlation::of(columns, labels.zip(&sample.counts).map(|((a, b), n)| (a, b, n)))
        });
        let mut figures = vec![];
        let mut differences = vec![];
        let mut of_all = self.basis();
        for ((i, j), found) in pairs.into_iter().zip(found.chunks_exact(2)) {
            let ([a, b], [released, raw]) = ([numeric[i], numeric[j]], [found[0], found[1]]);
            // Rows in which a value is NULL do not count.
            let basis = FigureBasis::new([released.rows, raw.rows], self.rows());
            // Without a correlation in the source, no row decides it.
            let basis = match raw.r {
                Some(_) => basis.decided_by(raw.deciding),
                None => basis,
            };
            of_all = of_all.and(basis);
            let measure = MeasureKind::Correlation(self.columns[b].name.clone());
            let figure = Figure::new(measure, released.r).beside(raw.r).on(basis);
            let figure = figure.of(&self.columns[a].name);
            figures.push(match (released.r, raw.r) {
                (_, None) => figure.note("one of the two does not vary in the source"),
                (None, Some(_)) => figure.note("one of the two does not vary in the release: it counts as 0"),
                _ => figure,
            });
            differences.extend(raw.r.map(|raw| (raw - released.r.unwrap_or(0.0)).abs()));
        }
        if !differences.is_empty() {
            let mean = differences.iter().sum::<f64>() / differences.len() as f64;
            let pairs = match differences.len() {
                1 => "1 pair".to_string(),
                n => format!("{n} pairs"),
            };
            let figure = Figure::new(MeasureKind::Correlations, Some(mean)).on(of_all);
            figures.push(figure.note(format!("of {pairs} of columns")));
        }
        figures
    }

    /// Returns the accuracy of classifiers trained on the release, together with the accuracy of
    /// classifiers trained on the source.
    fn classifiers(&self) -> Vec<Figure> {
        let Some(class) = self.class.filter(|_| self.release.rows() > 0 && self.source.rows() > 0) else {
            return vec![];
        };
        let features: Vec<usize> = (0..self.columns.len()).filter(|c| *c != class).collect();
        let tested = self.testing.as_ref().unwrap_or(&self.source);
        let note = match self.testing {
            Some(_) => "trained on all rows, tested on those of TESTING ON",
            None => {
                "trained on all rows, tested on the source's: both are too good (resubstitution); TESTING ON tests on \
                 other rows"
            }
        };
        let both = |accuracy: &dyn Fn(&Sample) -> Option<f64>| [accuracy(&self.release), accuracy(&self.source)];
        let of = |classifier, [released, raw]: [Option<f64>; 2]| {
            let figure = Figure::new(MeasureKind::Accuracy(classifier), released).beside(raw);
            figure.of(&self.columns[class].name).note(note)
        };
        vec![
            of(
                Classifier::MostFrequentClass,
                both(&|rows| {
                    let most = NaiveBayes::train(rows, &self.columns, &[], class);
                    accuracy(tested, class, |value| most.classify(value))
                }),
            ),
            of(
                Classifier::NaiveBayes,
                both(&|rows| {
                    let bayes = NaiveBayes::train(rows, &self.columns, &features, class);
                    accuracy(tested, class, |value| bayes.classify(value))
                }),
            ),
            of(
                Classifier::DecisionTree,
                both(&|rows| {
                    let tree = DecisionTree::train(rows, &self.columns, &features, class);
                    accuracy(tested, class, |value| tree.classify(value))
                }),
            ),
        ]
    }
}

fn divergence_of(bits: f64) -> Figure {
    Figure::new(MeasureKind::KullbackLeibler, Some(bits)).note("bits")
}

/// Returns the share of the tested raw rows that are classified correctly; `None` if there are no
/// rows.
fn accuracy(tested: &Sample, class: usize, classify: impl Fn(&dyn Fn(usize) -> u32) -> u32) -> Option<f64> {
    let (mut right, all) = (0, tested.rows());
    for (row, (own, n)) in tested.classes(class).iter().zip(&tested.counts).enumerate() {
        // The labels of raw rows are the values.
        if classify(&|column| tested.columns[column][row]) == *own {
            right += n;
        }
    }
    (all > 0).then(|| right as f64 / all as f64)
}
