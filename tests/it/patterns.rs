//! Tests the files that a path names, in local folders and in object stores. A pattern matches the
//! same files as in a shell, and a folder represents all its files.

use crate::common::{collect, context, holds, rows, text};
use anonsql::AnonContext;
use anonsql::manifest::Manifest;
use arrow::array::AsArray;
use datafusion::object_store::ObjectStoreExt;
use datafusion::object_store::memory::InMemory;
use datafusion::object_store::path::Path;
use std::sync::Arc;
use url::Url;

/// The files, each with one row that contains the file's name.
const FILES: [&str; 14] = [
    "dir/a.csv",
    "dir/x/b.csv",
    "dir/x/y/c.csv",
    "dir/x/_h.csv",
    "dir/x/.h.csv",
    "dir/.hidden/d.csv",
    "dir/_hidden/e.csv",
    "lake/a/1.csv",
    "lake/b/2.csv",
    "lake/year=2024/3.csv",
    "lake/year=2025/month=1/4.csv",
    "odd/a b#1.csv",
    "odd/50%.csv",
    "odd/x/note.txt",
];

struct Place {
    context: AnonContext,
    root: String,
    folder: Option<tempfile::TempDir>,
    store: Arc<InMemory>,
}

impl Place {
    async fn all() -> [Self; 2] {
        let context = || AnonContext::new(anonsql::enable_path_tables(context(2).session().clone()));
        let (local, stored) = (context(), context());
        let (folder, store) = (tempfile::tempdir().unwrap(), Arc::new(InMemory::new()));
        let url = Url::parse("s3://bucket").unwrap();
        stored.session().register_object_store(&url, Arc::clone(&store) as _);
        let places = [
            Self {
                context: local,
                root: folder.path().display().to_string(),
                folder: Some(folder),
                store: Arc::default(),
            },
            Self {
                context: stored,
                root: "s3://bucket/[a]".replace("[a]", "root"),
                folder: None,
                store,
            },
        ];
        for place in &places {
            for file in FILES {
                place.put(file).await;
            }
        }
        places
    }

    async fn put(&self, file: &str) {
        let content = format!("n\n{file}\n");
        match &self.folder {
            Some(folder) => {
                let path = folder.path().join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, content).unwrap();
            }
            None => {
                let path = Path::parse(format!("root/{file}")).unwrap();
                self.store.put(&path, content.into()).await.unwrap();
            }
        }
    }

    /// Returns the names of the files that a path names, in ascending order.
    async fn named(&self, path: &str) -> Vec<String> {
        self.texts(&format!("SELECT n FROM '{}/{path}'", self.root)).await
    }

    async fn texts(&self, sql: &str) -> Vec<String> {
        let mut names = vec![];
        for batch in collect(&self.context, sql).await {
            let column = arrow::compute::cast(batch.column(0), &arrow::datatypes::DataType::Utf8).unwrap();
            names.extend(column.as_string::<i32>().iter().map(|name| name.unwrap().to_string()));
        }
        names.sort();
        names
    }
}

#[tokio::test]
async fn a_pattern_names_what_a_shell_would_name() {
    for place in Place::all().await {
        for (path, expected) in [
            ("dir/*.csv", &["dir/a.csv"][..]),
            ("dir/**/*.csv", &["dir/a.csv", "dir/x/b.csv", "dir/x/y/c.csv"]),
            ("dir/**", &["dir/a.csv", "dir/x/b.csv", "dir/x/y/c.csv"]),
            ("d?r/*/?.csv", &["dir/x/b.csv"]),
            ("dir/*/*/*.csv", &["dir/x/y/c.csv"]),
            ("dir/_*/*.csv", &["dir/_hidden/e.csv"]),
            ("dir/x/_*.csv", &["dir/x/_h.csv"]),
            ("dir/.hidden/*", &["dir/.hidden/d.csv"]),
            (
                "lake/*/*.csv",
                &["lake/a/1.csv", "lake/b/2.csv", "lake/year=2024/3.csv"],
            ),
            ("lake/[ab]/*.csv", &["lake/a/1.csv", "lake/b/2.csv"]),
            ("lake/[!a-b]*/*.csv", &["lake/year=2024/3.csv"]),
            ("lake/{a,b}/?.csv", &["lake/a/1.csv", "lake/b/2.csv"]),
            (
                "{dir/x,lake/{a,b}}/*.csv",
                &["dir/x/b.csv", "lake/a/1.csv", "lake/b/2.csv"],
            ),
            (
                "lake/year=*/",
                &["lake/year=2024/3.csv", "lake/year=2025/month=1/4.csv"],
            ),
            ("lake/year=2025/**/4.csv", &["lake/year=2025/month=1/4.csv"]),
            ("odd/*", &["odd/50%.csv", "odd/a b#1.csv"]),
        ] {
            assert_eq!(place.named(path).await, expected, "{}/{path}", place.root);
        }
        for path in [
            "lake/*.csv",
            "lake/year=*/month=2/*.csv",
            "nowhere/**/*.csv",
            "dir/*.tsv",
        ] {
            let sql = format!("SELECT n FROM '{}/{path}'", place.root);
            let e = place.context.sql(&sql).await.unwrap_err();
            assert!(e.to_string().contains("there is no data file"), "{e}");
        }
    }
}

