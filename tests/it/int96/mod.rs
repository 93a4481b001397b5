//! Tests times of Parquet's oldest type and of the old calendar, in files that Spark 3.5 and
//! Arrow's C++ wrote (`make.py` writes them again).

use crate::common::{collect, holds, rows, with_paths};
#[cfg(feature = "delta")]
use crate::delta::deletion_vector;
use anonsql::AnonContext;
use anonsql::error::ErrorKind;
use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::{DataType, TimeUnit};
use datafusion::object_store::ObjectStoreExt;
use datafusion::object_store::memory::InMemory;
#[cfg(feature = "delta")]
use parquet::file::metadata::ParquetMetaDataReader;
#[cfg(feature = "delta")]
use serde_json::json;
#[cfg(feature = "delta")]
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

/// The times of `spark.parquet`. Each is in two rows, and two further rows are NULL.
const TIMES: [&str; 8] = [
    "0001-01-01T00:00:00",
    "1582-10-15T00:00:00",
    "1900-01-01T00:00:00",
    "1969-12-31T23:59:59.999999",
    "1970-01-01T00:00:00",
    "2020-01-31T10:20:30.123456",
    "2262-04-12T00:00:00",
    "9999-12-31T23:59:59.999999",
];

fn file(name: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests/it/int96", name].iter().collect();
    path.display().to_string()
}

/// Returns the texts in the only column of a result.
async fn texts(context: &AnonContext, sql: &str) -> Vec<String> {
    let batches = collect(context, sql).await;
    let texts = batches
        .iter()
        .map(|batch| cast(batch.column(0), &DataType::Utf8).unwrap());
    let texts = texts.map(|texts| texts.as_string::<i32>().iter().flatten().map(String::from).collect());
    texts.collect::<Vec<Vec<String>>>().concat()
}

async fn assert_times(context: &AnonContext, table: &str) {
    let sql = format!("SELECT at FROM {table} WHERE at IS NOT NULL GROUP BY at HAVING count(*) = 2 ORDER BY at");
    assert_eq!(texts(context, &sql).await, TIMES, "{table}");
}

#[tokio::test]
async fn times_of_spark_are_read_as_they_were_written() {
    let scratch = tempfile::tempdir().unwrap();
    let context = with_paths(2);
    let path = file("spark.parquet");
    std::fs::copy(&path, scratch.path().join("a.parquet")).unwrap();
    let folder = scratch.path().display();
    assert_times(&context, &format!("'{path}'")).await;
    assert_times(&context, &format!("'{folder}'")).await;
    assert_times(&context, &format!("'{folder}/*.parquet'")).await;
    let external = format!("CREATE EXTERNAL TABLE t STORED AS PARQUET LOCATION '{folder}'");
    collect(&context, &external).await;
    assert_times(&context, "t").await;
    // The nested times equal the times in the top-level column.
    let same = "WHERE (at IS NOT DISTINCT FROM ats[1]) AND (at IS NOT DISTINCT FROM s['at'])";
    assert_eq!(rows(&collect(&context, &format!("SELECT id FROM t {same}")).await), 18);
    // Filters are pushed down to the file. They do not exclude a matching row.
    for (filter, found) in [
        ("date_part('year', at) = 9999", 2),
        ("at < arrow_cast('1000-01-01', 'Timestamp(µs)')", 2),
        ("at >= '1900-01-01'", 12),
    ] {
        let sql = format!("SELECT id FROM '{path}' WHERE {filter}");
        assert_eq!(rows(&collect(&context, &sql).await), found, "{filter}");
    }
}

/// A release has the times in a type that other programs can read.
#[tokio::test]
async fn times_of_spark_are_released_in_microseconds() {
    let scratch = tempfile::tempdir().unwrap();
    let context = with_paths(2);
    let (path, out) = (file("spark.parquet"), scratch.path().join("out"));
    let out = out.display();
    collect(&context, "CREATE HIERARCHY year AS TRUNCATE (YEAR)").await;
    let release = format!(
        "ANONYMIZE (SELECT id, at, at AS kept FROM '{path}') TO '{out}' IDENTIFIERS (id) QUASI IDENTIFIERS (at USING year) \
         KEEP (kept) SATISFYING k_anonymity(2) AT NODE (at 1)"
    );
    collect(&context, &release).await;
    let released = collect(&context, &format!("SELECT kept FROM '{out}'")).await;
    let kept = released[0].schema().field(0).data_type().clone();
    assert_eq!(kept, DataType::Timestamp(TimeUnit::Microsecond, None));
    assert_times(&context, &format!("(SELECT kept AS at FROM '{out}')")).await;
    let years = texts(
        &context,
        &format!("SELECT DISTINCT at FROM '{out}' WHERE at IN ('0001', '9999')"),
    )
    .await;
    assert_eq!(years.len(), 2);
    let against = format!("AGAINST (SELECT id, at, at AS kept FROM '{path}')");
    let verify = format!("VERIFY '{out}' {against} QUASI IDENTIFIERS (at USING year) SATISFYING k_anonymity(2)");
    context.sql(&verify).await.unwrap();
}

