//! Tests of whole comparisons, with results computed by hand, and with definitions that divide
//! every row among its values.

use super::decision_tree::DecisionTree;
use super::naive_bayes::NaiveBayes;
use super::*;
use proptest::prelude::*;

fn column(name: &str, values: usize, is_number: bool) -> ColumnValues {
    ColumnValues {
        name: name.into(),
        values,
        numbers: is_number.then(|| (0..values).map(|v| Some(v as f64)).collect()),
    }
}

/// Returns raw rows of these columns. `rows` contains the values of each row.
fn raw(columns: &[ColumnValues], rows: &[Vec<u32>]) -> Sample {
    Sample {
        labels: columns.iter().map(|c| ColumnLabels::raw(c.values)).collect(),
        columns: (0..columns.len())
            .map(|c| rows.iter().map(|row| row[c]).collect())
            .collect(),
        counts: vec![1; rows.len()],
    }
}

fn figure(figures: &[Figure], column: &str, measure: MeasureKind) -> Figure {
    let found = figures
        .iter()
        .find(|f| f.column.as_deref() == Some(column) && f.measure == measure);
    found.unwrap_or_else(|| panic!("{column}: {measure}")).clone()
}

/// Returns four ages in two classes, with the younger two in the first class. The release has only
/// the labels `0 to 1` and `2 to 3`.
fn halves() -> ReleaseComparison {
    let columns = vec![column("age", 4, true), column("job", 2, false)];
    let rows: Vec<Vec<u32>> = (0..40).map(|i| vec![i % 4, i % 4 / 2]).collect();
    let source = raw(&columns, &rows);
    let mut release = source.clone();
    release.labels[0] = ColumnLabels::of([[0u32, 1], [2, 3]]);
    release.columns[0].iter_mut().for_each(|age| *age /= 2);
    ReleaseComparison {
        columns,
        source,
        release,
        testing: None,
        class: Some(1),
    }
}

#[test]
fn what_halves_keep() {
    let figures = halves().figures();
    assert_eq!(figures[0].value, Some(1.0));
    let age = |measure| figure(&figures, "age", measure);
    assert_eq!(
        (age(MeasureKind::Labels).value, age(MeasureKind::Labels).of_source),
        (Some(2.0), Some(4.0))
    );
    assert_eq!(age(MeasureKind::TotalVariation).value, Some(0.0));
    assert_eq!(age(MeasureKind::KullbackLeibler).value, Some(0.0));
    assert_eq!(age(MeasureKind::EarthMover).value, Some(0.0));
    let information = age(MeasureKind::Information);
    assert_eq!((information.value, information.of_source), (Some(1.0), Some(1.0)));
    let tree = figure(&figures, "job", MeasureKind::Accuracy(Classifier::DecisionTree));
    assert_eq!((tree.value, tree.of_source), (Some(1.0), Some(1.0)));
    let most = figure(&figures, "job", MeasureKind::Accuracy(Classifier::MostFrequentClass));
    assert_eq!((most.value, most.of_source), (Some(0.5), Some(0.5)));
}

#[test]
fn what_is_suppressed_is_infinitely_far() {
    let mut comparison = halves();
    let is_young: Vec<bool> = comparison.release.columns[0].iter().map(|age| *age == 0).collect();
    for rows in &mut comparison.release.columns {
        let mut is_young = is_young.iter();
        rows.retain(|_| is_young.next() == Some(&true));
    }
    comparison.release.counts.truncate(20);
    let figures = comparison.figures();
    assert_eq!(figures[0].value, Some(0.5));
    assert_eq!(figure(&figures, "age", MeasureKind::TotalVariation).value, Some(0.5));
    let divergence = figure(&figures, "age", MeasureKind::KullbackLeibler);
    assert_eq!(divergence.value, None);
    assert_eq!(
        divergence.note.as_deref(),
        Some("infinite: 2 values of the source are under no released label")
    );
    // The running sums of p - q are -1/4, -1/2, -1/4.
    assert_eq!(figure(&figures, "age", MeasureKind::EarthMover).value, Some(1.0 / 3.0));
}

#[test]
fn an_empty_release_has_no_figures_and_breaks_nothing() {
    let mut comparison = halves();
    comparison.release.columns.iter_mut().for_each(Vec::clear);
    comparison.release.counts.clear();
    let figures = comparison.figures();
    assert_eq!(figures[0].value, Some(0.0));
    assert!(figures.iter().all(|f| f.value.is_none_or(|v| v == 0.0)), "{figures:?}");
}

