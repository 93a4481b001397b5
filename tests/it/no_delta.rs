//! A build without the feature `delta` says so, and takes no Delta table for a folder of files.

use crate::common::context;
use anonsql::error::ErrorKind;

#[tokio::test]
async fn a_build_without_delta_says_so() {
    let context = context(1);
    let scratch = tempfile::tempdir().unwrap();
    std::fs::create_dir(scratch.path().join("_delta_log")).unwrap();
    std::fs::write(scratch.path().join("_delta_log/00000000000000000000.json"), "{}").unwrap();
    std::fs::write(scratch.path().join("a.csv"), "age\n1\n").unwrap();
    let table = scratch.path().display();
    for sql in [
        format!("SELECT * FROM delta.'{table}'"),
        format!("RISK OF delta.'{table}' VERSION AS OF 3 QUASI IDENTIFIERS (age)"),
        format!("RISK OF '{table}' QUASI IDENTIFIERS (age)"),
        format!(
            "ANONYMIZE (SELECT 1 AS age) TO '{table}/out' STORED AS DELTA QUASI IDENTIFIERS (age) SATISFYING k_anonymity(1)"
        ),
    ] {
        let e = context.sql(&sql).await.unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Usage, "{e}");
        assert!(e.to_string().contains("--features delta"), "{e}");
    }
}