/// Files in an object store are read in the same way: by name, by prefix, by pattern and as an
/// external table.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn times_of_spark_in_an_object_store() {
    let (context, store) = (with_paths(2), Arc::new(InMemory::new()));
    let url = url::Url::parse("s3://lake").unwrap();
    context.session().register_object_store(&url, Arc::clone(&store) as _);
    let bytes = std::fs::read(file("spark.parquet")).unwrap();
    store.put(&"spark/a.parquet".into(), bytes.into()).await.unwrap();
    for source in ["spark/a.parquet", "spark", "spark/*.parquet", "**/a.parquet"] {
        assert_times(&context, &format!("'s3://lake/{source}'")).await;
    }
    let external = "CREATE EXTERNAL TABLE t STORED AS PARQUET LOCATION 's3://lake/spark/'";
    collect(&context, external).await;
    assert_times(&context, "t").await;
    let release =
        "ANONYMIZE 's3://lake/spark/' TO 's3://lake/out' QUASI IDENTIFIERS (id) KEEP (at) SATISFYING k_anonymity(2)";
    let columns = "(SELECT 0 AS id, at FROM 's3://lake/spark/')";
    collect(&context, &release.replace("'s3://lake/spark/'", columns)).await;
    assert_times(&context, "'s3://lake/out'").await;
    let verify = format!("VERIFY 's3://lake/out' QUASI IDENTIFIERS (id) SATISFYING k_anonymity(2) AGAINST {columns}");
    assert!(holds(&collect(&context, &verify).await));
    // A value has nanoseconds, which the session's type for these times cannot represent.
    let nanoseconds = std::fs::read(file("nanoseconds.parquet")).unwrap();
    store
        .put(&"nanoseconds.parquet".into(), nanoseconds.into())
        .await
        .unwrap();
    let (there, here) = (
        "'s3://lake/nanoseconds.parquet'",
        format!("'{}'", file("nanoseconds.parquet")),
    );
    let in_store = context.sql(&format!("SELECT * FROM {there}")).await.map(|b| rows(&b));
    let in_file = context.sql(&format!("SELECT * FROM {here}")).await.map(|b| rows(&b));
    match (in_store, in_file) {
        (Ok(in_store), Ok(in_file)) => assert_eq!(in_store, in_file),
        (Err(in_store), Err(in_file)) => assert_eq!(in_store.kind(), in_file.kind()),
        other => panic!("a store and a folder differ: {other:?}"),
    }
}

/// A time that its type cannot represent is an error with the file and the column.
#[tokio::test]
async fn a_time_that_its_type_cannot_hold_is_an_error() {
    let context = with_paths(2);
    let nanoseconds = file("nanoseconds.parquet");
    assert_refused(
        &context,
        &format!("SELECT at FROM '{nanoseconds}'"),
        "\"at\" has a time with nanoseconds",
    )
    .await;
    let statement = format!("ANONYMIZE '{nanoseconds}' QUASI IDENTIFIERS (at) SATISFYING k_anonymity(2)");
    assert_refused(&context, &statement, "nanoseconds.parquet").await;
    let old = file("spark_old_calendar.parquet");
    assert_refused(
        &context,
        &format!("SELECT at FROM '{old}'"),
        "\"at\" has a time before 1900",
    )
    .await;
    assert_refused(
        &context,
        &format!("SELECT ats FROM '{old}'"),
        "\"ats.list.element\" has a time before",
    )
    .await;
    // A column that is not read causes no error.
    assert_eq!(rows(&collect(&context, &format!("SELECT id FROM '{old}'")).await), 6);
    // Old dates and old 64-bit times are also refused.
    let old = file("spark_old_dates.parquet");
    for (column, with) in [
        ("day", "\"day\" has a date before 1582-10-15"),
        ("at", "\"at\" has a time before 1900"),
    ] {
        assert_refused(&context, &format!("SELECT {column} FROM '{old}'"), with).await;
    }
    // A time without a zone is never changed.
    let read = texts(&context, &format!("SELECT plain FROM '{old}' ORDER BY plain")).await;
    assert_eq!(read, ["1582-10-04T00:00:00", "2020-01-31T10:20:30"]);
    // With this setting, times are read in nanoseconds, and times that do not fit are an error.
    collect(&context, "SET datafusion.execution.parquet.coerce_int96 = 'ns'").await;
    let read = texts(
        &context,
        &format!("SELECT DISTINCT at FROM '{nanoseconds}' ORDER BY at"),
    )
    .await;
    assert_eq!(read, ["1970-01-01T00:00:00.000000001", "1970-01-01T00:00:01.000000001"]);
    let spark = file("spark.parquet");
    assert_refused(
        &context,
        &format!("SELECT at FROM '{spark}'"),
        "\"at\" has a time before 1678",
    )
    .await;
}