#[test]
fn naive_bayes_by_hand() {
    // One feature with three values; classes 0 (3 rows: 0, 0, 1) and 1 (2 rows: 1, 2).
    let columns = [column("x", 3, false), column("c", 2, false)];
    let rows = [[0, 0], [0, 0], [1, 0], [1, 1], [2, 1]].map(Vec::from);
    let bayes = NaiveBayes::train(&raw(&columns, &rows), &columns, &[0], 1);
    // Scores of value 1: 3/5 * (1 + 1)/(3 + 3) = 0.2 and 2/5 * (1 + 1)/(2 + 3) = 0.16.
    // Scores of value 2: 3/5 * 1/6 = 0.1 and 2/5 * 2/5 = 0.16.
    let found = [0, 1, 2].map(|x| bayes.classify(|column| if column == 0 { x } else { 9 }));
    assert_eq!(found, [0, 0, 1]);
    // As a number: class 0 has mean 1/3 and variance 2/9, class 1 mean 3/2 and variance 1/4. At 1
    // the densities are 0.6 * 0.3113 and 0.4 * 0.4839.
    let columns = [column("x", 3, true), column("c", 2, false)];
    let bayes = NaiveBayes::train(&raw(&columns, &rows), &columns, &[0], 1);
    let found = [0, 1, 2].map(|x| bayes.classify(|column| if column == 0 { x } else { 9 }));
    assert_eq!(found, [0, 1, 1]);
}

#[test]
fn a_tree_finds_what_one_cut_cannot() {
    // The class is 1 if exactly one of two features is set. The third feature gives no information.
    let columns = ["a", "b", "noise", "c"].map(|name| column(name, 2, false));
    let rows: Vec<Vec<u32>> = (0..96)
        .map(|i: u32| (i % 2, i / 2 % 2, i))
        .filter(|(a, b, i)| *i < 72 || (*a, *b) != (0, 1))
        .map(|(a, b, i)| vec![a, b, i / 4 % 2, u32::from(a != b)])
        .collect();
    let tree = DecisionTree::train(&raw(&columns, &rows), &columns, &[0, 1, 2], 3);
    for row in &rows {
        assert_eq!(tree.classify(|column| row[column]), row[3], "{row:?}");
    }
    // Three values of a category are divided into two sets, with the middle value alone.
    let columns = [column("x", 3, false), column("c", 2, false)];
    let rows: Vec<Vec<u32>> = (0..30).map(|i| vec![i % 3, u32::from(i % 3 == 1)]).collect();
    let tree = DecisionTree::train(&raw(&columns, &rows), &columns, &[0], 1);
    assert_eq!(tree.leaves(), 2);
    assert_eq!([0, 1, 2].map(|x| tree.classify(|_| x)), [0, 1, 0]);
}

/// Returns random rows of three columns (a number, a category, a class) with random labels over the
/// values of the first two.
fn comparison() -> impl Strategy<Value = ReleaseComparison> {
    let rows = prop::collection::vec((0u32..6, 0u32..4, 0u32..2), 1..60);
    let covers = (
        prop::collection::vec(1u32..64, 1..5),
        prop::collection::vec(1u32..16, 1..4),
    );
    let picks = prop::collection::vec((any::<u8>(), any::<u8>(), 0u32..2), 1..60);
    (rows, covers, picks).prop_map(|(rows, (first, second), picks)| {
        let columns = vec![column("x", 6, true), column("y", 4, false), column("c", 2, false)];
        let rows: Vec<Vec<u32>> = rows.into_iter().map(|(x, y, c)| vec![x, y, c]).collect();
        let bits = |masks: &[u32]| {
            let values = |mask: &u32| (0..6).filter(|v| mask >> v & 1 == 1).collect::<Vec<u32>>();
            ColumnLabels::of(masks.iter().map(values))
        };
        let (n, m) = (first.len() as u32, second.len() as u32);
        let at = |pick: u8, n: u32| u32::from(pick) % n;
        let released = Sample {
            labels: vec![bits(&first), bits(&second), ColumnLabels::raw(2)],
            columns: vec![
                picks.iter().map(|(x, ..)| at(*x, n)).collect(),
                picks.iter().map(|(_, y, _)| at(*y, m)).collect(),
                picks.iter().map(|(.., c)| *c).collect(),
            ],
            counts: vec![1; picks.len()],
        };
        ReleaseComparison {
            source: raw(&columns, &rows),
            columns,
            release: released,
            testing: None,
            class: Some(2),
        }
    })
}

/// Returns the rows, with each row once for every choice of values under its labels. The weight of
/// a choice is one divided by the number of choices. The weight is stored as a whole multiple of 1
/// / 720720, because every number of choices divides 720720.
fn spelled_out(sample: &Sample) -> Vec<(Vec<u32>, u64)> {
    let mut all = vec![];
    for row in 0..sample.counts.len() {
        let covered: Vec<&[u32]> = (0..3)
            .map(|c| sample.labels[c].covered(sample.columns[c][row] as usize))
            .collect();
        let choices = covered.iter().map(|c| c.len() as u64).product::<u64>();
        for x in covered[0] {
            for y in covered[1] {
                all.push((vec![*x, *y, covered[2][0]], 720_720 / choices));
            }
        }
    }
    all
}

