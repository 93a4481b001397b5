//! Tests releases that grow in folders: with simultaneous runs, with killed runs, and with
//! partitions.

use super::{Model, check, release};
use crate::common::{collect, context};
use anonsql::AnonContext;
use anonsql::error::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const ROLES: &str = "QUASI IDENTIFIERS (age USING age, zip) SENSITIVE (illness, pay) SATISFYING k_anonymity(2) \
                     AND l_diversity(2) ON illness SUPPRESSING AT MOST 50 PERCENT";
const SETUP: &str = "CREATE HIERARCHY age AS INTERVALS (5, 10); \
                     CREATE TABLE people AS SELECT column1 AS age, column2 AS zip, column3 AS illness, column4 AS pay FROM (VALUES \
                     (31, 'a', 'flu', 1), (32, 'a', 'cold', 2), (36, 'b', 'flu', 1), (37, 'b', 'ache', 3), (52, 'a', 'flu', 9))";
const MODELS: [Model; 2] = [Model::K(2), Model::Distinct(2)];

async fn session() -> AnonContext {
    let context = context(1);
    collect(&context, SETUP).await;
    context
}

fn append(target: &Path, more: &str) -> String {
    format!("ANONYMIZE people TO '{}' APPEND {more} {ROLES}", target.display())
}

/// Each of several simultaneous runs adds its batch once, or ends with exit code 6. No batch is
/// lost, and no file is left over.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn runs_at_once_add_their_batch_or_lose() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("grown");
    let context = Arc::new(session().await);
    let mut added = 0;
    for _ in 0..5 {
        let runs: Vec<_> = (0..4)
            .map(|_| {
                let (context, sql) = (Arc::clone(&context), append(&target, ""));
                tokio::spawn(async move { context.sql(&sql).await.map(|_| ()) })
            })
            .collect();
        let mut won = 0;
        for run in runs {
            match run.await.unwrap() {
                Ok(()) => won += 1,
                Err(e) => assert_eq!((e.kind(), e.exit_code()), (ErrorKind::Unavailable, 6), "{e}"),
            }
        }
        assert!(won >= 1);
        added += won;
        let (manifest, batches) = check(&target, &MODELS);
        assert_eq!((batches.len(), manifest.rows_out), (added, added as u64 * 4));
    }
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 1);
}

