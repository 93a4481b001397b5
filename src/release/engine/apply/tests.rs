use super::rewrite;
use crate::method::masks::{Given, MaskClause, SECRET, named};
use crate::release::engine::decide::Decision;
use crate::release::engine::testing::{PEOPLE, batch, constraint, decided, job, silent, source, target};
use crate::release::job::{Format, Job, MaskOf, ReportFile, SuppressionLimit};
use arrow::array::{AsArray, RecordBatch};
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::DataType;
use datafusion::physical_plan::collect;
use proptest::prelude::*;
use std::path::Path;
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

/// Texts that a report counts from the rows of a CSV release remain dictionaries after the sort.
/// The rows are the same.
#[tokio::test]
async fn texts_that_a_report_counts_remain_dictionaries() {
    let people = batch(&PEOPLE);
    let coded = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
    let illness = cast(people.column(2), &coded).unwrap();
    let columns = [("age", people.column(0).clone()), ("zip", people.column(1).clone())];
    let people = RecordBatch::try_from_iter(columns.into_iter().chain([("illness", illness)])).unwrap();
    for (format, is_coded) in [(Format::Csv, true), (Format::Parquet, false)] {
        let mut job = job();
        job.input.source = source(people.clone());
        let mut target = target(Path::new("released"));
        target.format = format;
        job.output.target = Some(target);
        let report = ReportFile::new("report.json", &job.input.source.state());
        job.output.report = Some(report.unwrap());
        let job = Arc::new(job);
        let decision = decided(&job).await;
        let schema = rewrite(&job, &decision, &silent()).await.unwrap().plan.schema();
        let data_type = schema.field_with_name("illness").unwrap().data_type();
        assert_eq!(matches!(data_type, DataType::Dictionary(..)), is_coded);
        let found = rows(&job, &decision, &["age", "illness"]).await;
        let expected = ["30s ache", "30s cold", "30s flu", "30s flu", "50s cold", "50s flu"];
        assert_eq!(found, expected);
    }
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

/// Returns a job that suppresses the last two people. Each person has one of these illnesses, which
/// is released by RANK SWAP with a distance of up to half of all ranks.
fn swapping(illnesses: &[String], secret: &Path) -> Job {
    let people = PEOPLE.iter().zip(illnesses);
    let people: Vec<(i64, &str, &str)> = people.map(|((age, zip, _), own)| (*age, *zip, own.as_str())).collect();
    let given = vec![
        ("share".to_string(), Given::Text("0.5".into())),
        (SECRET.to_string(), Given::Text(format!("file:{}", secret.display()))),
    ];
    let kind = named("RANK SWAP").unwrap();
    let clause = MaskClause { kind, given };
    let mut job = job();
    job.input.source = source(batch(&people));
    job.roles.masks.push(MaskOf {
        column: "illness".into(),
        mask: (kind.build)(&clause).unwrap(),
        clause,
    });
    job.guarantees.suppression = SuppressionLimit::Rows(2);
    job.guarantees.constraints = vec![constraint("k_anonymity", 3, None)];
    job
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The swapped values are those of the rows that have a value in the release: all rows that are
    /// not suppressed, and for a value of KEEP also the suppressed rows that stay.
    #[test]
    fn the_values_of_suppressed_rows_are_in_no_other_row(
        illnesses in prop::collection::vec("[a-f]", 6),
        starred in any::<bool>(),
        is_kept in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("secret");
        std::fs::write(&secret, "0123456789abcdef0123456789abcdef").unwrap();
        let mut job = swapping(&illnesses, &secret);
        job.guarantees.starred = starred;
        if is_kept {
            job.roles.sensitive.clear();
            job.roles.keep.push("illness".into());
        }
        let job = Arc::new(job);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut found = runtime.block_on(async {
            let decision = decided(&job).await;
            assert_eq!(decision.verdict.suppressed, 2);
            rows(&job, &decision, &["illness"]).await
        });
        let mut wanted = match (starred, is_kept) {
            (true, true) => illnesses,
            (true, false) => [&illnesses[..4], &["NULL".to_string(), "NULL".to_string()]].concat(),
            (false, _) => illnesses[..4].to_vec(),
        };
        found.sort_unstable();
        wanted.sort_unstable();
        prop_assert_eq!(found, wanted);
    }
}
