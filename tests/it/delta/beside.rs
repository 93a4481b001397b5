//! Tests further parts of a release in a Delta table: its footers, its lineage, drift since the
//! release, and APPEND.

use super::{REQUEST, TABLE, VERIFY, action, commit, entry, manifest, session};
use crate::common::{anonsql, collect, holds, rows};
use crate::footer::said;
use crate::sources::Watches;
use anonsql::Phase;
use anonsql::error::ErrorKind;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// The footers give the release the same name as the manifest, and VERIFY recognizes them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn footers_name_the_release() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let table = scratch.path().join("out");
    let to = table.display();
    for (version, (how, options)) in [
        ("", "OPTIONS (footer true)"),
        ("PARTITIONED BY (sex) OVERWRITE", "OPTIONS (footer true)"),
        ("OVERWRITE", ""),
    ]
    .into_iter()
    .enumerate()
    {
        let sql = format!("ANONYMIZE p TO '{to}' STORED AS DELTA {how} {options} {REQUEST}");
        collect(&context, &sql).await;
        let manifest = manifest(&table, version as u64);
        assert_eq!(manifest.footer.is_empty(), options.is_empty());
        for file in &manifest.output {
            assert_eq!(said(&table.join(&file.name)), manifest.footer);
        }
        let checks = collect(&context, &format!("VERIFY '{to}' {VERIFY} AGAINST p")).await;
        assert!(holds(&checks), "{checks:?}");
    }
}

/// The events of a release from a table to a table name the tables, and not their files.
#[test]
fn lineage_names_the_tables() {
    let desk = tempfile::tempdir().unwrap();
    let place = desk.path().join("events.ndjson");
    let sql = format!(
        "{TABLE}; ANONYMIZE p TO 'people' STORED AS DELTA PARTITIONED BY (sex) QUASI IDENTIFIERS (age) KEEP (sex) SATISFYING \
         k_anonymity(1); ANONYMIZE delta.'people' TO 'out' STORED AS DELTA {REQUEST}"
    );
    let mut command = anonsql(desk.path());
    let output = command
        .args(["--lineage", "events.ndjson", "-c", &sql])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(place).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len(), 4, "{text}");
    let path = |name: &str| desk.path().canonicalize().unwrap().join(name).display().to_string();
    for event in &events[2..] {
        let inputs = event["inputs"].as_array().unwrap();
        assert_eq!(
            (inputs.len(), &inputs[0]["name"]),
            (1, &path("people").into()),
            "{event}"
        );
        assert_eq!(event["outputs"][0]["name"], path("out"));
    }
    assert_eq!(events[3]["eventType"], "COMPLETE");
    let columns = &events[3]["outputs"][0]["facets"]["columnLineage"]["fields"];
    assert_eq!(columns["age"]["inputFields"][0]["name"], path("people"));
}

/// Columns that differ from those of the earlier release are reported as drift.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drift_of_a_table_is_named() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let (people, out) = (scratch.path().join("people"), scratch.path().join("out"));
    let (people, out) = (people.display(), out.display());
    let fill = |rows: &str, how: &str, keep: &str| {
        format!(
            "ANONYMIZE ({rows}) TO '{people}' STORED AS DELTA {how} QUASI IDENTIFIERS (age) KEEP ({keep}) SATISFYING \
             k_anonymity(1)"
        )
    };
    collect(&context, &fill("SELECT * FROM p", "", "sex")).await;
    collect(
        &context,
        &format!("ANONYMIZE delta.'{people}' TO '{out}' STORED AS DELTA {REQUEST}"),
    )
    .await;
    let again = |drift: &str| {
        format!(
            "ANONYMIZE delta.'{people}' TO '{out}' STORED AS DELTA OVERWRITE {REQUEST} USING MANIFEST '{out}' {drift}"
        )
    };
    collect(&context, &again("ON DRIFT ERROR")).await;
    collect(
        &context,
        &fill("SELECT *, age AS shoe_size FROM p", "OVERWRITE", "sex, shoe_size"),
    )
    .await;
    let e = context.sql(&again("ON DRIFT ERROR")).await.unwrap_err();
    assert!(
        e.kind() == ErrorKind::Drift && e.to_string().contains("shoe_size"),
        "{:?} {e}",
        e.kind()
    );
    collect(&context, &again("ON DRIFT WARN")).await;
    assert_eq!(
        rows(&collect(&context, &format!("SELECT * FROM delta.'{out}'")).await),
        6
    );
}

