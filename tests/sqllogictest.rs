//! Runs every file of `tests/slt/` as one test: statements and their expected results.
//!
//! Each file has its own session and scratch folder. `$__SCRATCH__` in the file stands for that
//! folder, in SQL, in `system` commands and in results. A number with a fraction is compared to six
//! digits after the point, an error is written as `<kind>: <message>`, NULL as `NULL` and an empty
//! text as `(empty)`. `ANONSQL_SLT_REWRITE=1` replaces the expectations by the actual results; read
//! the changes as a diff.
//!
//! The last test compares the files with the catalogues: an entry without its file fails.

use anonsql::AnonContext;
use anonsql::internal::{hierarchy, metric, model, partition, search, session};
use arrow::datatypes::{DataType, SchemaRef};
use arrow::record_batch::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use async_trait::async_trait;
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::TryStreamExt;
use sqllogictest::harness::{self, Failed, Trial};
use sqllogictest::{
    AsyncDB, ColumnType, Control, DBOutput, Record, Runner, default_normalizer, default_validator,
    strict_column_validator,
};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folder of the files, relative to the root of the package, which is the working directory of
/// a test.
const FILES: &str = "tests/slt";

/// The placeholder for a file's scratch folder.
const SCRATCH: &str = "__SCRATCH__";

/// The variable that, when set, rewrites the expectations.
const REWRITE: &str = "ANONSQL_SLT_REWRITE";

/// The stack of a thread that runs statements, in bytes. The threads of the command have as much,
/// because parsing a nested query takes a lot of stack in a build without optimization.
const STACK: usize = 8 << 20;

fn main() {
    let mut files = vec![];
    if let Err(error) = collect(Path::new(FILES), &mut files) {
        eprintln!("{FILES}: {error}");
        std::process::exit(1);
    }
    files.sort();
    let mut trials: Vec<Trial> = files
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(FILES).unwrap_or(&path).display().to_string();
            Trial::test(name, move || run(&path))
        })
        .collect();
    trials.push(Trial::test(
        "every entry of a catalogue has its file",
        every_entry_has_its_file,
    ));
    harness::run(&harness::Arguments::from_args(), trials).exit();
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "slt") {
            files.push(path);
        }
    }
    Ok(())
}

fn run(file: &Path) -> Result<(), Failed> {
    let thread = std::thread::Builder::new().stack_size(STACK);
    let done = std::thread::scope(|scope| {
        thread
            .spawn_scoped(scope, || run_here(file))
            .map(|running| running.join())
    });
    done?.map_err(|_| Failed::from("the thread of the file panicked"))?
}

/// Runs a file on the current thread.
fn run_here(file: &Path) -> Result<(), Failed> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_stack_size(STACK)
        .enable_all()
        .build()?;
    let scratch = tempfile::tempdir()?;
    let folder = scratch.path().display().to_string();
    let mut runner = Runner::new(|| async { Ok(Session::new(&folder)) });
    runner.with_column_validator(strict_column_validator);
    runner.set_var(SCRATCH.into(), folder.clone());
    runtime.block_on(async {
        runner.run_async(Record::Control(Control::Substitution(true))).await?;
        if std::env::var_os(REWRITE).is_some() {
            let rewritten = runner.update_test_file(
                file,
                " ",
                default_validator,
                default_normalizer,
                strict_column_validator,
            );
            return rewritten.await.map_err(|e| Failed::from(e.to_string()));
        }
        runner.run_file_async(file).await.map_err(Failed::from)
    })
}

fn every_entry_has_its_file() -> Result<(), Failed> {
    let models = model::MODELS.iter().map(|e| ("model", e.info.name.to_string()));
    let metrics = metric::METRICS.iter().map(|e| ("metric", e.info.name.to_string()));
    let searches = search::SEARCHES.iter().map(|e| ("search", e.info.name.to_string()));
    let partitioners = partition::PARTITIONERS
        .iter()
        .map(|e| ("search", e.info.name.to_string()));
    let kinds = hierarchy::KINDS.iter().map(|k| ("hierarchy", k.info.name.to_string()));
    let statements = session::STATEMENTS.iter().map(|e| e.name);
    let statements = statements.map(|name| ("statement", name.to_lowercase().replace(' ', "_")));
    let missing: Vec<String> = models
        .chain(metrics)
        .chain(searches)
        .chain(partitioners)
        .chain(kinds)
        .chain(statements)
        .map(|(module, name)| format!("{FILES}/{module}/{name}.slt"))
        .filter(|path| !Path::new(path).is_file())
        .collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(format!("there is no {}", missing.join(", no ")).into())
    }
}

