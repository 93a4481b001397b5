//! Tests the checks of the architecture on sources written by hand.

use super::graph::{Graph, Room, rooms};
use super::{Files, names};

const TABLE: &str = "//! | module | DataFusion | what it is |\n//! |---|---|---|\n//! | [`low`] | no | below |\n\
                     //! | `high` | yes | above |\n";
const ROOMS: &str = "mod low; mod high;";

/// Returns the graph of files with these texts, and the rooms of the files.
fn graph(files: &[(&str, &str)]) -> (Graph, Vec<Room>) {
    let files = files.iter().map(|(name, text)| (name.to_string(), text.to_string()));
    let mut files: Files = files.collect();
    files
        .entry("low.rs".into())
        .or_insert_with(|| "pub struct Low; pub fn low() {}".into());
    if !files.contains_key("high/mod.rs") {
        files.entry("high.rs".into()).or_default();
    }
    files.insert("lib.rs".into(), ROOMS.into());
    (Graph::read(&files), rooms(TABLE))
}

fn breaches(files: &[(&str, &str)]) -> Vec<String> {
    let (graph, rooms) = graph(files);
    graph.breaches(&rooms)
}

fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let (graph, _) = graph(files);
    let circles = graph.circles();
    circles
        .iter()
        .map(|c| c.iter().map(ToString::to_string).collect())
        .collect()
}

#[test]
fn the_table_gives_the_rooms_in_order() {
    let room = |name: &str, datafusion| Room {
        name: name.into(),
        datafusion,
    };
    assert_eq!(rooms(TABLE), [room("low", false), room("high", true)]);
}

#[test]
fn an_upward_arrow_is_found_however_it_is_written() {
    let breach = ["low.rs uses crate::high::High, which is in high.rs"];
    let high = (
        "high.rs",
        "pub struct High; pub mod inner { pub struct Deep; } pub const C: u8 = 1; pub fn high() {}",
    );
    let found = |low| breaches(&[("low.rs", low), high]);
    assert_eq!(found("use crate::high::High;"), breach);
    assert_eq!(found("use crate::{high::{self, High}};"), breach);
    assert_eq!(found("use crate::high::{inner::Deep as D, High as H};").len(), 1);
    assert_eq!(found("fn f() { use crate::high::High; }"), breach);
    assert_eq!(found("fn f(_: Option<crate::high::High>) {}"), breach);
    assert_eq!(found("fn f() { match 1 { crate::high::C => {} _ => {} } }").len(), 1);
    assert_eq!(found("fn f() { assert!(x.is(crate::high::High), \"\"); }"), breach);
    assert_eq!(found("fn f() { vec![..super::high::high()]; }").len(), 1);
    assert_eq!(found("use crate::high; fn f() { high::high(); }").len(), 1);
    assert_eq!(found("use crate::high::*; struct S(High);").len(), 1);
    assert_eq!(
        found("mod own { pub fn f() -> super::super::high::inner::Deep {} }").len(),
        1
    );
    assert_eq!(found("impl crate::high::High {}"), breach);
    assert_eq!(found("#[arg(default = crate::high::High)] struct S;"), breach);
    assert!(found("use crate::high; use crate::high::*;").is_empty());
    assert!(found("fn f() { a!(x.high, ::high::High); }").is_empty());
}

#[test]
fn a_downward_arrow_is_none() {
    assert!(breaches(&[("high.rs", "use crate::low::{Low, low};")]).is_empty());
}

#[test]
fn tests_do_not_count() {
    let high = ("high.rs", "pub struct High;");
    let found = |low| breaches(&[("low.rs", low), high]);
    for low in [
        "#[cfg(test)] mod tests { use crate::high::High; } pub struct Low;",
        "#[cfg(all(test, unix))] use crate::high::High;",
        "#[cfg(any(test))] fn f(_: crate::high::High) {}",
        "struct S; impl S { #[cfg(test)] fn f(_: crate::high::High) {} }",
        "#[cfg(test)] mod not_there;",
    ] {
        assert!(found(low).is_empty(), "{low}");
    }
    for low in [
        "#[cfg(not(test))] use crate::high::High;",
        "#[cfg(any(test, feature = \"x\"))] use crate::high::High;",
        "#[cfg(test)] mod tests {} use crate::high::High;",
    ] {
        assert_eq!(found(low).len(), 1, "{low}");
    }
}

