//! Runs a case: creates its tables and hierarchies in a fresh session, executes its statement, and
//! reads the release.

use super::case::*;
use super::judge::cell::Cell;
use super::judge::table::Rows;
use super::print::{literal, quote};
use super::session::session;
use super::{arrays, spark};
use anonsql::AnonContext;
use anonsql::error::Error;
use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The secret of masked identifiers.
pub const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// The tables of a case on disk and in memory, and the rows that its statement selects.
pub struct Scene {
    pub folder: PathBuf,
    /// The rows that the statement selects.
    pub source: Rows,
    /// The whole table.
    pub table: Rows,
    /// The population.
    pub people: Rows,
}

/// The output of a statement.
pub struct Leaves {
    pub schema: SchemaRef,
    /// The released rows, in their order.
    pub batches: Vec<RecordBatch>,
    /// True if the batches are those that a user of the library receives.
    pub answered: bool,
    /// True if the batches were read from text: CSV or JSON.
    pub untyped: bool,
    /// True if NULL and the empty text are the same, as in CSV.
    pub no_null: bool,
    pub files: Vec<PathBuf>,
    pub manifest: Option<serde_json::Value>,
    pub summary: Option<RecordBatch>,
}

impl Case {
    /// Returns the source as the statement names it.
    pub fn from(&self, folder: &Path) -> String {
        let named = match (self.storage, self.pattern) {
            (Storage::Memory(_), _) => None,
            (Storage::Parquet(_) | Storage::Spark(_), None) => Some("in"),
            (Storage::Parquet(_) | Storage::Spark(_), Some(Pattern::Names)) => Some("in/[0-9]*.parq[!x]e?"),
            (Storage::Parquet(_) | Storage::Spark(_), Some(Pattern::Depths)) => Some("in/**/[0-9]*.parquet"),
            (Storage::Csv, None) => Some("in/t.csv"),
            (Storage::Csv, Some(Pattern::Names)) => Some("in/[s-u].c?v"),
            (Storage::Csv, Some(Pattern::Depths)) => Some("in/**/t*"),
        };
        let path = named.filter(|_| self.seed.is_multiple_of(2)).map(|n| folder.join(n));
        match (&self.source, path) {
            (Source::Whole, Some(path)) => literal(&path.display().to_string()),
            (Source::Whole, None) => "t".into(),
            (Source::Where(condition), _) => format!("(SELECT * FROM t WHERE {condition})"),
            (Source::Join(column), _) => format!(
                "(SELECT t.*, concat('extra ', CAST(keys.key AS VARCHAR)) AS extra FROM t JOIN keys ON t.{} = keys.key)",
                quote(column)
            ),
            (Source::Unnested(column), _) => self.unnested(column),
        }
    }

    fn unnested(&self, column: &str) -> String {
        let columns = || self.table.columns.iter().map(|c| c.name.as_str());
        let listed = columns().map(|c| match c == column {
            true => format!("unnest(array_agg({0})) AS {0}", quote(c)),
            false => quote(c),
        });
        let others: Vec<String> = columns().filter(|c| *c != column).map(quote).collect();
        let by = match others.is_empty() {
            true => String::new(),
            false => format!(" GROUP BY {}", others.join(", ")),
        };
        format!("(SELECT {} FROM t{by})", listed.collect::<Vec<_>>().join(", "))
    }

    /// Returns the ANONYMIZE of the case, within the statement that receives the rows, if there is
    /// one. Targets are in `folder`.
    pub fn statement(&self, folder: &Path) -> String {
        let (from, clauses) = (self.from(folder), self.request.clauses(folder));
        let out = |name: &str| literal(&folder.join(name).display().to_string());
        match &self.way {
            Way::To {
                format,
                partitioned_by,
                rows_per_file,
                report,
            } => {
                let mut to = format!("TO {}", out("out"));
                if *format == Format::Csv {
                    to += " STORED AS CSV";
                }
                if !partitioned_by.is_empty() {
                    let columns: Vec<String> = partitioned_by.iter().map(|c| quote(c)).collect();
                    to += &format!(" PARTITIONED BY ({})", columns.join(", "));
                }
                if let Some(rows) = rows_per_file {
                    to += &format!(" OPTIONS (rows_per_file {rows})");
                }
                let report = if *report {
                    format!(" REPORT TO {}", out("report.html"))
                } else {
                    String::new()
                };
                format!("ANONYMIZE {from} {to}{clauses}{report}")
            }
            Way::Rows => format!("ANONYMIZE {from}{clauses}"),
            Way::CreateTable => format!("CREATE TABLE released AS ANONYMIZE {from}{clauses}"),
            Way::Copy(format) => format!("COPY (ANONYMIZE {from}{clauses}) TO {}", out(copied(*format))),
            Way::Insert => format!("INSERT INTO released ANONYMIZE {from}{clauses}"),
        }
    }

