//! Snapshots of what people read: EXPLAIN and the help of the command.

use crate::common::{collect, context};
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

#[test]
fn help_answers_the_obvious_questions() {
    let output = Command::new(env!("CARGO_BIN_EXE_anonsql"))
        .arg("--help")
        .output()
        .unwrap();
    insta::assert_snapshot!("help", String::from_utf8(output.stdout).unwrap());
}
