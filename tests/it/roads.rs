//! Tests every way to deliver rows. Only rows that were recounted are delivered, even if the source
//! changes in the meantime, and nothing else is delivered with them.

use crate::common::{collect, context};
use anonsql::AnonContext;
use anonsql::error::{ErrorKind, Result};
use anonsql::internal::session::enable_path_tables;
use arrow::array::{Array, ArrayData, ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, SchemaRef};
use datafusion::catalog::streaming::StreamingTable;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use datafusion::prelude::{SessionConfig, SessionContext};
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A row: the zip code, the sex, the disease, the number of the disease, and the person.
pub type Row = (&'static str, &'static str, &'static str, i64, i64);

/// Classes of three rows, from three people with two diseases, and one class that is suppressed.
pub const FIRST: [Row; 7] = [
    ("a", "m", "flu", 1, 1),
    ("a", "m", "flu", 2, 2),
    ("a", "m", "gout", 3, 3),
    ("b", "f", "flu", 4, 4),
    ("b", "f", "flu", 5, 5),
    ("b", "f", "gout", 6, 6),
    ("b", "m", "gout", 7, 7),
];

/// As many rows as in `FIRST`. Each table violates the models in a different way: by a small class,
/// a new class, a single disease, or a single person.
const LATER: [[Row; 7]; 4] = [
    [
        ("a", "m", "flu", 11, 1),
        ("a", "m", "gout", 12, 2),
        ("b", "f", "flu", 13, 3),
        ("b", "f", "flu", 14, 4),
        ("b", "f", "flu", 15, 5),
        ("b", "f", "gout", 16, 6),
        ("b", "m", "gout", 17, 7),
    ],
    [
        ("a", "m", "flu", 11, 1),
        ("a", "m", "flu", 12, 2),
        ("a", "m", "gout", 13, 3),
        ("b", "f", "flu", 14, 4),
        ("b", "f", "gout", 15, 5),
        ("a", "f", "gout", 16, 6),
        ("b", "m", "gout", 17, 7),
    ],
    [
        ("a", "m", "flu", 11, 1),
        ("a", "m", "flu", 12, 2),
        ("a", "m", "flu", 13, 3),
        ("b", "f", "flu", 14, 4),
        ("b", "f", "flu", 15, 5),
        ("b", "f", "gout", 16, 6),
        ("b", "m", "gout", 17, 7),
    ],
    [
        ("a", "m", "flu", 11, 1),
        ("a", "m", "flu", 12, 1),
        ("a", "m", "gout", 13, 1),
        ("b", "f", "flu", 14, 4),
        ("b", "f", "flu", 15, 5),
        ("b", "f", "gout", 16, 6),
        ("b", "m", "gout", 17, 7),
    ],
];

pub fn batch(rows: &[Row]) -> RecordBatch {
    let text =
        |of: fn(&Row) -> &'static str| Arc::new(rows.iter().map(|r| Some(of(r))).collect::<StringArray>()) as ArrayRef;
    let number = |of: fn(&Row) -> i64| Arc::new(rows.iter().map(|r| Some(of(r))).collect::<Int64Array>()) as ArrayRef;
    RecordBatch::try_from_iter([
        ("zip", text(|r| r.0)),
        ("sex", text(|r| r.1)),
        ("disease", text(|r| r.2)),
        ("number", number(|r| r.3)),
        ("person", number(|r| r.4)),
    ])
    .unwrap()
}

/// A table that returns `first` for a number of reads, and then `later`.
#[derive(Debug)]
struct Changing {
    first: RecordBatch,
    later: RecordBatch,
    left: AtomicUsize,
    schema: SchemaRef,
}

impl PartitionStream for Changing {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let left = self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        let rows = match left {
            Ok(_) => self.first.clone(),
            Err(_) => self.later.clone(),
        };
        let stream = futures::stream::iter([Ok(rows)]);
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), stream))
    }
}