async fn assert_refused(context: &AnonContext, sql: &str, with: &str) {
    let refused = context.sql(sql).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Data, "{refused}");
    let said = refused.to_string();
    assert!(said.contains(with) && said.contains(".parquet\""), "{said}");
}

/// The times in `spark.parquet` are read correctly if the file is part of a Delta table. The times
/// in `spark_old_calendar.parquet` are refused there, too, with or without deleted rows.
#[cfg(feature = "delta")]
#[tokio::test]
async fn times_of_spark_in_a_delta_table() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    write_table(folder, "spark.parquet", &[]);
    let context = with_paths(2);
    let table = folder.display();
    let sql = format!("SELECT at FROM '{table}' WHERE at IS NOT NULL GROUP BY at ORDER BY at");
    let times = TIMES.map(|time| format!("{time}Z"));
    assert_eq!(texts(&context, &sql).await, times);
    for deleted in [&[][..], &[0, 1]] {
        let other = tempfile::tempdir().unwrap();
        write_table(other.path(), "spark_old_calendar.parquet", deleted);
        let refused = context
            .sql(&format!("SELECT at FROM '{}'", other.path().display()))
            .await;
        let said = refused.unwrap_err().to_string();
        assert!(said.contains("\"at\" has a time before 1900"), "{said}");
    }
}

/// Spark's file of times is part of a Delta table, and the rows with the latest time are deleted.
#[cfg(feature = "delta")]
#[tokio::test]
async fn times_of_spark_in_a_delta_table_with_a_deletion_vector() {
    let scratch = tempfile::tempdir().unwrap();
    write_table(scratch.path(), "spark.parquet", &[0, 1]);
    let table = scratch.path().display();
    let sql = format!("SELECT at FROM '{table}' WHERE at IS NOT NULL ORDER BY at");
    let times = TIMES.iter().flat_map(|time| [format!("{time}Z"), format!("{time}Z")]);
    // The first rows have the latest time.
    let left: Vec<String> = times.take(2 * TIMES.len() - 2).collect();
    assert_eq!(texts(&with_paths(2), &sql).await, left);
}

/// Creates a Delta table of one file, with a log as Spark writes it. `deleted` are the deleted rows
/// of the file.
#[cfg(feature = "delta")]
fn write_table(folder: &Path, name: &str, deleted: &[u16]) {
    let log = folder.join("_delta_log");
    std::fs::create_dir(&log).unwrap();
    let size = std::fs::copy(file(name), folder.join(name)).unwrap();
    let field = |name: &str, kind: &str| json!({"name": name, "type": kind, "nullable": true, "metadata": {}});
    let schema = json!({"type": "struct", "fields": [field("id", "integer"), field("at", "timestamp")]});
    let mut protocol = json!({"minReaderVersion": 1, "minWriterVersion": 2});
    let mut add = json!({"path": name, "partitionValues": {}, "size": size, "modificationTime": 0, "dataChange": true});
    if !deleted.is_empty() {
        let feature = ["deletionVectors"];
        protocol =
            json!({"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": feature, "writerFeatures": feature});
        add["deletionVector"] = deletion_vector(deleted);
        let bytes = std::fs::File::open(file(name)).unwrap();
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&bytes).unwrap();
        let count = metadata.file_metadata().num_rows();
        add["stats"] = json!(json!({"numRecords": count}).to_string());
    }
    let metadata = json!({"id": "a", "format": {"provider": "parquet", "options": {}}, "schemaString": schema.to_string(),
        "partitionColumns": [], "configuration": {}, "createdTime": 0});
    let actions = [
        json!({"protocol": protocol}),
        json!({"metaData": metadata}),
        json!({"add": add}),
    ];
    let lines = actions.map(|action| action.to_string());
    std::fs::write(log.join("00000000000000000000.json"), lines.join("\n")).unwrap();
}
