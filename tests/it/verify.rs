//! Tests that a failed VERIFY cannot be mistaken for one that passed.

use crate::common::{collect, context};
use anonsql::AnonContext;
use anonsql::error::ErrorKind;
use anonsql::internal::session::{Statement, parse};
use futures::TryStreamExt;

const PEOPLE: &str =
    "CREATE TABLE people AS VALUES ('f', 'flu'), ('f', 'cold'), ('f', 'flu'), ('m', 'flu'), ('m', 'flu')";

fn verify(satisfying: &str) -> String {
    format!("VERIFY people QUASI IDENTIFIERS (column1) SENSITIVE (column2) SATISFYING {satisfying}")
}

async fn people() -> AnonContext {
    let context = context(1);
    collect(&context, PEOPLE).await;
    context
}

fn statement(sql: &str) -> Statement {
    parse(sql).unwrap().remove(0)
}

/// Two rows are suppressed, so the released rows are not the whole table.
#[tokio::test]
async fn a_strict_verify_does_not_pass_what_only_the_source_decides() {
    let context = context(1);
    let folder = tempfile::tempdir().unwrap();
    let release = folder.path().join("release").display().to_string();
    for sql in [
        "CREATE TABLE t AS SELECT g, s FROM (VALUES ('f', 'x'), ('f', 'x'), ('f', 'y'), ('m', 'y'), ('m', 'y'), ('m', 'y'), \
         ('o', 'x'), ('o', 'x')) AS v(g, s)",
        &format!(
            "ANONYMIZE t TO '{release}' QUASI IDENTIFIERS (g) SENSITIVE (s) SATISFYING k_anonymity(3) \
             SUPPRESSING AT MOST 2 ROWS AT NODE (g 0)"
        ),
        "SET anonsql.strict = true",
    ] {
        collect(&context, sql).await;
    }
    let verify = |more: &str| {
        format!("VERIFY '{release}' QUASI IDENTIFIERS (g) SENSITIVE (s) SATISFYING t_closeness(0.5) ON s {more}")
    };
    let undecided = context.sql(&verify("")).await.unwrap_err();
    assert_eq!(undecided.kind(), ErrorKind::Verification);
    assert!(
        undecided.to_string().contains("needs AGAINST: t_closeness(0.5) ON s"),
        "{undecided}"
    );
    assert!(context.sql(&verify("AGAINST t")).await.is_ok());
}

#[tokio::test]
async fn a_failed_verify_is_an_error_of_kind_verification() {
    let context = people().await;
    assert!(context.sql(&verify("k_anonymity(2)")).await.is_ok());
    let error = context.sql(&verify("k_anonymity(3)")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Verification);
    assert!(error.to_string().contains("k_anonymity(3)"), "{error}");
    let several = verify("k_anonymity(3) AND k_anonymity(2) AND l_diversity(2) ON column2");
    let error = context.sql(&several).await.unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("k_anonymity(3)") && said.contains("l_diversity(2) ON column2"),
        "{said}"
    );
    assert!(!said.contains("k_anonymity(2)") && !said.contains("flu"), "{said}");
    // The statement after a failed VERIFY does not run.
    let script = format!("{}; CREATE TABLE after AS SELECT 1", verify("k_anonymity(3)"));
    assert_eq!(context.sql(&script).await.unwrap_err().kind(), ErrorKind::Verification);
    assert!(context.sql("SELECT * FROM after").await.is_err());
}

#[tokio::test]
async fn the_rows_of_a_failed_verify_are_there_for_who_reads_them() {
    let context = people().await;
    let failed = || statement(&verify("k_anonymity(3) AND k_anonymity(2)"));
    let answer = context.execute(failed()).await.unwrap();
    assert_eq!(answer.failed, ["k_anonymity(3)"]);
    assert_eq!(answer.verified().unwrap_err().kind(), ErrorKind::Verification);
    let batches: Vec<_> = answer.rows.try_collect().await.unwrap();
    assert!(batches[0].num_rows() >= 2);
    // Collecting the rows also returns the error.
    let collected = context.execute(failed()).await.unwrap().collect().await;
    assert_eq!(collected.unwrap_err().kind(), ErrorKind::Verification);
}
