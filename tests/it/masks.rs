//! Tests masked columns for every way to deliver rows. The output contains none of their raw
//! values, and no model counts them.

use crate::common::{collect, context, number};
use crate::roads::{bytes_of, bytes_of_file, has};
use anonsql::AnonContext;
use anonsql::internal::masks::MASKS;
use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use std::path::Path;
use std::sync::Arc;

const SECRET: &str = "0123456789abcdef0123456789abcdef";
const ROWS: i64 = 60;

/// Returns the raw text of a row in a column.
fn raw(column: &str, row: i64) -> String {
    format!("{column} of {:03}-raw", row % 40)
}

/// Returns the telephone number of a row.
fn phone(row: i64) -> String {
    format!("{:03}-{:04}", 500 + row % 40, 9000 + row % 2)
}

/// Returns a time whose bytes occur nowhere else.
fn time(row: i64) -> i64 {
    1_577_836_800_000_000 + (row % 40) * 7_000_000_000_013 + 123_456
}

/// Returns a number whose bytes occur nowhere else.
fn pay(row: i64) -> i64 {
    3_000_000_000_000_007 + (row % 40) * 50_000_000_000_011
}

/// Returns a free text that names the person of a row.
fn note(row: i64) -> String {
    format!("{} came at 555-867-5309", raw("person", row).to_uppercase())
}

/// Returns a context with a table of raw texts and times, each in several rows.
async fn people() -> AnonContext {
    let text =
        |column: &str| Arc::new((0..ROWS).map(|row| Some(raw(column, row))).collect::<StringArray>()) as ArrayRef;
    let telephone = (0..ROWS).map(|row| Some(phone(row)));
    let people = RecordBatch::try_from_iter([
        (
            "age",
            Arc::new((0..ROWS).map(|row| row % 2).collect::<Int64Array>()) as ArrayRef,
        ),
        ("person", text("person")),
        ("hashed", text("hashed")),
        ("faked", text("faked")),
        ("mailed", text("mailed")),
        ("tokened", text("tokened")),
        ("phone", Arc::new(telephone.collect::<StringArray>())),
        (
            "pay",
            Arc::new((0..ROWS).map(|row| Some(pay(row))).collect::<Int64Array>()),
        ),
        ("rank", Arc::new((0..ROWS).map(Some).collect::<Int64Array>())),
        (
            "faith",
            Arc::new(
                (0..ROWS)
                    .map(|row| Some(["a", "b", "c"][row as usize % 3]))
                    .collect::<StringArray>(),
            ),
        ),
        (
            "note",
            Arc::new((0..ROWS).map(|row| Some(note(row))).collect::<StringArray>()),
        ),
        (
            "seen",
            Arc::new(
                (0..ROWS)
                    .map(|row| Some(time(row)))
                    .collect::<TimestampMicrosecondArray>(),
            ),
        ),
    ]);
    let context = context(2);
    context.session().register_batch("people", people.unwrap()).unwrap();
    context
}

fn masks(secret: &Path) -> String {
    let secret = format!("WITH SECRET 'file:{}'", secret.display());
    format!(
        "IDENTIFIERS (person, hashed HASH {secret}, faked FAKE NAME {secret}, mailed FAKE MAIL LOCALE 'fr' {secret}, \
         tokened TOKEN {secret}, phone MASK 'XXX-X###', seen SHIFT BY person 90 DAYS {secret}) SENSITIVE (rank RANK SWAP (0.5) \
         {secret}) KEEP (pay NOISE (0.1) {secret}, faith PRAM (0.5) {secret}, note REDACTED)"
    )
}

/// Checks that these bytes contain none of the raw values.
fn nothing_raw(way: &str, bytes: &[u8]) {
    let columns = ["person", "hashed", "faked", "mailed", "tokened"];
    for row in 0..40 {
        let texts = columns.map(|column| raw(column, row));
        for text in texts.iter().chain([&phone(row), &note(row)]) {
            assert!(!has(bytes, text.as_bytes()), "{text} is in {way}");
        }
        assert!(
            !has(bytes, &time(row).to_le_bytes()),
            "the time of row {row} is in {way}"
        );
        let pay = pay(row);
        assert!(
            !has(bytes, &pay.to_le_bytes()) && !has(bytes, pay.to_string().as_bytes()),
            "the pay of row {row} is in {way}"
        );
    }
    assert!(!has(bytes, SECRET.as_bytes()), "the secret is in {way}");
}

