//! The loss of local recoding on Adult, and the accuracy of classifiers trained on its releases:
//! `cargo bench --bench utility -- [--quick] [--only loss | rules | classifiers]`.
//!
//! The bench prints three tables. `loss`: the loss of each search over nine quasi-identifiers for
//! k = 2, 5, 10 and 50, with the CPU time of the whole statement. `rules`: the loss of local
//! recoding with a TOP CODE for ages or with the labels of a hierarchy, compared with the loss
//! without them. `classifiers`: the accuracy of naive Bayes and of a decision tree on rows that are
//! in no release, over ten folds twice, with the standard error of the mean. `--quick` takes k = 5
//! and 50, and three folds once. The source table is read from ANONSQL_SHARED (or ../shared).

mod classifiers;
#[path = "../support/clock.rs"]
#[allow(dead_code)]
mod clock;
#[path = "../support/columns.rs"]
mod columns;
mod loss;
mod rules;
#[path = "../support/run.rs"]
#[allow(dead_code)]
mod run;

use anonsql::AnonContext;
use arrow::record_batch::RecordBatch;
use columns::COLUMNS;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::path::{Path, PathBuf};

/// The size of a run.
pub struct Plan {
    /// The values of k.
    pub ks: Vec<u32>,
    /// The number of divisions of the table into ten folds, and the number of folds held out in
    /// each.
    pub folds: (u32, u32),
    /// The folder for the releases.
    pub scratch: tempfile::TempDir,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` does not pass --bench. In that case, there is nothing to check.
    if !arguments.iter().any(|a| a == "--bench") {
        return;
    }
    let shared = PathBuf::from(std::env::var_os("ANONSQL_SHARED").unwrap_or_else(|| "../shared".into()));
    let data = shared.join("data");
    if !data.join("adult_arx.parquet").exists() {
        eprintln!("skipped: there is no data/adult_arx.parquet in ANONSQL_SHARED (or ../shared)");
        return;
    }
    let is_quick = arguments.iter().any(|a| a == "--quick");
    let plan = Plan {
        ks: if is_quick { vec![5, 50] } else { vec![2, 5, 10, 50] },
        folds: if is_quick { (1, 3) } else { (2, 10) },
        scratch: tempfile::tempdir().expect("a folder for releases"),
    };
    let only = arguments
        .iter()
        .position(|a| a == "--only")
        .and_then(|i| arguments.get(i + 1));
    run::runtime(threads()).block_on(async {
        let context = adult(&data).await;
        if only.is_none_or(|only| only == "loss") {
            loss::run(&plan, &context).await;
        }
        if only.is_none_or(|only| only == "rules") {
            rules::run(&plan, &context).await;
        }
        if only.is_none_or(|only| only == "classifiers") {
            classifiers::run(&plan, &context).await;
        }
    });
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// Returns a context with the table `adult` and the hierarchy of every column.
async fn adult(data: &Path) -> AnonContext {
    let session = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(threads()));
    let context = AnonContext::new(session);
    let table = data.join("adult_arx.parquet");
    let create = format!(
        "CREATE EXTERNAL TABLE adult STORED AS PARQUET LOCATION '{}'",
        table.display()
    );
    sql(&context, &create).await;
    for column in COLUMNS {
        let path = data.join("adult_arx_hier").join(format!("{column}.csv"));
        sql(
            &context,
            &format!("CREATE HIERARCHY \"{column}\" FROM '{}'", path.display()),
        )
        .await;
    }
    context
}

/// Runs a statement that must succeed.
pub async fn sql(context: &AnonContext, text: &str) -> Vec<RecordBatch> {
    match context.sql(text).await {
        Ok(rows) => rows,
        Err(e) => panic!("{e}\n{text}"),
    }
}

/// Returns the QUASI IDENTIFIERS clause of these columns, each with its hierarchy.
pub fn quasi_identifiers(columns: &[&str]) -> String {
    let columns: Vec<String> = columns.iter().map(|c| format!("\"{c}\" USING \"{c}\"")).collect();
    format!("QUASI IDENTIFIERS ({})", columns.join(", "))
}
