use super::{EarlyMeasures, Inputs, ReleaseToMeasure, RowsToPublish, SourceReading, ToPublish, publish, publish_rows};
use crate::data::folder::Manifest;
use crate::release::engine::apply::rewrite;
use crate::release::engine::decide::Decision;
use crate::release::engine::examine::Findings;
use crate::release::engine::testing::{decided, job, silent, target};
use crate::release::engine::verify::{PreparedRecount, Recounted, recount};
use crate::release::engine::write::{StagedTarget, Staging, Written, keep_rows, write_files};
use crate::release::job::{Job, ReportFile};
use crate::release::staging::Stage;
use std::path::Path;
use std::sync::Arc;

/// Runs all stages except the last one, with a target in `folder`.
async fn recounted(folder: &Path) -> (Arc<Job>, Decision, Written, Recounted, Staging) {
    let mut job = job();
    let target = target(&folder.join("out"));
    job.output.target = Some(target.clone());
    let job = Arc::new(job);
    let decision = decided(&job).await;
    let rewrite = rewrite(&job, &decision, &silent()).await.unwrap();
    let stage = Staging::Folder(Stage::open(&target.path).unwrap());
    let to = StagedTarget {
        target: &target,
        staging: &stage,
    };
    let written = write_files(&job, &decision, rewrite, to, &silent()).await.unwrap();
    let recounted = recount(&job, &decision, &written, Some(&stage), &silent())
        .await
        .unwrap();
    (job, decision, written, recounted, stage)
}

#[tokio::test]
async fn a_release_says_what_was_recounted_and_not_what_was_decided() {
    let scratch = tempfile::tempdir().unwrap();
    let (job, decision, written, mut recounted, stage) = recounted(scratch.path()).await;
    recounted.reached_k = Some(41);
    let inputs = Inputs::of(&job);
    let target = job.output.target.as_ref().unwrap();
    let published = publish(
        ToPublish {
            job: &job,
            target,
            decision: &decision,
            findings: Findings::default(),
            written: &written,
            recounted: &recounted,
            union: None,
            inputs,
            early: Ok(EarlyMeasures::Unmeasured(None)),
            observer: &silent(),
        },
        stage,
    )
    .await
    .unwrap();
    let release = published.release;
    assert_eq!(
        (release.rows_in, release.rows_out, release.reached_k),
        (Some(6), 6, Some(41))
    );
    let (manifest, is_sealed) = Manifest::read_sealed(&target.path).unwrap().unwrap();
    assert!(is_sealed);
    assert_eq!(
        (manifest.reached_k, manifest.classes, manifest.output.len()),
        (Some(41), 2, 1)
    );
    assert_eq!(manifest.node.values().copied().collect::<Vec<_>>(), [1, 1]);
}

#[tokio::test]
async fn what_came_to_stand_in_the_target_meanwhile_stays() {
    let scratch = tempfile::tempdir().unwrap();
    let (job, decision, written, recounted, stage) = recounted(scratch.path()).await;
    let target = job.output.target.as_ref().unwrap();
    std::fs::create_dir(&target.path).unwrap();
    std::fs::write(target.path.join("theirs.txt"), "theirs").unwrap();
    let inputs = Inputs::of(&job);
    let refused = publish(
        ToPublish {
            job: &job,
            target,
            decision: &decision,
            findings: Findings::default(),
            written: &written,
            recounted: &recounted,
            union: None,
            inputs,
            early: Ok(EarlyMeasures::Unmeasured(None)),
            observer: &silent(),
        },
        stage,
    )
    .await;
    assert_eq!(refused.unwrap_err().exit_code(), 5);
    assert_eq!(std::fs::read_dir(&target.path).unwrap().count(), 1);
    assert_eq!(std::fs::read(target.path.join("theirs.txt")).unwrap(), b"theirs");
}

#[tokio::test]
async fn rows_are_handed_out_without_what_is_only_recounted() {
    use datafusion::catalog::TableProvider;
    let mut job = job();
    job.input.entity = Some("illness".into());
    job.roles.sensitive.clear();
    job.guarantees.constraints.truncate(1);
    let job = Arc::new(job);
    let decision = decided(&job).await;
    let rewrite = rewrite(&job, &decision, &silent()).await.unwrap();
    let written = keep_rows(&job, &decision, rewrite, &silent()).await.unwrap();
    let recounted = recount(&job, &decision, &written, None, &silent()).await.unwrap();
    let rows = publish_rows(RowsToPublish {
        job: &job,
        decision: &decision,
        findings: Findings::default(),
        written: &written,
        recounted: &recounted,
        early: Ok(EarlyMeasures::Unmeasured(None)),
        observer: &silent(),
    })
    .await
    .unwrap();
    let schema = rows.table.schema();
    let columns: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
    assert_eq!(columns, ["age", "zip"]);
    assert!(rows.report.is_none());
}

/// A report says the same whether or not the columns of the source were read before and the release
/// was measured before its recount.
#[tokio::test]
async fn a_report_that_was_measured_before_is_the_same() {
    let scratch = tempfile::tempdir().unwrap();
    let mut reports = vec![];
    for is_read_before in [false, true] {
        let path = scratch.path().join(format!("{is_read_before}.json"));
        let without = Arc::new(job());
        let mut job = job();
        let file = ReportFile::new(path.to_str().unwrap(), &job.input.source.state());
        job.output.report = Some(file.unwrap());
        let job = Arc::new(job);
        let decision = decided(&job).await;
        let mut rewrite = rewrite(&job, &decision, &silent()).await.unwrap();
        let source = match is_read_before {
            true => SourceReading::begin(&job, &decision, &mut rewrite),
            false => SourceReading::begin(&without, &decision, &mut rewrite),
        };
        let source = source.unwrap();
        let written = keep_rows(&job, &decision, rewrite, &silent()).await.unwrap();
        let prepared = PreparedRecount::of(&job, &decision, &written, None, &silent())
            .await
            .unwrap();
        let to_measure = ReleaseToMeasure {
            job: &job,
            decision: &decision,
            written: &written,
            session: prepared.session(),
            released: prepared.released(),
            target: None,
        };
        let early = to_measure.measured_early(source).await;
        assert_eq!(matches!(early, Ok(EarlyMeasures::Measured(_))), is_read_before);
        let (recounted, observer) = (prepared.run().await.unwrap(), silent());
        let rows = publish_rows(RowsToPublish {
            job: &job,
            decision: &decision,
            findings: Findings::default(),
            written: &written,
            recounted: &recounted,
            early,
            observer: &observer,
        });
        rows.await.unwrap().report.unwrap().publish().unwrap();
        reports.push(std::fs::read_to_string(path).unwrap());
    }
    assert!(reports[0].contains("illness"));
    assert_eq!(reports[0], reports[1]);
}
