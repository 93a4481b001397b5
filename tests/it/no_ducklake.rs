//! A build without the feature `ducklake` says so.

use crate::common::context;
use anonsql::error::ErrorKind;

#[tokio::test]
async fn a_build_without_ducklake_says_so() {
    let context = context(1);
    for sql in [
        "SELECT * FROM ducklake.'lake.sqlite#people'",
        "RISK OF ducklake.'lake.sqlite#hr.people' VERSION AS OF 3 QUASI IDENTIFIERS (age)",
    ] {
        let e = context.sql(sql).await.unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Usage, "{e}");
        assert!(e.to_string().contains("--features ducklake"), "{e}");
    }
}