#[tokio::test]
async fn a_folder_has_all_that_is_in_it() {
    for place in Place::all().await {
        assert_eq!(place.named("dir/").await, ["dir/a.csv", "dir/x/b.csv", "dir/x/y/c.csv"]);
        assert_eq!(place.named("lake/year=2025/").await, ["lake/year=2025/month=1/4.csv"]);
        // Some files are in folders whose names encode columns, and the others are not.
        let sql = format!("SELECT n FROM '{}/lake/'", place.root);
        let e = place.context.sql(&sql).await.unwrap_err();
        assert!(e.to_string().contains("of other columns than the first file"), "{e}");
    }
}

/// A folder with a table in one of its subfolders is refused, because the files of a table include
/// those of earlier versions.
#[tokio::test]
async fn a_folder_with_tables_in_it_is_refused() {
    for place in Place::all().await {
        place.put("dir/t/_delta_log/00000000000000000000.json").await;
        place.put("dir/t/a.csv").await;
        let sql = format!("SELECT n FROM '{}/dir/'", place.root);
        let e = place.context.sql(&sql).await.unwrap_err();
        assert!(e.to_string().contains("name the tables one by one"), "{e}");
        assert_eq!(place.named("dir/x/").await, ["dir/x/b.csv", "dir/x/y/c.csv"]);
        assert_eq!(place.named("dir/{t,x}/*.csv").await, ["dir/t/a.csv", "dir/x/b.csv"]);
    }
}

/// Tests a table over a pattern, and the pattern as a source of every statement.
#[tokio::test]
async fn statements_read_what_a_pattern_names() {
    for place in Place::all().await {
        let root = &place.root;
        let external = format!("CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '{root}/{{dir/**/*,lake/a/*}}.csv'");
        collect(&place.context, &external).await;
        let expected = ["dir/a.csv", "dir/x/b.csv", "dir/x/y/c.csv", "lake/a/1.csv"];
        assert_eq!(place.texts("SELECT n FROM t").await, expected);
        let none = format!("CREATE EXTERNAL TABLE u STORED AS CSV LOCATION '{root}/*/nothing*.csv'");
        let e = place.context.sql(&none).await.unwrap_err();
        assert!(e.to_string().contains("there is no data file"), "{e}");

        let verify = format!("VERIFY '{root}/dir/**/*.csv' QUASI IDENTIFIERS (n) SATISFYING k_anonymity(1)");
        let checks = collect(&place.context, &verify).await;
        assert!(holds(&checks));
        assert_eq!(text(&checks, "check", "files read", "reached"), "3.0");
        let release = format!("ANONYMIZE '{root}/dir/**/*.csv' QUASI IDENTIFIERS (n) SATISFYING k_anonymity(3)");
        assert_eq!(rows(&collect(&place.context, &release).await), 3);
        let target = tempfile::tempdir().unwrap();
        let to = target.path().join("out");
        let release = release.replace(" QUASI", &format!(" TO '{}' QUASI", to.display()));
        collect(&place.context, &release).await;
        let manifest = Manifest::read(&to).unwrap().unwrap();
        assert!(manifest.input.len() == 3 && manifest.input[2].name.ends_with("c.csv"));
        // The view also contains files that are added later.
        let view = format!("CREATE VIEW v AS SELECT n FROM '{root}/lake/*/*.csv'");
        collect(&place.context, &view).await;
        place.put("lake/c/9.csv").await;
        assert_eq!(rows(&collect(&place.context, "SELECT * FROM v").await), 4);
    }
}