/// Each batch is an entry of the log that removes nothing. Every version is a release that
/// satisfies the models, and rows whose class would be too small are held back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_grows_by_versions() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    for (name, how) in [("plain", ""), ("parts", "PARTITIONED BY (sex)")] {
        let table = scratch.path().join(name);
        let to = table.display();
        let add = |rows: &str| {
            format!(
                "ANONYMIZE ({rows}) TO '{to}' STORED AS DELTA {how} APPEND {REQUEST} SUPPRESSING AT MOST 50 PERCENT AT NODE (age 1)"
            )
        };
        collect(&context, &add("SELECT * FROM p")).await;
        collect(&context, &add("SELECT age + 20 AS age, sex FROM p")).await;
        // This batch has only two men, so their rows are held back.
        collect(&context, &add("SELECT * FROM p WHERE age <> 41")).await;
        let files = manifest(&table, 0).output.len();
        for (version, people) in [(0u64, 6), (1, 12), (2, 15)] {
            let entry = entry(&table, version);
            assert!(!entry.iter().any(|action| action.get("remove").is_some()), "{entry:?}");
            let manifest = manifest(&table, version);
            assert_eq!((manifest.rows_out, manifest.reached_k), (people, Some(3)));
            let added = entry.iter().filter(|action| action.get("add").is_some()).count();
            assert!(added <= files && added > 0);
            let read = collect(&context, &format!("SELECT * FROM delta.'{to}' VERSION AS OF {version}")).await;
            assert_eq!(rows(&read), people as usize);
            let checks = collect(
                &context,
                &format!("VERIFY delta.'{to}' VERSION AS OF {version} {VERIFY}"),
            )
            .await;
            assert!(holds(&checks), "{checks:?}");
        }
        // VERIFY does not count the batches of a partitioned release one by one, so a strict VERIFY
        // does not pass.
        collect(&context, "SET anonsql.strict = true").await;
        match context.sql(&format!("VERIFY '{to}' {VERIFY}")).await {
            Ok(_) => assert_eq!(how, ""),
            Err(e) => assert!(!how.is_empty() && e.to_string().contains("each batch alone"), "{e}"),
        }
        collect(&context, "SET anonsql.strict = false").await;
        // No row of a batch of two rows can be released, so there is no new version.
        let waiting = add("SELECT * FROM p WHERE age < 33").replace("50 PERCENT", "100 PERCENT");
        collect(&context, &waiting).await;
        assert!(!table.join("_delta_log/00000000000000000003.json").exists());
        // A batch with another model is refused. After another tool changed the rows, every batch
        // is refused.
        let weaker = add("SELECT * FROM p").replace("k_anonymity(3)", "k_anonymity(2)");
        assert_eq!(context.sql(&weaker).await.unwrap_err().kind(), ErrorKind::Usage);
        let removed = entry(&table, 2)
            .iter()
            .find_map(|action| action.get("add").cloned())
            .unwrap();
        let remove = json!({"remove": {"path": removed["path"], "deletionTimestamp": 0, "dataChange": true}});
        commit(&table, 3, &[remove]);
        assert_eq!(
            context.sql(&add("SELECT * FROM p")).await.unwrap_err().kind(),
            ErrorKind::Verification
        );
    }
}

