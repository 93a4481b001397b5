//! Snapshots of texts for people: EXPLAIN and the help of the command.

use crate::common::{anonsql, collect, context, number, text};
use arrow::array::AsArray;
use std::path::Path;

#[tokio::test]
async fn explain_says_what_would_be_done() {
    let context = context(2);
    let setup = "CREATE TABLE people (name VARCHAR, age INT, zip VARCHAR, sex VARCHAR, disease VARCHAR, visit INT);
        CREATE HIERARCHY age AS INTERVALS (5, 10);
        CREATE HIERARCHY zip AS PREFIX (3, 2)";
    collect(&context, setup).await;
    let statement = "EXPLAIN ANONYMIZE people IDENTIFIERS (name) \
        QUASI IDENTIFIERS (age USING age, zip USING zip LEVELS 1 TO 3, sex) SENSITIVE (disease) ENTITY (visit) \
        SATISFYING k_anonymity(5) AND l_diversity(2) ON disease AND k_anonymity(9) ON (zip) \
        SUPPRESSING AT MOST 0.5 PERCENT MINIMIZING entropy SEARCH USING flash";
    let rows = collect(&context, statement).await;
    insta::assert_snapshot!(
        "explain",
        arrow::util::pretty::pretty_format_batches(&rows).unwrap().to_string()
    );
}

/// EXPLAIN for every model, with and without suppression and entities: the monotone models, the
/// pruning, and the figures of a class.
#[tokio::test]
async fn explain_says_what_prunes_for_every_model() {
    let context = context(2);
    let setup = "CREATE TABLE people (age INT, zip VARCHAR, disease VARCHAR, person INT);
        CREATE HIERARCHY age AS INTERVALS (5, 10);
        CREATE HIERARCHY disease AS VALUES ('flu', 'lungs'), ('cold', 'lungs')";
    collect(&context, setup).await;
    let mut models: Vec<String> = vec![];
    // Models for single rows or for items have no predicate on classes, and EXPLAIN refuses models
    // that draw a sample.
    let of_classes = |name: &str| !["personal_privacy", "km_anonymity", "differential_privacy"].contains(&name);
    for entry in anonsql::internal::model::MODELS
        .iter()
        .filter(|e| of_classes(e.info.name))
    {
        // The examples of the catalogue name columns that this table does not have.
        let call = entry.info.example.split(" ON ").next().unwrap().to_string();
        let on = if call != entry.info.example { " ON disease" } else { "" };
        models.push(format!("{call}{on}"));
    }
    models.push("t_closeness(0.2, hierarchical) ON disease".into());
    models.push("k_anonymity(5) AND k_anonymity(20) ON (zip) AND entropy_l_diversity(2) ON disease".into());
    let mut said = String::new();
    for model in &models {
        let population = if model.contains("k_map") || model.contains("delta_presence") {
            "POPULATION people"
        } else {
            ""
        };
        for limit in ["", "SUPPRESSING AT MOST 5 PERCENT"] {
            for entity in ["KEEP (person)", "ENTITY (person)"] {
                let rows = collect(
                    &context,
                    &format!(
                        "EXPLAIN ANONYMIZE people QUASI IDENTIFIERS (age USING age, zip) SENSITIVE (disease USING disease) \
                         {entity} {population} SATISFYING {model} {limit}"
                    ),
                )
                .await;
                said += &format!("{model} {limit} {entity}\n");
                let (items, details) = (
                    rows[0].column(0).as_string::<i32>(),
                    rows[0].column(1).as_string::<i32>(),
                );
                for (item, detail) in items.iter().zip(details).map(|(i, d)| (i.unwrap(), d.unwrap())) {
                    match item {
                        "model" | "pruning" | "population" => said += &format!("    {item}: {detail}\n"),
                        "base query" => said += &format!("    carries:{}\n", carried(detail)),
                        _ => {}
                    }
                }
            }
        }
    }
    insta::assert_snapshot!("explain_models", said);
}

