use super::{StagedTarget, Staging, Written, keep_rows, write_files};
use crate::release::engine::apply::{Rewrite, rewrite};
use crate::release::engine::decide::Decision;
use crate::release::engine::testing::{batch, decided, job, silent, target};
use crate::release::job::{Format, Job, Target};
use crate::release::staging::Stage;
use datafusion::datasource::memory::MemorySourceConfig;
use std::path::Path;
use std::sync::Arc;

async fn rewritten(job: &Arc<Job>) -> (Decision, Rewrite) {
    let decision = decided(job).await;
    let mut rewrite = rewrite(job, &decision, &silent()).await.unwrap();
    // The write stores any rows that the plan returns, in the order of the plan.
    let rows = batch(&[(1, "x", "flu"), (2, "x", "cold"), (3, "y", "flu")]);
    rewrite.plan = MemorySourceConfig::try_new_exec(&[vec![rows.clone()]], rows.schema(), None).unwrap();
    (decision, rewrite)
}

async fn written(folder: &Path, change: impl FnOnce(&mut Target)) -> (Staging, Written) {
    let mut job = job();
    let mut target = Target {
        format: Format::Csv,
        ..target(&folder.join("out"))
    };
    change(&mut target);
    job.guarantees.constraints.truncate(1);
    let job = Arc::new(job);
    let (decision, rewrite) = rewritten(&job).await;
    let stage = Staging::Folder(Stage::open(&target.path).unwrap());
    let to = StagedTarget {
        target: &target,
        staging: &stage,
    };
    let written = write_files(&job, &decision, rewrite, to, &silent()).await.unwrap();
    (stage, written)
}

fn files(written: &Written) -> Vec<(&str, u64)> {
    written.files.iter().map(|f| (f.path.as_str(), f.rows)).collect()
}

#[tokio::test]
async fn rows_are_written_to_the_stage_and_nowhere_else() {
    let scratch = tempfile::tempdir().unwrap();
    let (stage, written) = written(scratch.path(), |_| {}).await;
    assert_eq!(files(&written), [("part-00000.csv", 3)]);
    let text = std::fs::read_to_string(stage.folder().unwrap().join("part-00000.csv")).unwrap();
    assert_eq!(text, "age,zip,illness\n1,x,flu\n2,x,cold\n3,y,flu\n");
    assert!(written.rows.is_none() && !scratch.path().join("out").exists());
    drop(stage);
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_partition_is_a_folder_and_its_column_is_in_no_file() {
    let scratch = tempfile::tempdir().unwrap();
    let (stage, written) = written(scratch.path(), |target| target.partitioned_by = vec!["zip".into()]).await;
    assert_eq!(
        files(&written),
        [("zip=x/part-00000.csv", 2), ("zip=y/part-00001.csv", 1)]
    );
    let text = std::fs::read_to_string(stage.folder().unwrap().join("zip=y/part-00001.csv")).unwrap();
    assert_eq!(text, "age,illness\n3,flu\n");
}

#[tokio::test]
async fn a_full_file_is_followed_by_another() {
    let scratch = tempfile::tempdir().unwrap();
    let (_stage, written) = written(scratch.path(), |target| target.rows_per_file = Some(2)).await;
    assert_eq!(files(&written), [("part-00000.csv", 2), ("part-00001.csv", 1)]);
}

#[tokio::test]
async fn kept_rows_are_in_no_file() {
    let job = Arc::new(job());
    let (decision, rewrite) = rewritten(&job).await;
    let written = keep_rows(&job, &decision, rewrite, &silent()).await.unwrap();
    assert!(written.files.is_empty() && written.rows.is_some() && written.beside.is_empty());
    assert_eq!(written.settled.verdict.released, 6);
}