fn changing(times: usize, later: &[Row]) -> AnonContext {
    let config = SessionConfig::new().with_target_partitions(2);
    let context = AnonContext::new(enable_path_tables(SessionContext::new_with_config(config)));
    let first = batch(&FIRST);
    let part = Changing {
        schema: first.schema(),
        first,
        later: batch(later),
        left: AtomicUsize::new(times),
    };
    let table = StreamingTable::try_new(Arc::clone(&part.schema), vec![Arc::new(part)]).unwrap();
    context.session().register_table("people", Arc::new(table)).unwrap();
    context
}

/// Returns the ways to deliver rows: the text before a request without a target, the text after the
/// request, and the query that reads the release.
fn ways(folder: &Path) -> Vec<(String, String, String)> {
    let folder = folder.display();
    let mut ways = vec![
        (String::new(), String::new(), String::new()),
        ("CREATE TABLE out AS ".into(), String::new(), "SELECT * FROM out".into()),
        ("INSERT INTO kept ".into(), String::new(), "SELECT * FROM kept".into()),
    ];
    for format in ["parquet", "csv"] {
        let file = format!("{folder}/out.{format}");
        ways.push((
            "COPY (".into(),
            format!(") TO '{file}'"),
            format!("SELECT * FROM '{file}'"),
        ));
        let to = format!("TO '{folder}/{format}' STORED AS {format}");
        ways.push((to, String::new(), format!("SELECT * FROM '{folder}/{format}/'")));
    }
    ways
}

fn request(way: &(String, String, String), rest: &str) -> String {
    let (before, after, _) = way;
    match before.starts_with("TO ") {
        true => format!("ANONYMIZE people {before} {rest}"),
        false => format!("{before}ANONYMIZE people {rest}{after}"),
    }
}

async fn released(context: &AnonContext, way: &(String, String, String), rest: &str) -> Result<Vec<RecordBatch>> {
    if way.0.starts_with("INSERT") {
        let kept = "CREATE TABLE kept (zip VARCHAR, sex VARCHAR, disease VARCHAR, number BIGINT)";
        collect(context, kept).await;
    }
    let answer = context.sql(&request(way, rest)).await?;
    Ok(match way.2.as_str() {
        "" => answer,
        read => collect(context, read).await,
    })
}

/// A folder that is emptied when this value is dropped.
struct Emptied<'a>(&'a Path);

impl Drop for Emptied<'_> {
    fn drop(&mut self) {
        std::fs::remove_dir_all(self.0).unwrap();
        std::fs::create_dir(self.0).unwrap();
    }
}

fn texts(batch: &RecordBatch, name: &str) -> StringArray {
    let column = cast(batch.column_by_name(name).unwrap(), &DataType::Utf8).unwrap();
    column.as_string::<i32>().clone()
}

/// The rows, people and diseases of a class.
type Class = (usize, BTreeSet<i64>, BTreeSet<String>);

/// Returns true if every class of the released rows has at least three rows, three people and two
/// diseases.
fn holds(rows: &[RecordBatch], people: &BTreeMap<i64, i64>) -> bool {
    let mut classes: BTreeMap<(String, String), Class> = BTreeMap::new();
    for batch in rows {
        let (zip, sex, disease) = (texts(batch, "zip"), texts(batch, "sex"), texts(batch, "disease"));
        let number = cast(batch.column_by_name("number").unwrap(), &DataType::Int64).unwrap();
        let number = number.as_primitive::<Int64Type>();
        for row in 0..batch.num_rows() {
            if zip.value(row) == "*" {
                continue;
            }
            let key = (zip.value(row).to_string(), sex.value(row).to_string());
            let class = classes.entry(key).or_default();
            class.0 += 1;
            class.1.insert(people[&number.value(row)]);
            class.2.insert(disease.value(row).to_string());
        }
    }
    assert!(!classes.is_empty());
    classes
        .values()
        .all(|(n, people, diseases)| *n >= 3 && people.len() >= 3 && diseases.len() >= 2)
}