proptest! {
    /// Every measure of a release equals the measure of raw rows in which each row is repeated for
    /// every value under its labels, with an even weight. Counts, accuracy and correlations are
    /// exceptions.
    #[test]
    fn labels_count_as_the_rows_they_stand_for(comparison in comparison()) {
        let out = spelled_out(&comparison.release);
        let rows: Vec<Vec<u32>> = out.iter().map(|(row, _)| row.clone()).collect();
        let mut raw = raw(&comparison.columns, &rows);
        raw.counts = out.iter().map(|(_, n)| *n).collect();
        let same = ReleaseComparison { release: raw, ..comparison.clone() };
        let (found, wanted) = (comparison.figures(), same.figures());
        for (found, wanted) in found.iter().zip(&wanted) {
            // The leaves of a tree have at least 7 rows, and the mean of numbers differs from the
            // numbers.
            let is_other = matches!(
                found.measure,
                MeasureKind::Rows
                    | MeasureKind::Labels
                    | MeasureKind::Correlation(_)
                    | MeasureKind::Correlations
                    | MeasureKind::Accuracy(_)
            );
            if !is_other {
                prop_assert_eq!(found.value.is_some(), wanted.value.is_some());
                let apart = (found.value.unwrap_or(0.0) - wanted.value.unwrap_or(0.0)).abs();
                prop_assert!(apart < 1e-9, "{:?} {:?}", found, wanted);
            }
        }
    }

    /// Distances equal the sums over rows.
    #[test]
    fn distances_agree_with_counting_rows(comparison in comparison()) {
        let out = spelled_out(&comparison.release);
        let share = |v: u32| out.iter().filter(|(row, _)| row[0] == v).map(|(_, n)| *n as f64).sum::<f64>()
            / (720_720.0 * comparison.release.counts.len() as f64);
        let n = comparison.source.counts.len() as f64;
        let own = |v: u32| comparison.source.columns[0].iter().filter(|x| **x == v).count() as f64 / n;
        let there: Vec<u32> = (0..6).filter(|v| own(*v) > 0.0 || share(*v) > 0.0).collect();
        let figures = comparison.figures();
        let total: f64 = there.iter().map(|v| (own(*v) - share(*v)).abs() / 2.0).sum();
        let found = figure(&figures, "x", MeasureKind::TotalVariation).value.unwrap();
        prop_assert!((found - total).abs() < 1e-9, "{} {}", found, total);
        let moved: f64 = (1..there.len()).map(|i| there[..i].iter().map(|v| own(*v) - share(*v)).sum::<f64>().abs()).sum();
        let found = figure(&figures, "x", MeasureKind::EarthMover).value.unwrap();
        prop_assert!((found - moved / (there.len().max(2) - 1) as f64).abs() < 1e-9);
    }

    /// The first split of a tree is as pure as the purest permitted split. The test finds the
    /// purest one by trying every division of the values into two sets.
    #[test]
    fn the_first_cut_is_the_purest(rows in prop::collection::vec((0u32..5, 0u32..2), 14..60), is_number in any::<bool>()) {
        let columns = [column("x", 5, is_number), column("c", 2, false)];
        let rows: Vec<Vec<u32>> = rows.into_iter().map(|(x, c)| vec![x, c]).collect();
        let purity = |is_in: &dyn Fn(u32) -> bool| {
            let n = |c: u32| 7.0 * rows.iter().filter(|r| is_in(r[0]) && r[1] == c).count() as f64;
            let (a, b) = (n(0), n(1));
            (a + b > 0.0).then(|| (a * a + b * b) / (a + b))
        };
        let sets = (1u32..31).filter(|set| !is_number || (set + 1).is_power_of_two());
        let both = |set: u32| Some(purity(&|v| set >> v & 1 == 1)? + purity(&|v| set >> v & 1 == 0)?);
        let best = sets.filter_map(both).fold(f64::NEG_INFINITY, f64::max);
        let whole = purity(&|_| true).unwrap();
        // Each row counts as seven rows, so that no leaf is too small.
        let mut raw = raw(&columns, &rows);
        raw.counts.fill(7);
        let tree = DecisionTree::train(&raw, &columns, &[0], 1);
        match tree.first_cut() {
            None => prop_assert!(best <= whole + 1e-9, "{} {}", best, whole),
            Some(is_first) => {
                let found = purity(&|v| is_first[v as usize]).unwrap() + purity(&|v| !is_first[v as usize]).unwrap();
                prop_assert!((found - best).abs() < 1e-9, "{} {}", found, best);
            }
        }
    }
}