#[test]
fn a_circle_is_found_through_re_exports() {
    let contents = ("high/mod.rs", "mod a; mod b; pub use a::A; pub(crate) use b::B;");
    let circle = circles(&[
        contents,
        ("high/a.rs", "pub struct A(super::B);"),
        ("high/b.rs", "use super::A; pub struct B;"),
    ]);
    assert_eq!(circle, [["high/a.rs", "high/b.rs"]]);
    let line = circles(&[
        contents,
        ("high/a.rs", "pub struct A(super::B);"),
        ("high/b.rs", "pub struct B;"),
    ]);
    assert!(line.is_empty());
    let glob = ("high/mod.rs", "mod a; mod b; pub use a::*; pub use b::*;");
    let circle = circles(&[
        glob,
        ("high/a.rs", "pub struct A(super::B);"),
        ("high/b.rs", "use super::*; pub struct B(A);"),
    ]);
    assert_eq!(circle, [["high/a.rs", "high/b.rs"]]);
}

#[test]
fn a_folder_s_own_code_stands_in_a_circle_with_what_uses_it() {
    let child = ("high/a.rs", "use super::Item; pub fn a(_: Item) {}");
    let uses = ("high/mod.rs", "mod a; pub struct Item; fn f() { a::a(Item); }");
    assert_eq!(circles(&[uses, child]), [["high/a.rs", "high/mod.rs"]]);
    let lists = ("high/mod.rs", "mod a; pub use a::a; pub struct Item;");
    assert!(circles(&[lists, child]).is_empty());
    let imports = ("high/mod.rs", "mod a; use a::a; pub struct Item;");
    assert_eq!(circles(&[imports, child]).len(), 1);
}

#[test]
fn datafusion_is_named_only_where_the_table_says_so() {
    let found = breaches(&[
        ("low.rs", "use datafusion::prelude::*;"),
        ("high.rs", "fn f() { datafusion::f() }"),
    ]);
    assert_eq!(found, ["low.rs names DataFusion"]);
    assert!(breaches(&[("low.rs", "#[cfg(test)] mod tests { use datafusion::error::Result; }")]).is_empty());
}

#[test]
fn a_type_of_the_same_name_in_two_rooms_is_found() {
    let found = |low: &str, high: &str| {
        let files = [("lib.rs", ROOMS), ("low.rs", low), ("high.rs", high)];
        names::breaches(&Files::from(
            files.map(|(name, text)| (name.to_string(), text.to_string())),
        ))
    };
    let breach = ["Table is a type of high (high.rs) and of low (low.rs)"];
    for low in [
        "pub struct Table;",
        "pub(crate) enum Table {}",
        "pub trait Table {}",
        "mod inner { pub(super) type Table = u8; }",
        "mod inner { pub(in crate::low) struct Table; }",
    ] {
        assert_eq!(found(low, "pub struct Table;"), breach, "{low}");
    }
    for low in [
        "struct Table;",
        "pub fn table() { struct Table; }",
        "pub struct Rows; impl Rows { pub const Table: u8 = 1; }",
        "pub enum Rows { Table }",
        "pub use crate::high::Table;",
        "#[cfg(test)] pub struct Table;",
        "#[cfg(test)] mod tests { pub struct Table; }",
    ] {
        assert!(found(low, "pub struct Table;").is_empty(), "{low}");
    }
    assert!(found("mod a { pub struct Table; } mod b { pub struct Table; }", "").is_empty());
    assert!(found("pub struct Entry;", "pub struct Entry;").is_empty());
}
