//! Tests sources in which folder names encode columns, in local folders and in object stores: their
//! types, NULL, encodings, and folders that a query skips.

use crate::common::{collect, context};
use anonsql::AnonContext;
use arrow::array::AsArray;
use arrow::record_batch::RecordBatch;
use arrow::util::pretty::pretty_format_batches;
use datafusion::object_store::ObjectStoreExt;
use datafusion::object_store::memory::InMemory;
use datafusion::object_store::path::Path;
use std::collections::BTreeSet;
use std::sync::Arc;
use url::Url;

const ROWS: &str = "age\n31\n32\n";

/// The files of the tables: in folders for years and days (one of each without a value), for names
/// in two encodings, and for numbers with a leading zero.
const FILES: [&str; 9] = [
    "years/year=2024/day=2024-01-31/a.csv",
    "years/year=2024/day=2024-02-29/a.csv",
    "years/year=2025/day=__HIVE_DEFAULT_PARTITION__/a.csv",
    "years/year=__HIVE_DEFAULT_PARTITION__/day=2025-01-01/a.csv",
    "names/name=a%2Fb/a.csv",
    "names/name=a b/a.csv",
    "names/name=50%25/a.csv",
    "zips/zip=01067/a.csv",
    "zips/zip=10115/a.csv",
];

/// A session, and the location of its tables: a local folder or a store.
struct Place {
    context: AnonContext,
    root: String,
    _folder: Option<tempfile::TempDir>,
}

impl Place {
    fn local() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for file in FILES {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, ROWS).unwrap();
        }
        Self {
            context: paths(),
            root: folder.path().display().to_string(),
            _folder: Some(folder),
        }
    }

    async fn store() -> Self {
        let (context, store) = (paths(), Arc::new(InMemory::new()));
        for file in FILES {
            let path = Path::parse(format!("lake/{file}")).unwrap();
            store.put(&path, ROWS.as_bytes().to_vec().into()).await.unwrap();
        }
        let url = Url::parse("s3://bucket").unwrap();
        context.session().register_object_store(&url, store as _);
        Self {
            context,
            root: "s3://bucket/lake".into(),
            _folder: None,
        }
    }

    async fn sql(&self, sql: &str) -> Vec<RecordBatch> {
        collect(&self.context, &sql.replace('@', &self.root)).await
    }

    /// Returns the first column of a result as texts, in ascending order.
    async fn texts(&self, sql: &str) -> Vec<Option<String>> {
        let mut texts = vec![];
        for batch in self.sql(sql).await {
            let column = arrow::compute::cast(batch.column(0), &arrow::datatypes::DataType::Utf8).unwrap();
            texts.extend(column.as_string::<i32>().iter().map(|text| text.map(String::from)));
        }
        texts.sort();
        texts
    }

    /// Returns the folders of the files that a query reads, from DataFusion's plan.
    async fn folders_read(&self, sql: &str) -> BTreeSet<String> {
        let plan = pretty_format_batches(&self.sql(&format!("EXPLAIN FORMAT INDENT {sql}")).await).unwrap();
        let plan = plan.to_string();
        let parts = plan.split(['/', ',', ' ', '[', ']']);
        parts
            .filter(|part| part.starts_with("year="))
            .map(String::from)
            .collect()
    }
}

fn paths() -> AnonContext {
    AnonContext::new(anonsql::enable_path_tables(context(2).session().clone()))
}

fn some(texts: &[&str]) -> Vec<Option<String>> {
    texts.iter().map(|text| Some((*text).to_string())).collect()
}

#[tokio::test]
async fn folder_names_have_types_and_null() {
    for place in [Place::local(), Place::store().await] {
        let types = "SELECT DISTINCT arrow_typeof(year) || ' ' || arrow_typeof(day) FROM '@/years/'";
        assert_eq!(place.texts(types).await, some(&["Int64 Date32"]));
        let years = place.texts("SELECT DISTINCT year FROM '@/years/'").await;
        assert_eq!(years, [vec![None], some(&["2024", "2025"])].concat());
        let none = place.texts("SELECT count(*) FROM '@/years/' WHERE day IS NULL").await;
        assert_eq!(none, some(&["2"]));
        // Leading zeros are kept. Names are decoded once.
        let zips = place.texts("SELECT DISTINCT zip FROM '@/zips/'").await;
        assert_eq!(zips, some(&["01067", "10115"]));
        let names = place.texts("SELECT DISTINCT name FROM '@/names/'").await;
        assert_eq!(names, some(&["50%", "a b", "a/b"]));
    }
}