/// If a source returns different rows each time, rows are delivered only from an execution whose
/// rows were recounted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_leaves_was_recounted_itself() {
    let mut people: BTreeMap<i64, i64> = FIRST.iter().map(|r| (r.3, r.4)).collect();
    let (mut held, mut refused) = (0, 0);
    for (which, later) in LATER.iter().enumerate() {
        people.extend(later.iter().map(|r| (r.3, r.4)));
        let entity = if which == 3 {
            "ENTITY (person)"
        } else {
            "IDENTIFIERS (person)"
        };
        // The source changes after this number of reads. No run reads the source more often than
        // the largest of these numbers.
        for times in 1..7 {
            let starred = ["DROPPED", "STARRED"][(which + times) % 2];
            let rest = format!(
                "{} QUASI IDENTIFIERS (zip, sex) SENSITIVE (disease) KEEP (number) {} SATISFYING k_anonymity(3) AND \
                 l_diversity(2) ON disease SUPPRESSING AT MOST 1 ROWS SUPPRESSED ROWS {starred} AT NODE (zip 0, sex 0)",
                if which == 3 { "" } else { entity },
                if which == 3 { entity } else { "" },
            );
            let folder = tempfile::tempdir().unwrap();
            for way in ways(folder.path()) {
                let _gone = Emptied(folder.path());
                let context = changing(times, later);
                match released(&context, &way, &rest).await {
                    Ok(rows) => {
                        assert!(holds(&rows, &people), "{times} {}", request(&way, &rest));
                        held += 1;
                    }
                    Err(e) => {
                        assert!(
                            matches!(e.kind(), ErrorKind::Data | ErrorKind::Verification),
                            "{e}\n{}",
                            request(&way, &rest)
                        );
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(held > 50 && refused > 20, "{held} {refused}");
}

/// Returns all bytes of an array's buffers, whether or not a value uses them.
fn bytes(data: &ArrayData) -> Vec<u8> {
    let mut all: Vec<u8> = data.buffers().iter().flat_map(|b| b.as_slice().to_vec()).collect();
    all.extend(data.child_data().iter().flat_map(bytes));
    all
}

/// Returns all bytes of a file, decompressed.
pub fn bytes_of_file(path: &Path) -> Vec<u8> {
    let mut all = std::fs::read(path).unwrap();
    match path.extension().unwrap().to_str().unwrap() {
        "parquet" => {
            let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
            for group in 0..reader.num_row_groups() {
                let group = reader.get_row_group(group).unwrap();
                for column in 0..group.num_columns() {
                    let mut pages = group.get_column_page_reader(column).unwrap();
                    while let Some(page) = pages.get_next_page().unwrap() {
                        all.extend_from_slice(page.buffer());
                    }
                }
            }
        }
        "arrow" => {
            let file = std::fs::File::open(path).unwrap();
            let reader = arrow::ipc::reader::FileReader::try_new(file, None).unwrap();
            all.extend(reader.flat_map(|batch| bytes_of(&[batch.unwrap()])));
        }
        _ => {}
    }
    all
}

pub fn bytes_of(batches: &[RecordBatch]) -> Vec<u8> {
    let columns = batches.iter().flat_map(|b| b.columns());
    columns.flat_map(|c| bytes(&c.to_data())).collect()
}

pub fn has(bytes: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(bytes, needle).is_some()
}

/// Values of a suppressed row are in no buffer and in no file: not as an unused entry of a
/// dictionary, not outside a slice or a view, and not under a NULL.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_no_released_row_has_leaves() {
    const ZIP: &str = "the zip of a single person";
    const DISEASE: &str = "the disease of a single person";
    const KEPT: &str = "what else is known of a single person";
    const INCOME: f64 = 1234.5678;
    let mut rows = vec![("a", "flu", "x", 1.0); 40];
    rows.extend([("b", "gout", "y", 2.0); 40]);
    rows.push((ZIP, DISEASE, KEPT, INCOME));
    let text = |of: fn(&(&'static str, &'static str, &'static str, f64)) -> &'static str| {
        rows.iter().map(|r| Some(of(r))).collect::<Vec<_>>()
    };
    let (zip, disease, kept) = (text(|r| r.0), text(|r| r.1), text(|r| r.2));
    let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let plain = RecordBatch::try_from_iter([
        ("zip", Arc::new(StringArray::from(zip)) as ArrayRef),
        ("disease", Arc::new(StringArray::from(disease))),
        ("kept", Arc::new(StringArray::from(kept))),
        (
            "income",
            Arc::new(rows.iter().map(|r| Some(r.3)).collect::<Float64Array>()),
        ),
    ])
    .unwrap();
    for strings in [DataType::Utf8, DataType::Utf8View, dictionary] {
        let columns = plain.columns().iter().enumerate().map(|(i, column)| {
            let name = plain.schema().field(i).name().clone();
            let column = if i < 3 {
                cast(column, &strings).unwrap()
            } else {
                Arc::clone(column)
            };
            (name, column)
        });
        let source = RecordBatch::try_from_iter(columns).unwrap();
        for starred in ["DROPPED", "STARRED"] {
            // A kept column is unchanged in starred rows, so its values are not secret there.
            let kept = if starred == "STARRED" { "IDENTIFIERS (kept)" } else { "" };
            let keep = if starred == "STARRED" { "" } else { "KEEP (kept)" };
            let rest = format!(
                "{kept} QUASI IDENTIFIERS (zip) SENSITIVE (disease, income) {keep} SATISFYING k_anonymity(3) \
                 SUPPRESSING AT MOST 1 ROWS SUPPRESSED ROWS {starred} AT NODE (zip 0)"
            );
            let context = context(2);
            context.session().register_batch("people", source.clone()).unwrap();
            let answer = collect(&context, &format!("ANONYMIZE people {rest}")).await;
            collect(&context, &format!("CREATE TABLE out AS ANONYMIZE people {rest}")).await;
            let table = collect(&context, "SELECT * FROM out").await;
            let folder = tempfile::tempdir().unwrap();
            let at = folder.path().display();
            let mut found = vec![
                ("rows".to_string(), bytes_of(&answer)),
                ("table".into(), bytes_of(&table)),
            ];
            for format in ["parquet", "csv", "json", "arrow"] {
                collect(
                    &context,
                    &format!("COPY (ANONYMIZE people {rest}) TO '{at}/copied.{format}'"),
                )
                .await;
                collect(&context, &format!("COPY out TO '{at}/table.{format}'")).await;
            }
            for format in ["parquet", "csv"] {
                let to = format!("ANONYMIZE people TO '{at}/{format}' STORED AS {format} {rest}");
                collect(&context, &to).await;
                let file = folder.path().join(format!("{format}/part-00000.{format}"));
                found.push((format!("TO {format}"), bytes_of_file(&file)));
            }
            for entry in std::fs::read_dir(folder.path()).unwrap() {
                let path = entry.unwrap().path();
                if path.is_file() {
                    let name = path.file_name().unwrap().to_string_lossy().into_owned();
                    found.push((name, bytes_of_file(&path)));
                }
            }
            assert_eq!(found.len(), 12);
            for (way, bytes) in found {
                assert!(has(&bytes, b"gout"), "{way} is not read");
                for secret in [ZIP, DISEASE, KEPT] {
                    assert!(!has(&bytes, secret.as_bytes()), "{way} {starred} {strings}: {secret}");
                }
                let secret = [INCOME.to_ne_bytes().to_vec(), INCOME.to_string().into_bytes()];
                assert!(
                    !secret.iter().any(|s| has(&bytes, s)),
                    "{way} {starred} {strings}: income"
                );
            }
        }
    }
}
