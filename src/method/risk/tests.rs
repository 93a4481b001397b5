//! Tests of risk measures against row-wise definitions, and against the results of ARX on the Adult
//! data set.

use super::uniqueness::Estimator;
use super::*;
use proptest::prelude::*;

/// Each class size of the raw Adult data set over all nine columns, with the number of classes of
/// this size. The first twenty pairs are in ../shared/reference/arx_risk_given.json.
const ADULT: &[(u64, u64)] = &[
    (1, 15512),
    (2, 2098),
    (3, 754),
    (4, 375),
    (5, 189),
    (6, 155),
    (7, 97),
    (8, 73),
    (9, 39),
    (10, 37),
    (11, 29),
    (12, 18),
    (13, 23),
    (14, 14),
    (15, 15),
    (16, 9),
    (17, 11),
    (18, 10),
    (19, 10),
    (20, 5),
    (21, 3),
    (22, 4),
    (23, 3),
    (24, 2),
    (25, 1),
    (26, 3),
    (27, 5),
    (29, 1),
    (30, 2),
    (32, 1),
    (34, 1),
    (35, 1),
    (36, 1),
    (45, 1),
];

fn adult(fraction: f64, class_estimate: ClassEstimate) -> Risk {
    let settings = RiskSettings {
        sampling_fraction: Some(fraction),
        thresholds: vec![0.2],
        class_estimate,
    };
    Risk::of(&ADULT.iter().copied().collect(), None, &settings).unwrap()
}

fn close(got: f64, want: f64, digits: i32) -> bool {
    (got - want).abs() <= want.abs() * 0.5 * 10f64.powi(1 - digits)
}

#[test]
fn figures_of_adult_are_those_of_the_peer() {
    let risk = adult(0.1, ClassEstimate::Peer);
    assert_eq!((risk.rows, risk.classes, risk.sample_uniques), (30_162, 19_502, 15_512));
    for (got, want) in [
        (risk.average_class_size, 1.546_610_604_040_611),
        (risk.prosecutor.highest, 1.0),
        (risk.prosecutor.lowest, 0.022_222_222_222),
        (risk.prosecutor.rows_at_highest, 0.514_289_503_348),
        (risk.prosecutor.rows_at_lowest, 0.001_491_943_505),
        (risk.prosecutor.mean, 0.646_575_160_798),
        (risk.marketer, 0.646_575_160_798),
        (risk.sample_uniqueness, 0.514_289_503_348),
        (risk.prosecutor.above[0].share, 0.778_131_423_645),
    ] {
        assert!(close(got, want, 9), "{got} {want}");
    }
}

#[test]
fn population_estimates_of_adult_are_those_of_the_peer() {
    for (fraction, pitman, zayatz) in [(0.1, 83503.478552, 96741.670992), (0.01, 436167.714671, 819539.905872)] {
        let found = adult(fraction, ClassEstimate::Peer).population_uniqueness.unwrap();
        assert!(close(found.pitman.unwrap().uniques, pitman, 8), "{found:?}");
        assert!(close(found.zayatz.unwrap().uniques, zayatz, 8), "{found:?}");
        assert!(close(found.pitman.unwrap().share, pitman * fraction / 30_162.0, 8));
        assert_eq!(found.snb, None, "the peer's SNB has no solution");
        assert_eq!(
            (found.dankar, found.dankar_chose),
            (found.pitman, Some(Estimator::Pitman))
        );
    }
}

#[test]
fn the_papers_class_count_gives_snb_a_solution_on_adult() {
    for (fraction, uniques) in [(0.1, 75_365.0), (0.01, 616_967.0)] {
        let found = adult(fraction, ClassEstimate::HaasStokes)
            .population_uniqueness
            .unwrap();
        assert!(close(found.snb.unwrap().uniques, uniques, 3), "{found:?}");
    }
}

#[test]
fn above_a_tenth_the_rule_takes_the_lesser_estimate() {
    let found = adult(0.2, ClassEstimate::HaasStokes).population_uniqueness.unwrap();
    let (snb, zayatz) = (found.snb.unwrap().uniques, found.zayatz.unwrap().uniques);
    assert_eq!(found.dankar.unwrap().uniques, snb.min(zayatz));
    let found = adult(0.2, ClassEstimate::Peer).population_uniqueness.unwrap();
    assert_eq!(found.snb.is_none(), found.dankar_chose == Some(Estimator::Zayatz));
}

