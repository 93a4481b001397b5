use super::recount;
use crate::base::error::ErrorKind;
use crate::release::engine::apply::rewrite;
use crate::release::engine::decide::Decision;
use crate::release::engine::testing::{decided, job, silent};
use crate::release::engine::write::{Written, keep_rows};
use crate::release::job::Job;
use arrow::array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use arrow::compute::{cast, concat_batches, take_record_batch};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::physical_plan::collect;
use std::sync::Arc;

/// Returns the rows of the job as they would be written, changed by `lie`.
async fn written(job: &Arc<Job>, lie: impl FnOnce(RecordBatch) -> RecordBatch) -> (Decision, Written) {
    let decision = decided(job).await;
    let mut rewrite = rewrite(job, &decision, &silent()).await.unwrap();
    let schema = rewrite.plan.schema();
    let rows = collect(Arc::clone(&rewrite.plan), job.input.source.state().task_ctx())
        .await
        .unwrap();
    let rows = lie(concat_batches(&schema, &rows).unwrap());
    rewrite.plan = MemorySourceConfig::try_new_exec(&[vec![rows]], schema, None).unwrap();
    let written = keep_rows(job, &decision, rewrite, &silent()).await.unwrap();
    (decision, written)
}

async fn error(lie: impl FnOnce(RecordBatch) -> RecordBatch) -> String {
    let job = Arc::new(job());
    let (decision, written) = written(&job, lie).await;
    let found = recount(&job, &decision, &written, None, &silent()).await;
    let error = found.and_then(|found| found.require().map(|_| ())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Verification);
    error.to_string()
}

/// Returns the rows with the column of this name replaced.
fn with(rows: &RecordBatch, name: &str, values: &[&str]) -> RecordBatch {
    let place = rows.schema().index_of(name).unwrap();
    let values: ArrayRef = Arc::new(StringArray::from(values.to_vec()));
    let mut columns = rows.columns().to_vec();
    columns[place] = cast(&values, rows.column(place).data_type()).unwrap();
    RecordBatch::try_new(rows.schema(), columns).unwrap()
}

#[tokio::test]
async fn what_was_written_is_counted_and_holds() {
    let job = Arc::new(job());
    let (decision, written) = written(&job, |rows| rows).await;
    let found = recount(&job, &decision, &written, None, &silent()).await.unwrap();
    assert_eq!((found.rows, found.reached_k), (6, Some(2)));
    let checks: Vec<_> = found
        .checks
        .iter()
        .map(|c| (c.check.as_str(), c.reached, c.ok))
        .collect();
    let expected = [
        ("k_anonymity(2)", Some(2.0), true),
        ("l_diversity(2) ON illness", Some(2.0), true),
    ];
    assert_eq!(checks, expected);
}

#[tokio::test]
async fn a_row_that_was_lost_is_found() {
    let error = error(|rows| rows.slice(0, 5)).await;
    assert!(error.contains("5 rows were written instead of 6"), "{error}");
}

#[tokio::test]
async fn a_row_in_another_class_is_found() {
    let error = error(|rows| with(&rows, "age", &["30s", "30s", "30s", "50s", "50s", "50s"])).await;
    assert!(error.contains("2 classes whose rows are not the decided"), "{error}");
}

#[tokio::test]
async fn a_row_that_stands_for_another_is_found() {
    let error = error(|rows| {
        let places = UInt64Array::from(vec![0, 1, 2, 3, 3, 5]);
        take_record_batch(&rows, &places).unwrap()
    })
    .await;
    assert!(error.contains("classes whose rows are not"), "{error}");
}

#[tokio::test]
async fn a_promise_that_does_not_hold_of_the_rows_is_found() {
    let error = error(|rows| with(&rows, "illness", &["ache", "cold", "flu", "flu", "flu", "flu"])).await;
    assert!(error.contains("does not hold l_diversity(2) ON illness"), "{error}");
}
