//! Tests EXPLORE. Its page shows the figures of LATTICE OF for each node, and the statement on the
//! page releases a node with these figures.

use crate::common::{Numbers, collect, context, with_paths};
use anonsql::AnonContext;
use anonsql::error::ErrorKind;
use serde_json::Value;
use std::path::Path;

/// Returns the data in the page.
fn data(page: &Path) -> Value {
    let text = std::fs::read_to_string(page).unwrap();
    let begin = "<script type=\"application/json\" id=\"data\">";
    let data = text.split(begin).nth(1).unwrap().split("</script>").next().unwrap();
    serde_json::from_str(data).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    let all = value.as_array().unwrap().iter();
    all.map(|n| n.as_f64().unwrap_or(f64::NAN)).collect()
}

async fn census() -> AnonContext {
    let context = with_paths(2);
    let made = "CREATE EXTERNAL TABLE census STORED AS PARQUET LOCATION 'data/census.parquet';
        CREATE HIERARCHY age AS INTERVALS (5, 10, 20) TOP CODE 90;
        CREATE HIERARCHY zip AS PREFIX (4, 3, 2);";
    collect(&context, made).await;
    context
}

const ASKED: &str =
    "ANONYMIZE (SELECT age, zip, sex, income FROM census) QUASI IDENTIFIERS (age USING age, zip USING zip, sex)
    SENSITIVE (income) SATISFYING k_anonymity(5) AND l_diversity(2) ON income SUPPRESSING AT MOST 1 PERCENT";

#[tokio::test]
async fn the_page_has_the_nodes_of_lattice_of() {
    let (context, scratch) = (census().await, tempfile::tempdir().unwrap());
    let page = scratch.path().join("lattice.html");
    let answer = collect(&context, &format!("EXPLORE {ASKED} TO '{}'", page.display())).await;
    let (data, listed) = (
        data(&page),
        Numbers::of(&collect(&context, &format!("LATTICE OF {ASKED}")).await),
    );
    assert_eq!((data["nodes"].is_null(), data["size"].as_str()), (true, Some("50")));
    assert_eq!((Numbers::of(&answer).get("shown", 0), listed.rows()), (50.0, 50));
    let column = |name: &str| -> Vec<f64> { (0..listed.rows()).map(|row| listed.get(name, row)).collect() };
    for name in ["k", "suppressed", "classes"] {
        assert_eq!(numbers(&data[name]), column(name), "{name}");
    }
    let holds = data["holds"].as_str().unwrap().bytes().map(|b| f64::from(b - b'0'));
    assert_eq!(holds.collect::<Vec<_>>(), column("anonymous"));
    let metrics = data["metrics"].as_array().unwrap();
    assert!(metrics.len() > 5);
    for metric in metrics {
        for (shown, counted) in numbers(&metric["values"])
            .into_iter()
            .zip(column(metric["name"].as_str().unwrap()))
        {
            assert!((shown - counted).abs() <= 1e-5 * counted.abs(), "{metric}");
        }
    }
    // A node's number encodes its levels, and the level of the last column changes fastest.
    let spans = [5, 5, 2];
    for row in 0..50 {
        let levels = [row / (spans[1] * spans[2]), row / spans[2] % spans[1], row % spans[2]];
        let listed = ["age", "zip", "sex"].map(|c| listed.get(c, row) as usize);
        assert_eq!(levels, listed);
    }
}

#[tokio::test]
async fn its_statement_releases_a_node_as_the_page_says() {
    let (context, scratch) = (census().await, tempfile::tempdir().unwrap());
    let page = scratch.path().join("lattice.html");
    let ran = format!("EXPLORE {ASKED} AT NODE (age 2, zip 3, sex 1) TO '{}'", page.display());
    collect(&context, &ran).await;
    let data = data(&page);
    assert_eq!(data["picked"], (2 * 5 + 3) * 2 + 1);
    let holds: Vec<usize> = data["holds"]
        .as_str()
        .unwrap()
        .match_indices('1')
        .map(|(at, _)| at)
        .collect();
    for node in [holds[0], holds[holds.len() / 2]] {
        let target = scratch.path().join(format!("released-{node}"));
        let statement = data["statement"].as_str().unwrap();
        assert!(statement.contains("TO 'released'") && !statement.contains("AT NODE"));
        let statement = statement.replace("'released'", &format!("'{}'", target.display()));
        let levels = format!("AT NODE (age {}, zip {}, sex {})", node / 10, node / 2 % 5, node % 2);
        collect(&context, &format!("{statement} {levels}")).await;
        let counted = format!(
            "SELECT sum(n) AS n, count(*) AS classes FROM (SELECT count(*) AS n FROM '{}' GROUP BY age, zip, sex)",
            target.display()
        );
        let counted = Numbers::of(&collect(&context, &counted).await);
        let rows = data["rows"].as_f64().unwrap() - data["suppressed"][node].as_f64().unwrap();
        assert_eq!(counted.get("n", 0), rows, "{levels}");
        assert_eq!(Some(counted.get("classes", 0)), data["classes"][node].as_f64());
    }
    // If the page says that the models fail at a node, the statement at this node fails.
    let fails = data["holds"].as_str().unwrap().find('0').unwrap();
    let levels = format!("AT NODE (age {}, zip {}, sex {})", fails / 10, fails / 2 % 5, fails % 2);
    let failed = context
        .sql(&format!("{} {levels}", data["statement"].as_str().unwrap()))
        .await;
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::Infeasible);
}

