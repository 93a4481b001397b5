//! A release of an invented table, and copies of it in which violations are planted.

use crate::common::{collect, context};
use anonsql::AnonContext;
use anonsql::internal::folder::{FileSummary, Manifest};
use anonsql::internal::generate::{GeneratedTable, generate};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::datatypes::DataType;
use futures::TryStreamExt;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::OnceCell;

/// A released row, as texts.
pub type Row = Vec<Option<String>>;

/// The hierarchies of the release.
pub const HIERARCHIES: &str = "
    CREATE HIERARCHY age AS INTERVALS (5, 10, 20);
    CREATE HIERARCHY zip AS PREFIX (4, 2);";

/// The clauses of the release. Every released column is text.
pub const ROLES: &str = "IDENTIFIERS (name, ssn, birth_date, education, native_country, race, workclass, income)
    QUASI IDENTIFIERS (age USING age, sex, zip USING zip) SENSITIVE (occupation, salary_class) KEEP (marital_status)
    SATISFYING k_anonymity(5) AND k_anonymity(20) ON (age, zip) AND l_diversity(2) ON occupation
    AND l_diversity(2) ON salary_class SUPPRESSING AT MOST 60 PERCENT AT NODE (age 2, sex 0, zip 2)";

/// Source rows, a release of these rows, and a context with the hierarchies.
pub struct Scene {
    pub scratch: tempfile::TempDir,
    pub context: AnonContext,
    /// A context in which the path of a folder can be used as a table.
    pub paths: AnonContext,
}

impl Scene {
    /// Returns a copy of the shared scene, which is created once.
    pub async fn new() -> Self {
        static ONLY: OnceCell<Scene> = OnceCell::const_new();
        let only = ONLY.get_or_init(Self::made).await;
        let scene = Self::empty().await;
        std::fs::copy(only.path("census.parquet"), scene.path("census.parquet")).unwrap();
        copy_folder(&only.path("plain"), &scene.path("plain"));
        scene
    }

    async fn made() -> Self {
        let scene = Self::empty().await;
        generate(GeneratedTable::Census, 4_000, 11, &scene.path("census.parquet")).unwrap();
        scene.release("plain", "", ROLES, "").await;
        scene
    }

    async fn empty() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let context = context(2);
        collect(&context, HIERARCHIES).await;
        let paths = AnonContext::new(anonsql::internal::session::enable_path_tables(
            datafusion::prelude::SessionContext::new(),
        ));
        Self {
            scratch,
            context,
            paths,
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    pub async fn release(&self, name: &str, layout: &str, roles: &str, more: &str) {
        let (source, target) = (self.path("census.parquet"), self.path(name));
        let sql = format!(
            "ANONYMIZE '{}' TO '{}' {layout} {roles} {more}",
            source.display(),
            target.display()
        );
        collect(&self.context, &sql).await;
    }

    /// Returns the failed checks of a release. If `satisfying` is empty, VERIFY checks the models
    /// of the release.
    pub async fn failing(&self, name: &str, satisfying: &str, more: &str) -> BTreeSet<String> {
        let satisfying = match satisfying {
            "" => "k_anonymity(5) AND k_anonymity(20) ON (age, zip) AND l_diversity(2) ON occupation",
            given => given,
        };
        let sql = format!(
            "VERIFY '{}' QUASI IDENTIFIERS (age, sex, zip) SENSITIVE (occupation, salary_class) SATISFYING {satisfying} {more}",
            self.path(name).display(),
        );
        self.failing_of(&sql).await
    }

    /// Returns the failed checks, by their names in the rows of VERIFY.
    pub async fn failing_of(&self, sql: &str) -> BTreeSet<String> {
        let rows = checks(&self.context, sql).await;
        let failed = rows.into_iter().filter(|(_, ok)| *ok == Some(false));
        failed.map(|(check, _)| check).collect()
    }

    /// Returns the checks that VERIFY reports as not checked.
    pub async fn unchecked_of(&self, sql: &str) -> BTreeSet<String> {
        let rows = checks(&self.context, sql).await;
        let unchecked = rows.into_iter().filter(|(_, ok)| ok.is_none());
        unchecked.map(|(check, _)| check).collect()
    }

    pub fn against(&self) -> String {
        format!("AGAINST '{}'", self.path("census.parquet").display())
    }

    /// Creates a copy of release `from`, changed and sealed again.
    pub async fn plant(&self, from: &str, name: &str, change: impl FnOnce(&mut Rows)) {
        let sql = format!("SELECT * FROM '{}/'", self.path(from).display());
        let mut rows = Rows::of(&collect(&self.paths, &sql).await);
        change(&mut rows);
        std::fs::create_dir(self.path(name)).unwrap();
        rows.write(&self.path(name).join("part-00000.parquet"));
        let mut manifest = self.manifest(from);
        manifest.output.truncate(1);
        manifest.write(&self.path(name)).unwrap();
        self.seal(name, |_| {});
    }

    pub fn manifest(&self, name: &str) -> Manifest {
        Manifest::read(&self.path(name)).unwrap().unwrap()
    }

    /// Corrects sizes, rows and checksums in the manifest, and then changes it further.
    pub fn seal(&self, name: &str, change: impl FnOnce(&mut Manifest)) {
        let mut manifest = self.manifest(name);
        for file in &mut manifest.output {
            let path = self.path(name).join(&file.name);
            let parquet = SerializedFileReader::new(File::open(&path).unwrap());
            let rows = parquet.map_or(file.rows, |p| Some(p.metadata().file_metadata().num_rows() as u64));
            *file = FileSummary::of(&path, file.name.clone(), rows).unwrap();
        }
        change(&mut manifest);
        manifest.write(&self.path(name)).unwrap();
    }

    pub fn copy(&self, from: &str, name: &str) {
        copy_folder(&self.path(from), &self.path(name));
    }
}

/// Returns the rows of a VERIFY: each check, with true if it passed, false if it failed, and `None`
/// if it was not checked.
pub async fn checks(context: &AnonContext, sql: &str) -> Vec<(String, Option<bool>)> {
    let statement = anonsql::internal::session::parse(sql).unwrap().remove(0);
    let answer = match context.execute(statement).await {
        Ok(answer) => answer,
        Err(e) => panic!("{e}\n{sql}"),
    };
    let says_failed = answer.verified().is_err();
    let mut rows = vec![];
    for batch in answer.rows.try_collect::<Vec<RecordBatch>>().await.unwrap() {
        let (check, ok) = (batch.column(0).as_string::<i32>(), batch.column(3).as_boolean());
        rows.extend((0..batch.num_rows()).map(|i| (check.value(i).to_string(), ok.is_valid(i).then(|| ok.value(i)))));
    }
    assert_eq!(says_failed, rows.iter().any(|(_, ok)| *ok == Some(false)), "{sql}");
    rows
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy_folder(&path, &target),
            false => drop(std::fs::copy(&path, &target).unwrap()),
        }
    }
}

