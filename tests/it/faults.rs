//! Tests kills, full file systems and invalid inputs. At every moment, the target is unchanged or
//! complete.

use crate::common::{collect, context, number};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const JOB: &str = "
    CREATE HIERARCHY age AS INTERVALS (5, 10, 20);
    CREATE HIERARCHY zip AS PREFIX (4, 3, 2);
    ANONYMIZE 'data/census.parquet' TO 'TARGET' OVERWRITE
        IDENTIFIERS (name, ssn, birth_date)
        QUASI IDENTIFIERS (age USING age, sex, zip USING zip, race)
        SENSITIVE (occupation, income)
        KEEP (education, native_country, marital_status, workclass, salary_class)
        SATISFYING k_anonymity(K) SUPPRESSING AT MOST 2 PERCENT";

fn command(target: &Path, k: u32) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_anonsql"));
    let job = JOB
        .replace("TARGET", &target.display().to_string())
        .replace("(K)", &format!("({k})"));
    command.args(["-c", &job]).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Checks that the folder is one complete, verified release. Returns the k in its manifest.
async fn whole(target: &Path) -> u64 {
    let manifest: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(target.join("_manifest.json")).unwrap()).unwrap();
    let context = context(2);
    let verify = format!(
        "VERIFY '{}/' QUASI IDENTIFIERS (age, sex, zip, race) SATISFYING k_anonymity(5)",
        target.display()
    );
    let failed = "SELECT count(*) FROM checks WHERE NOT ok";
    let checks = collect(&context, &verify).await;
    let schema = checks[0].schema();
    let table = datafusion::datasource::MemTable::try_new(schema, vec![checks]).unwrap();
    context
        .session()
        .register_table("checks", std::sync::Arc::new(table))
        .unwrap();
    assert_eq!(number(&collect(&context, failed).await), 0.0);
    manifest["reached_k"].as_u64().unwrap()
}

#[tokio::test]
async fn a_kill_at_any_moment_leaves_the_old_release_or_the_new_one() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("release");
    let started = std::time::Instant::now();
    assert!(command(&target, 5).status().unwrap().success());
    let took = started.elapsed();
    let mut seed: u64 = 42;
    let (mut killed, mut runs) = (0, 0);
    while killed < 20 {
        runs += 1;
        assert!(
            runs < 400,
            "only {killed} of {runs} runs were still running when they were to be killed"
        );
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let share = f64::from((seed >> 33) as u32 % 1000) / 1000.0;
        let mut child = command(&target, 20).spawn().unwrap();
        std::thread::sleep(Duration::from_secs_f64(took.as_secs_f64() * share));
        killed += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(whole(&target).await >= 5);
        for entry in std::fs::read_dir(scratch.path()).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(
                name == "release" || name.starts_with('.'),
                "{name} would be taken for data"
            );
        }
    }
    assert!(command(&target, 20).status().unwrap().success());
    assert!(whole(&target).await >= 20);
    let left: Vec<_> = std::fs::read_dir(scratch.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(left, ["release"], "the next run removes what killed ones left");
}

/// A signal that asks the process to terminate works like Ctrl-C: no file is left beside the
/// target, and the exit code identifies the signal.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_run_that_is_told_to_end_cleans_up() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("release");
    let started = std::time::Instant::now();
    assert!(command(&target, 5).status().unwrap().success());
    let took = started.elapsed();
    let mut ended = 0;
    for (signal, code) in [("-TERM", 143), ("-HUP", 129)] {
        for share in [0.3, 0.5, 0.7, 0.85] {
            let mut child = command(&target, 20).spawn().unwrap();
            std::thread::sleep(took.mul_f64(share));
            let mut kill = Command::new("kill");
            kill.args([signal, &child.id().to_string()])
                .stderr(Stdio::null())
                .status()
                .unwrap();
            let found = child.wait().unwrap().code().unwrap();
            assert!([0, code].contains(&found), "{signal}: {found}");
            ended += u32::from(found == code);
            assert!(whole(&target).await >= 5);
            let left: Vec<_> = std::fs::read_dir(scratch.path())
                .unwrap()
                .map(|e| e.unwrap().file_name())
                .collect();
            assert_eq!(left, ["release"], "{signal} at {share}");
        }
    }
    assert!(ended > 0, "every run ended before its signal");
}