/// A lattice of 117,649 nodes is too large for a page. The page then contains the front and the
/// nodes around it.
#[tokio::test]
async fn of_a_large_lattice_it_has_the_front_and_what_is_around_it() {
    let (context, scratch) = (context(2), tempfile::tempdir().unwrap());
    let page = scratch.path().join("lattice.html");
    let columns = ["a", "b", "c", "d", "e", "f"];
    let drawn = columns.iter().zip([7, 11, 13, 17, 19, 23]);
    let drawn: Vec<String> = drawn.map(|(c, n)| format!("i * {n} % 64 AS {c}")).collect();
    let made = format!(
        "CREATE TABLE t AS SELECT {} FROM generate_series(1, 60) AS g(i); CREATE HIERARCHY h AS INTERVALS (2, 4, 8, 16, 32)",
        drawn.join(", ")
    );
    collect(&context, &made).await;
    let asked = |levels: &str| {
        let columns: Vec<String> = columns.iter().map(|c| format!("{c} USING h{levels}")).collect();
        format!("ANONYMIZE t QUASI IDENTIFIERS ({})", columns.join(", "))
    };
    let rest = "SATISFYING k_anonymity(2) SUPPRESSING AT MOST 5 ROWS";
    let ran = format!("EXPLORE {} {rest} TO '{}'", asked(""), page.display());
    collect(&context, &ran).await;
    let first = std::fs::read(&page).unwrap();
    let data = data(&page);
    let nodes: Vec<Vec<f64>> = data["nodes"].as_array().unwrap().iter().map(numbers).collect();
    assert_eq!(data["size"], "117649");
    assert!((4096..4200).contains(&nodes.len()), "{}", nodes.len());
    assert!(data["note"].as_str().unwrap().contains("too large"));
    let front = format!("PARETO FRONT OF {} {rest} OPTIMIZING MAX k, MIN glm", asked(""));
    let front = Numbers::of(&collect(&context, &front).await);
    let holds = data["holds"].as_str().unwrap().as_bytes();
    for row in 0..front.rows() {
        let node: Vec<f64> = columns.iter().map(|c| front.get(c, row)).collect();
        let at = nodes.iter().position(|n| *n == node).expect("the front is on the page");
        assert_eq!(holds[at], b'1');
    }
    // LATTICE OF a single node gives the same figures.
    for at in (0..nodes.len()).step_by(nodes.len() / 5) {
        let levels = nodes[at].iter().zip(columns);
        let levels: Vec<String> = levels
            .map(|(level, c)| format!("{c} USING h LEVELS {level} TO {level}"))
            .collect();
        let one = format!(
            "LATTICE OF ANONYMIZE t QUASI IDENTIFIERS ({}) {rest}",
            levels.join(", ")
        );
        let one = Numbers::of(&collect(&context, &one).await);
        for name in ["k", "suppressed", "classes"] {
            assert_eq!(
                data[name][at].as_f64(),
                Some(one.get(name, 0)),
                "{name} of {:?}",
                nodes[at]
            );
        }
    }
    // The same statement writes the same bytes, and replaces its own page.
    collect(&context, &ran).await;
    assert!(std::fs::read(&page).unwrap() == first);
}

#[tokio::test]
async fn the_page_has_no_value_and_replaces_no_file_of_others() {
    let (context, scratch) = (census().await, tempfile::tempdir().unwrap());
    let page = scratch.path().join("lattice.html");
    let asked = ASKED.replace("FROM census", "FROM census WHERE zip <> '77777' AND name <> 'Planted'");
    let ran = format!("EXPLORE {asked} TO '{}'", page.display());
    std::fs::write(&page, "mine").unwrap();
    assert_eq!(context.sql(&ran).await.unwrap_err().kind(), ErrorKind::TargetExists);
    assert_eq!(std::fs::read_to_string(&page).unwrap(), "mine");
    collect(&context, &format!("{ran} OVERWRITE")).await;
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(!text.contains("77777") && !text.contains("Planted"));
    let data = data(&page);
    assert!(
        data["statement"]
            .as_str()
            .unwrap()
            .contains("WHERE zip <> '?' AND name <> '?'")
    );
    assert_eq!(data["redacted"], true);
    // The page contains neither a value nor a label of a column.
    let values = collect(&context, "SELECT DISTINCT zip FROM census").await;
    let zips = arrow::compute::cast(values[0].column(0), &arrow::datatypes::DataType::Utf8).unwrap();
    let zips = arrow::array::AsArray::as_string::<i32>(&zips).iter().flatten();
    let held: Vec<&str> = zips.filter(|zip| text.contains(&format!("\"{zip}\""))).collect();
    assert!(held.is_empty(), "{held:?}");

    let dry = scratch.path().join("dry.html");
    collect(&context, "SET anonsql.dry_run = true").await;
    let answer = collect(&context, &format!("EXPLORE {ASKED} TO '{}'", dry.display())).await;
    assert_eq!((Numbers::of(&answer).get("shown", 0), dry.exists()), (50.0, false));
}