/// Returns a writer for a Parquet file that contains only rows, configured as for a release.
pub fn writer(path: &Path, batch: &RecordBatch) -> ArrowWriter<File> {
    let properties = WriterProperties::builder()
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_created_by(format!("anonsql {}", env!("CARGO_PKG_VERSION")));
    let options = ArrowWriterOptions::new()
        .with_properties(properties.build())
        .with_skip_arrow_metadata(true);
    ArrowWriter::try_new_with_options(File::create(path).unwrap(), batch.schema(), options).unwrap()
}

/// Released rows, as texts.
pub struct Rows {
    pub header: Vec<String>,
    pub rows: Vec<Row>,
}

impl Rows {
    pub fn of(batches: &[RecordBatch]) -> Self {
        let mut rows = vec![];
        for batch in batches {
            let text = |c: &ArrayRef| arrow::compute::cast(c, &DataType::Utf8).unwrap();
            let columns: Vec<ArrayRef> = batch.columns().iter().map(text).collect();
            for row in 0..batch.num_rows() {
                let cell = |c: &ArrayRef| (!c.is_null(row)).then(|| c.as_string::<i32>().value(row).to_string());
                rows.push(columns.iter().map(cell).collect());
            }
        }
        let schema = batches[0].schema();
        Self {
            header: schema.fields().iter().map(|f| f.name().clone()).collect(),
            rows,
        }
    }

    pub fn write(&self, path: &Path) {
        let columns = self.header.iter().enumerate().map(|(i, name)| {
            let values: StringArray = self.rows.iter().map(|r| r[i].as_deref()).collect();
            (name.as_str(), Arc::new(values) as ArrayRef, true)
        });
        let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        let mut writer = writer(path, &batch);
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }

    pub fn column(&self, name: &str) -> usize {
        self.header.iter().position(|h| h == name).unwrap()
    }

    pub fn key(&self, row: &Row, columns: &[&str]) -> Row {
        columns.iter().map(|c| row[self.column(c)].clone()).collect()
    }

    /// Returns the classes over these columns, smallest first: the labels and the rows of each
    /// class.
    pub fn classes(&self, columns: &[&str]) -> Vec<(Row, Vec<usize>)> {
        let mut classes: BTreeMap<Row, Vec<usize>> = BTreeMap::new();
        for (i, row) in self.rows.iter().enumerate() {
            classes.entry(self.key(row, columns)).or_default().push(i);
        }
        let mut classes: Vec<_> = classes.into_iter().collect();
        classes.sort_by_key(|(_, rows)| rows.len());
        classes
    }

    /// Returns the rows of the smallest class and those of the largest class.
    pub fn ends(&self) -> (Vec<usize>, Vec<usize>) {
        let mut classes = self.classes(&["age", "sex", "zip"]);
        let largest = classes.pop().unwrap().1;
        (classes.swap_remove(0).1, largest)
    }

    pub fn set(&mut self, rows: &[usize], column: &str, value: Option<&str>) {
        let column = self.column(column);
        for row in rows {
            self.rows[*row][column] = value.map(str::to_string);
        }
    }
}

impl Scene {
    /// Returns the value that a release reaches for one model.
    pub async fn reached(&self, name: &str, satisfying: &str, more: &str) -> f64 {
        let sql = format!(
            "VERIFY '{}' QUASI IDENTIFIERS (age, sex, zip) SENSITIVE (occupation, salary_class) SATISFYING {satisfying} {more}",
            self.path(name).display(),
        );
        crate::common::Numbers::of(&collect(&self.context, &sql).await).get("reached", 0)
    }
}

impl Scene {
    pub fn seal_renamed(&self, name: &str, from: &str, to: &str) {
        let mut manifest = self.manifest(name);
        for file in &mut manifest.output {
            file.name = file.name.replace(from, to);
        }
        manifest.write(&self.path(name)).unwrap();
    }
}
