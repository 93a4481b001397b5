//! Tests commands that release to a server's bucket at the same time, are killed, or are
//! interrupted.

use crate::common::{collect, holds, process};
use crate::lake::{TABLE, bytes, manifest};
use crate::moto::{BUCKET, Moto, SECRET};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Returns the command that runs this script with the environment of a server.
pub fn command(folder: &std::path::Path, moto: &Moto, sql: &str) -> Command {
    let mut command = process(folder);
    command
        .envs(moto.environment())
        .args(["--threads", "1", "--log", "json", "-c", sql])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn release(how: &str, k: usize) -> String {
    format!(
        "CREATE HIERARCHY age AS INTERVALS (10); {TABLE}; ANONYMIZE (SELECT column1 AS age, column2 AS sex FROM people) \
         TO 's3://{BUCKET}/out' {how} QUASI IDENTIFIERS (age USING age) KEEP (sex) SATISFYING k_anonymity({k})"
    )
}

/// Tests an S3 server, on which the release is also verified. Without OVERWRITE, exactly one of
/// several simultaneous processes succeeds, and the others end with exit code 5. With OVERWRITE, at
/// least one succeeds, and the others end with exit code 6. No process that fails leaves files.
#[test]
#[cfg_attr(not(has_moto), ignore = "needs moto_server: pip install 'moto[server]'")]
fn one_of_several_processes_wins() {
    let moto = Moto::start();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    for (how, n) in [("", 2), ("OVERWRITE", 4), ("OVERWRITE", 8)] {
        let start = |_| command(scratch.path(), &moto, &release(how, 3)).spawn().unwrap();
        let runs: Vec<Child> = (0..n).map(start).collect();
        let ended: Vec<_> = runs.into_iter().map(|run| run.wait_with_output().unwrap()).collect();
        let said = |i: usize| String::from_utf8_lossy(&ended[i].stderr).into_owned();
        let mut winners = 0;
        for (i, output) in ended.iter().enumerate() {
            match output.status.code() {
                Some(0) => winners += 1,
                Some(5) if how.is_empty() => {}
                Some(6) if !how.is_empty() => {}
                other => panic!("{other:?}: {}", said(i)),
            }
            assert!(!said(i).contains(SECRET));
        }
        // With OVERWRITE, a run that begins after another run has ended replaces the release of
        // that run.
        assert!(
            winners >= 1 && (how == "OVERWRITE" || winners == 1),
            "{winners} of {n} won"
        );
        let sql = format!(
            "VACUUM 's3://{BUCKET}/out' RETAIN '0s'; VERIFY 's3://{BUCKET}/out' QUASI IDENTIFIERS (age) SATISFYING k_anonymity(3)"
        );
        let output = command(scratch.path(), &moto, &sql).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let left = runtime.block_on(moto.names("out"));
        assert_eq!(left.len(), 3, "{left:?}");
        let released = runtime.block_on(manifest(&moto.store(), "out"));
        assert!(runtime.block_on(async {
            let text = bytes(&moto.store(), "out/_manifest.json").await;
            !String::from_utf8_lossy(&text).contains(SECRET)
        }));
        assert_eq!(released.rows_out, 6);
    }
}

/// Processes that are killed at any moment leave the previous release or the new one, and this
/// release is complete.
#[test]
#[cfg_attr(not(has_moto), ignore = "needs moto_server: pip install 'moto[server]'")]
fn a_killed_run_leaves_a_whole_release() {
    let moto = Moto::start();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    let output = command(scratch.path(), &moto, &release("", 2)).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let usual = begun.elapsed();
    let context = moto.context();
    let kills: u32 = if std::env::var("CI").is_ok() { 20 } else { 8 };
    for kill in 0..kills {
        let mut run = command(scratch.path(), &moto, &release("OVERWRITE", 2))
            .spawn()
            .unwrap();
        // The kills range from before the lease to after the commit.
        std::thread::sleep(
            usual
                .mul_f64(f64::from(kill + 1) / f64::from(kills))
                .max(Duration::from_millis(1)),
        );
        let _ = run.kill();
        run.wait().unwrap();
        let verify = format!("VERIFY 's3://{BUCKET}/out' QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)");
        let checks = runtime.block_on(collect(&context, &verify));
        assert!(holds(&checks), "{checks:?}");
    }
    let output = command(scratch.path(), &moto, &release("OVERWRITE", 2))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The command writes the same bytes to a bucket as to a folder. An interrupted command leaves no
/// files.
#[test]
#[cfg_attr(not(has_moto), ignore = "needs moto_server: pip install 'moto[server]'")]
fn an_interrupted_command_leaves_nothing() {
    let moto = Moto::start();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let slow = format!(
        "CREATE HIERARCHY age AS INTERVALS (10); ANONYMIZE (SELECT value % 90 AS age, value AS x FROM range(0, 3000000)) \
         TO 's3://{BUCKET}/slow' OPTIONS (file_size '1MB') QUASI IDENTIFIERS (age USING age) KEEP (x) SATISFYING k_anonymity(2)"
    );
    let run = command(scratch.path(), &moto, &slow).spawn().unwrap();
    let begun = Instant::now();
    let has_files = || {
        runtime
            .block_on(moto.names("slow"))
            .iter()
            .any(|name| name.ends_with(".parquet"))
    };
    while !has_files() {
        assert!(begun.elapsed() < Duration::from_secs(300), "no file was written");
        std::thread::sleep(Duration::from_millis(50));
    }
    let pid = run.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = run.wait_with_output().unwrap();
    assert_ne!(output.status.code(), Some(0));
    assert!(
        runtime.block_on(moto.names("slow")).is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
