//! Tests sources that may differ each time they are read, and files that cannot represent all their
//! values.

use crate::common::{collect, context};
use crate::roads::{FIRST, batch};
use anonsql::error::ErrorKind;
use anonsql::{Observer, Phase};
use datafusion::datasource::MemTable;
use std::path::PathBuf;
use std::sync::Arc;

/// The requests from a reported issue, whose sources return different rows each time, are refused.
/// The error recommends an action.
#[tokio::test]
async fn a_source_that_is_left_to_chance_is_refused() {
    let context = context(2);
    collect(
        &context,
        "CREATE TABLE t AS SELECT value % 7 AS a, value AS b FROM range(0, 100)",
    )
    .await;
    collect(&context, "CREATE VIEW drawn AS SELECT a, b FROM t WHERE random() < 0.5").await;
    collect(&context, "CREATE VIEW above AS SELECT * FROM drawn").await;
    let rest = "QUASI IDENTIFIERS (a) SENSITIVE (b) SATISFYING k_anonymity(1) AT NODE (a 1)";
    for source in [
        "above",
        "(SELECT a, b FROM t LIMIT 87)",
        "(SELECT a, b FROM t ORDER BY random() LIMIT 20)",
        "(SELECT a, b FROM t ORDER BY a LIMIT 20)",
        "(SELECT a, b FROM t OFFSET 20)",
        "(SELECT a, b FROM (SELECT a, b FROM t ORDER BY a, b) AS d OFFSET 20)",
        "(SELECT a, b FROM t WHERE b IN (SELECT b FROM t LIMIT 20))",
        "(SELECT a, b FROM t WHERE random() < 0.5)",
        "(SELECT a, uuid() AS b FROM t)",
        "(SELECT a, now() AS b FROM t)",
        "(WITH d AS (SELECT * FROM drawn) SELECT a, b FROM d)",
        "(SELECT a, any_value(b) AS b FROM t GROUP BY a)",
        "(SELECT a, first_value(b) AS b FROM t GROUP BY a)",
        "(SELECT a, first_value(b ORDER BY a) AS b FROM t GROUP BY a)",
        "(SELECT a, string_agg(CAST(b AS VARCHAR), ',') AS b FROM t GROUP BY a)",
        "(SELECT DISTINCT ON (a) a, b FROM t)",
        "(SELECT a, row_number() OVER (ORDER BY a) AS b FROM t)",
        "(SELECT a, lag(b) OVER (PARTITION BY a) AS b FROM t)",
        "(SELECT a, sum(b) OVER (ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS b FROM t)",
    ] {
        let sql = format!("ANONYMIZE {source} {rest}");
        let e = context.sql(&sql).await.expect_err(source);
        let said = e.to_string();
        assert!(
            said.contains("may return other rows") && said.contains("CREATE TABLE t AS"),
            "{source}: {said}"
        );
        assert_eq!(e.kind(), ErrorKind::Usage, "{source}");
    }
    for source in [
        "t",
        "(SELECT a, b FROM t ORDER BY a, b LIMIT 20)",
        "(SELECT a, b FROM (SELECT a, max(b) AS b FROM t GROUP BY a ORDER BY a, b OFFSET 2) AS d)",
        "(SELECT a, first_value(b ORDER BY b) AS b FROM t GROUP BY a)",
        "(SELECT a, rank() OVER (ORDER BY a) AS b FROM t)",
        "(SELECT a, row_number() OVER (PARTITION BY a ORDER BY b) AS b FROM t)",
        "(SELECT a, sum(b) OVER (PARTITION BY a) AS b FROM t)",
        "(SELECT a, sum(b) OVER (ORDER BY a) AS b FROM t)",
    ] {
        collect(&context, &format!("ANONYMIZE {source} {rest}")).await;
    }
    for population in ["above", "(SELECT a FROM t LIMIT 100)"] {
        let k_map = rest.replace(
            "SATISFYING k_anonymity(1)",
            &format!("POPULATION {population} SATISFYING k_map(1)"),
        );
        let e = context.sql(&format!("ANONYMIZE t {k_map}")).await.unwrap_err();
        assert!(e.to_string().contains("may return other rows"), "{e}");
    }
}

/// Replaces a file at the beginning of a phase of a run.
pub struct Replaces {
    pub at: Phase,
    pub by: PathBuf,
    pub file: PathBuf,
}

