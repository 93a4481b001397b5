//! Tests tables whose distinct combinations do not fit into memory.

use crate::common::collect;
use anonsql::AnonContext;
use anonsql::internal::generate::{BenchShape, GeneratedTable, generate};
use arrow::array::AsArray;
use arrow::record_batch::RecordBatch;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const COLUMNS: [&str; 7] = [
    "sex",
    "age",
    "race",
    "marital_status",
    "education",
    "native_country",
    "workclass",
];
const ROWS: u64 = 120_000;

/// Writes a table in which almost every row is unique.
fn nearly_unique(folder: &Path) -> PathBuf {
    let path = folder.join("unique.parquet");
    let shape = BenchShape::new(COLUMNS.len(), Some(ROWS * 9 / 10)).unwrap();
    generate(GeneratedTable::Bench(shape), ROWS, 5, &path).unwrap();
    path
}

/// Returns a session with two partitions and `kilobytes` of memory. Its temporary files are in
/// `folder`.
fn session(kilobytes: usize, folder: &Path, may_spill: bool) -> AnonContext {
    let mode = match may_spill {
        true => DiskManagerMode::Directories(vec![folder.to_path_buf()]),
        false => DiskManagerMode::Disabled,
    };
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(FairSpillPool::new(kilobytes << 10)))
        .with_disk_manager_builder(DiskManagerBuilder::default().with_mode(mode))
        .build_arc();
    let config = SessionConfig::new().with_target_partitions(2);
    AnonContext::new(SessionContext::new_with_config_rt(config, runtime.unwrap()))
}

/// Returns a session with a hierarchy for each column.
async fn prepared(kilobytes: usize, folder: &Path, may_spill: bool) -> AnonContext {
    let context = session(kilobytes, folder, may_spill);
    for column in COLUMNS {
        collect(&context, &format!("CREATE HIERARCHY {column} AS SUPPRESSION")).await;
    }
    context
}

/// Returns the statement of a release in which all columns are quasi-identifiers, except a column
/// to which `rest` gives another role.
fn statement(source: &Path, target: &Path, rest: &str) -> String {
    let quasi = COLUMNS.iter().filter(|c| !rest.contains(&format!("({c})")));
    let quasi: Vec<String> = quasi.map(|c| format!("{c} USING {c}")).collect();
    format!(
        "ANONYMIZE '{}' TO '{}' OVERWRITE QUASI IDENTIFIERS ({}) {rest}",
        source.display(),
        target.display(),
        quasi.join(", ")
    )
}

/// Returns the items in the result of a statement, with their details.
fn items(batches: &[RecordBatch]) -> BTreeMap<String, String> {
    let rows = batches.iter().flat_map(|batch| {
        let (items, details) = (batch.column(0).as_string::<i32>(), batch.column(1).as_string::<i32>());
        (0..batch.num_rows()).map(|i| (items.value(i).to_string(), details.value(i).to_string()))
    });
    rows.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_choice_is_that_of_a_table_in_memory() {
    let scratch = tempfile::tempdir().unwrap();
    let (source, target) = (nearly_unique(scratch.path()), scratch.path().join("release"));
    let temporary = tempfile::tempdir().unwrap();
    let requests = [
        "SATISFYING k_anonymity(5) SUPPRESSING AT MOST 5 PERCENT MINIMIZING glm",
        "SATISFYING k_anonymity(2) SUPPRESSING AT MOST 60 PERCENT MINIMIZING dm",
        "SATISFYING k_anonymity(3) SUPPRESSING AT MOST 0 ROWS MINIMIZING entropy",
        "SATISFYING k_anonymity(3) SUPPRESSING AT MOST 10 PERCENT MINIMIZING c_avg SEARCH USING exhaustive",
        "SATISFYING k_anonymity(10) AND average_risk(0.01) SUPPRESSING AT MOST 5 PERCENT MINIMIZING glm SEARCH USING flash",
        "SATISFYING max_risk(0.1) SUPPRESSING AT MOST 1 PERCENT MINIMIZING dm SEARCH USING incognito",
        "SATISFYING k_anonymity(4) ON (sex, age, race) SUPPRESSING AT MOST 1 PERCENT MINIMIZING glm",
    ];
    for request in requests {
        let mut chosen = vec![];
        for kilobytes in [6_000, 400_000] {
            let context = prepared(kilobytes, temporary.path(), true).await;
            let sql = format!("EXPLAIN ANALYZE {}", statement(&source, &target, request));
            let mut items = items(&collect(&context, &sql).await);
            let is_spilled = items.remove("combinations in files").is_some();
            assert_eq!(is_spilled, kilobytes == 6_000, "{request}");
            let counted = ["distinct combinations", "frequency sets", "nodes assessed", "time"];
            counted.iter().for_each(|item| drop(items.remove(*item)));
            chosen.push(items);
        }
        assert_eq!(chosen[0], chosen[1], "{request}");
    }
    assert_eq!(files(temporary.path()), 0, "temporary files are left behind");
}

/// Counts the files in a folder and in its subfolders.
fn files(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { files(&path) } else { 1 }).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_release_is_that_of_a_table_in_memory() {
    let scratch = tempfile::tempdir().unwrap();
    let (source, target) = (nearly_unique(scratch.path()), scratch.path().join("release"));
    let mut written = vec![];
    for kilobytes in [9_000, 400_000] {
        let context = prepared(kilobytes, scratch.path(), true).await;
        let rest = "SATISFYING k_anonymity(5) SUPPRESSING AT MOST 30 PERCENT MINIMIZING dm";
        collect(&context, &statement(&source, &target, rest)).await;
        let mut bytes = vec![];
        for entry in std::fs::read_dir(&target).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "parquet") {
                bytes.push((path.clone(), std::fs::read(path).unwrap()));
            }
        }
        bytes.sort();
        assert!(!bytes.is_empty());
        written.push(bytes);
    }
    assert!(written[0] == written[1], "memory changes what is written");
}

