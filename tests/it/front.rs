//! Compares PARETO FRONT OF with brute force: plain Rust over the rows, from definitions.md alone.

use crate::common::{Numbers, collect, context, text};
use arrow::array::AsArray;
use arrow::datatypes::DataType;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A row: two quasi-identifiers with 8 and 4 values, halved level by level, and a sensitive value.
type Row = (u8, u8, u8);

const HIERARCHIES: &str = "
    CREATE HIERARCHY a AS VALUES ('0', '0-1', '0-3'), ('1', '0-1', '0-3'), ('2', '2-3', '0-3'), ('3', '2-3', '0-3'),
      ('4', '4-5', '4-7'), ('5', '4-5', '4-7'), ('6', '6-7', '4-7'), ('7', '6-7', '4-7');
    CREATE HIERARCHY b AS VALUES ('0', '0-1'), ('1', '0-1'), ('2', '2-3'), ('3', '2-3');";

const OBJECTIVES: [&str; 9] = [
    "k",
    "l ON s",
    "t ON s",
    "s_k",
    "s_l ON s",
    "highest_risk",
    "suppressed",
    "dm",
    "height",
];

/// Returns the values of the objectives at a node, in the order of `OBJECTIVES`, and the number of
/// released classes; `None` if the node is not anonymous. `asked` contains the indices in
/// `OBJECTIVES` of the objectives that the statement names.
fn judge(rows: &[Row], node: [u8; 2], k: usize, limit: usize, asked: &[usize]) -> Option<(Vec<f64>, usize)> {
    let up = |value: u8, level: u8, top: u8| if level == top { 0 } else { value >> level };
    let mut classes: BTreeMap<(u8, u8), Vec<u8>> = BTreeMap::new();
    for (a, b, s) in rows {
        let key = (up(*a, node[0], 3), up(*b, node[1], 2));
        classes.entry(key).or_default().push(*s);
    }
    let n = rows.len();
    let count = |class: &[u8], s: u8| class.iter().filter(|x| **x == s).count();
    let whole: Vec<u8> = rows.iter().map(|r| r.2).collect();
    let values = |class: &[u8]| class.iter().collect::<BTreeSet<_>>().len();
    let distance = |class: &[u8]| {
        let difference = |s: u8| (count(class, s) * n).abs_diff(count(&whole, s) * class.len());
        let sum: usize = (0..3).map(difference).sum();
        (sum / 2) as f64 / (class.len() * n) as f64
    };
    let mut kept: Vec<Vec<u8>> = classes.into_values().filter(|c| c.len() >= k).collect();
    let suppressed = |kept: &[Vec<u8>]| n - kept.iter().map(Vec::len).sum::<usize>();
    if suppressed(&kept) > limit {
        return None;
    }
    // The unused part of the suppression limit is spent to improve k if k or the highest risk is an
    // objective, and otherwise to improve the first of l and t that is an objective.
    let leader = match asked.iter().any(|o| [0, 5].contains(o)) {
        true => Some(0),
        false => asked.iter().copied().find(|o| [1, 2].contains(o)),
    };
    if let Some(leader) = leader {
        let good = |class: &Vec<u8>| match leader {
            0 => class.len() as f64,
            1 => values(class) as f64,
            _ => -distance(class),
        };
        let mut bounds: Vec<f64> = kept.iter().map(good).collect();
        bounds.sort_by(f64::total_cmp);
        let bound = bounds.into_iter().rev().find(|bound| {
            let left: Vec<Vec<u8>> = kept.iter().filter(|c| good(c) >= *bound).cloned().collect();
            suppressed(&left) <= limit
        });
        kept.retain(|c| bound.is_some_and(|b| good(c) >= b));
    }
    let squares = |x: usize| (x * x) as f64;
    let least = |f: &dyn Fn(&Vec<u8>) -> f64| kept.iter().map(f).reduce(f64::min);
    let smallest = least(&|c| c.len() as f64);
    let out = suppressed(&kept);
    let all = vec![
        smallest.unwrap_or(0.0),
        least(&|c| values(c) as f64).unwrap_or(0.0),
        kept.iter().map(|c| distance(c)).fold(0.0, f64::max),
        kept.iter().map(|c| squares(c.len())).sum(),
        kept.iter().flat_map(|c| (0..3).map(|s| squares(count(c, s)))).sum(),
        smallest.map_or(0.0, |k| 1.0 / k),
        out as f64,
        kept.iter().map(|c| squares(c.len())).sum::<f64>() + (out * n) as f64,
        f64::from(node[0] + node[1]),
    ];
    Some((all, kept.len()))
}