/// Returns the comments in a base query. They name the counts that the query computes in addition
/// to the number of rows.
fn carried(query: &str) -> String {
    let parts: Vec<&str> = query.split("/*").skip(1).filter_map(|p| p.split("*/").next()).collect();
    format!(
        " rows{}",
        parts.iter().map(|p| format!(" {}", p.trim())).collect::<String>()
    )
}

/// If EXPLAIN reports that a search skips no node, the search assesses the whole lattice. The other
/// searches skip nodes here.
#[tokio::test]
async fn a_search_leaves_out_what_explain_says_it_does() {
    let context = context(2);
    let setup = "CREATE EXTERNAL TABLE census STORED AS PARQUET LOCATION 'data/census.parquet';
        CREATE HIERARCHY age AS INTERVALS (5, 10, 20);
        CREATE HIERARCHY zip AS PREFIX (4, 3, 2)";
    collect(&context, setup).await;
    for (search, leaves_out) in [
        ("auto", true),
        ("flash", true),
        ("ola", true),
        ("incognito", true),
        ("exhaustive", false),
    ] {
        let statement = format!(
            "EXPLAIN ANALYZE ANONYMIZE (SELECT age, zip, sex, race FROM census) \
             QUASI IDENTIFIERS (age USING age, zip USING zip, sex, race) SATISFYING k_anonymity(5) SEARCH USING {search}"
        );
        let ran = collect(&context, &statement).await;
        let assessed: u64 = text(&ran, "item", "nodes assessed", "detail").parse().unwrap();
        let says = text(&ran, "item", "pruning", "detail");
        assert_eq!(says.contains("skips no node"), !leaves_out, "{search}: {says}");
        assert_eq!(assessed < 5 * 5 * 2 * 2, leaves_out, "{search}: {assessed}");
    }
}

#[tokio::test]
async fn the_printed_query_of_a_node_answers_its_classes() {
    let context = context(2);
    let setup = "CREATE EXTERNAL TABLE census STORED AS PARQUET LOCATION 'data/census.parquet';
        CREATE HIERARCHY age AS INTERVALS (5, 10);
        CREATE HIERARCHY education FROM 'data/hierarchies/education.csv'";
    collect(&context, setup).await;
    for node in [
        "age 0, education 1, sex 0",
        "age 1, education 0, sex 1",
        "age 3, education 3, sex 0",
    ] {
        let statement = format!(
            "EXPLAIN ANALYZE ANONYMIZE (SELECT age, education, sex FROM census) \
             QUASI IDENTIFIERS (age USING age, education USING education, sex) \
             SATISFYING k_anonymity(1) AT NODE ({node})"
        );
        let ran = collect(&context, &statement).await;
        let query = text(&ran, "item", "node's query", "detail");
        let counted = collect(&context, &format!("SELECT count(*) FROM ({query})")).await;
        assert_eq!(
            number(&counted).to_string(),
            text(&ran, "item", "classes", "detail"),
            "{query}"
        );
        let rows = collect(&context, &format!("SELECT sum(rows) FROM ({query})")).await;
        assert_eq!(number(&rows), 30_000.0);
    }
}

#[test]
fn help_answers_the_obvious_questions() {
    let output = anonsql(Path::new(".")).arg("--help").output().unwrap();
    insta::assert_snapshot!("help", String::from_utf8(output.stdout).unwrap());
}