/// Several processes write to the same target at the same time. They also write to other targets in
/// the same folder, whose names begin in the same way.
#[tokio::test]
async fn of_runs_at_once_each_ends_with_one_whole_release() {
    let scratch = tempfile::tempdir().unwrap();
    let odd = scratch.path().join("50% of [a*]? é");
    std::fs::create_dir(&odd).unwrap();
    let names = ["release", "release-2", "release-", "rel*"];
    let job = |name: &str, existing: &str, level: usize| {
        let sql = format!(
            "CREATE HIERARCHY a AS INTERVALS (5, 10, 20);
            ANONYMIZE (SELECT value % 40 AS a, 'x' AS s FROM range(0, 400)) TO '{}' {existing} QUASI IDENTIFIERS (a USING a)
                SENSITIVE (s) SATISFYING k_anonymity(5) AT NODE (a {level})",
            odd.join(name).display()
        );
        let mut command = Command::new(env!("CARGO_BIN_EXE_anonsql"));
        command.args(["--threads", "1", "-c", &sql]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    for existing in ["", "OVERWRITE"] {
        for runs in [2, 8] {
            for name in names.into_iter().filter(|_| existing.is_empty()) {
                let _ = std::fs::remove_dir_all(odd.join(name));
            }
            let both = |run: usize| names.map(|name| (name, job(name, existing, run % 3)));
            let children: Vec<_> = (0..runs).flat_map(both).collect();
            let ended = children
                .into_iter()
                .map(|(name, mut child)| (name, child.wait().unwrap().code().unwrap()));
            let ended: Vec<_> = ended.collect();
            for name in names {
                let codes: Vec<i32> = ended
                    .iter()
                    .filter(|(n, _)| *n == name)
                    .map(|(_, code)| *code)
                    .collect();
                match existing {
                    "" => {
                        assert_eq!(codes.iter().filter(|c| **c == 0).count(), 1, "{codes:?}");
                        assert!(codes.iter().all(|c| [0, 5].contains(c)), "{codes:?}");
                    }
                    _ => assert!(codes.iter().all(|c| *c == 0), "{codes:?}"),
                }
            }
        }
    }
    for name in names {
        assert!(job(name, "OVERWRITE", 0).wait().unwrap().success());
        let mut found: Vec<_> = std::fs::read_dir(odd.join(name))
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        found.sort();
        assert_eq!(found, ["_manifest.json", "part-00000.parquet"]);
    }
    let mut found: Vec<_> = std::fs::read_dir(&odd)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    found.sort();
    assert_eq!(found, ["rel*", "release", "release-", "release-2"]);
}

/// The temporary files of a sort contain raw rows, so a killed run must not leave any.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_run_leaves_no_temporary_files() {
    let scratch = tempfile::tempdir().unwrap();
    let sort = "SELECT DISTINCT value * 7919 % 50000017 AS v FROM range(0, 50000000) ORDER BY v DESC";
    let mut child = Command::new(env!("CARGO_BIN_EXE_anonsql"))
        .args(["--memory-limit", "200MB", "--temp-dir"])
        .arg(scratch.path())
        .args(["-c", sort])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let open_files = std::path::PathBuf::from(format!("/proc/{}/fd", child.id()));
    let spills = || {
        let files = std::fs::read_dir(&open_files).into_iter().flatten().flatten();
        let mut links = files.filter_map(|f| std::fs::read_link(f.path()).ok());
        links.any(|link| link.starts_with(scratch.path()))
    };
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while !spills() {
        assert!(std::time::Instant::now() < deadline, "nothing was spilled");
        assert!(child.try_wait().unwrap().is_none(), "it ended without spilling");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
}

/// Runs a statement that must fail. Checks that it writes nothing.
async fn fails(sql: &str, code: u8, says: &str) {
    let scratch = tempfile::tempdir().unwrap();
    let context = context(2);
    collect(
        &context,
        "CREATE TABLE t AS VALUES (1, 'a', 'x'), (2, 'b', 'y'), (1, 'a', 'z')",
    )
    .await;
    let sql = sql.replace("SCRATCH", &scratch.path().display().to_string());
    let before = std::fs::read_dir(scratch.path()).unwrap().count();
    let Err(error) = context.sql(&sql).await else {
        panic!("{sql} did not fail")
    };
    assert!(error.to_string().contains(says), "{sql}\n{error}");
    assert_eq!(error.exit_code(), code, "{error}");
    assert_eq!(
        std::fs::read_dir(scratch.path()).unwrap().count(),
        before,
        "{sql} left something"
    );
}

#[tokio::test]
async fn bad_input_is_a_clear_error_and_nothing_is_written() {
    let roles = "QUASI IDENTIFIERS (column1, column2) SENSITIVE (column3) SATISFYING";
    let to = "ANONYMIZE t TO 'SCRATCH/out/'";
    for (sql, code, says) in [
        (
            format!("{to} {roles} k_anonimity(2)"),
            1,
            "did you mean \"k_anonymity\"",
        ),
        (
            format!("{to} {roles} k_anonymity(2) MINIMIZING gml"),
            1,
            "did you mean \"glm\"",
        ),
        (
            format!("{to} {roles} k_anonymity(2) SEARCH USING flahs"),
            1,
            "did you mean \"flash\"",
        ),
        (
            format!("{to} {roles} k_anonymity(0)"),
            1,
            "k must be a whole number of at least 1",
        ),
        (format!("{to} {roles} k_anonymity(4)"), 3, "3"),
        (
            format!("{to} {roles} k_anonymity(2) WITH (sed = 1)"),
            1,
            "did you mean \"seed\"",
        ),
        (
            format!("{to} QUASI IDENTIFIERS (column1) SATISFYING k_anonymity(2)"),
            1,
            "no role was given to column2, column3",
        ),
        (
            format!("{to} QUASI IDENTIFIERS (column1, column2) KEEP (column2, column3) SATISFYING k_anonymity(2)"),
            1,
            "two roles",
        ),
        (
            format!("{to} QUASI IDENTIFIERS (colum1, column2) KEEP (column3) SATISFYING k_anonymity(2)"),
            1,
            "did you mean \"column1\"",
        ),
        (
            format!("{to} QUASI IDENTIFIERS (column1 USING ages, column2) KEEP (column3) SATISFYING k_anonymity(2)"),
            1,
            "there is no hierarchy",
        ),
        (
            "ANONYMIZE tt TO 'SCRATCH/out/' QUASI IDENTIFIERS (a) SATISFYING k_anonymity(2)".into(),
            1,
            "tt",
        ),
        (
            "ANONYMIZE 'SCRATCH/none.parquet' TO 'SCRATCH/out/' QUASI IDENTIFIERS (a) SATISFYING k_anonymity(2)".into(),
            1,
            "no such file",
        ),
        (
            format!("ANONYMIZE t TO 'SCRATCH/out.parquet' {roles} k_anonymity(2)"),
            1,
            "is a folder",
        ),
    ] {
        fails(&sql, code, says).await;
    }
}

#[tokio::test]
async fn broken_files_and_taken_targets_are_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let context = context(2);
    let path = |name: &str| scratch.path().join(name).display().to_string();
    let mut census = std::fs::read("data/census.parquet").unwrap();
    census.truncate(census.len() / 2);
    std::fs::write(path("cut.parquet"), census).unwrap();
    std::fs::write(path("text.parquet"), "name,age\nAlice,30\n").unwrap();
    for file in ["cut.parquet", "text.parquet"] {
        let sql = format!(
            "ANONYMIZE '{}' TO '{}' QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)",
            path(file),
            path("out")
        );
        let error = context.sql(&sql).await.unwrap_err();
        assert!(
            error.exit_code() == 1 && !error.to_string().contains("Alice"),
            "{error}"
        );
    }
    let roles = "QUASI IDENTIFIERS (a) SATISFYING k_anonymity(2)";
    collect(
        &context,
        &format!("COPY (VALUES (1), (1)) TO '{}'", path("source/s.parquet")),
    )
    .await;
    let release = |more: &str| {
        format!(
            "ANONYMIZE (SELECT 1 AS a UNION ALL SELECT 1) TO '{}' {more} {roles}",
            path("taken")
        )
    };
    collect(&context, &release("")).await;
    assert_eq!(context.sql(&release("")).await.unwrap_err().exit_code(), 5);
    collect(&context, &release("IF NOT EXISTS")).await;
    collect(&context, &release("OVERWRITE")).await;
    std::fs::write(path("taken/notes.txt"), "mine").unwrap();
    let error = context.sql(&release("OVERWRITE")).await.unwrap_err();
    assert!(error.to_string().contains("would delete it: \"notes.txt\""), "{error}");
    assert_eq!(error.exit_code(), 5);
    let own = format!(
        "ANONYMIZE '{}' TO '{}' OVERWRITE QUASI IDENTIFIERS (column1) SATISFYING k_anonymity(2)",
        path("source/s.parquet"),
        path("source")
    );
    let error = context.sql(&own).await.unwrap_err();
    assert!(error.to_string().contains("holds the source"), "{error}");
}