fn table(rows: &[Row]) -> String {
    let rows: Vec<String> = rows.iter().map(|(a, b, s)| format!("('{a}', '{b}', 's{s}')")).collect();
    format!(
        "CREATE OR REPLACE TABLE t AS SELECT * FROM (VALUES {}) AS v (a, b, s)",
        rows.join(", ")
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// No row of the front is dominated. Every row has the values that brute force computes, and a
    /// release at its node has the same values. An exhaustive search misses no row.
    #[test]
    fn a_front_is_that_of_brute_force(
        rows in prop::collection::vec((0..8u8, 0..4u8, 0..3u8), 1..40),
        chosen in prop::sample::subsequence((0..OBJECTIVES.len()).collect::<Vec<_>>(), 1..4),
        turned in prop::collection::vec(any::<bool>(), 4),
        k in 1usize..4,
        percent in prop::sample::select(vec![0usize, 10, 30, 100]),
        search in prop::sample::select(vec!["", "exhaustive", "auto", "flash", "pbg_ea", "pbg_local", "tabu"]),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let context = context(2);
            collect(&context, HIERARCHIES).await;
            collect(&context, &table(&rows)).await;
            let limit = rows.len() * percent / 100;
            let terms: Vec<String> = chosen.iter().zip(&turned)
                .map(|(o, max)| format!("{} {}", if *max { "MAX" } else { "MIN" }, OBJECTIVES[*o]))
                .collect();
            let models = if k > 1 && k <= rows.len() { format!("SATISFYING k_anonymity({k})") } else { String::new() };
            let k = if models.is_empty() { 1 } else { k };
            let using = if search.is_empty() { String::new() } else { format!("SEARCH USING {search}") };
            let request = "ANONYMIZE t QUASI IDENTIFIERS (a USING a, b USING b) SENSITIVE (s)";
            let front = context.sql(&format!(
                "PARETO FRONT OF {request} {models} SUPPRESSING AT MOST {percent} PERCENT {using} OPTIMIZING {}",
                terms.join(", ")
            )).await;

            let nodes = || (0..4u8).flat_map(|a| (0..3u8).map(move |b| [a, b]));
            let judged: BTreeMap<[u8; 2], (Vec<f64>, usize)> = nodes()
                .filter_map(|node| Some((node, judge(&rows, node, k, limit, &chosen)?)))
                .collect();
            if judged.is_empty() {
                assert_eq!(front.unwrap_err().exit_code(), 3);
                return;
            }
            let cost = |values: &[f64]| -> Vec<f64> {
                chosen.iter().zip(&turned).map(|(o, max)| if *max { -values[*o] } else { values[*o] }).collect()
            };
            let beats = |x: &[f64], y: &[f64]| x.iter().zip(y).all(|(x, y)| x <= y) && x != y;
            let truth: BTreeSet<[u8; 2]> = judged.iter()
                .filter(|(_, (v, _))| !judged.values().any(|(w, _)| beats(&cost(w), &cost(v))))
                .map(|(node, _)| *node)
                .collect();

            let front = front.unwrap();
            let numbers = Numbers::of(&front);
            let node_of = |row: usize| [numbers.get("a", row) as u8, numbers.get("b", row) as u8];
            let found: BTreeSet<[u8; 2]> = (0..numbers.rows()).map(node_of).collect();
            assert_eq!(found.len(), numbers.rows(), "a node stands once");
            let exact = ["", "exhaustive", "auto", "flash"].contains(&search);
            if exact {
                assert_eq!(found, truth);
            }
            for row in 0..numbers.rows() {
                let (values, classes) = &judged[&node_of(row)];
                assert_eq!(numbers.get("suppressed", row), values[6]);
                assert_eq!(numbers.get("classes", row) as usize, *classes);
                for o in &chosen {
                    let column = OBJECTIVES[*o].replace(" ON ", "_");
                    let got = numbers.get(&column, row);
                    assert!((got - values[*o]).abs() <= 1e-9, "{column} {got} {}", values[*o]);
                }
                let better = found.iter().any(|other| beats(&cost(&judged[other].0), &cost(values)));
                assert!(!better, "a row is dominated");
            }
            let is = |name: &str, row: usize| {
                let cast = arrow::compute::cast(front[0].column_by_name(name).unwrap(), &DataType::Utf8).unwrap();
                cast.as_string::<i32>().value(row).to_string()
            };
            assert_eq!((0..numbers.rows()).filter(|r| is("knee", *r) == "true").count(), 1);
            for row in 0..numbers.rows().min(3) {
                assert_eq!(is("proof", row) == "the true front", exact);
                let ran = collect(&context, &format!("EXPLAIN ANALYZE {request} {}", is("apply", row))).await;
                assert_eq!(text(&ran, "item", "suppressed rows", "detail"), is("suppressed", row));
                assert_eq!(text(&ran, "item", "classes", "detail"), is("classes", row));
                assert_eq!(text(&ran, "item", "node", "detail"), is("node", row));
            }
        });
    }
}