    /// Returns the statements that create the hierarchies.
    pub fn setup(&self, folder: &Path) -> Vec<String> {
        self.hierarchies.iter().map(|h| h.sql(folder)).collect()
    }
}

fn copied(format: Format) -> &'static str {
    match format {
        Format::Parquet => "out.parquet",
        Format::Csv => "out.csv",
        Format::Json => "out.json",
        Format::Arrow => "out.arrow",
    }
}

/// Writes the files of a case, and reads the rows that its statement selects, without anonsql.
pub async fn scene(case: &Case, folder: &Path) -> Result<Scene, Box<dyn std::error::Error>> {
    std::fs::create_dir_all(folder.join("in"))?;
    std::fs::write(folder.join("secret"), SECRET)?;
    let whole = arrays::batch(&case.table);
    match case.storage {
        Storage::Memory(_) => {}
        Storage::Parquet(files) | Storage::Spark(files) => {
            let rows = whole.num_rows();
            for i in 0..files {
                let (from, to) = (rows * i / files, rows * (i + 1) / files);
                let deeper = if i > 0 && case.pattern == Some(Pattern::Depths) {
                    "in/a/b"
                } else {
                    "in"
                };
                std::fs::create_dir_all(folder.join(deeper))?;
                let file = File::create(folder.join(format!("{deeper}/{i}.parquet")))?;
                let rows = whole.slice(from, to - from);
                if let Storage::Spark(_) = case.storage {
                    spark::write(&rows, file)?;
                    continue;
                }
                let mut writer = ArrowWriter::try_new(file, whole.schema(), None)?;
                writer.write(&rows)?;
                writer.close()?;
            }
        }
        Storage::Csv => {
            arrow::csv::Writer::new(File::create(folder.join("in/t.csv"))?).write(&whole)?;
        }
    }
    for hierarchy in &case.hierarchies {
        if let Rule::Listed(rows, Listing::File) = &hierarchy.rule {
            let mut writer = csv::WriterBuilder::new()
                .delimiter(b';')
                .from_path(folder.join(format!("{}.csv", hierarchy.name)))?;
            rows.iter().try_for_each(|row| writer.write_record(row))?;
            writer.flush()?;
        }
    }
    let plain = session(case, folder, true).await?;
    // With statistics, DataFusion would read a column of one number and NaN as that number alone.
    plain.sql("SET datafusion.execution.collect_statistics = false").await?;
    let source = match &case.source {
        Source::Whole => "SELECT * FROM t".to_string(),
        _ => format!("SELECT * FROM {} AS s", case.from(folder)),
    };
    let rows = async |sql: &str| {
        let frame = plain.sql(sql).await?;
        let schema: SchemaRef = Arc::new(frame.schema().as_arrow().clone());
        let batches = frame.collect().await?;
        Ok::<_, datafusion::error::DataFusionError>(Rows::of(&schema, &batches, |_| None))
    };
    Ok(Scene {
        folder: folder.to_path_buf(),
        source: rows(&source).await?,
        table: rows("SELECT * FROM t").await?,
        people: rows(if case.request.population {
            "SELECT * FROM people"
        } else {
            "SELECT * FROM t"
        })
        .await?,
    })
}

/// Runs the statement of a case in a fresh session, and collects its output.
pub async fn run(case: &Case, scene: &Scene) -> Result<(AnonContext, Leaves), Error> {
    let folder = &scene.folder;
    let context = AnonContext::new(session(case, folder, false).await?);
    for statement in case.setup(folder) {
        context.sql(&statement).await?;
    }
    if case.way == Way::Insert {
        let like = Case {
            way: Way::CreateTable,
            ..case.clone()
        };
        context.sql(&like.statement(folder)).await?;
        let empty = "CREATE TABLE like_it AS SELECT * FROM released LIMIT 0; DROP TABLE released; \
             CREATE TABLE released AS SELECT * FROM like_it";
        for statement in empty.split("; ") {
            context.sql(statement).await?;
        }
    }
    let answer = context.sql(&case.statement(folder)).await?;
    let leaves = leaves(case, scene, &context, answer).await?;
    Ok((context, leaves))
}

