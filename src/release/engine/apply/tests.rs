use super::rewrite;
use crate::release::engine::decide::Decision;
use crate::release::engine::testing::{constraint, decided, job, silent};
use crate::release::job::{Job, SuppressionLimit};
use arrow::array::AsArray;
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::DataType;
use datafusion::physical_plan::collect;
use std::sync::Arc;

/// Returns the values of these columns in each rewritten row as one text.
async fn rows(job: &Job, decision: &Decision, columns: &[&str]) -> Vec<String> {
    let plan = rewrite(job, decision, &silent()).await.unwrap().plan;
    let schema = plan.schema();
    let batches = collect(plan, job.input.source.state().task_ctx()).await.unwrap();
    let batch = concat_batches(&schema, &batches).unwrap();
    let texts: Vec<_> = columns
        .iter()
        .map(|name| cast(batch.column_by_name(name).unwrap(), &DataType::Utf8).unwrap())
        .collect();
    let row = |row| {
        let cells = texts.iter().map(|text| match text.is_valid(row) {
            true => text.as_string::<i32>().value(row),
            false => "NULL",
        });
        cells.collect::<Vec<_>>().join(" ")
    };
    (0..batch.num_rows()).map(row).collect()
}

#[tokio::test]
async fn rows_leave_with_their_labels_in_the_order_of_what_is_released() {
    let job = Arc::new(job());
    let decision = decided(&job).await;
    assert_eq!(
        rows(&job, &decision, &["age", "zip", "illness"]).await,
        [
            "30s * ache",
            "30s * cold",
            "30s * flu",
            "30s * flu",
            "50s * cold",
            "50s * flu"
        ]
    );
}

#[tokio::test]
async fn a_class_that_is_not_kept_does_not_leave() {
    let job = Arc::new(job());
    let mut decision = decided(&job).await;
    let smaller = decision.classes.counts().iter().position(|n| *n == 2).unwrap();
    decision.verdict.kept[smaller] = false;
    let left = rows(&job, &decision, &["age"]).await;
    assert_eq!(left, ["30s"; 4]);
}

#[tokio::test]
async fn suppressed_rows_that_stay_have_neither_labels_nor_values() {
    let mut job = job();
    job.guarantees.starred = true;
    job.guarantees.suppression = SuppressionLimit::Rows(2);
    job.guarantees.constraints.truncate(1);
    job.guarantees.constraints[0] = constraint("k_anonymity", 3, None);
    let job = Arc::new(job);
    let decision = decided(&job).await;
    let rows = rows(&job, &decision, &["age", "zip", "illness"]).await;
    assert_eq!(rows.iter().filter(|row| *row == "* * NULL").count(), 2, "{rows:?}");
    assert_eq!(rows.len(), 6);
}

#[tokio::test]
async fn the_entity_is_recounted_and_hidden() {
    let mut job = job();
    job.input.entity = Some("illness".into());
    job.roles.sensitive.clear();
    job.guarantees.constraints.truncate(1);
    let job = Arc::new(job);
    let decision = decided(&job).await;
    let rewrite = rewrite(&job, &decision, &silent()).await.unwrap();
    assert_eq!(rewrite.hidden, ["illness"]);
    assert!(rewrite.plan.schema().column_with_name("illness").is_some());
}

/// Tests that a recoding plan that was serialized and deserialized produces the same rows.
#[tokio::test]
async fn a_recoding_plan_is_the_same_elsewhere() {
    use super::plan::recoded;
    use crate::base::operator::Parcel;
    use crate::data::recode::RecodingPlan;
    for starred in [false, true] {
        let mut job = job();
        job.guarantees.starred = starred;
        job.guarantees.suppression = SuppressionLimit::Rows(2);
        job.guarantees.constraints.truncate(1);
        job.guarantees.constraints[0] = constraint("k_anonymity", 3, None);
        let job = Arc::new(job);
        let decision = decided(&job).await;
        let own = rewrite(&job, &decision, &silent()).await.unwrap().recoding;
        let bytes = own.pack().unwrap().to_bytes().unwrap();
        let sent = RecodingPlan::unpack(Parcel::from_bytes(&bytes).unwrap(), |_| Ok(vec![])).unwrap();
        let mut made = vec![];
        for recoding in [own, Arc::new(sent)] {
            let plan = recoded(&job.input.source.rows, recoding).await.unwrap();
            made.push(collect(plan, job.input.source.state().task_ctx()).await.unwrap());
        }
        assert!(made[0].iter().any(|batch| batch.num_rows() > 0));
        assert_eq!(made[0], made[1]);
    }
}
