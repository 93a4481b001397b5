//! The neighbours of the released node in a report.

use crate::common::{Numbers, collect};
use crate::report::{QUASI, census, json, statement};
use std::collections::BTreeSet;

/// What stands beside the released node is what LATTICE OF says of those nodes.
#[tokio::test]
async fn the_neighbours_of_the_node_are_those_of_the_lattice() {
    let scratch = tempfile::tempdir().unwrap();
    let (target, path) = (scratch.path().join("release"), scratch.path().join("report.json"));
    let context = census(2).await;
    let sql = statement(&target, &path, "IDENTIFIERS (ssn) SATISFYING k_anonymity(5)");
    let report = json(&context, &sql, &path).await;
    let columns: Vec<&str> = QUASI.split(", ").collect();
    let level = |column: &str| {
        let columns = report["columns"].as_array().unwrap();
        let found = columns.iter().find(|c| c["name"] == column).unwrap();
        found["generalization"]["level"].as_u64().unwrap()
    };
    let request = sql
        .split(" OVERWRITE ")
        .nth(1)
        .unwrap()
        .replace(&format!("REPORT TO '{}'", path.display()), "");
    let lattice = format!(
        "LATTICE OF ANONYMIZE (SELECT age, sex, zip, marital_status, occupation, income, ssn FROM census) {request}"
    );
    let mut expected = BTreeSet::new();
    for column in &columns {
        let others = columns
            .iter()
            .filter(|c| *c != column)
            .map(|c| format!("{c} = {}", level(c)));
        let others = others.collect::<Vec<_>>().join(" AND ");
        let around = format!(
            "SELECT {column}, anonymous, k, suppressed FROM ({lattice}) AS l WHERE {others} AND abs({column} - {}) = 1",
            level(column)
        );
        let found = Numbers::of(&collect(&context, &around).await);
        let row = |row: usize| {
            (0..4)
                .map(|i| found.at(i, row).to_string())
                .collect::<Vec<_>>()
                .join(" ")
        };
        expected.extend((0..found.rows()).map(|i| format!("{column} {}", row(i))));
    }
    let neighbours = report["neighbours"].as_array().unwrap().iter().map(|n| {
        let holds = u8::from(n["holds"].as_bool().unwrap());
        let column = n["column"].as_str().unwrap();
        assert_eq!(
            n["coarser"].as_bool().unwrap(),
            n["level"].as_u64().unwrap() > level(column)
        );
        format!("{column} {} {holds} {} {}", n["level"], n["k"], n["suppressed"])
    });
    let neighbours: BTreeSet<String> = neighbours.collect();
    assert!(neighbours.len() >= columns.len());
    assert_eq!(neighbours, expected);
}