async fn leaves(case: &Case, scene: &Scene, context: &AnonContext, answer: Vec<RecordBatch>) -> Result<Leaves, Error> {
    let mut leaves = Leaves {
        schema: Arc::new(Schema::empty()),
        batches: vec![],
        answered: false,
        untyped: false,
        no_null: false,
        files: vec![],
        manifest: None,
        summary: None,
    };
    match &case.way {
        Way::To { .. } => {
            leaves.summary = answer.into_iter().next();
            of_folder(&scene.folder.join("out"), &mut leaves).map_err(broken)?;
            leaves
                .files
                .extend(Some(scene.folder.join("report.html")).filter(|p| p.exists()));
        }
        Way::Rows => (leaves.batches, leaves.answered) = (answer, true),
        Way::CreateTable | Way::Insert => {
            leaves.batches = context.session().table("released").await?.collect().await?;
            leaves.schema = Arc::new(context.session().table("released").await?.schema().as_arrow().clone());
            leaves.answered = true;
        }
        Way::Copy(format) => {
            let path = scene.folder.join(copied(*format));
            if path.exists() {
                leaves.untyped = matches!(format, Format::Csv | Format::Json);
                leaves.no_null = *format == Format::Csv;
                leaves.batches = match format {
                    Format::Json => lines(case, scene, &path),
                    _ => read(&path),
                }
                .map_err(broken)?;
                leaves.files.push(path);
            }
        }
    }
    if let Some(first) = leaves.batches.first() {
        leaves.schema = first.schema();
    }
    Ok(leaves)
}

fn broken(e: Box<dyn std::error::Error>) -> Error {
    Error::internal(format!("what was written cannot be read: {e}"))
}

/// Reads the rows of a target's files in the order of its manifest, with the values of folder
/// names.
fn of_folder(folder: &Path, leaves: &mut Leaves) -> Result<(), Box<dyn std::error::Error>> {
    let manifest: serde_json::Value = serde_json::from_slice(&std::fs::read(folder.join("_manifest.json"))?)?;
    leaves.files = super::judge::bytes::files(folder);
    let mut named = BTreeSet::from([folder.join("_manifest.json")]);
    for output in manifest["output"].as_array().into_iter().flatten() {
        let path = folder.join(output["name"].as_str().unwrap_or_default());
        leaves.untyped = path.extension().is_some_and(|e| e == "csv");
        leaves.no_null = leaves.untyped;
        for batch in read(&path)? {
            leaves
                .batches
                .push(with_folders(&batch, output["name"].as_str().unwrap_or_default())?);
        }
        named.insert(path);
    }
    if let Some(other) = leaves.files.iter().find(|f| !named.contains(*f)) {
        return Err(format!(
            "{} is in the target, and the manifest does not name it",
            other.display()
        )
        .into());
    }
    leaves.manifest = Some(manifest);
    Ok(())
}

