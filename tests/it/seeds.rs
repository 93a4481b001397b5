//! Tests that a published seed reveals nothing. Two sources have the same values in each group
//! within which a random draw moves values, and differ only in the assignment of the values to
//! people. Their releases have the same bytes.

use crate::common::{collect, context};
use std::collections::BTreeMap;
use std::path::Path;

/// A row: region, age, illness.
type Row = (usize, usize, usize);

/// Returns the group of a row. A random draw moves values only within a group.
type Group = fn(&Row) -> usize;

/// Returns rows of four regions and two groups of ages, with five illnesses.
fn rows() -> Vec<Row> {
    (0..96).map(|i| (i % 4, 20 + i / 4 % 20, i * i * 7 / 3 % 5)).collect()
}

/// Returns the same rows in another order. Within each group, the illnesses are shifted by `turn`
/// rows.
fn turned(rows: &[Row], group: Group, turn: usize) -> Vec<Row> {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (i, row) in rows.iter().enumerate() {
        groups.entry(group(row)).or_default().push(i);
    }
    let mut turned = rows.to_vec();
    for members in groups.values() {
        for (place, i) in members.iter().enumerate() {
            turned[*i].2 = rows[members[(place + turn) % members.len()]].2;
        }
    }
    turned.rotate_left(turn * 5);
    turned
}

fn bytes(folder: &Path) -> Vec<Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let mut parts: Vec<_> = files
        .filter(|p| p.extension().is_some_and(|e| e == "parquet"))
        .collect();
    parts.sort();
    parts.into_iter().map(|p| std::fs::read(p).unwrap()).collect()
}

#[tokio::test]
async fn a_seed_and_its_release_do_not_tell_who_has_which_value() {
    let scratch = tempfile::tempdir().unwrap();
    // The groups within which each draw moves values: the table, the classes, and the regions.
    let draws: [(&str, Group); 3] = [
        ("", |_| 0),
        ("WITHIN CLASS", |(region, age, _)| region * 100 + age / 10),
        ("WITHIN (region)", |(region, _, _)| *region),
    ];
    for (number, (draw, group)) in draws.into_iter().enumerate() {
        for search in ["AT NODE (age 1, region 0)", "SEARCH USING mondrian"] {
            // Mondrian forms classes other than those of the node, and gives a region more than one
            // label.
            if !draw.is_empty() && search.starts_with("SEARCH") {
                continue;
            }
            let mut released = vec![];
            for (turn, seed) in [(0, 7), (1, 7), (2, 7), (3, 7), (0, 8)] {
                let context = context(1 + turn % 2);
                let values = turned(&rows(), group, turn).into_iter();
                let values: Vec<String> = values.map(|(r, a, i)| format!("('r{r}', {a}, 'i{i}')")).collect();
                let table = format!(
                    "CREATE TABLE t AS SELECT column1 AS region, column2 AS age, column3 AS illness FROM (VALUES {})",
                    values.join(", ")
                );
                collect(&context, &table).await;
                collect(&context, "CREATE HIERARCHY age AS INTERVALS (10)").await;
                let target = scratch.path().join(format!("{number}-{turn}-{seed}-{}", search.len()));
                let sql = format!(
                    "ANONYMIZE t TO '{}' QUASI IDENTIFIERS (age USING age, region) SENSITIVE (illness RANDOMIZED {draw}) \
                     SATISFYING k_anonymity(2) {search} WITH (seed = {seed})",
                    target.display()
                );
                collect(&context, &sql).await;
                released.push(bytes(&target));
            }
            for turn in 1..4 {
                assert!(released[turn] == released[0], "{draw} {search}: source {turn}");
            }
            assert!(
                released[4] != released[0],
                "{draw} {search}: the seed has no part in it"
            );
        }
    }
}