#[test]
fn a_sample_that_is_the_population_has_its_uniques() {
    let found = adult(1.0, ClassEstimate::Peer).population_uniqueness.unwrap();
    assert!(close(found.zayatz.unwrap().uniques, 15_512.0, 9), "{found:?}");
}

#[test]
fn a_sample_without_uniques_comes_from_a_population_without() {
    let settings = RiskSettings {
        sampling_fraction: Some(0.05),
        ..RiskSettings::default()
    };
    let risk = Risk::of(&[(2, 5), (9, 1)].into_iter().collect(), None, &settings).unwrap();
    let found = risk.population_uniqueness.unwrap();
    assert_eq!(found.dankar.map(|e| e.uniques), Some(0.0));
    assert_eq!(found.dankar_chose, None);
}

#[test]
fn pitman_has_no_solution_when_every_row_is_unique_and_the_rule_takes_zayatz() {
    let settings = RiskSettings {
        sampling_fraction: Some(0.05),
        ..RiskSettings::default()
    };
    let risk = Risk::of(&[(1, 1000)].into_iter().collect(), None, &settings).unwrap();
    let found = risk.population_uniqueness.unwrap();
    assert_eq!(found.pitman, None);
    assert_eq!(
        (found.dankar, found.dankar_chose),
        (found.zayatz, Some(Estimator::Zayatz))
    );
    assert!(close(found.zayatz.unwrap().uniques, 20_000.0, 9), "{found:?}");
}

#[test]
fn where_pitman_peaks_below_zero_it_is_ewens_and_the_rule_takes_zayatz() {
    // Twenty rows in eight classes.
    let histogram: Histogram = [(1, 4), (4, 4)].into_iter().collect();
    let settings = RiskSettings {
        sampling_fraction: Some(0.05),
        ..RiskSettings::default()
    };
    let risk = Risk::of(&histogram, None, &settings).unwrap();
    let found = risk.population_uniqueness.unwrap();
    assert!(found.pitman_is_ewens, "{found:?}");
    // theta solves 8 = sum of theta / (theta + i) over 20 rows. Of 400 rows, 400 theta /
    // (theta + 399) are unique.
    let uniques = found.pitman.unwrap().uniques;
    let theta = uniques * 399.0 / (400.0 - uniques);
    let classes: f64 = (0..20).map(|i| theta / (theta + f64::from(i))).sum();
    assert!(close(classes, 8.0, 9), "{theta} {classes}");
    assert_eq!(found.dankar_chose, Some(Estimator::Zayatz));
}

#[test]
fn an_empty_table_has_no_risk_and_no_error() {
    let settings = RiskSettings {
        sampling_fraction: Some(0.05),
        ..RiskSettings::default()
    };
    let risk = Risk::of(&Histogram::default(), None, &settings).unwrap();
    assert_eq!((risk.rows, risk.prosecutor.highest, risk.marketer), (0, 0.0, 0.0));
    assert!(serde_json::to_string(&risk).unwrap().contains("\"share\":0.0"));
}

#[test]
fn subsets_are_whole_sizes_and_the_full_set() {
    assert_eq!(subsets(1, 3, 200), [[0]]);
    assert_eq!(subsets(2, 1, 200), [vec![0], vec![1], vec![0, 1]]);
    let nine = subsets(9, 3, 200);
    assert_eq!(nine.len(), 9 + 36 + 84 + 1);
    assert_eq!(nine[9..12], [[0, 1], [0, 2], [0, 3]]);
    assert_eq!(nine[129], (0..9).collect::<Vec<_>>());
    let distinct: std::collections::BTreeSet<_> = nine.iter().collect();
    assert_eq!(distinct.len(), nine.len());
    assert_eq!(subsets(30, 3, 200).len(), 31, "30 pairs and more do not fit");
    assert_eq!(subsets(3, 9, 200).len(), 7);
}

#[test]
fn settings_outside_their_range_are_errors() {
    for settings in [
        RiskSettings {
            sampling_fraction: Some(0.0),
            ..RiskSettings::default()
        },
        RiskSettings {
            sampling_fraction: Some(1.1),
            ..RiskSettings::default()
        },
        RiskSettings {
            sampling_fraction: Some(f64::NAN),
            ..RiskSettings::default()
        },
        RiskSettings {
            thresholds: vec![-0.1],
            ..RiskSettings::default()
        },
    ] {
        assert!(
            Risk::of(&Histogram::default(), None, &settings).is_err(),
            "{settings:?}"
        );
    }
}