impl Observer for Replaces {
    fn begin(&self, phase: Phase) -> Arc<std::sync::atomic::AtomicU64> {
        if phase == self.at && self.by.exists() {
            std::fs::rename(&self.by, &self.file).unwrap();
        }
        Arc::default()
    }
}

/// Runs a function once, at the beginning of a phase of a run.
pub struct Watches {
    at: Phase,
    act: std::sync::Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Watches {
    pub fn new(at: Phase, act: impl FnOnce() + Send + 'static) -> Self {
        let act = std::sync::Mutex::new(Some(Box::new(act) as _));
        Self { at, act }
    }
}

impl Observer for Watches {
    fn begin(&self, phase: Phase) -> Arc<std::sync::atomic::AtomicU64> {
        if phase == self.at
            && let Some(act) = self.act.lock().unwrap().take()
        {
            act();
        }
        Arc::default()
    }
}

/// If a file is replaced during any phase of a run, the run ends with an error. Otherwise, the
/// manifest could have the checksum of another file, or a release could contain rows of two tables.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_that_is_replaced_ends_the_run() {
    let scratch = tempfile::tempdir().unwrap();
    let source = scratch.path().join("source");
    for at in [Phase::Scan, Phase::Search, Phase::Write, Phase::Verify] {
        for (file, came) in [("people.csv", false), ("more.csv", true)] {
            for way in ["TO", "rows", "TABLE"] {
                drop(std::fs::remove_dir_all(&source));
                std::fs::create_dir(&source).unwrap();
                let rows = "age,sex\n31,f\n32,f\n33,f\n41,m\n42,m\n43,m\n";
                std::fs::write(source.join("people.csv"), rows).unwrap();
                let by = scratch.path().join("by.csv");
                std::fs::write(&by, rows).unwrap();
                let observer = Replaces {
                    at,
                    by,
                    file: source.join(file),
                };
                let context = context(2).with_observer(Arc::new(observer));
                collect(&context, "CREATE HIERARCHY age AS INTERVALS (10)").await;
                let target = scratch.path().join("release");
                let (before, to) = match way {
                    "TO" => ("", format!("TO '{}'", target.display())),
                    "TABLE" => ("CREATE TABLE out AS ", String::new()),
                    _ => ("", String::new()),
                };
                let sql = format!(
                    "{before}ANONYMIZE '{}/' {to} QUASI IDENTIFIERS (age USING age) KEEP (sex) SATISFYING k_anonymity(3)",
                    source.display()
                );
                let e = context.sql(&sql).await.unwrap_err();
                assert_eq!(e.kind(), ErrorKind::Data, "{e}");
                let how = if came { "was added" } else { "was replaced" };
                let said = e.to_string();
                assert!(said.contains(file) && said.contains(how), "{at:?} {way}: {said}");
                assert!(!target.exists(), "{at:?}");
                assert!(!context.session().table_exist("out").unwrap());
            }
        }
    }
}

/// A run ends with an error if rows are added to its in-memory table.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_that_grows_ends_the_run() {
    struct Grows(Arc<MemTable>);
    impl Observer for Grows {
        fn end(&self, phase: Phase) {
            if phase == Phase::Search {
                self.0.batches[0].try_write().unwrap().push(batch(&FIRST));
            }
        }
    }
    let table = Arc::new(MemTable::try_new(batch(&FIRST).schema(), vec![vec![batch(&FIRST)]]).unwrap());
    let context = context(2).with_observer(Arc::new(Grows(Arc::clone(&table))));
    context.session().register_table("people", table).unwrap();
    collect(&context, "CREATE VIEW seen AS SELECT zip, sex FROM people").await;
    let sql = "ANONYMIZE seen QUASI IDENTIFIERS (zip) SENSITIVE (sex) SATISFYING k_anonymity(3)";
    let only = "ANONYMIZE seen QUASI IDENTIFIERS (zip, sex) SATISFYING k_anonymity(1)";
    for sql in [sql, only] {
        let e = context.sql(sql).await.unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Data, "{e}");
        assert!(e.to_string().contains("the rows of table people have changed"), "{e}");
    }
}

