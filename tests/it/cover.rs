//! Tests that every label is true of its row. Releases by all searches are checked against their
//! source, and a label that is moved to another row is detected.

use crate::common::{collect, context};

const TABLE: &str = "
    CREATE TABLE people AS SELECT column1 AS age, column2 AS city, column3 AS illness, column4 AS id FROM (VALUES
      (20, 'Bonn', 'flu', 1), (21, 'Bonn', 'gout', 2), (22, 'Ulm', 'flu', 3), (23, 'Ulm', 'gout', 4), (NULL, 'Ulm', 'flu', 9),
      (NULL, 'Ulm', 'gout', 10), (40, 'Bonn', 'gout', 5), (45, 'Jena', 'flu', 6), (50, 'Jena', 'gout', 7), (60, 'Rome', 'flu', 8));
    CREATE HIERARCHY age AS INTERVALS (10, 20, 40);
    CREATE HIERARCHY city AS VALUES ('Bonn', 'west', 'Germany'), ('Ulm', 'south', 'Germany'), ('Jena', 'east', 'Germany'),
      ('Rome', 'Lazio', 'Italy');";

const SEARCHES: [&str; 9] = [
    "RECODING LOCAL",
    "SEARCH USING peel",
    "SEARCH USING peel(rounds => 0, numbers => hierarchy)",
    "SEARCH USING mondrian",
    "SEARCH USING mondrian(relaxed, ranges => exact)",
    "SEARCH USING mondrian(numbers => hierarchy)",
    "SEARCH USING top_down",
    "SEARCH USING adaptive_clustering",
    "AT NODE (age 3, city 3)",
];

/// Returns the statement that creates the table `tampered`: the rows of `released`, with the labels
/// of rows `a` and `b` exchanged in `column`.
fn exchanged(column: &str, a: u8, b: u8) -> String {
    let other = if column == "age" { "city" } else { "age" };
    format!(
        "CREATE OR REPLACE TABLE tampered AS SELECT CASE id WHEN {a} THEN (SELECT {column} FROM released WHERE id = {b}) \
         WHEN {b} THEN (SELECT {column} FROM released WHERE id = {a}) ELSE {column} END AS {column}, {other}, id \
         FROM released"
    )
}

#[tokio::test]
async fn a_label_of_another_row_is_found_whatever_divided_the_table() {
    for search in SEARCHES {
        let context = context(2);
        collect(&context, TABLE).await;
        let made = format!(
            "CREATE TABLE released AS ANONYMIZE people QUASI IDENTIFIERS (age USING age, city USING city) CLASS (illness) \
             KEEP (id) SATISFYING k_anonymity(2) {search}"
        );
        collect(&context, &made).await;
        let verify = |table: &str| {
            format!(
                "VERIFY {table} AGAINST people QUASI IDENTIFIERS (age USING age, city USING city) SENSITIVE (id) \
                 SATISFYING k_anonymity(1)"
            )
        };
        collect(&context, &verify("released")).await;
        let mut exchanges = 0;
        for (column, a, b) in [("age", 1, 8), ("age", 9, 2), ("city", 3, 8)] {
            let labels = format!("SELECT count(DISTINCT {column}) FROM released WHERE id IN ({a}, {b})");
            let labels = crate::common::number(&collect(&context, &labels).await);
            let tops = format!("SELECT count(*) FROM released WHERE id IN ({a}, {b}) AND {column} = '*'");
            // The exchange of equal labels, or of labels that are true of everyone, is not an
            // error.
            if labels < 2.0 || crate::common::number(&collect(&context, &tops).await) > 1.0 {
                continue;
            }
            exchanges += 1;
            collect(&context, &exchanged(column, a, b)).await;
            let found = context.sql(&verify("tampered")).await.unwrap_err();
            assert_eq!(found.exit_code(), 4, "{search} {column}: {found}");
        }
        assert!(exchanges > 0 || search.starts_with("AT NODE"), "{search}");
    }
    // The labels belong to a node whose levels distinguish the rows.
    let context = context(2);
    collect(&context, TABLE).await;
    let sql = "CREATE TABLE released AS ANONYMIZE people QUASI IDENTIFIERS (age USING age, city USING city) CLASS (illness) \
               KEEP (id) SATISFYING k_anonymity(1) AT NODE (age 1, city 1)";
    collect(&context, sql).await;
    collect(&context, &exchanged("age", 1, 8)).await;
    let sql = "VERIFY tampered AGAINST people QUASI IDENTIFIERS (age USING age LEVELS 1 TO 1, city USING city) SENSITIVE (id) \
               SATISFYING k_anonymity(1)";
    let found = context.sql(sql).await.unwrap_err();
    assert_eq!(found.exit_code(), 4, "{found}");
}

/// Each row of the source is matched only once. If two released rows fit only the same source row,
/// one of them is reported.
#[tokio::test]
async fn no_row_of_the_source_is_taken_twice() {
    let context = context(2);
    collect(
        &context,
        "CREATE TABLE people AS SELECT column1 AS age FROM (VALUES (20), (21), (40), (41))",
    )
    .await;
    let verify = "VERIFY released AGAINST people QUASI IDENTIFIERS (age) SATISFYING k_anonymity(1)";
    for (labels, is_true) in [
        ("('[20, 21]'), ('[20, 41]'), ('[20, 41]'), ('[40, 41]')", true),
        ("('[20, 21]'), ('[20, 21]'), ('[20, 41]'), ('[40, 49]')", true),
        ("('[20, 21]'), ('[20, 21]'), ('[0, 30]'), ('[40, 41]')", false),
        ("('20'), ('20'), ('[40, 41]'), ('[40, 41]')", false),
    ] {
        let table = format!("CREATE OR REPLACE TABLE released AS SELECT column1 AS age FROM (VALUES {labels})");
        collect(&context, &table).await;
        assert_eq!(context.sql(verify).await.is_ok(), is_true, "{labels}");
    }
}