/// Tests models that need a histogram of each class or the rows of a population.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn models_of_values_and_of_a_population_hold_beyond_memory() {
    let scratch = tempfile::tempdir().unwrap();
    let (source, target) = (nearly_unique(scratch.path()), scratch.path().join("release"));
    let temporary = tempfile::tempdir().unwrap();
    let people = format!("POPULATION '{}'", source.display());
    let requests = [
        "SENSITIVE (workclass) SATISFYING k_anonymity(50) AND l_diversity(2) ON workclass SUPPRESSING AT MOST 20 PERCENT MINIMIZING glm",
        "SENSITIVE (workclass) SATISFYING k_anonymity(50) AND t_closeness(0.4) ON workclass SUPPRESSING AT MOST 20 PERCENT MINIMIZING dm",
        "CLASS (workclass) SATISFYING k_anonymity(50) SUPPRESSING AT MOST 20 PERCENT MINIMIZING cm",
        &format!("{people} SATISFYING k_anonymity(50) AND k_map(60) SUPPRESSING AT MOST 20 PERCENT MINIMIZING glm"),
    ];
    for request in requests {
        let (mut chosen, mut written) = (vec![], vec![]);
        for kilobytes in [10_000, 400_000] {
            let context = prepared(kilobytes, temporary.path(), true).await;
            // The default reservation alone would exceed the memory.
            let sorts = "SET datafusion.execution.sort_spill_reservation_bytes = 1000000";
            collect(&context, sorts).await;
            let sql = statement(&source, &target, request);
            let mut items = items(&collect(&context, &format!("EXPLAIN ANALYZE {sql}")).await);
            let is_spilled = items.remove("combinations in files").is_some();
            assert_eq!(is_spilled, kilobytes == 10_000, "{request}");
            chosen.push((items.remove("node"), items.remove("released rows")));
            // A recount with a population groups the rows of both tables, for which this memory is
            // too small.
            if !request.starts_with("POPULATION") {
                collect(&context, &sql).await;
                written.push(std::fs::read(target.join("part-00000.parquet")).unwrap());
            }
        }
        assert_eq!(chosen[0], chosen[1], "{request}");
        assert!(
            written.windows(2).all(|pair| pair[0] == pair[1]),
            "memory changes what is written: {request}"
        );
    }
    assert_eq!(files(temporary.path()), 0, "temporary files are left behind");
}

/// With enough memory for mondrian but not for peel, peel is skipped and the result says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn local_recoding_skips_what_does_not_fit() {
    let scratch = tempfile::tempdir().unwrap();
    let (source, target) = (nearly_unique(scratch.path()), scratch.path().join("release"));
    let context = prepared(28_000, scratch.path(), true).await;
    let sql = statement(&source, &target, "SATISFYING k_anonymity(5) RECODING LOCAL");
    let rows = collect(&context, &format!("EXPLAIN ANALYZE {sql}")).await;
    assert_eq!(items(&rows)["divided by"], "mondrian");
    let shown = arrow::util::pretty::pretty_format_batches(&rows).unwrap().to_string();
    assert!(
        shown.contains("| mondrian 0.") && shown.contains("peel skipped (memory limit)"),
        "{shown}"
    );
}

/// If there are more combinations than local recoding can compare one by one, it divides the
/// combinations of coarser levels. The memory makes no difference.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn combinations_of_coarser_levels_are_divided() {
    let scratch = tempfile::tempdir().unwrap();
    let (source, target) = (nearly_unique(scratch.path()), scratch.path().join("release"));
    let requests = [
        "SATISFYING k_anonymity(5) SEARCH USING mondrian",
        "SATISFYING k_anonymity(5) SUPPRESSING AT MOST 1 PERCENT SEARCH USING peel",
        "SENSITIVE (workclass) SATISFYING k_anonymity(3) AND l_diversity(2) ON workclass RECODING LOCAL",
    ];
    for request in requests {
        let mut written = vec![];
        for kilobytes in [12_000, 400_000] {
            let context = prepared(kilobytes, scratch.path(), true).await;
            for setting in [
                "SET datafusion.execution.sort_spill_reservation_bytes = 1000000",
                "SET anonsql.divided_combinations = 4000",
            ] {
                collect(&context, setting).await;
            }
            let sql = statement(&source, &target, request);
            let explained = items(&collect(&context, &format!("EXPLAIN ANALYZE {sql}")).await);
            let combinations: usize = explained["distinct combinations"].parse().unwrap();
            assert!((200..=4_200).contains(&combinations), "{explained:?}");
            assert!(
                explained["advice"].contains("anonsql.divided_combinations"),
                "{explained:?}"
            );
            collect(&context, &sql).await;
            written.push(std::fs::read(target.join("part-00000.parquet")).unwrap());
            let quasi = &sql[sql.find("QUASI").unwrap()..sql.find(") S").unwrap() + 1];
            let verify = format!(
                "VERIFY '{}' {quasi} SATISFYING k_anonymity(3) AGAINST '{}'",
                target.display(),
                source.display()
            );
            let roomy = prepared(400_000, scratch.path(), true).await;
            let verified = collect(&roomy, &verify).await;
            let shown = arrow::util::pretty::pretty_format_batches(&verified)
                .unwrap()
                .to_string();
            assert!(!shown.contains("false"), "{shown}");
        }
        assert!(written[0] == written[1], "memory changes what is written: {request}");
    }
}