/// One session of anonsql, configured as the command configures it.
struct Session {
    context: AnonContext,
    scratch: String,
}

impl Session {
    fn new(scratch: &str) -> Self {
        let config = SessionConfig::new()
            .with_target_partitions(2)
            .with_information_schema(true);
        Self {
            context: AnonContext::new(session::enable_path_tables(SessionContext::new_with_config(config))),
            scratch: scratch.into(),
        }
    }

    /// Returns the rows of the last statement.
    async fn answer(&self, text: &str) -> anonsql::error::Result<(SchemaRef, Vec<RecordBatch>)> {
        let mut last = None;
        for statement in self.context.parse(text)? {
            let answer = self.context.execute(statement?).await?;
            let schema = SchemaRef::clone(&answer.schema);
            // Rows are collected as they arrive, because a VERIFY that fails has rows to compare
            // too.
            last = Some((schema, answer.rows.try_collect().await?));
        }
        Ok(last.unwrap_or_else(|| (SchemaRef::new(arrow::datatypes::Schema::empty()), vec![])))
    }

    /// Returns a text without the path of the scratch folder.
    fn portable(&self, text: &str) -> String {
        // An error may name a file by its path in an object store, which has no leading slash.
        let name = format!("${SCRATCH}");
        text.replace(&self.scratch, &name)
            .replace(self.scratch.trim_start_matches('/'), &name)
    }

    fn cells(&self, batch: &RecordBatch) -> Result<Vec<Vec<String>>, Broken> {
        let options = FormatOptions::default().with_null("NULL");
        let columns = batch
            .columns()
            .iter()
            .map(|c| ArrayFormatter::try_new(c.as_ref(), &options))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|e| Broken(e.to_string()))?;
        let cell = |(column, row): (usize, usize)| {
            let text = columns[column].value(row).to_string();
            match batch.column(column).data_type() {
                DataType::Float32 | DataType::Float64 => rounded(&text),
                _ if text.is_empty() => "(empty)".into(),
                _ => self.portable(&text),
            }
        };
        let row = |row| (0..columns.len()).map(|column| cell((column, row))).collect();
        Ok((0..batch.num_rows()).map(row).collect())
    }
}

/// Returns a number with at most six digits after the point and without trailing zeros.
fn rounded(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => {
            let text = format!("{number:.6}");
            let text = text.trim_end_matches('0').trim_end_matches('.');
            if text == "-0" { "0".into() } else { text.into() }
        }
        _ => text.into(),
    }
}

#[async_trait]
impl AsyncDB for Session {
    type Error = Broken;
    type ColumnType = Column;

    async fn run(&mut self, text: &str) -> Result<DBOutput<Column>, Broken> {
        let (schema, batches) = self
            .answer(text)
            .await
            .map_err(|e| Broken(self.portable(&format!("{:?}: {e}", e.kind()))))?;
        let types: Vec<Column> = schema.fields().iter().map(|f| Column::of(f.data_type())).collect();
        if types.is_empty() {
            return Ok(DBOutput::StatementComplete(0));
        }
        let mut rows = vec![];
        for batch in &batches {
            rows.extend(self.cells(batch)?);
        }
        Ok(DBOutput::Rows { types, rows })
    }

    async fn shutdown(&mut self) {}

    async fn sleep(duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// An error in the form of the files.
#[derive(Debug)]
struct Broken(String);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Broken {}

/// The type of a column, as a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Boolean,
    Date,
    Integer,
    Real,
    Text,
    Timestamp,
    Other,
}

impl Column {
    const LETTERS: [(char, Self); 7] = [
        ('B', Self::Boolean),
        ('D', Self::Date),
        ('I', Self::Integer),
        ('R', Self::Real),
        ('T', Self::Text),
        ('P', Self::Timestamp),
        ('?', Self::Other),
    ];

    fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Boolean => Self::Boolean,
            DataType::Date32 | DataType::Date64 => Self::Date,
            DataType::Timestamp(..) => Self::Timestamp,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Self::Text,
            DataType::Dictionary(_, values) => Self::of(values),
            data_type if data_type.is_integer() => Self::Integer,
            data_type if data_type.is_numeric() => Self::Real,
            _ => Self::Other,
        }
    }
}

impl ColumnType for Column {
    fn from_char(letter: char) -> Option<Self> {
        Self::LETTERS
            .iter()
            .find(|(l, _)| *l == letter)
            .map(|(_, column)| *column)
    }

    fn to_char(&self) -> char {
        Self::LETTERS
            .iter()
            .find(|(_, column)| column == self)
            .map_or('?', |(letter, _)| *letter)
    }
}
