//! Damaged files: whatever their reader does, the statement ends in an error of the data that tells nothing of it.

use super::common::{collect, context};
use anonsql::AnonContext;
use anonsql::error::{Error, ErrorKind};
use arrow::array::{ArrayRef, Decimal128Array, Int64Array, RecordBatch};
use arrow::datatypes::DataType;
use arrow::ipc::writer::StreamWriter;
use datafusion::prelude::SessionContext;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Every place of the file with this byte in it, as one file each.
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
    // Lengths and offsets that are far too large, or negative. What panics does so on a task of its own, as a user's would.
    let (mut refused, mut wrong) = (0, vec![]);
    for (at, bytes) in damages(&original, 0x7f).chain(damages(&original, 0x01)) {
        let path = folder.path().join(format!("{}-{at}.parquet", bytes[at]));
        std::fs::write(&path, bytes).unwrap();
        for statement in statements(&path) {
            match tokio::spawn(async move { context(2).sql(&statement).await.map(drop) }).await {
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

/// A reader that goes on with a file as with a stream takes the signature for a length, and 1.3 GB of memory. So these are
/// refused before they are read, which the error tells.
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
    // What is whole is read, and what is no part of the table is not looked at.
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

/// Parquet has four bytes for nine digits, and its writer cuts off what is before them.
#[tokio::test]
async fn a_decimal_with_more_digits_than_its_type_has_is_an_error_of_the_data() {
    let cost = Decimal128Array::from(vec![2_400, (1 << 89) + 2_400]).with_data_type(DataType::Decimal128(9, 2));
    let age = Int64Array::from(vec![20, 20]);
    let columns: [(&str, ArrayRef); 2] = [("age", Arc::new(age)), ("cost", Arc::new(cost))];
    let folder = tempfile::tempdir().unwrap();
    let session = SessionContext::new();
    session
        .register_batch("t", RecordBatch::try_from_iter(columns).unwrap())
        .unwrap();
    let anonymize = format!(
        "ANONYMIZE t TO '{}/out' QUASI IDENTIFIERS (age) KEEP (cost) SATISFYING k_anonymity(2)",
        folder.path().display()
    );
    let error = AnonContext::new(session).sql(&anonymize).await.map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data, "{error}");
    assert!(!error.to_string().contains("2400"), "{error}");
    assert!(!folder.path().join("out").exists());
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
