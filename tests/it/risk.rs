//! Compares RISK OF with the figures of another tool on Adult, and with pair-by-pair counts on
//! small random tables.

use crate::common::{adult, collect, context, shared};
use crate::golden::{ADULT, quoted};
use anonsql::AnonContext;
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::Float64Type;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The figures, by section, subject (empty if there is none) and measure.
struct Figures(BTreeMap<(String, String, String), Option<f64>>);

impl Figures {
    fn of(batches: &[RecordBatch]) -> Self {
        let mut found = BTreeMap::new();
        for batch in batches {
            let text = |column: &str, row: usize| {
                let column = batch.column_by_name(column).unwrap().as_string::<i32>();
                if column.is_null(row) {
                    String::new()
                } else {
                    column.value(row).to_string()
                }
            };
            let values = batch.column_by_name("value").unwrap().as_primitive::<Float64Type>();
            for row in 0..batch.num_rows() {
                let key = (text("section", row), text("subject", row), text("measure", row));
                let value = (!values.is_null(row)).then(|| values.value(row));
                assert!(found.insert(key.clone(), value).is_none(), "{key:?} is there twice");
            }
        }
        Self(found)
    }

    fn get(&self, section: &str, subject: &str, measure: &str) -> Option<f64> {
        let key = (section.into(), subject.into(), measure.into());
        *self.0.get(&key).unwrap_or_else(|| panic!("no {key:?}"))
    }

    fn count(&self, section: &str) -> usize {
        self.0.keys().filter(|(s, _, _)| s == section).count()
    }
}

async fn risk(context: &AnonContext, clauses: &str) -> Figures {
    Figures::of(&collect(context, &format!("RISK OF {clauses}")).await)
}

/// Returns true if two figures agree to `digits` significant digits.
fn agree(got: Option<f64>, want: &Value, digits: i32) -> bool {
    let (got, want) = (got.unwrap(), want.as_f64().unwrap());
    (got - want).abs() <= want.abs() * 0.5 * 10f64.powi(1 - digits)
}

#[tokio::test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared; set ANONSQL_SHARED to the folder")]
async fn figures_of_raw_adult_are_those_of_the_peer() {
    let text = std::fs::read_to_string(shared("reference/arx_risk_given.json")).unwrap();
    let peer: Value = serde_json::from_str(&text).unwrap();
    let context = adult(&[]).await;
    let columns = quoted(&ADULT);
    for (fraction, estimates) in peer["population"].as_object().unwrap() {
        let fraction = fraction.trim_start_matches("sampling_fraction_");
        let threshold = &peer["summary_threshold"];
        let found = risk(
            &context,
            &format!(
                "adult QUASI IDENTIFIERS ({columns}) WITH (sampling_fraction = {fraction}, threshold = {threshold}, \
                 subset_size = 1)"
            ),
        )
        .await;
        let above = format!("share of rows above {threshold}");
        for (section, subject, measure, want) in [
            ("table", "", "rows", &peer["rows"]),
            ("table", "", "classes", &peer["classes"]),
            ("table", "", "average class size", &peer["avg_class_size"]),
            ("prosecutor", "", "highest", &peer["prosecutor"]["highest"]),
            ("prosecutor", "", "lowest", &peer["prosecutor"]["lowest"]),
            ("prosecutor", "", "mean", &peer["prosecutor"]["success_rate"]),
            ("prosecutor", "", "mean", &peer["average_risk"]),
            ("prosecutor", "", above.as_str(), &peer["prosecutor"]["records_at_risk"]),
            (
                "prosecutor",
                "",
                "share of rows at the highest",
                &peer["records_at_highest_risk_fraction"],
            ),
            (
                "prosecutor",
                "",
                "share of rows at the lowest",
                &peer["records_at_lowest_risk_fraction"],
            ),
            ("journalist", "", "highest", &peer["journalist"]["highest"]),
            ("journalist", "", "mean", &peer["journalist"]["success_rate"]),
            ("journalist", "", above.as_str(), &peer["journalist"]["records_at_risk"]),
            ("marketer", "", "mean", &peer["marketer"]["success_rate"]),
            ("uniqueness", "sample", "uniques", &peer["sample_uniques"]),
            ("uniqueness", "sample", "share", &peer["sample_uniques_fraction"]),
        ] {
            assert!(
                agree(found.get(section, subject, measure), want, 4),
                "{section} {measure}"
            );
        }
        for pair in peer["histogram_size_count"].as_array().unwrap().chunks(2) {
            assert_eq!(
                found.get("histogram", &pair[0].to_string(), "classes"),
                pair[1].as_f64()
            );
        }
        for estimator in ["pitman", "zayatz", "snb", "dankar"] {
            let want = &estimates[estimator];
            let got = |measure| found.get("uniqueness", estimator, measure);
            if want["available"].as_bool().unwrap() {
                assert!(
                    agree(got("estimated uniques"), &want["num"], 3),
                    "{estimator} {fraction}"
                );
                assert!(
                    agree(got("estimated share"), &want["fraction"], 3),
                    "{estimator} {fraction}"
                );
            } else {
                assert_eq!(
                    (got("estimated uniques"), got("estimated share")),
                    (None, None),
                    "{estimator}"
                );
            }
        }
    }
}

