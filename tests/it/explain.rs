//! Snapshots of what people read: EXPLAIN and the help of the command.

use crate::common::{collect, context, number, text};
use std::process::Command;

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
    let output = Command::new(env!("CARGO_BIN_EXE_anonsql"))
        .arg("--help")
        .output()
        .unwrap();
    insta::assert_snapshot!("help", String::from_utf8(output.stdout).unwrap());
}