#[tokio::test]
async fn folders_that_where_rules_out_are_not_read() {
    for place in [Place::local(), Place::store().await] {
        let read = async |filter: &str| {
            let all = place
                .folders_read(&format!("SELECT age FROM '@/years/' WHERE {filter}"))
                .await;
            all.into_iter().collect::<Vec<_>>().join(" ")
        };
        let null = "year=__HIVE_DEFAULT_PARTITION__";
        assert_eq!(read("age > 0").await, format!("year=2024 year=2025 {null}"));
        assert_eq!(read("year = 2025").await, "year=2025");
        // A query may read the folder for NULL unnecessarily, but its result contains none of these
        // rows (see below).
        assert!(!read("year < 2025").await.contains("year=2025"));
        assert_eq!(read("year IS NULL").await, null);
        assert_eq!(read("day = DATE '2025-01-01'").await, null);
        for (filter, rows) in [
            ("year < 2025", "4"),
            ("NOT (year = 2024)", "2"),
            ("year <> 2024 OR day IS NULL", "2"),
            ("year IN (2024, 2026)", "4"),
            ("year = 2024 AND day > DATE '2024-02-01'", "2"),
            ("year >= 2024", "6"),
            ("day IS NULL", "2"),
        ] {
            let counted = place
                .texts(&format!("SELECT count(*) FROM '@/years/' WHERE {filter}"))
                .await;
            assert_eq!(counted, some(&[rows]), "{filter}");
        }
        // Decoded names match every encoding.
        let found = place
            .texts("SELECT count(*) FROM '@/names/' WHERE name IN ('a/b', '50%')")
            .await;
        assert_eq!(found, some(&["4"]));
    }
}

#[tokio::test]
async fn stated_types_go_before() {
    for place in [Place::local(), Place::store().await] {
        let release = async |options: &str| {
            let sql = format!(
                "SELECT DISTINCT arrow_typeof(zip) FROM (ANONYMIZE '@/zips/' OPTIONS ({options}) \
                 QUASI IDENTIFIERS (age LEVELS 0 TO 0) KEEP (zip) SATISFYING k_anonymity(1))"
            );
            place.texts(&sql).await
        };
        assert_eq!(release("hive_types 'zip BIGINT'").await, some(&["Int64"]));
        assert_eq!(release("hive_types_autocast false").await, some(&["Utf8"]));
        let refused = |options: &str| {
            format!(
                "ANONYMIZE '{}/names/' OPTIONS ({options}) QUASI IDENTIFIERS (age) KEEP (name) SATISFYING k_anonymity(1)",
                place.root
            )
        };
        let error = place.context.sql(&refused("hive_types 'name DATE'")).await.unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("3 of its 3 folder names are not of that type") && !text.contains("50%"),
            "{text}"
        );
        let error = place.context.sql(&refused("hive_types 'nme DATE'")).await.unwrap_err();
        assert!(error.to_string().contains("did you mean \"name\""), "{error}");
    }
}

/// A file outside the folders has no value for the folder columns. It is an error, because the file
/// can be neither read nor skipped.
#[tokio::test]
async fn a_file_outside_of_the_folders_is_an_error() {
    let place = Place::local();
    std::fs::write(format!("{}/years/b.csv", place.root), ROWS).unwrap();
    let sql = format!("SELECT * FROM '{}/years/'", place.root);
    let error = place.context.sql(&sql).await.unwrap_err();
    assert!(error.to_string().contains("of a table are in folders"), "{error}");
}

/// NULL, numbers and dates of folder names are released like any other value.
#[tokio::test]
async fn folder_names_are_quasi_identifiers() {
    for place in [Place::local(), Place::store().await] {
        place.sql("CREATE HIERARCHY day AS TRUNCATE (MONTH, YEAR)").await;
        let released = place
            .texts(
                "SELECT DISTINCT day FROM (ANONYMIZE '@/years/' IDENTIFIERS (age) \
                 QUASI IDENTIFIERS (day USING day LEVELS 2 TO 2, year) SATISFYING k_anonymity(2))",
            )
            .await;
        assert_eq!(released, [vec![None], some(&["2024", "2025"])].concat());
    }
}