/// A row: two quasi-identifiers, a sensitive value, and a person.
type Row = [Option<u8>; 4];

fn rows(random: &mut ChaCha8Rng, most: usize) -> Vec<Row> {
    let many = random.random_range(1..=most);
    let mut value = |values: u8| {
        let drawn = random.random_range(0..=values);
        (drawn < values).then_some(drawn)
    };
    (0..many).map(|_| [value(3), value(2), value(3), value(4)]).collect()
}

async fn create(context: &AnonContext, name: &str, rows: &[Row]) {
    let text = |v: &Option<u8>| v.map_or("NULL".into(), |v| v.to_string());
    let values: Vec<String> = rows
        .iter()
        .map(|row| format!("({})", row.iter().map(text).collect::<Vec<_>>().join(", ")))
        .collect();
    collect(
        context,
        &format!(
            "CREATE OR REPLACE TABLE {name} AS SELECT CAST(column1 AS INT) AS a, CAST(column2 AS INT) AS b, \
             CAST(column3 AS VARCHAR) AS s, CAST(column4 AS INT) AS e FROM (VALUES {})",
            values.join(", ")
        ),
    )
    .await;
}

/// Returns the sizes of the classes over some columns, in rows or in people.
fn sizes(rows: &[Row], columns: &[usize], people: bool) -> BTreeMap<Vec<Option<u8>>, u64> {
    let mut classes: BTreeMap<Vec<Option<u8>>, Vec<Option<u8>>> = BTreeMap::new();
    for row in rows {
        let key = columns.iter().map(|c| row[*c]).collect();
        classes.entry(key).or_default().push(row[3]);
    }
    let size = |members: Vec<Option<u8>>| match people {
        true => members.iter().collect::<BTreeSet<_>>().len() as u64,
        false => members.len() as u64,
    };
    classes.into_iter().map(|(key, members)| (key, size(members))).collect()
}

fn near(got: Option<f64>, want: f64) {
    let got = got.unwrap_or(f64::NAN);
    assert!((got - want).abs() < 1e-9, "{got} is not {want}");
}