/// EXPLAIN ANALYZE reports the number of rows of an operator, and the time that the operator itself
/// took.
#[tokio::test]
async fn operators_tell_their_rows_and_their_time() {
    let context = context(2);
    collect(
        &context,
        "CREATE TABLE people AS VALUES (31, 'north'), (34, 'north'), (37, 'south')",
    )
    .await;
    let front = "pareto_front('ANONYMIZE people QUASI IDENTIFIERS (column1, column2) OPTIMIZING MAX k, MIN glm')";
    for (table, operator, rows) in [
        ("risk('people', 'column1', 'column2')", "RiskExec: risk of people", None),
        (
            "k_anonymity('people', 'column2')",
            "RiskExec: k_anonymity of people",
            Some(1),
        ),
        (front, "ParetoFrontExec: of a request", None),
    ] {
        let batches = collect(&context, &format!("EXPLAIN ANALYZE SELECT * FROM {table}")).await;
        let plan = batches[0].column(1).as_string::<i32>().value(0).to_string();
        let line = plan
            .lines()
            .find(|l| l.contains(operator))
            .unwrap_or_else(|| panic!("{plan}"));
        let rows = rows.map_or("output_rows=".to_string(), |n: u64| format!("output_rows={n},"));
        assert!(line.contains(&rows) && line.contains("elapsed_compute="), "{line}");
    }
}

/// Every operator is built by the frame (`frame.rs`), so properties of the frame are properties of
/// all operators. The guard (`guard.rs`) passes on the reports of its inner reader.
#[test]
fn every_operator_has_the_frame() {
    let (mut folders, mut found) = (vec![std::path::PathBuf::from("src")], vec![]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let text = std::fs::read_to_string(&path).unwrap();
                    let made = ["ExecutionPlan for ", "PartitionStream for "].map(|what| text.matches(what).count());
                    found.extend(vec![path.file_name().map(|n| n.to_owned()); made.iter().sum()]);
                }
            }
        }
    }
    found.sort();
    assert_eq!(found, ["frame.rs", "guard.rs"].map(|name| Some(name.into())));
}

/// EXPLAIN has a row for each effect of a request that the user may not expect.
#[tokio::test]
async fn explain_notes_what_a_number_means_and_what_is_rounded() {
    let context = context(2);
    let setup = "CREATE TABLE people (age INT, pay DOUBLE, zip VARCHAR);
        CREATE HIERARCHY age AS INTERVALS (5, 10)";
    collect(&context, setup).await;
    let noted = async |columns: &str, models: &str| -> Vec<String> {
        let statement = format!("EXPLAIN ANONYMIZE people QUASI IDENTIFIERS ({columns}) SATISFYING {models}");
        let rows = collect(&context, &statement).await;
        let items = rows[0].column(0).as_string::<i32>().iter().flatten();
        let details = rows[0].column(1).as_string::<i32>().iter().flatten();
        let notes = items.zip(details).filter(|(item, _)| *item == "note");
        notes.map(|(_, detail)| detail.to_string()).collect()
    };
    let all = "age, pay, zip";
    assert_eq!(
        noted(all, "max_risk(0.09) AND max_risk(0.33)").await,
        [
            "max_risk(0.09) requires classes of at least 12 rows, because 1/11 is above 0.09; if classes of 11 are meant, write \
             max_risk(1/11)",
            "max_risk(0.33) requires classes of at least 4 rows, because 1/3 is above 0.33; if classes of 3 are meant, write \
             max_risk(1/3)",
        ]
    );
    // The numbers 1/10, 0.17 (which is above 1/6) and a fraction are unambiguous.
    let none: [String; 0] = [];
    assert_eq!(
        noted(all, "max_risk(0.1) AND max_risk(0.17) AND max_risk(1/11)").await,
        none
    );
    assert_eq!(
        noted("age USING age LABELS MEAN, pay LABELS MEAN, zip", "k_anonymity(2)").await,
        [
            "column age: means of whole numbers are rounded to whole numbers; cast the column to DOUBLE in a query for means with \
             digits"
        ]
    );
    assert_eq!(
        noted("age USING age LABELS MEDIAN, pay, zip", "k_anonymity(2)")
            .await
            .len(),
        1
    );
    assert_eq!(
        noted("age USING age LABELS MODE, pay, zip", "k_anonymity(2)").await,
        none
    );
}