/// If several runs append to the same version, only one of them succeeds. The others end with exit
/// code 6 and leave no files.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_batches_at_once_one_is_added() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let table = scratch.path().join("out");
    let add = |shift: u32| {
        format!(
            "ANONYMIZE (SELECT age + {shift} AS age, sex FROM p) TO '{}' STORED AS DELTA APPEND {REQUEST} AT NODE (age 1)",
            table.display()
        )
    };
    collect(&context, &add(0)).await;
    let mut tasks = tokio::task::JoinSet::new();
    for shift in [10, 20, 30, 40] {
        let sql = add(shift);
        let own = session().await;
        tasks.spawn(async move { own.sql(&sql).await.map(drop).map_err(|e| e.exit_code()) });
    }
    let ended = tasks.join_all().await;
    let won = ended.iter().filter(|end| end.is_ok()).count();
    assert!(
        won >= 1 && ended.iter().all(|end| matches!(end, Ok(()) | Err(6))),
        "{ended:?}"
    );
    let read = collect(&context, &format!("SELECT * FROM delta.'{}'", table.display())).await;
    assert_eq!(rows(&read), 6 + 6 * won);
    let checks = collect(&context, &format!("VERIFY '{}' {VERIFY}", table.display())).await;
    assert!(holds(&checks), "{checks:?}");
    let files = |entry: &std::fs::DirEntry| entry.path().extension().is_some_and(|e| e == "parquet");
    let runs = std::fs::read_dir(&table).unwrap().map(Result::unwrap);
    let runs = runs.filter(|run| run.file_name().to_string_lossy().starts_with("run="));
    let written = runs.flat_map(|run| std::fs::read_dir(run.path()).unwrap().map(Result::unwrap));
    assert_eq!(written.filter(files).count(), 1 + won, "who lost leaves no file");
}

/// A table may be copied and moved. Its folder may have any name that other readers understand.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_is_where_it_is() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let release = |table: &Path, how: &str| {
        format!(
            "ANONYMIZE p TO '{}' STORED AS DELTA {how} {REQUEST} AT NODE (age 1)",
            table.display()
        )
    };
    for name in ["jürgen/lü", "a b", "x=1 + y", "[a] #1?"] {
        let table = scratch.path().join(name);
        std::fs::create_dir_all(table.parent().unwrap()).unwrap();
        for (n, how) in ["", "OVERWRITE", "APPEND"].into_iter().enumerate() {
            collect(&context, &release(&table, how)).await;
            assert!(table.join(format!("_delta_log/{n:020}.json")).exists());
            let checks = collect(&context, &format!("VERIFY delta.'{}' {VERIFY}", table.display())).await;
            assert!(holds(&checks), "{checks:?}");
        }
        let copy = scratch.path().join("copy");
        let copied = std::process::Command::new("cp")
            .arg("-r")
            .arg(&table)
            .arg(&copy)
            .status();
        assert!(copied.unwrap().success());
        collect(&context, &release(&copy, "APPEND")).await;
        assert_eq!(manifest(&copy, 3).rows_out, 18);
        std::fs::remove_dir_all(&copy).unwrap();
    }
    let names = |path: &Path| std::fs::read_dir(path).unwrap().count();
    assert_eq!(
        (names(scratch.path()), names(&scratch.path().join("jürgen"))),
        (4, 1),
        "nothing beside"
    );
    for (place, said) in [("a%20b", "without"), ("a b/_delta_log/c", "in the log")] {
        let e = context
            .sql(&release(&scratch.path().join(place), ""))
            .await
            .unwrap_err();
        assert!(e.kind() == ErrorKind::Usage && e.to_string().contains(said), "{e}");
    }
}

/// A version can be named in a short form, which is accepted wherever a table is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_has_a_short_form() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let table = scratch.path().join("out");
    for how in ["", "OVERWRITE"] {
        collect(
            &context,
            &format!("ANONYMIZE p TO '{}' STORED AS DELTA {how} {REQUEST}", table.display()),
        )
        .await;
    }
    let old = format!("delta.'{}@v0'", table.display());
    assert!(holds(&collect(&context, &format!("VERIFY {old} {VERIFY}")).await));
    collect(&context, &format!("RISK OF {old} QUASI IDENTIFIERS (age)")).await;
    let read = collect(
        &context,
        &format!("ANONYMIZE {old} QUASI IDENTIFIERS (age) KEEP (sex) SATISFYING k_anonymity(3)"),
    )
    .await;
    assert_eq!(rows(&read), 6);
}