#[tokio::test]
async fn figures_of_small_tables_are_those_of_counting_row_by_row() {
    let context = context(2);
    let mut random = ChaCha8Rng::seed_from_u64(11);
    for round in 0..60 {
        let people = round % 3 == 0;
        let table = rows(&mut random, 25);
        // The population is the table with additional rows.
        let census = [table.clone(), rows(&mut random, 40)].concat();
        create(&context, "t", &table).await;
        create(&context, "census", &census).await;
        let entity = if people { "ENTITY (e)" } else { "" };
        let found = risk(
            &context,
            &format!("t QUASI IDENTIFIERS (a, b) SENSITIVE (s) {entity} POPULATION census WITH (threshold = 0.3)"),
        )
        .await;

        for (subject, columns) in [("a", &[0][..]), ("b", &[1]), ("a, b", &[0, 1])] {
            let classes: Vec<u64> = sizes(&table, columns, people).into_values().collect();
            let all: u64 = classes.iter().sum();
            // The members of all classes. Each is represented by the index of its class.
            let members: Vec<usize> = (0..classes.len()).flat_map(|c| vec![c; classes[c] as usize]).collect();
            let (mut apart, mut pairs) = (0, 0);
            for i in 0..members.len() {
                for j in 0..i {
                    pairs += 1;
                    apart += usize::from(members[i] != members[j]);
                }
            }
            let separation = if pairs == 0 { 0.0 } else { apart as f64 / pairs as f64 };
            near(
                found.get("columns", subject, "distinction"),
                classes.len() as f64 / all as f64,
            );
            near(found.get("columns", subject, "separation"), separation);
            // Without a k in the statement, the k of the thresholds is 5.
            let below = classes.iter().filter(|size| **size < 5).count();
            near(found.get("columns", subject, "unsafe cells"), below as f64);
        }
        assert_eq!(found.count("columns"), 3 * 3 + 1);

        let (sample, whole) = (sizes(&table, &[0, 1], people), sizes(&census, &[0, 1], people));
        let n: u64 = sample.values().sum();
        let share = |rows: u64| rows as f64 / n as f64;
        let risks = |size: &dyn Fn(&Vec<Option<u8>>, u64) -> u64| -> Vec<(f64, u64)> {
            sample.iter().map(|(key, f)| (1.0 / size(key, *f) as f64, *f)).collect()
        };
        for (section, risks) in [
            ("prosecutor", risks(&|_, f| f)),
            ("journalist", risks(&|key, _| whole[key])),
        ] {
            let highest = risks.iter().map(|r| r.0).fold(0.0, f64::max);
            near(found.get(section, "", "highest"), highest);
            near(
                found.get(section, "", "mean"),
                risks.iter().map(|(r, f)| r * *f as f64).sum::<f64>() / n as f64,
            );
            let above = risks.iter().filter(|(r, _)| *r > 0.3).map(|(_, f)| f).sum();
            near(found.get(section, "", "share of rows above 0.3"), share(above));
        }
        assert_eq!(found.get("marketer", "", "mean"), found.get("journalist", "", "mean"));
        let alone = |classes: &BTreeMap<_, u64>| classes.values().filter(|f| **f == 1).count() as f64;
        near(found.get("uniqueness", "sample", "uniques"), alone(&sample));
        near(found.get("uniqueness", "population", "uniques"), alone(&whole));
        near(found.get("table", "", "rows"), n as f64);

        // The values of the sensitive attribute, by class and overall, counted in rows or in
        // people.
        let within = sizes(&table, &[0, 1, 2], people);
        let overall = sizes(&table, &[2], people);
        let total: u64 = overall.values().sum();
        let (mut least, mut greatest) = (usize::MAX, 0f64);
        for class in sample.keys() {
            let own = |s: &Vec<Option<u8>>| within.get(&[class.clone(), s.clone()].concat()).copied().unwrap_or(0);
            let size: u64 = overall.keys().map(&own).sum();
            least = least.min(overall.keys().filter(|s| own(s) > 0).count());
            let distance = overall
                .iter()
                .map(|(s, q)| (own(s) as f64 / size as f64 - *q as f64 / total as f64).abs());
            greatest = greatest.max(distance.sum::<f64>() / 2.0);
        }
        near(found.get("sensitive", "s", "l"), least as f64);
        near(found.get("sensitive", "s", "t, categorical"), greatest);
    }
}