/// A run that is killed at any moment leaves a complete release: either the release before the run
/// or the release after it.
#[test]
fn a_killed_run_leaves_a_whole_release() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("grown");
    let command = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_anonsql"));
        command
            .current_dir(scratch.path())
            .env("ANONSQL_HISTORY", "")
            .env("XDG_CONFIG_HOME", scratch.path().join("config"))
            .args(["--threads", "1", "-c", &format!("{SETUP}; {}", append(&target, ""))])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command
    };
    let begun = Instant::now();
    for _ in 0..2 {
        let output = command().output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let usual = begun.elapsed() / 2;
    let kills: u32 = 20;
    let (mut killed, mut whole) = (0, 2);
    for kill in 0..kills {
        let mut run = command().spawn().unwrap();
        std::thread::sleep(
            usual
                .mul_f64(f64::from(kill + 1) / f64::from(kills))
                .max(Duration::from_millis(1)),
        );
        let _ = run.kill();
        killed += u32::from(!run.wait().unwrap().success());
        let (_, batches) = check(&target, &MODELS);
        assert!(
            batches.len() == whole || batches.len() == whole + 1,
            "{} after {whole}",
            batches.len()
        );
        whole = batches.len();
    }
    assert!(killed > 0, "no run was killed in time");
    let output = command().output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    check(&target, &MODELS);
    let left = std::fs::read_dir(scratch.path())
        .unwrap()
        .map(|e| e.unwrap().file_name());
    let left: Vec<_> = left
        .filter(|name| name.to_string_lossy().starts_with(".anonsql"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Partitions grow in their folders. APPEND can also extend a release that was made without APPEND.
#[tokio::test]
async fn partitions_grow() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("grown");
    let context = session().await;
    let ordinary = append(&target, "PARTITIONED BY (illness)").replace("APPEND ", "");
    collect(&context, &ordinary).await;
    let first = anonsql::manifest::Manifest::read(&target).unwrap().unwrap();
    assert!(first.batches.is_empty());
    for n in 2..4 {
        collect(&context, &append(&target, "PARTITIONED BY (illness)")).await;
        let manifest = anonsql::manifest::Manifest::read(&target).unwrap().unwrap();
        assert_eq!((manifest.batches.len(), manifest.rows_out), (n, n as u64 * 4));
        assert_eq!(manifest.output[..first.output.len()], first.output[..]);
        let read = format!("ANONYMIZE '{}' {}", target.display(), ROLES.replace("USING age", ""));
        let rows: usize = collect(&context, &read)
            .await
            .iter()
            .map(|batch| batch.num_rows())
            .sum();
        assert_eq!(rows, n * 4);
    }
}

/// A batch that does not match the release is refused, and the release is unchanged.
#[tokio::test]
async fn what_does_not_match_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("grown");
    let context = session().await;
    collect(&context, &append(&target, "")).await;
    let before = release(&target);
    let own = append(&target, "");
    collect(&context, "CREATE HIERARCHY other AS INTERVALS (10, 20)").await;
    for (from, to, said) in [
        ("k_anonymity(2)", "k_anonymity(1)", "promises k_anonymity(2)"),
        (
            " AND l_diversity(2) ON illness",
            "",
            "promises l_diversity(2) ON illness",
        ),
        ("USING age", "USING other", "differs from the hierarchy of the release"),
        ("(illness, pay)", "(illness) KEEP (pay)", "in the same role"),
        (
            "ANONYMIZE people",
            "ANONYMIZE (SELECT age, zip, illness, CAST(pay AS DOUBLE) AS pay FROM people)",
            "CAST it",
        ),
        (
            "ANONYMIZE people",
            "ANONYMIZE (SELECT zip, age, illness, pay FROM people)",
            "in another order",
        ),
        ("APPEND", "APPEND STORED AS CSV", "STORED AS PARQUET"),
        ("APPEND", "APPEND PARTITIONED BY (zip)", "has no partitions"),
        ("SATISFYING", "ENTITY (pay) SATISFYING", "leave ENTITY out"),
        ("illness, pay)", "illness, pay RANDOMIZED)", "RANDOMIZED permutes"),
        (
            "50 PERCENT",
            "50 PERCENT SUPPRESSED ROWS STARRED",
            "SUPPRESSED ROWS DROPPED",
        ),
        ("50 PERCENT", "50 PERCENT RECODING LOCAL", "RECODING GLOBAL"),
        (
            "50 PERCENT",
            "50 PERCENT AT NODE (age 0, zip 0)",
            "at its levels or at higher ones",
        ),
        ("50 PERCENT", "50 PERCENT REPORT TO 'r.html'", "leave REPORT TO out"),
        ("USING age", "USING age LABELS MIDPOINT", "use LABELS TEXT"),
    ] {
        let sql = own.replace(from, to);
        assert_ne!(sql, own, "{from}");
        let e = context.sql(&sql).await.unwrap_err();
        assert!(
            e.kind() == ErrorKind::Usage && e.to_string().contains(said),
            "{to}: {e}"
        );
        assert!(release(&target) == before, "{to}");
    }
    let more = own.replace("ANONYMIZE people", "ANONYMIZE (SELECT *, 1 AS more FROM people)");
    let e = context
        .sql(&more.replace("pay)", "pay) KEEP (more)"))
        .await
        .unwrap_err();
    assert!(
        e.kind() == ErrorKind::Usage && e.to_string().contains("column more"),
        "{e}"
    );
    // A batch with a further model is accepted, because it still satisfies the models of the
    // release.
    collect(
        &context,
        &own.replace("k_anonymity(2)", "k_anonymity(2) AND t_closeness(0.9) ON pay"),
    )
    .await;
    assert_eq!(release(&target).1.len(), 2);
    std::fs::write(
        target.join("_manifest.json"),
        std::fs::read_to_string(target.join("_manifest.json")).unwrap() + " ",
    )
    .unwrap();
    let e = context.sql(&own).await.unwrap_err();
    assert!(e.to_string().contains("changed since it was written"), "{e}");
}