#[tokio::test]
async fn a_drawing_is_written_and_the_last_front_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("front.svg");
    let context = context(1);
    assert!(context.last_front().is_none());
    collect(&context, HIERARCHIES).await;
    collect(
        &context,
        &table(&[(0, 0, 0), (1, 0, 1), (2, 3, 0), (3, 3, 2), (7, 1, 1)]),
    )
    .await;
    let statement = format!(
        "PARETO FRONT OF ANONYMIZE t QUASI IDENTIFIERS (a USING a, b USING b) SENSITIVE (s) \
         OPTIMIZING MAX k, MAX l, MIN glm REPORT TO '{}'",
        path.display()
    );
    let front = collect(&context, &statement).await;
    let svg = std::fs::read_to_string(&path).unwrap();
    let chart = context.last_front().unwrap();
    assert_eq!(chart.points.len(), front[0].num_rows());
    // The seal of the file comes after the drawing.
    assert!(svg.starts_with(chart.svg().unwrap().trim_end()), "{svg}");
    for word in ["<svg", "knee", "l_s", "glm", "the true front"] {
        assert!(svg.contains(word), "{word}");
    }
}

#[tokio::test]
async fn an_interrupted_front_says_so() {
    use anonsql::Observer;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Raises Ctrl-C after the first batch of nodes.
    struct Impatient(Arc<AtomicBool>);
    impl Observer for Impatient {
        fn searched(&self, progress: anonsql::internal::search::Progress) {
            self.0.store(progress.nodes > 0, Ordering::Relaxed);
        }
        fn interrupt(&self) -> Arc<AtomicBool> {
            Arc::clone(&self.0)
        }
    }
    let context = context(1).with_observer(Arc::new(Impatient(Arc::default())));
    collect(
        &context,
        "CREATE TABLE w AS SELECT value AS a, value % 7 AS b FROM generate_series(1, 500);
         CREATE HIERARCHY h AS INTERVALS (2, 4, 8, 16, 32, 64, 128); CREATE HIERARCHY i AS INTERVALS (2, 4, 8);",
    )
    .await;
    let request = "ANONYMIZE w QUASI IDENTIFIERS (a USING h, b USING i) OPTIMIZING MAX k, MIN glm";
    let front = collect(&context, &format!("PARETO FRONT OF {request} SEARCH USING pbg_ea")).await;
    let proof = front[0]
        .column_by_name("proof")
        .unwrap()
        .as_string::<i32>()
        .value(0)
        .to_string();
    assert!(proof.starts_with("stopped (interrupted): of the "), "{proof}");
}
