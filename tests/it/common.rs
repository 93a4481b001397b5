//! Functions that several tests share.

use anonsql::{AnonContext, enable_path_tables};
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float64Type};
use datafusion::object_store::{ObjectMeta, ObjectStore};
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::TryStreamExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns a path in the folder that ANONSQL_SHARED names; without this variable, in `../shared`.
/// Panics if the path does not exist.
pub fn shared(path: &str) -> PathBuf {
    let root = std::env::var("ANONSQL_SHARED").unwrap_or_else(|_| "../shared".into());
    let found = PathBuf::from(&root).join(path);
    assert!(
        found.exists(),
        "{} is missing: set ANONSQL_SHARED to the folder that has it",
        found.display()
    );
    found
}

/// Returns a context with `threads` partitions.
pub fn context(threads: usize) -> AnonContext {
    AnonContext::new(SessionContext::new_with_config(
        SessionConfig::new().with_target_partitions(threads),
    ))
}

/// Returns a context with `threads` partitions, in which a path in quotes can be used as a table.
pub fn with_paths(threads: usize) -> AnonContext {
    let session = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(threads));
    AnonContext::new(enable_path_tables(session))
}

/// Returns a context with the table `adult` and its hierarchies for `columns`.
pub async fn adult(columns: &[&str]) -> AnonContext {
    let context = context(2);
    let data = shared("data");
    let table = data.join("adult_arx.parquet");
    collect(
        &context,
        &format!(
            "CREATE EXTERNAL TABLE adult STORED AS PARQUET LOCATION '{}'",
            table.display()
        ),
    )
    .await;
    for column in columns {
        let path = data.join("adult_arx_hier").join(format!("{column}.csv"));
        collect(
            &context,
            &format!("CREATE HIERARCHY \"{column}\" FROM '{}'", path.display()),
        )
        .await;
    }
    context
}

/// Runs a statement that must succeed.
pub async fn collect(context: &AnonContext, sql: &str) -> Vec<RecordBatch> {
    match context.sql(sql).await {
        Ok(batches) => batches,
        Err(e) => panic!("{e}\n{sql}"),
    }
}

/// Returns the only number in the result of a statement.
pub fn number(batches: &[RecordBatch]) -> f64 {
    Numbers::of(batches).at(0, 0)
}

/// Returns the text in column `answer` of the row whose column `key` is `value`.
pub fn text(batches: &[RecordBatch], key: &str, value: &str, answer: &str) -> String {
    for batch in batches {
        let keys = arrow::compute::cast(batch.column_by_name(key).unwrap(), &DataType::Utf8).unwrap();
        let answers = arrow::compute::cast(batch.column_by_name(answer).unwrap(), &DataType::Utf8).unwrap();
        for row in 0..batch.num_rows() {
            if keys.as_string::<i32>().value(row) == value {
                return answers.as_string::<i32>().value(row).to_string();
            }
        }
    }
    panic!("no row with {key} = {value}")
}

/// The numeric columns of a result.
pub struct Numbers {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
}

impl Numbers {
    /// Reads every column as numbers. A value that is not a number becomes NaN.
    pub fn of(batches: &[RecordBatch]) -> Self {
        let schema = batches[0].schema();
        let all = arrow::compute::concat_batches(&schema, batches).unwrap();
        let column = |i: usize| {
            let values = arrow::compute::cast(all.column(i), &DataType::Float64).unwrap();
            let values = values.as_primitive::<Float64Type>();
            (0..values.len())
                .map(|r| if values.is_null(r) { f64::NAN } else { values.value(r) })
                .collect()
        };
        Self {
            names: schema.fields().iter().map(|f| f.name().clone()).collect(),
            columns: (0..all.num_columns()).map(column).collect(),
        }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.columns[0].len()
    }

    /// Returns the number in the column `name` and the row with index `row`.
    pub fn get(&self, name: &str, row: usize) -> f64 {
        self.columns[self.names.iter().position(|n| n == name).unwrap()][row]
    }

    /// Returns a number by the indices of its column and its row.
    pub fn at(&self, column: usize, row: usize) -> f64 {
        self.columns[column][row]
    }
}

/// Returns the command with `folder` as its working directory, but without the history and the
/// start-up script of the user who runs the tests.
pub fn process(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_anonsql"));
    command
        .current_dir(folder)
        .env("ANONSQL_HISTORY", "")
        .env("XDG_CONFIG_HOME", folder.join("config"))
        .env_remove("RUST_BACKTRACE");
    command
}

/// Returns the same command in a form that collects all its output.
pub fn anonsql(folder: &Path) -> assert_cmd::Command {
    assert_cmd::Command::from_std(process(folder))
}

/// Returns the number of rows in a result.
pub fn rows(batches: &[RecordBatch]) -> usize {
    batches.iter().map(RecordBatch::num_rows).sum()
}

/// Returns true if no check in the result of VERIFY failed.
pub fn holds(batches: &[RecordBatch]) -> bool {
    let ok = |batch: &RecordBatch| {
        let ok = batch.column_by_name("ok").unwrap().as_boolean();
        !ok.iter().any(|ok| ok == Some(false))
    };
    rows(batches) > 0 && batches.iter().all(ok)
}

/// Returns the paths of all objects of a store, sorted.
pub async fn objects(store: &dyn ObjectStore) -> Vec<String> {
    let listed = store.list(None).try_collect::<Vec<ObjectMeta>>().await.unwrap();
    let mut names: Vec<String> = listed.iter().map(|meta| meta.location.to_string()).collect();
    names.sort();
    names
}
