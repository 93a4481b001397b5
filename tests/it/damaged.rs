//! Tests damaged files. The statement ends in a data error that reveals no value, even if the
//! reader of the file panics.

use super::common::{collect, context};
use anonsql::AnonContext;
use anonsql::error::{Error, ErrorKind};
use anonsql::internal::session::enable_path_tables;
use arrow::array::{ArrayRef, Decimal128Array, Int64Array, ListArray, RecordBatch};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Schema};
use arrow::ipc::writer::StreamWriter;
use datafusion::prelude::{SessionConfig, SessionContext};
use parquet::arrow::ArrowWriter;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Returns damaged copies of the file, one for each position between the signature and the end. In
/// each copy, the byte at this position is replaced by `byte`.
fn damages(original: &[u8], byte: u8) -> impl Iterator<Item = (usize, Vec<u8>)> + '_ {
    (4..original.len() - 8).map(move |at| {
        let mut bytes = original.to_vec();
        bytes[at] = byte;
        (at, bytes)
    })
}

#[tokio::test]
async fn a_damaged_parquet_file_is_an_error_of_the_data() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.parquet");
    let copy = format!(
        "COPY (SELECT column1 AS age, column2 AS name FROM (VALUES (1, 'Quixotica'), (2, 'Quixotica'), (3, 'x'))) \
         TO '{}' STORED AS PARQUET OPTIONS ('format.compression' 'uncompressed', 'format.dictionary_enabled' 'false')",
        whole.display()
    );
    collect(&context(1), &copy).await;
    let original = std::fs::read(&whole).unwrap();
    // On the undamaged file, each statement succeeds, so any error is due to the damage.
    for statement in statements(&whole) {
        collect(&with_paths(), &statement).await;
    }
    // Lengths and offsets become far too large, or negative. Each statement runs in its own task,
    // so that a panic ends only this task.
    let (mut refused, mut wrong) = (0, vec![]);
    for (at, bytes) in damages(&original, 0x7f).chain(damages(&original, 0x01)) {
        let path = folder.path().join(format!("{}-{at}.parquet", bytes[at]));
        std::fs::write(&path, bytes).unwrap();
        for statement in statements(&path) {
            match tokio::spawn(async move { with_paths().sql(&statement).await.map(drop) }).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) if is_told_well(&error) => refused += 1,
                Ok(Err(error)) => wrong.push(format!("{at}: {error}")),
                Err(_) => wrong.push(format!("{at}: a panic came through")),
            }
        }
        std::fs::remove_file(&path).unwrap();
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(refused > 100, "{refused}");
}

