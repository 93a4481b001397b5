//! Tests the README and the book. Every block of SQL and shell runs as printed, in order, and the
//! manifests of the releases conform to the schema.

mod page;
mod session;

use crate::manifest_schema::faults_below;
use page::{Language, Page};
use std::path::{Path, PathBuf};

/// The page whose Rust is compiled with the documentation tests (src/lib.rs includes it).
const RUST: &str = "docs/src/library.md";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The pages of optional features, each with true if the feature is built here. Without the
/// feature, the commands of its page are refused.
const OPTIONAL: &[(&str, bool)] = &[
    ("docs/src/cluster.md", cfg!(feature = "cluster")),
    ("docs/src/delta.md", cfg!(feature = "delta")),
    ("docs/src/ducklake.md", cfg!(feature = "ducklake")),
];

/// Returns the pages of the book, without its table of contents.
fn book() -> Vec<Page> {
    let mut folders = vec![PathBuf::from("docs/src")];
    let mut pages = vec![];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).unwrap() {
            let path = folder.join(entry.unwrap().file_name());
            if root().join(&path).is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") && path != contents() {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages.iter().map(|path| Page::read(root(), path)).collect()
}

fn contents() -> PathBuf {
    "docs/src/SUMMARY.md".into()
}

/// Returns the pages outside the book.
fn others() -> Vec<Page> {
    [
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "CHANGELOG.md",
        "data/README.md",
    ]
    .map(|path| Page::read(root(), Path::new(path)))
    .into()
}

#[test]
fn every_block_runs_in_order_as_printed() {
    let is_built = |page: &Page| {
        !OPTIONAL
            .iter()
            .any(|(path, built)| page.path == Path::new(path) && !built)
    };
    let failed: Vec<String> = others()
        .iter()
        .chain(&book())
        .filter(|page| is_built(page))
        .filter_map(|page| match session::play(root(), page) {
            Ok(played) => Some(faults_below(played.root()).join("\n")).filter(|faults| !faults.is_empty()),
            Err(e) => Some(e),
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// The README's picture is the first picture of the report that the README's statement writes.
/// `UPDATE_DOCS=1` draws it again.
#[test]
fn the_picture_is_the_reports() {
    let played = session::play(root(), &Page::read(root(), Path::new("README.md"))).unwrap_or_else(|e| panic!("{e}"));
    let report = std::fs::read_to_string(played.root().join("out/census.html")).unwrap();
    let (from, to) = (report.find("<svg").unwrap(), report.find("</svg>").unwrap());
    // In its own file, the picture needs properties that the page around it set: the namespace, and
    // the colours of the background and the text.
    let alone = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"570\" style=\"background:#fff;color:#1a1d23\"";
    let picture = format!("{alone}{}</svg>\n", &report[from + "<svg".len()..to]);
    let path = root().join("docs/src/class-sizes.svg");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &picture).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).ok().as_ref(), Some(&picture));
}

/// Plays a page with these lines.
fn play(lines: &[&str]) -> Result<(), String> {
    session::play(root(), &Page::parse(Path::new("page.md"), lines.join("\n"))).map(drop)
}

#[test]
fn a_page_is_one_session_and_its_shell_runs_in_between() {
    let lines = [
        "```sql",
        "CREATE TABLE t AS VALUES (1); COPY t TO 'out/t.csv';",
        "```",
        "```sh",
        "test -s out/t.csv",
        "anonsql -c 'SELECT 1'",
        "mv out/t.csv out/moved.csv",
        "```",
        "```sql",
        "SELECT * FROM t; SELECT * FROM 'out/moved.csv';",
        "```",
    ];
    assert_eq!(play(&lines), Ok(()));
}

#[test]
fn what_fails_is_named_with_its_page_and_line() {
    let failed = play(&[
        "",
        "```sql",
        "SELECT 1;",
        "```",
        "```sql",
        "SELECT 1;",
        "SELECT nothing;",
        "```",
    ])
    .unwrap_err();
    assert!(failed.starts_with("page.md:6: "), "{failed}");
    assert!(failed.contains("nothing"), "{failed}");
    let failed = play(&["```sh", "false", "true", "```", "```sql", "SELECT 1", "```"]).unwrap_err();
    assert!(failed.starts_with("page.md:2: "), "{failed}");
    let failed = play(&["```sql", "SELECT 1 AS a;", "```", "```output", "| a |", "| 2 |", "```"]).unwrap_err();
    assert!(failed.starts_with("page.md:5: not printed: | 2 |"), "{failed}");
    let failed = play(&["```sh", "cargo publish", "```"]).unwrap_err();
    assert!(failed.contains("not among the commands"), "{failed}");
}

#[test]
fn rust_stands_where_it_is_compiled() {
    for page in others().iter().chain(&book()) {
        let rust = page.blocks.iter().find(|block| block.language == Language::Rust);
        let line = rust.map_or(0, |block| block.line);
        assert!(
            rust.is_none() || page.path == Path::new(RUST),
            "{}:{line}: Rust that nothing compiles; move it to {RUST}",
            page.path.display()
        );
    }
    let includes = std::fs::read_to_string(root().join("src/lib.rs")).unwrap();
    assert!(includes.contains(&format!("include_str!(\"../{RUST}\")")));
}

#[test]
fn every_link_leads_to_a_file() {
    let contents = Page::read(root(), &contents());
    for page in others().iter().chain(&book()).chain([&contents]) {
        let folder = root().join(page.path.parent().unwrap());
        for link in page.links() {
            assert!(folder.join(link).exists(), "{}: no {link}", page.path.display());
        }
        for (file, heading) in page.links_to_headings() {
            let target = match file {
                "" => page.path.clone(),
                file => page.path.parent().unwrap().join(file),
            };
            let headings = Page::read(root(), &target).headings();
            assert!(
                headings.iter().any(|h| h == heading),
                "{}: no {file}#{heading}",
                page.path.display()
            );
        }
    }
}

#[test]
fn the_contents_name_every_page_once() {
    let contents = Page::read(root(), &contents());
    let mut named: Vec<PathBuf> = contents
        .links()
        .iter()
        .map(|link| Path::new("docs/src").join(link))
        .collect();
    named.sort();
    let pages: Vec<PathBuf> = book().into_iter().map(|page| page.path).collect();
    assert_eq!(named, pages);
}