/// Changes by another tool are reported: changes to the properties of a release, and a commit while
/// a run extends the release. Neither change counts as another release.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_other_tools_commit_is_no_release() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let table = scratch.path().join("out");
    let release = |how: &str| {
        format!(
            "ANONYMIZE p TO '{}' STORED AS DELTA {how} {REQUEST} AT NODE (age 1)",
            table.display()
        )
    };
    collect(&context, &release("")).await;
    let mut metadata = action(&entry(&table, 0), "metaData").clone();
    let others = table.clone();
    let same = json!({"metaData": metadata});
    let observer = Watches::new(Phase::Verify, move || commit(&others, 1, std::slice::from_ref(&same)));
    let watched = session().await.with_observer(Arc::new(observer));
    let e = watched.sql(&release("APPEND")).await.unwrap_err();
    assert!(
        e.exit_code() == 6 && e.to_string().contains("another tool committed"),
        "{e}"
    );
    assert_eq!(
        std::fs::read_dir(&table).unwrap().count(),
        3,
        "the log, the manifests and the run of the release"
    );
    collect(&context, &release("APPEND")).await;

    let newest = action(&entry(&table, 2), "metaData").clone();
    for (version, (name, said)) in [(3, ("anonsql.k", "500")), (4, ("anonsql.models", "k_anonymity(500)"))] {
        metadata["configuration"] = newest["configuration"].clone();
        metadata["configuration"][name] = json!(said);
        commit(&table, version, &[json!({"metaData": metadata})]);
        let e = context
            .sql(&format!("VERIFY '{}' {VERIFY}", table.display()))
            .await
            .unwrap_err();
        assert_eq!((e.kind(), e.exit_code()), (ErrorKind::Verification, 4), "{name}: {e}");
    }
    for sql in [release("APPEND"), release("OVERWRITE")] {
        let e = context.sql(&sql).await.unwrap_err();
        assert_eq!((e.kind(), e.exit_code()), (ErrorKind::Verification, 4), "{e}");
    }
}

/// A report does not replace a file of a table, and is not written into a release.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_is_in_no_table() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let table = scratch.path().join("out");
    collect(
        &context,
        &format!("ANONYMIZE p TO '{}' STORED AS DELTA {REQUEST}", table.display()),
    )
    .await;
    let before = std::fs::read(table.join("_delta_log/00000000000000000000.json")).unwrap();
    let run = manifest(&table, 0).run.unwrap();
    for report in [
        "_delta_log/00000000000000000000.json",
        "r.html",
        "_r.html",
        &format!("run={run}/r.html"),
    ] {
        for to in [
            format!("TO '{}' STORED AS DELTA OVERWRITE", table.display()),
            String::new(),
        ] {
            let is_inside = report.ends_with("r.html") && !report.contains('/');
            if to.is_empty() && is_inside {
                continue;
            }
            let sql = format!(
                "ANONYMIZE p {to} {REQUEST} REPORT TO '{}'",
                table.join(report).display()
            );
            let e = context.sql(&sql).await.unwrap_err();
            assert!(
                e.kind() == ErrorKind::Usage && e.to_string().contains("REPORT TO"),
                "{e}"
            );
        }
    }
    assert_eq!(
        std::fs::read(table.join("_delta_log/00000000000000000000.json")).unwrap(),
        before
    );
    assert!(!table.join("_delta_log/00000000000000000001.json").exists());
}

/// The same files are not added twice, even if their table has a later version by then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_files_of_a_later_version_are_the_same() {
    let context = session().await;
    let scratch = tempfile::tempdir().unwrap();
    let (people, out) = (scratch.path().join("people"), scratch.path().join("out"));
    let source = format!(
        "ANONYMIZE p TO '{}' STORED AS DELTA QUASI IDENTIFIERS (age) KEEP (sex) SATISFYING k_anonymity(1)",
        people.display()
    );
    collect(&context, &source).await;
    let add = format!(
        "ANONYMIZE delta.'{}' TO '{}' STORED AS DELTA APPEND {REQUEST}",
        people.display(),
        out.display()
    );
    collect(&context, &add).await;
    let mut metadata = action(&entry(&people, 0), "metaData").clone();
    metadata["configuration"]["delta.logRetentionDuration"] = json!("interval 9 days");
    commit(&people, 1, &[json!({"metaData": metadata})]);
    let e = context.sql(&add).await.unwrap_err();
    assert_eq!((e.kind(), e.exit_code()), (ErrorKind::TargetExists, 5), "{e}");
    assert_eq!(manifest(&out, 0).rows_out, 6);
    assert!(!out.join("_delta_log/00000000000000000001.json").exists());
}