#[test]
fn classes_of_ten_million_rows_take_no_time() {
    let sizes = (1..3000u64)
        .map(|i| (i, 10_000_000 / i / i + 1))
        .chain([(10_000_000, 2)]);
    let settings = RiskSettings {
        sampling_fraction: Some(1e-3),
        ..RiskSettings::default()
    };
    let start = std::time::Instant::now();
    let risk = Risk::of(&sizes.collect(), None, &settings).unwrap();
    let found = risk.population_uniqueness.unwrap();
    assert!(found.pitman.is_some_and(|e| e.share.is_finite()), "{found:?}");
    assert!(found.zayatz.is_some_and(|e| e.share > 0.0), "{found:?}");
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

proptest! {
    #[test]
    fn figures_agree_with_counting_rows(
        classes in prop::collection::vec((1u64..40, 0u64..100), 1..30),
        threshold in prop::sample::select(vec![0.05, 0.09, 0.2, 0.5, 1.0]),
    ) {
        // One entry per row: the size of its class in the table, and in a population that contains
        // the table.
        let rows: Vec<(u64, u64)> =
            classes.iter().flat_map(|(f, more)| std::iter::repeat_n((*f, f + more), *f as usize)).collect();
        let sample: Histogram = classes.iter().map(|(f, _)| (*f, 1)).collect();
        let mut population = PopulationHistogram::default();
        for (f, more) in &classes {
            let found = population.0.entry(f + more).or_default();
            found.classes += 1;
            found.rows += f;
        }
        let settings = RiskSettings { thresholds: vec![threshold], ..RiskSettings::default() };
        let risk = Risk::of(&sample, Some(&population), &settings).unwrap();
        let n = rows.len() as f64;
        let journalist = risk.journalist.unwrap();
        let check = |attacker: &AttackerRisk, risks: Vec<f64>| {
            let highest = risks.iter().copied().fold(0.0, f64::max);
            let lowest = risks.iter().copied().fold(1.0, f64::min);
            let share = |count: usize| count as f64 / n;
            prop_assert_eq!(attacker.highest, highest);
            prop_assert_eq!(attacker.lowest, lowest);
            prop_assert!((attacker.mean - risks.iter().sum::<f64>() / n).abs() < 1e-9);
            prop_assert_eq!(attacker.rows_at_highest, share(risks.iter().filter(|r| **r == highest).count()));
            prop_assert_eq!(attacker.rows_at_lowest, share(risks.iter().filter(|r| **r == lowest).count()));
            prop_assert_eq!(attacker.above[0].share, share(risks.iter().filter(|r| **r > threshold).count()));
            Ok(())
        };
        check(&risk.prosecutor, rows.iter().map(|(f, _)| 1.0 / *f as f64).collect())?;
        check(&journalist, rows.iter().map(|(_, f)| 1.0 / *f as f64).collect())?;
        prop_assert_eq!(risk.sample_uniques as usize, rows.iter().filter(|(f, _)| *f == 1).count());
        prop_assert_eq!(risk.classes as usize, classes.len());
        prop_assert_eq!(risk.marketer, journalist.mean);
    }

    #[test]
    fn pairs_apart_agree_with_comparing_all_pairs(rows in prop::collection::vec((0u8..4, 0u8..3), 0..40)) {
        let mut sizes = std::collections::BTreeMap::<_, u64>::new();
        for row in &rows {
            *sizes.entry(row).or_default() += 1;
        }
        let histogram: Histogram = sizes.values().map(|size| (*size, 1)).collect();
        let pairs = || rows.iter().enumerate().flat_map(|(i, a)| rows[..i].iter().map(move |b| (a, b)));
        let apart = pairs().filter(|(a, b)| a != b).count() as u128;
        prop_assert_eq!(histogram.pairs_apart(), (apart, pairs().count() as u128));
        prop_assert_eq!(histogram.distinction(), if rows.is_empty() { 0.0 } else { sizes.len() as f64 / rows.len() as f64 });
    }
}