/// If one alternative of COMPARE has to begin at coarser levels to save memory, the other
/// alternatives still search the whole lattice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn comparisons_search_the_whole_lattice() {
    let scratch = tempfile::tempdir().unwrap();
    let (source, target) = (nearly_unique(scratch.path()), scratch.path().join("release"));
    let mut found = vec![];
    for (combinations, recodings) in [
        (4_000, "LOCAL, GLOBAL"),
        (4_000, "GLOBAL, LOCAL"),
        (4_000_000, "GLOBAL"),
    ] {
        let context = prepared(400_000, scratch.path(), true).await;
        collect(&context, &format!("SET anonsql.divided_combinations = {combinations}")).await;
        let rest = format!("SATISFYING k_anonymity(5) SUPPRESSING AT MOST 30 PERCENT RECODING ({recodings})");
        let sql = statement(&source, &target, &rest).replace(&format!(" TO '{}' OVERWRITE", target.display()), "");
        let answer = collect(&context, &format!("COMPARE {sql}")).await;
        let shown = arrow::util::pretty::pretty_format_batches(&answer).unwrap().to_string();
        let global: Vec<String> = shown
            .lines()
            .filter(|l| l.contains("GLOBAL"))
            .map(String::from)
            .collect();
        assert_eq!(global.len(), 1, "{shown}");
        found.push(global[0].split_whitespace().collect::<Vec<_>>().join(" "));
    }
    assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "{found:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_do_without_memory_says_what_to_do() {
    let scratch = tempfile::tempdir().unwrap();
    let (source, target) = (nearly_unique(scratch.path()), scratch.path().join("release"));
    let bottom = format!("SATISFYING k_anonymity(K) AT NODE ({} 0)", COLUMNS.join(" 0, "));
    let (anything, anonymous) = (bottom.replace("(K)", "(1)"), bottom.replace("(K)", "(5)"));
    let cases = [
        // Partitioning divides the combinations one by one.
        (true, 3_000, "SATISFYING k_anonymity(5) SEARCH USING mondrian"),
        // Nothing can be proven about the bottom node before all its rows are grouped.
        (true, 1_200, anything.as_str()),
        // Temporary files are not allowed.
        (false, 3_000, "SATISFYING k_anonymity(5)"),
    ];
    for (may_spill, kilobytes, rest) in cases {
        let context = prepared(kilobytes, scratch.path(), may_spill).await;
        let sql = statement(&source, &target, rest);
        let e = context.sql(&sql).await.unwrap_err();
        assert!(e.to_string().contains("raise --memory-limit"), "{e}\n{sql}");
        assert!(!target.exists());
    }
    let context = prepared(3_000, scratch.path(), true).await;
    let e = context.sql(&statement(&source, &target, &anonymous)).await.unwrap_err();
    assert!(
        e.to_string().contains("does not satisfy the models: more than 0 rows"),
        "{e}"
    );
}

/// Statements that need every row or every class at once end in an error that says so, instead of
/// exceeding the memory.
#[tokio::test]
async fn measures_of_rows_stay_within_memory() {
    let scratch = tempfile::tempdir().unwrap();
    let source = nearly_unique(scratch.path());
    let source = source.display();
    let columns = COLUMNS.join(", ");
    for sql in [
        format!("RISK OF '{source}' QUASI IDENTIFIERS ({columns}) PER ROW WITH (subset_size = 1)"),
        // Classifiers need all columns of a row.
        format!("UTILITY OF '{source}' AGAINST '{source}' CLASS (sex)"),
    ] {
        let e = session(3_000, scratch.path(), true).sql(&sql).await.unwrap_err();
        assert!(e.to_string().contains("raise --memory-limit"), "{e}\n{sql}");
        assert!(session(300_000, scratch.path(), true).sql(&sql).await.is_ok(), "{sql}");
    }
    // Without CLASS, each column with few values is counted by itself.
    let alone = format!("UTILITY OF '{source}' AGAINST '{source}'");
    assert!(session(3_000, scratch.path(), true).sql(&alone).await.is_ok());
}