/// Returns a file's rows with the values in the names of its folders.
fn with_folders(batch: &RecordBatch, name: &str) -> Result<RecordBatch, Box<dyn std::error::Error>> {
    let mut fields: Vec<Arc<Field>> = batch.schema().fields().to_vec();
    let mut columns = batch.columns().to_vec();
    for part in name.split('/').rev().skip(1) {
        let Some((column, value)) = part.split_once('=') else {
            continue;
        };
        let value = decoded(value);
        let value = (value != "__HIVE_DEFAULT_PARTITION__").then_some(value);
        fields.push(Arc::new(Field::new(decoded(column), DataType::Utf8, true)));
        columns.push(Arc::new(StringArray::from(vec![value; batch.num_rows()])) as ArrayRef);
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}

/// Decodes a percent-encoded text.
fn decoded(text: &str) -> String {
    let (bytes, mut out, mut i) = (text.as_bytes(), vec![], 0);
    while i < bytes.len() {
        let code = text
            .get(i + 1..i + 3)
            .filter(|_| bytes[i] == b'%')
            .and_then(|h| u8::from_str_radix(h, 16).ok());
        out.push(code.unwrap_or(bytes[i]));
        i += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Reads the rows of one file.
pub fn read(path: &Path) -> Result<Vec<RecordBatch>, Box<dyn std::error::Error>> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("parquet") => {
            let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
            let schema = Arc::clone(builder.schema());
            let mut batches = builder.build()?.collect::<Result<Vec<_>, _>>()?;
            if batches.is_empty() {
                batches.push(RecordBatch::new_empty(schema));
            }
            Ok(batches)
        }
        Some("arrow") => {
            let reader = arrow::ipc::reader::FileReader::try_new(File::open(path)?, None)?;
            let schema = reader.schema();
            let mut batches = reader.collect::<Result<Vec<_>, _>>()?;
            if batches.is_empty() {
                batches.push(RecordBatch::new_empty(schema));
            }
            Ok(batches)
        }
        Some("csv") => {
            let mut reader = csv::Reader::from_path(path)?;
            let names: Vec<String> = reader.headers()?.iter().map(str::to_string).collect();
            let rows = reader.records().collect::<Result<Vec<_>, _>>()?;
            let column = |i: usize| Arc::new(rows.iter().map(|r| r.get(i)).collect::<StringArray>()) as ArrayRef;
            let fields: Vec<Field> = names.iter().map(|n| Field::new(n, DataType::Utf8, true)).collect();
            let columns = (0..names.len()).map(column).collect();
            Ok(vec![RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?])
        }
        _ => Ok(vec![]),
    }
}

/// Reads the rows of a JSON file as text. Each line is a row, without the columns whose value is
/// NULL.
fn lines(case: &Case, scene: &Scene, path: &Path) -> Result<Vec<RecordBatch>, Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(path)?;
    let rows: Vec<serde_json::Value> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let is_released = |name: &&String| !matches!(case.request.role(name), Some(Role::Dropped | Role::Unlisted) | None);
    let names: Vec<&String> = scene.source.names.iter().filter(is_released).collect();
    let other = |row: &serde_json::Value| row.as_object().is_some_and(|o| o.keys().any(|k| !names.contains(&k)));
    if rows.iter().any(other) {
        return Err("a line has a column that is not released".into());
    }
    // A number becomes the text of the equal value in the source, because the two may be written
    // differently.
    let own = |name: &str, value: &serde_json::Value| {
        let shown = shown(value);
        let number = value
            .is_number()
            .then(|| super::judge::cell::Exact::parse(shown.as_deref()?))
            .flatten();
        let same = |n: super::judge::cell::Exact| {
            let key = format!("{}e{}", n.digits, if n.digits == 0 { 0 } else { n.exponent });
            let same = |c: &&Cell| c.key.as_ref() == Some(&key);
            let is_negative = |text: &Option<String>| text.as_ref().is_some_and(|t| t.starts_with('-'));
            let mut same = scene.source.column(name).iter().filter(same).peekable();
            let first = same.peek().copied();
            // Positive and negative zero are equal, so the text with the same sign is taken.
            same.find(|c| is_negative(&c.text) == is_negative(&shown)).or(first)
        };
        number.and_then(same).map_or(shown, |c| c.text.clone())
    };
    let column = |name: &&String| {
        Arc::new(
            rows.iter()
                .map(|row| own(name, &row[name.as_str()]))
                .collect::<StringArray>(),
        ) as ArrayRef
    };
    let fields: Vec<Field> = names
        .iter()
        .map(|n| Field::new(n.as_str(), DataType::Utf8, true))
        .collect();
    let columns: Vec<ArrayRef> = names.iter().map(column).collect();
    Ok(vec![RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?])
}

/// Returns a JSON value in the text form of Arrow.
fn shown(value: &serde_json::Value) -> Option<String> {
    use serde_json::Value as Json;
    match value {
        Json::Null => None,
        Json::String(text) => Some(text.clone()),
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(|i| shown(i).unwrap_or_default()).collect();
            Some(format!("[{}]", items.join(", ")))
        }
        Json::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(k, v)| format!("{k}: {}", shown(v).unwrap_or_default()))
                .collect();
            Some(format!("{{{}}}", fields.join(", ")))
        }
        other => Some(other.to_string()),
    }
}