/// A reader that mistakes a file for a stream interprets the signature as a length and allocates
/// 1.3 GB of memory. Therefore, such files are refused before they are read, and the error states
/// the reason.
#[tokio::test]
async fn a_damaged_arrow_file_takes_no_more_memory_than_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let (file, stream) = (folder.path().join("file.arrow"), folder.path().join("stream.arrow"));
    let rows = "SELECT column1 AS age, column2 AS name FROM (VALUES (1, 'Quixotica'), (2, 'Quixotica'), (3, 'x'))";
    let copy = format!("COPY ({rows}) TO '{}' STORED AS ARROW", file.display());
    collect(&context(1), &copy).await;
    let batches = collect(&context(1), rows).await;
    let mut writer = StreamWriter::try_new(File::create(&stream).unwrap(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    let (file, stream) = (std::fs::read(file).unwrap(), std::fs::read(stream).unwrap());
    let end = file.len();
    let with = |original: &[u8], at: usize, bytes: &[u8]| {
        let mut damaged = original.to_vec();
        damaged[at..at + bytes.len()].copy_from_slice(bytes);
        damaged
    };
    let most = i32::MAX.to_le_bytes();
    let cases = [
        ("footer", with(&file, end - 10, &most)),
        ("signature", with(&file, end - 6, b"Arrow?")),
        ("beginning", with(&file, 0, b"Arrow?")),
        ("half", file[..end / 2].to_vec()),
        ("schema", with(&stream, 4, &most)),
        ("old", [&most[..], &stream].concat()),
    ];
    for (name, bytes) in cases {
        let path = folder.path().join("damaged.arrow");
        std::fs::write(&path, bytes).unwrap();
        let context = context(1);
        let create = format!("CREATE EXTERNAL TABLE t STORED AS ARROW LOCATION '{}'", path.display());
        let error = context.sql(&create).await.map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data, "{name}: {error}");
        assert!(error.to_string().ends_with("the file is damaged"), "{name}: {error}");
    }
    // Whole files are read. Files that are not part of the table are ignored.
    for (name, bytes) in [
        ("a.arrow", file),
        ("b.arrow", stream),
        ("c.txt", b"what people write".to_vec()),
    ] {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    std::fs::remove_file(folder.path().join("damaged.arrow")).unwrap();
    let context = context(1);
    for name in ["a", "b"] {
        let path = folder.path().join(format!("{name}.arrow"));
        let create = format!(
            "CREATE EXTERNAL TABLE {name} STORED AS ARROW LOCATION '{}'",
            path.display()
        );
        context.sql(&create).await.unwrap();
        collect(&context, &format!("SELECT * FROM {name}")).await;
    }
    let create = format!(
        "CREATE EXTERNAL TABLE c STORED AS ARROW LOCATION '{}/?.arrow'",
        folder.path().display()
    );
    context.sql(&create).await.unwrap();
}

/// Parquet stores nine digits in four bytes, and its writer drops any digits before these nine. The
/// test covers every way to deliver rows and every kind of column with a decimal.
#[tokio::test]
async fn a_decimal_with_more_digits_than_its_type_has_is_an_error_of_the_data() {
    let decimals = |last: i128| Decimal128Array::from(vec![2_400, last]).with_data_type(DataType::Decimal128(9, 2));
    let listed = |last: i128| {
        let field = Arc::new(Field::new_list_field(DataType::Decimal128(9, 2), true));
        let lengths = OffsetBuffer::from_lengths([1, 1]);
        ListArray::new(field, lengths, Arc::new(decimals(last)), None)
    };
    let age: ArrayRef = Arc::new(Int64Array::from(vec![20, 20]));
    let with = |last: i128| {
        let session = SessionContext::new();
        let columns: [(&str, ArrayRef); 2] = [("t", Arc::new(decimals(last))), ("lists", Arc::new(listed(last)))];
        for (table, cost) in columns {
            let rows = RecordBatch::try_from_iter([("age", Arc::clone(&age)), ("cost", cost)]).unwrap();
            session.register_batch(table, rows).unwrap();
        }
        AnonContext::new(session)
    };
    let folder = tempfile::tempdir().unwrap();
    let to = |name: &str| folder.path().join(name).display().to_string();
    let kept = "QUASI IDENTIFIERS (age) KEEP (cost) SATISFYING k_anonymity(2)";
    let mut statements = vec![
        format!("ANONYMIZE t {kept}"),
        format!("CREATE TABLE made AS ANONYMIZE t {kept}"),
        "ANONYMIZE t QUASI IDENTIFIERS (cost) KEEP (age) SATISFYING k_anonymity(1)".into(),
        "ANONYMIZE t QUASI IDENTIFIERS (cost) KEEP (age) SATISFYING k_anonymity(1) SEARCH USING mondrian".into(),
        "ANONYMIZE t QUASI IDENTIFIERS (age) SENSITIVE (cost RANDOMIZED) SATISFYING k_anonymity(2)".into(),
    ];
    statements.push(format!("ANONYMIZE t TO '{}' {kept}", to("parquet")));
    statements.push(format!("ANONYMIZE t TO '{}' STORED AS CSV {kept}", to("csv")));
    for format in ["PARQUET", "CSV", "JSON", "ARROW"] {
        let name = to(&format!("copy.{}", format.to_lowercase()));
        statements.push(format!("COPY (ANONYMIZE t {kept}) TO '{name}' STORED AS {format}"));
    }
    statements.push(format!("INSERT INTO filled ANONYMIZE t {kept}"));
    statements.push(format!("ANONYMIZE lists {kept}"));
    let fill = "CREATE TABLE filled (age VARCHAR, cost DECIMAL(9, 2))";
    for statement in &statements {
        let broken = with((1 << 89) + 2_400);
        collect(&broken, fill).await;
        let error = broken.sql(statement).await.map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data, "{statement}: {error}");
        assert!(
            error.to_string().contains("has more digits than"),
            "{statement}: {error}"
        );
        assert!(!error.to_string().contains("24"), "{statement}: {error}");
        assert!(!folder.path().join("parquet").exists() && !folder.path().join("csv").exists());
        // A value whose digits fit its type is released.
        let whole = with(-999_999_999);
        collect(&whole, fill).await;
        whole
            .sql(statement)
            .await
            .unwrap_or_else(|e| panic!("{statement}: {e}"));
        for name in ["parquet", "csv"] {
            let _ = std::fs::remove_dir_all(folder.path().join(name));
        }
    }
}

