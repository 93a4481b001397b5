//! Tests `examples/pipeline`: nightly runs from one Delta table to another, with drift and exit
//! codes.

use super::{entry, manifest};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/pipeline")
}

/// The tables of a pipeline, in a folder that is deleted at the end of the test.
struct Pipeline(tempfile::TempDir);

impl Pipeline {
    fn table(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("ANONSQL", env!("CARGO_BIN_EXE_anonsql"))
            .env("ANONSQL_HISTORY", "")
            .env("XDG_CONFIG_HOME", self.0.path().join("config"))
            .env("SOURCE", self.table("people"))
            .env("TARGET", self.table("people_k5"));
        command
    }

    /// Writes the people of a night, with the additional columns `more`.
    fn people(&self, night: u32, more: &[&str]) {
        let mut command = self.command("python3");
        command.arg(example().join("people.py")).arg(self.table("people"));
        succeeded(&command.arg(night.to_string()).args(more).output().unwrap());
    }

    fn night(&self) -> Output {
        self.command(example().join("nightly.sh")).output().unwrap()
    }

    /// Returns the newest version of the release.
    fn version(&self) -> u64 {
        let log = std::fs::read_dir(self.table("people_k5").join("_delta_log")).unwrap();
        log.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|e| e == "json"))
            .count() as u64
            - 1
    }
}

fn succeeded(output: &Output) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
}

/// The first night searches for a node, and the next nights apply its levels. Drift ends the run of
/// a night with an error that names the drift, and the release of the previous night stays in
/// place.
#[test]
#[cfg_attr(not(has_deltalake), ignore = "needs pip install deltalake duckdb pyarrow")]
fn nights_end_as_a_scheduler_expects() {
    let pipeline = Pipeline(tempfile::tempdir().unwrap());
    for night in 0..3 {
        pipeline.people(night, &[]);
        succeeded(&pipeline.night());
        assert_eq!(pipeline.version(), u64::from(night));
    }
    let releases = [0, 1, 2].map(|version| manifest(&pipeline.table("people_k5"), version));
    assert!(releases[0].replay.is_none() && releases[1].replay.is_some() && releases[2].replay.is_some());
    assert!(releases.iter().all(|release| release.node == releases[0].node));
    assert!(releases.iter().all(|release| release.reached_k >= Some(5)));

    pipeline.people(3, &["phone"]);
    let drifted = pipeline.night();
    let said = String::from_utf8_lossy(&drifted.stderr);
    assert_eq!(drifted.status.code(), Some(7), "{said}");
    assert!(said.contains("phone is new"), "{said}");
    assert_eq!(pipeline.version(), 2);

    pipeline.people(3, &[]);
    succeeded(&pipeline.night());
    assert_eq!(pipeline.version(), 3);
    let removed = entry(&pipeline.table("people_k5"), 3);
    assert!(removed.iter().any(|action| action.get("remove").is_some()));
}

/// If a store does not respond, the run does not treat this as the first night. The exit code makes
/// the scheduler try again.
#[test]
fn a_store_that_does_not_answer_ends_the_night() {
    let pipeline = Pipeline(tempfile::tempdir().unwrap());
    let mut night = pipeline.command(example().join("nightly.sh"));
    night
        .env("TARGET", "s3://lake/people_k5")
        .env(
            "AWS_ENDPOINT_URL",
            format!("http://127.0.0.1:{}", crate::moto::free_port()),
        )
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ACCESS_KEY_ID", "tests")
        .env("AWS_SECRET_ACCESS_KEY", "tests");
    let output = night.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(output.stdout.is_empty() && said.contains("s3://lake"), "{said}");
}

/// The Makefile runs two nights, and the DAG can be parsed as Python.
#[test]
#[cfg_attr(not(has_deltalake), ignore = "needs pip install deltalake duckdb pyarrow")]
fn the_makefile_runs_and_the_dag_parses() {
    let pipeline = Pipeline(tempfile::tempdir().unwrap());
    let mut make = pipeline.command("make");
    make.arg("--makefile").arg(example().join("Makefile"));
    make.arg("demo").arg(format!("DEMO={}", pipeline.0.path().display()));
    succeeded(&make.env_remove("SOURCE").env_remove("TARGET").output().unwrap());
    assert_eq!(pipeline.version(), 1);
    let parse = "import ast, sys; ast.parse(open(sys.argv[1]).read())";
    let mut python = pipeline.command("python3");
    succeeded(
        &python
            .args(["-c", parse])
            .arg(example().join("dag.py"))
            .output()
            .unwrap(),
    );
}
