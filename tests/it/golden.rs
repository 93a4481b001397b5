//! Compares results on real tables with reference results (../shared/reference), which were
//! computed by brute force from the definitions alone.

use crate::common::{Numbers, adult, collect, number, shared, text};
use serde_json::Value;

pub const ADULT: [&str; 9] = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
];

pub fn quoted(columns: &[&str]) -> String {
    columns
        .iter()
        .map(|c| format!("\"{c}\""))
        .collect::<Vec<_>>()
        .join(", ")
}

fn limit(line: &Value) -> String {
    format!("{} PERCENT", line["suppression_limit"].as_f64().unwrap() * 100.0)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1.0)
}

/// Returns true if a reference line contains the node that EXPLAIN ANALYZE reports as "sex 1, age
/// 0, ...".
fn is_one_of(node: &str, line: &Value) -> bool {
    let nodes = line["nodes"]
        .as_array()
        .cloned()
        .unwrap_or_else(|| vec![line["node"].clone()]);
    nodes.iter().any(|reference| {
        node.split(", ").all(|part| {
            let (column, level) = part.rsplit_once(' ').unwrap();
            reference[column].as_u64() == level.parse().ok()
        })
    })
}

#[tokio::test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared; set ANONSQL_SHARED to the folder")]
async fn flash_and_exhaustive_find_the_optima_of_adult() {
    let lines = shared("reference/adult_given.jsonl");
    let context = adult(&ADULT).await;
    let using: Vec<String> = ADULT.iter().map(|c| format!("\"{c}\" USING \"{c}\"")).collect();
    let lines: Vec<Value> = std::fs::read_to_string(lines)
        .unwrap()
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(lines.len(), 40);
    for line in &lines {
        let (metric, k) = (line["metric"].as_str().unwrap(), &line["k"]);
        for search in ["flash", "exhaustive", "auto"] {
            let statement = format!(
                "ANONYMIZE adult QUASI IDENTIFIERS ({}) SATISFYING k_anonymity({k}) SUPPRESSING AT MOST {} \
                 MINIMIZING {metric} SEARCH USING {search}",
                using.join(", "),
                limit(line)
            );
            let ran = collect(&context, &format!("EXPLAIN ANALYZE {statement}")).await;
            let what = format!("{search}: {line}");
            let item = |name: &str| text(&ran, "item", name, "detail");
            assert!(
                close(item(metric).parse().unwrap(), line["value"].as_f64().unwrap()),
                "{} {what}",
                item(metric)
            );
            assert!(is_one_of(&item("node"), line), "{} {what}", item("node"));
            if line["cooptimal_nodes"] == 1 {
                assert_eq!(item("suppressed rows"), line["suppressed_rows"].to_string(), "{what}");
            }
            if let (Some(peer), "auto", "dm") = (line["peer_nodes_evaluated"].as_u64(), search, metric) {
                let assessed: u64 = item("nodes assessed").parse().unwrap();
                let most = if line["suppression_limit"] == 0.0 {
                    peer
                } else {
                    peer / 3
                };
                assert!(assessed <= most, "{assessed} nodes, and the peer needed {peer}: {line}");
            }
            if search == "flash" {
                collect(&context, &format!("CREATE OR REPLACE TABLE released AS {statement}")).await;
                let columns = quoted(&ADULT);
                let least =
                    format!("SELECT coalesce(min(n), {k}) FROM (SELECT count(*) n FROM released GROUP BY {columns})");
                assert!(
                    number(&collect(&context, &least).await) >= k.as_f64().unwrap(),
                    "{what}"
                );
            }
        }
    }
}