#[tokio::test]
async fn no_row_of_a_csv_file_is_in_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("people.csv");
    std::fs::write(&path, "born,name\n2020-01-62,Quixotica\n").unwrap();
    let context = context(1);
    let create = format!(
        "CREATE EXTERNAL TABLE people STORED AS CSV LOCATION '{}'",
        path.display()
    );
    context.sql(&create).await.unwrap();
    let error = context.sql("SELECT * FROM people").await.map(drop).unwrap_err();
    assert!(is_told_well(&error), "{error}");
    assert!(!error.to_string().contains("62"), "{error}");
}

/// A file with two columns of the same name is refused, because the second column would be ignored
/// in every role.
#[tokio::test]
async fn two_columns_of_one_name_are_an_error_that_says_it() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("twice.parquet");
    let column = |name: &str, from: i64| (Field::new(name, DataType::Int64, false), from);
    for (second, is_read) in [("x", false), ("y", true)] {
        let columns = [column("x", 1), column(second, 4)];
        let schema = Arc::new(Schema::new(
            columns.iter().map(|(field, _)| field.clone()).collect::<Vec<_>>(),
        ));
        let values = columns
            .iter()
            .map(|(_, from)| Arc::new(Int64Array::from_iter_values(*from..from + 3)) as ArrayRef);
        let batch = RecordBatch::try_new(Arc::clone(&schema), values.collect()).unwrap();
        let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), schema, None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let context = with_paths();
        let anonymize = format!(
            "ANONYMIZE '{}' QUASI IDENTIFIERS (x) {} SATISFYING k_anonymity(1)",
            path.display(),
            if is_read { "KEEP (y)" } else { "" }
        );
        for sql in [format!("SELECT * FROM '{}'", path.display()), anonymize] {
            let read = context.sql(&sql).await.map(drop);
            match read {
                Ok(()) => assert!(is_read, "{sql}"),
                Err(e) => assert!(
                    !is_read && e.to_string().contains("two columns are called \"x\""),
                    "{e}"
                ),
            }
        }
    }
}

/// Returns a context in which a path in quotes can be used as a table.
fn with_paths() -> AnonContext {
    AnonContext::new(enable_path_tables(SessionContext::new_with_config(
        SessionConfig::new().with_target_partitions(2),
    )))
}

fn statements(path: &Path) -> [String; 3] {
    let path = path.display();
    [
        format!("SELECT * FROM '{path}'"),
        format!("ANONYMIZE '{path}' QUASI IDENTIFIERS (age) KEEP (name) SATISFYING k_anonymity(1)"),
        format!("SUGGEST ROLES FOR '{path}'"),
    ]
}

fn is_told_well(error: &Error) -> bool {
    error.kind() != ErrorKind::Internal && !error.to_string().contains("Quixotica")
}
