//! Uses the library in an application: the application's tables, a release in a folder, and the
//! release's figures.
//!
//! `cargo run --example embed`

use anonsql::AnonContext;
use anonsql::error::{Error, ErrorKind, Result};
use datafusion::arrow::array::{Int64Array, StringArray};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

#[tokio::main]
pub async fn main() -> Result<()> {
    // This is the application's own session. Its catalogs, object stores, memory pool and settings
    // are used unchanged.
    let session = SessionContext::new();
    let people = RecordBatch::try_from_iter([
        ("age", Arc::new(Int64Array::from(vec![31, 34, 37, 39])) as _),
        (
            "illness",
            Arc::new(StringArray::from(vec!["flu", "cold", "flu", "asthma"])) as _,
        ),
    ])?;
    session.register_batch("people", people)?;
    let anon = AnonContext::new(session);

    let folder = tempfile::tempdir().map_err(|e| Error::new(ErrorKind::Io, e.to_string()))?;
    let target = folder.path().join("released").display().to_string();
    let request = format!(
        "ANONYMIZE people TO '{target}' QUASI IDENTIFIERS (age USING age) SENSITIVE (illness)
         SATISFYING l_diversity(2) ON illness AND k_anonymity(2)"
    );
    anon.sql("CREATE HIERARCHY age AS INTERVALS (5, 10)").await?;
    let anonymized = anon.anonymize(&request).await?;
    assert_eq!(anonymized.release().and_then(|release| release.reached_k), Some(2));
    assert_eq!(anonymized.manifest().map(|manifest| manifest.rows_out), Some(4));

    // Errors have a kind, and the target never contains a partial release.
    let again = anon.sql(&request).await;
    assert!(again.is_err_and(|e| e.kind() == ErrorKind::TargetExists));
    let rows = anon
        .session()
        .read_parquet(&target, Default::default())
        .await?
        .count()
        .await?;
    assert_eq!(rows, 4);
    let verification = anon
        .verify(&format!(
            "VERIFY '{target}' QUASI IDENTIFIERS (age USING age) SENSITIVE (illness) SATISFYING k_anonymity(2) AGAINST people"
        ))
        .await?;
    assert!(verification.holds(), "{verification:?}");
    Ok(())
}