fn under(folder: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => under(&path, found),
            false if path.extension().is_some() => found.push((path.display().to_string(), bytes_of_file(&path))),
            false => found.push((path.display().to_string(), std::fs::read(&path).unwrap())),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_raw_value_of_a_masked_column_leaves() {
    let scratch = tempfile::tempdir().unwrap();
    let secret = scratch.path().join("secret");
    std::fs::write(&secret, SECRET).unwrap();
    let folder = scratch.path().join("out");
    std::fs::create_dir(&folder).unwrap();
    let (at, masks) = (folder.display(), masks(&secret));
    for kind in MASKS {
        assert!(masks.contains(kind.clause.start), "{} is not tried", kind.info.name);
    }
    let context = people().await;
    let rest = format!("{masks} QUASI IDENTIFIERS (age) SATISFYING k_anonymity(5)");
    let mut found = vec![];
    let answer = collect(&context, &format!("ANONYMIZE people {rest}")).await;
    assert_eq!(answer.iter().map(RecordBatch::num_rows).sum::<usize>(), ROWS as usize);
    found.push(("rows".into(), bytes_of(&answer)));
    let explained = collect(&context, &format!("EXPLAIN ANALYZE ANONYMIZE people {rest}")).await;
    found.push(("EXPLAIN ANALYZE".into(), bytes_of(&explained)));
    collect(&context, &format!("CREATE TABLE out AS ANONYMIZE people {rest}")).await;
    found.push(("table".into(), bytes_of(&collect(&context, "SELECT * FROM out").await)));
    for format in ["parquet", "csv", "json", "arrow"] {
        let copy = format!("COPY (ANONYMIZE people {rest}) TO '{at}/copied.{format}'");
        collect(&context, &copy).await;
    }
    for (name, to) in [
        ("parquet", "STORED AS PARQUET"),
        ("csv", "STORED AS CSV"),
        ("folders", "PARTITIONED BY (hashed)"),
        #[cfg(feature = "delta")]
        ("delta", "STORED AS DELTA"),
    ] {
        for report in ["html", "md", "json"] {
            let sql =
                format!("ANONYMIZE people TO '{at}/{name}_{report}' {to} {rest} REPORT TO '{at}/{name}.{report}'");
            collect(&context, &sql).await;
        }
    }
    under(&folder, &mut found);
    assert!(found.len() > 20, "{}", found.len());
    for (way, bytes) in found {
        nothing_raw(&way, &bytes);
    }
}

/// Equal values have equal masks in every file and format. A different secret gives different
/// masks. The intervals between a person's times are the same as in the source.
#[tokio::test]
async fn masks_are_the_same_wherever_the_secret_is() {
    let scratch = tempfile::tempdir().unwrap();
    let (one, other) = (scratch.path().join("one"), scratch.path().join("other"));
    std::fs::write(&one, SECRET).unwrap();
    std::fs::write(&other, "another secret of more bytes").unwrap();
    let context = people().await;
    for (table, secret) in [("a", &one), ("b", &one), ("c", &other)] {
        let masks = masks(secret);
        let sql = format!(
            "CREATE TABLE {table} AS ANONYMIZE people {masks} QUASI IDENTIFIERS (age) SATISFYING k_anonymity(5)"
        );
        collect(&context, &sql).await;
    }
    let masked = ["hashed", "faked", "mailed", "tokened"];
    for column in masked.iter().chain(&["phone", "seen", "pay", "rank", "faith", "note"]) {
        let sql = format!("SELECT count(*) FROM (SELECT {column} FROM a EXCEPT SELECT {column} FROM b)");
        assert_eq!(number(&collect(&context, &sql).await), 0.0, "{column}");
    }
    for column in masked.into_iter().chain(["pay"]) {
        let sql = format!("SELECT count(*) FROM (SELECT {column} FROM a INTERSECT SELECT {column} FROM c)");
        assert_eq!(number(&collect(&context, &sql).await), 0.0, "{column}");
    }
    // Rows 0 to 19 and rows 40 to 59 belong to the same people, each with a single value.
    for (column, distinct) in [("hashed", 40.0), ("tokened", 40.0), ("phone", 2.0)] {
        let sql = format!("SELECT count(DISTINCT {column}) FROM a");
        assert_eq!(number(&collect(&context, &sql).await), distinct, "{column}");
    }
}

/// No model takes a masked column into account. Rows that differ only in this column are in the
/// same class.
#[tokio::test]
async fn a_masked_column_counts_for_no_model() {
    let scratch = tempfile::tempdir().unwrap();
    let secret = scratch.path().join("secret");
    std::fs::write(&secret, SECRET).unwrap();
    let (context, masks) = (people().await, masks(&secret));
    for (clauses, said) in [
        ("QUASI IDENTIFIERS (age, phone) SATISFYING k_anonymity(5)", "two roles"),
        (
            "QUASI IDENTIFIERS (age) CLASS (seen) SATISFYING k_anonymity(5)",
            "two roles",
        ),
        ("QUASI IDENTIFIERS (age) SATISFYING l_diversity(2) ON hashed", "hashed"),
        (
            "QUASI IDENTIFIERS (age) SATISFYING differential_privacy(1, 0.0001) AT NODE (age 0)",
            "hashed",
        ),
    ] {
        let sql = format!("ANONYMIZE people {masks} {clauses}");
        let refused = context.sql(&sql).await.unwrap_err().to_string();
        assert!(refused.contains(said), "{clauses}: {refused}");
    }
    let sql = format!("ANONYMIZE people {masks} QUASI IDENTIFIERS (age) SATISFYING k_anonymity(31)");
    let released = collect(&context, &sql).await;
    // Each age has 30 rows, whether or not columns are masked.
    assert_eq!(released.iter().map(RecordBatch::num_rows).sum::<usize>(), ROWS as usize);
}