/// NULL and the empty text are the same in CSV, so a column with both is not written.
#[tokio::test]
async fn what_a_file_cannot_tell_apart_is_not_written() {
    let scratch = tempfile::tempdir().unwrap();
    let at = scratch.path().display();
    let context = context(2);
    let people = "CREATE TABLE people AS SELECT zip, disease, dose FROM (VALUES ('a', NULL, 'NaN'), ('a', '', NULL), \
                  ('a', 'flu', '1'), ('b', 'flu', '2'), ('b', 'gout', '2'), ('b', NULL, '3')) AS v(zip, disease, dose)";
    collect(&context, people).await;
    let typed = "CREATE TABLE doses AS SELECT zip, disease, CAST(dose AS DOUBLE) AS dose FROM people";
    collect(&context, typed).await;
    let folder = |name: &str, columns: &str, more: &str| {
        format!("CREATE EXTERNAL TABLE {name} ({columns}) STORED AS {more} LOCATION '{at}/{name}/'")
    };
    let all = "zip VARCHAR, disease VARCHAR, dose DOUBLE";
    for name in ["kept", "told"] {
        std::fs::create_dir(scratch.path().join(name)).unwrap();
    }
    collect(&context, &folder("kept", all, "CSV")).await;
    collect(&context, &folder("told", all, "PARQUET")).await;
    let request = |column: &str, other: &str| {
        format!(
            "ANONYMIZE doses {{}} IDENTIFIERS ({other}) QUASI IDENTIFIERS (zip) SENSITIVE ({column}) SATISFYING \
             l_diversity(2) ON {column} AT NODE (zip 0)"
        )
    };
    let (disease, dose) = (request("disease", "dose"), request("dose", "disease"));
    let written =
        |request: &str, before: &str, to: &str, after: &str| format!("{before}{}{after}", request.replace("{}", to));
    for (sql, said) in [
        (
            written(&disease, "", &format!("TO '{at}/csv' STORED AS csv"), ""),
            "nullif",
        ),
        (written(&disease, "COPY (", "", &format!(") TO '{at}/x.csv'")), "nullif"),
        (
            written(
                &disease,
                "COPY (",
                "",
                &format!(") TO '{at}/x.csv' OPTIONS ('format.null_value' 'flu')"),
            ),
            "the very text",
        ),
        (written(&disease, "INSERT INTO kept (zip, disease) ", "", ""), "nullif"),
        (
            written(&dose, "COPY (", "", &format!(") TO '{at}/x.json'")),
            "JSON writes alike",
        ),
    ] {
        let e = context.sql(&sql).await.expect_err(&sql);
        assert_eq!(e.kind(), ErrorKind::Data, "{e}");
        assert!(e.to_string().contains(said), "{sql}: {e}");
    }
    let empty = |name: &str| std::fs::read_dir(scratch.path().join(name)).unwrap().next().is_none();
    assert!(empty("kept"));
    assert!(
        !["csv", "x.csv", "x.json"]
            .iter()
            .any(|name| scratch.path().join(name).exists())
    );
    for sql in [
        written(&disease, "", &format!("TO '{at}/parquet'"), ""),
        written(&disease, "COPY (", "", &format!(") TO '{at}/y.json'")),
        written(
            &disease,
            "COPY (",
            "",
            &format!(") TO '{at}/y.csv' OPTIONS ('format.null_value' 'NULL')"),
        ),
        written(&dose, "COPY (", "", &format!(") TO '{at}/y.parquet'")),
        written(&dose, "", &format!("TO '{at}/dose' STORED AS csv"), ""),
    ] {
        collect(&context, &sql).await;
    }
}

/// A column that contains either the empty text or NULL, but not both, is written to a CSV file,
/// even if it is a quasi-identifier.
#[tokio::test]
async fn the_empty_text_alone_is_written() {
    let scratch = tempfile::tempdir().unwrap();
    for (number, zip) in ["''", "NULL"].into_iter().enumerate() {
        let context = context(2);
        let people = format!("VALUES ({zip}, 'flu'), ({zip}, 'gout'), ('b', 'flu'), ('b', 'gout')");
        let people = format!("CREATE TABLE people AS SELECT * FROM ({people}) AS v(zip, disease)");
        collect(&context, &people).await;
        for more in ["", "PARTITIONED BY (zip)"] {
            let target = scratch.path().join(format!("{number}{}", more.len()));
            let sql = format!(
                "ANONYMIZE people TO '{}' STORED AS csv {more} QUASI IDENTIFIERS (zip) SENSITIVE (disease) SATISFYING \
                 l_diversity(2) ON disease AT NODE (zip 0)",
                target.display()
            );
            collect(&context, &sql).await;
        }
    }
}
