//! What else belongs to a release in a Delta table: its footers, its lineage, drift since it was made, and APPEND.

use super::{REQUEST, TABLE, VERIFY, commit, entry, holds, manifest, rows, session};
use crate::common::{anonsql, collect};
use crate::footer::said;
use anonsql::error::ErrorKind;
use serde_json::{Value, json};

/// The footers name the release as the manifest does, and VERIFY knows them.
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

/// A table whose columns are others than at the release is drift.
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
        e.kind() == ErrorKind::Data && e.to_string().contains("shoe_size"),
        "{:?} {e}",
        e.kind()
    );
    collect(&context, &again("ON DRIFT WARN")).await;
    assert_eq!(
        rows(&collect(&context, &format!("SELECT * FROM delta.'{out}'")).await),
        6
    );
}

/// Batches are added by entries of the log that remove nothing. Every version is a release that holds, and rows that would be
/// alone wait.
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
        // The men are two, and wait.
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
        // Nobody of a batch of two can be released: no version.
        let waiting = add("SELECT * FROM p WHERE age < 33").replace("50 PERCENT", "100 PERCENT");
        collect(&context, &waiting).await;
        assert!(!table.join("_delta_log/00000000000000000003.json").exists());
        // Another model, and another tool's change of the rows, are refused.
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
            ErrorKind::Data
        );
    }
}

/// Of two runs that add to one version, one wins.
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
        won >= 1 && ended.iter().all(|end| matches!(end, Ok(()) | Err(5))),
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
