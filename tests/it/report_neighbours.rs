//! Tests the neighbours of the released node in a report.

use crate::common::{Numbers, collect};
use crate::report::{QUASI, census, json, statement};
use std::collections::BTreeSet;

/// The neighbours have the same figures as in the result of LATTICE OF.
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

/// Personal limits are applied after a node is chosen, so the report cannot say whether they hold
/// at another node.
#[tokio::test]
async fn nothing_is_said_of_neighbours_where_classes_do_not_decide() {
    let scratch = tempfile::tempdir().unwrap();
    let (target, path) = (scratch.path().join("release"), scratch.path().join("report.json"));
    let context = census(2).await;
    let setup = "CREATE TABLE limited AS SELECT age, marital_status, 0.9 AS max_leak FROM census";
    collect(&context, setup).await;
    for (models, is_said) in [
        ("k_anonymity(5)", true),
        ("k_anonymity(5) AND personal_privacy(max_leak)", false),
    ] {
        let source = if is_said {
            "(SELECT age, marital_status FROM limited)"
        } else {
            "limited"
        };
        let sql = format!(
            "ANONYMIZE {source} TO '{}' OVERWRITE QUASI IDENTIFIERS (age USING age) \
             SENSITIVE (marital_status USING marital_status) SATISFYING {models} SUPPRESSING AT MOST 50 PERCENT \
             REPORT TO '{}'",
            target.display(),
            path.display()
        );
        let report = json(&context, &sql, &path).await;
        assert_eq!(report.get("neighbours").is_some(), is_said, "{models}");
    }
}
