//! Damaged files: whatever their reader does, the statement ends in an error of the data that tells nothing of it.

use super::common::{collect, context};
use anonsql::error::{Error, ErrorKind};
use std::path::Path;

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