#[tokio::test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared; set ANONSQL_SHARED to the folder")]
async fn models_on_a_sensitive_attribute_reach_the_optima_of_adult() {
    let lines = shared("reference/adult_sensitive_given.jsonl");
    let context = adult(&ADULT).await;
    let columns: Vec<&str> = ADULT.iter().copied().filter(|c| *c != "occupation").collect();
    let using: Vec<String> = columns.iter().map(|c| format!("\"{c}\" USING \"{c}\"")).collect();
    let lines: Vec<Value> = std::fs::read_to_string(lines)
        .unwrap()
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(lines.len(), 22);
    for line in &lines {
        let statement = format!(
            "ANONYMIZE adult QUASI IDENTIFIERS ({}) SENSITIVE (occupation USING occupation) SATISFYING k_anonymity(5) \
             AND {} ON occupation SUPPRESSING AT MOST {} MINIMIZING dm",
            using.join(", "),
            line["model"].as_str().unwrap(),
            limit(line)
        );
        let ran = collect(&context, &format!("EXPLAIN ANALYZE {statement}")).await;
        let item = |name: &str| text(&ran, "item", name, "detail");
        assert_eq!(
            item("dm").parse::<f64>().unwrap(),
            line["value"].as_f64().unwrap(),
            "{line}"
        );
        assert_eq!(item("suppressed rows"), line["suppressed_rows"].to_string(), "{line}");
        assert_eq!(item("classes"), line["classes"].to_string(), "{line}");
        // Before rows are returned, separate SQL recounts the release.
        collect(&context, &format!("CREATE OR REPLACE TABLE released AS {statement}")).await;
    }
}

#[tokio::test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared; set ANONSQL_SHARED to the folder")]
async fn the_whole_lattice_of_adult_agrees_with_plain_sql() {
    let folder = shared("data/adult_pbg");
    let columns = [
        "age",
        "workclass",
        "education",
        "marital-status",
        "race",
        "sex",
        "native-country",
        "salary-class",
    ];
    let context = adult(&[]).await;
    for column in columns {
        let path = folder.join(format!("{column}.csv"));
        collect(
            &context,
            &format!("CREATE HIERARCHY \"{column}\" FROM '{}'", path.display()),
        )
        .await;
        lookup_table(&context, column, &path).await;
    }
    let using: Vec<String> = columns.iter().map(|c| format!("\"{c}\" USING \"{c}\"")).collect();
    let lattice = collect(
        &context,
        &format!(
            "LATTICE OF ANONYMIZE (SELECT {} FROM adult) QUASI IDENTIFIERS ({}) SATISFYING k_anonymity(5)",
            quoted(&columns),
            using.join(", ")
        ),
    )
    .await;
    let nodes = Numbers::of(&lattice);
    assert_eq!(nodes.rows(), 17_920);
    for draw in 0..200u64 {
        let row = (draw.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) as usize % nodes.rows();
        let labels: Vec<String> = columns
            .iter()
            .map(|c| format!("\"{c}_h\".l{}", nodes.get(c, row)))
            .collect();
        let joins: Vec<String> = columns
            .iter()
            .map(|c| format!("JOIN \"{c}_h\" ON CAST(adult.\"{c}\" AS VARCHAR) = \"{c}_h\".l0"))
            .collect();
        let classes = format!(
            "SELECT count(*), min(n), coalesce(sum(n) FILTER (WHERE n < 5), 0), \
             count(*) FILTER (WHERE n >= 5), coalesce(sum(n * n) FILTER (WHERE n >= 5), 0) \
             + coalesce(sum(n) FILTER (WHERE n < 5), 0) * (SELECT count(*) FROM adult) \
             FROM (SELECT count(*) AS n FROM adult {} GROUP BY {})",
            joins.join(" "),
            labels.join(", ")
        );
        let expected = Numbers::of(&collect(&context, &classes).await);
        let got = ["k", "suppressed", "classes", "dm"].map(|c| nodes.get(c, row));
        let want = [1, 2, 3, 4].map(|i| expected.at(i, 0));
        assert_eq!(got, want, "node {row}");
    }
}

/// Creates the table `column_h` with columns l0, l1, ... from the hierarchy's file.
async fn lookup_table(context: &anonsql::AnonContext, column: &str, path: &std::path::Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<String> = text
        .lines()
        .filter(|l| !l.is_empty())
        .map(|l| {
            let labels: Vec<String> = l.split(';').map(|v| format!("'{}'", v.replace('\'', "''"))).collect();
            format!("({})", labels.join(", "))
        })
        .collect();
    let width = text.lines().next().unwrap().split(';').count();
    let names: Vec<String> = (0..width).map(|i| format!("l{i}")).collect();
    let create = format!(
        "CREATE TABLE \"{column}_h\" AS SELECT * FROM (VALUES {}) AS t ({})",
        rows.join(", "),
        names.join(", ")
    );
    collect(context, &create).await;
}
