//! Tests the checks of the architecture on sources written by hand.

use super::graph::Graph;
use super::tables::{Plan, Room, wings_with_code};
use super::{Files, names};

const WINGS: &str = "//! | wing | what it is for |\n//! |---|---|\n//! | `ground` | below |\n//! | `attic` | above |\n\
                     \nmod ground; mod attic;";
const GROUND: &str = "//! | module | DataFusion | what it is |\n//! |---|---|---|\n//! | [`low`] | no | below |\n\
                      //! | `high` | yes | above |\n\nmod low; mod high;";
const ATTIC: &str = "//! | module | DataFusion | what it is |\n//! |---|---|---|\n//! | `roof` | yes | above all |\n\
                     \nmod roof;";

/// Returns the files of two wings: `ground` with the rooms `low` and `high`, and `attic` with the
/// room `roof`. Some of them, or further files, are given with their texts.
fn house(given: &[(&str, &str)]) -> Files {
    let given = given.iter().map(|(name, text)| (name.to_string(), text.to_string()));
    let mut files: Files = given.collect();
    let has_folder = files.contains_key("ground/high/mod.rs");
    for (name, text) in [
        ("lib.rs", WINGS),
        ("ground/mod.rs", GROUND),
        ("ground/low.rs", "pub struct Low; pub fn low() {}"),
        ("ground/high.rs", ""),
        ("attic/mod.rs", ATTIC),
        ("attic/roof.rs", ""),
    ] {
        if name != "ground/high.rs" || !has_folder {
            files.entry(name.into()).or_insert_with(|| text.into());
        }
    }
    files
}

fn breaches(files: &[(&str, &str)]) -> Vec<String> {
    let files = house(files);
    Graph::read(&files).breaches(&Plan::read(&files))
}

fn faults(files: &[(&str, &str)]) -> Vec<String> {
    let files = house(files);
    Plan::read(&files).faults(&files)
}

fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let graph = Graph::read(&house(files));
    let circles = graph.circles();
    circles
        .iter()
        .map(|c| c.iter().map(ToString::to_string).collect())
        .collect()
}

#[test]
fn the_tables_give_the_rooms_in_order() {
    let room = |wing: &str, name: &str, datafusion| Room {
        wing: wing.into(),
        name: name.into(),
        datafusion,
    };
    let rooms = [
        room("ground", "low", false),
        room("ground", "high", true),
        room("attic", "roof", true),
    ];
    assert_eq!(Plan::read(&house(&[])).rooms, rooms);
}

#[test]
fn an_arrow_from_a_wing_to_a_lower_one_is_found() {
    let roof = ("attic/roof.rs", "pub struct Roof;");
    let found = breaches(&[("ground/high.rs", "use crate::attic::roof::Roof;"), roof]);
    assert_eq!(
        found,
        ["ground/high.rs uses crate::attic::roof::Roof, which is in attic/roof.rs"]
    );
    for low in [
        "use crate::{attic::roof::{self, Roof}};",
        "use crate::attic; fn f(_: attic::roof::Roof) {}",
        "fn f(_: super::super::attic::roof::Roof) {}",
    ] {
        assert_eq!(breaches(&[("ground/low.rs", low), roof]).len(), 1, "{low}");
    }
    let roof = "use crate::ground::high::High; use super::super::ground::low::Low;";
    let upwards = breaches(&[("attic/roof.rs", roof), ("ground/high.rs", "pub struct High;")]);
    assert!(upwards.is_empty(), "{upwards:?}");
}

#[test]
fn a_room_or_a_wing_in_no_table_is_found() {
    assert!(faults(&[]).is_empty());
    let found = faults(&[("ground/cellar/mod.rs", ""), ("ground/cellar/wine.rs", "")]);
    assert_eq!(found, ["cellar is not in the table of ground/mod.rs"]);
    assert_eq!(faults(&[("shed.rs", "")]), ["shed is not in the table of lib.rs"]);
    let found = faults(&[("barn/hay.rs", "")]);
    assert_eq!(
        found,
        [
            "the wing barn is not in the table of lib.rs",
            "hay is not in the table of barn/mod.rs"
        ]
    );
}

#[test]
fn a_room_in_two_tables_is_found() {
    let also = format!(
        "{}//! | `low` | no | also here |\n\nmod roof; mod low;",
        ATTIC.replace("\nmod roof;", "")
    );
    let attic = ("attic/mod.rs", also.as_str());
    let found = faults(&[attic]);
    assert_eq!(
        found,
        ["attic/mod.rs lists low, which is not there", "low is listed twice"]
    );
    assert_eq!(faults(&[attic, ("attic/low.rs", "")]), ["low is listed twice"]);
    let twice = GROUND.replace("`high` | yes", "`low` | no");
    let found = faults(&[("ground/mod.rs", twice.as_str())]);
    assert_eq!(
        found,
        ["high is not in the table of ground/mod.rs", "low is listed twice"]
    );
    let twice = WINGS.replace("`ground`", "`attic`");
    assert!(faults(&[("lib.rs", twice.as_str())]).contains(&"the wing attic is listed twice".to_string()));
}

#[test]
fn an_empty_wing_is_found() {
    let mut files = house(&[("attic/mod.rs", "")]);
    files.remove("attic/roof.rs");
    assert_eq!(Plan::read(&files).faults(&files), ["the wing attic has no room"]);
}

#[test]
fn code_in_the_file_of_a_wing_is_found() {
    assert!(wings_with_code(&house(&[])).is_empty());
    for attic in [
        "mod roof; pub use roof::Roof;",
        "mod roof; fn f() {}",
        "mod roof { fn f() {} }",
    ] {
        assert_eq!(
            wings_with_code(&house(&[("attic/mod.rs", attic)])),
            ["attic/mod.rs"],
            "{attic}"
        );
    }
}

#[test]
fn an_upward_arrow_is_found_however_it_is_written() {
    let breach = ["ground/low.rs uses crate::ground::high::High, which is in ground/high.rs"];
    let high = (
        "ground/high.rs",
        "pub struct High; pub mod inner { pub struct Deep; } pub const C: u8 = 1; pub fn high() {}",
    );
    let found = |low| breaches(&[("ground/low.rs", low), high]);
    assert_eq!(found("use crate::ground::high::High;"), breach);
    assert_eq!(found("use crate::{ground::high::{self, High}};"), breach);
    assert_eq!(
        found("use crate::ground::high::{inner::Deep as D, High as H};").len(),
        1
    );
    assert_eq!(found("fn f() { use crate::ground::high::High; }"), breach);
    assert_eq!(found("fn f(_: Option<crate::ground::high::High>) {}"), breach);
    assert_eq!(
        found("fn f() { match 1 { crate::ground::high::C => {} _ => {} } }").len(),
        1
    );
    assert_eq!(
        found("fn f() { assert!(x.is(crate::ground::high::High), \"\"); }"),
        breach
    );
    assert_eq!(found("fn f() { vec![..super::high::high()]; }").len(), 1);
    assert_eq!(found("use crate::ground::high; fn f() { high::high(); }").len(), 1);
    assert_eq!(found("use crate::ground::high::*; struct S(High);").len(), 1);
    assert_eq!(
        found("mod own { pub fn f() -> super::super::high::inner::Deep {} }").len(),
        1
    );
    assert_eq!(found("impl crate::ground::high::High {}"), breach);
    assert_eq!(found("#[arg(default = crate::ground::high::High)] struct S;"), breach);
    assert!(found("use crate::ground::high; use crate::ground::high::*;").is_empty());
    assert!(found("fn f() { a!(x.high, ::high::High); }").is_empty());
}

#[test]
fn a_downward_arrow_is_none() {
    assert!(breaches(&[("ground/high.rs", "use crate::ground::low::{Low, low};")]).is_empty());
}

#[test]
fn tests_do_not_count() {
    let high = ("ground/high.rs", "pub struct High;");
    let found = |low| breaches(&[("ground/low.rs", low), high]);
    for low in [
        "#[cfg(test)] mod tests { use crate::ground::high::High; } pub struct Low;",
        "#[cfg(all(test, unix))] use crate::ground::high::High;",
        "#[cfg(any(test))] fn f(_: crate::ground::high::High) {}",
        "struct S; impl S { #[cfg(test)] fn f(_: crate::ground::high::High) {} }",
        "#[cfg(test)] mod not_there;",
    ] {
        assert!(found(low).is_empty(), "{low}");
    }
    for low in [
        "#[cfg(not(test))] use crate::ground::high::High;",
        "#[cfg(any(test, feature = \"x\"))] use crate::ground::high::High;",
        "#[cfg(test)] mod tests {} use crate::ground::high::High;",
    ] {
        assert_eq!(found(low).len(), 1, "{low}");
    }
}

#[test]
fn a_circle_is_found_through_re_exports() {
    let contents = ("ground/high/mod.rs", "mod a; mod b; pub use a::A; pub(crate) use b::B;");
    let circle = circles(&[
        contents,
        ("ground/high/a.rs", "pub struct A(super::B);"),
        ("ground/high/b.rs", "use super::A; pub struct B;"),
    ]);
    assert_eq!(circle, [["ground/high/a.rs", "ground/high/b.rs"]]);
    let line = circles(&[
        contents,
        ("ground/high/a.rs", "pub struct A(super::B);"),
        ("ground/high/b.rs", "pub struct B;"),
    ]);
    assert!(line.is_empty());
    let glob = ("ground/high/mod.rs", "mod a; mod b; pub use a::*; pub use b::*;");
    let circle = circles(&[
        glob,
        ("ground/high/a.rs", "pub struct A(super::B);"),
        ("ground/high/b.rs", "use super::*; pub struct B(A);"),
    ]);
    assert_eq!(circle, [["ground/high/a.rs", "ground/high/b.rs"]]);
}

#[test]
fn a_folder_s_own_code_stands_in_a_circle_with_what_uses_it() {
    let child = ("ground/high/a.rs", "use super::Item; pub fn a(_: Item) {}");
    let uses = ("ground/high/mod.rs", "mod a; pub struct Item; fn f() { a::a(Item); }");
    assert_eq!(circles(&[uses, child]), [["ground/high/a.rs", "ground/high/mod.rs"]]);
    let lists = ("ground/high/mod.rs", "mod a; pub use a::a; pub struct Item;");
    assert!(circles(&[lists, child]).is_empty());
    let imports = ("ground/high/mod.rs", "mod a; use a::a; pub struct Item;");
    assert_eq!(circles(&[imports, child]).len(), 1);
}

#[test]
fn datafusion_is_named_only_where_the_table_says_so() {
    let found = breaches(&[
        ("ground/low.rs", "use datafusion::prelude::*;"),
        ("ground/high.rs", "fn f() { datafusion::f() }"),
    ]);
    assert_eq!(found, ["ground/low.rs names DataFusion"]);
    assert!(
        breaches(&[(
            "ground/low.rs",
            "#[cfg(test)] mod tests { use datafusion::error::Result; }"
        )])
        .is_empty()
    );
}

#[test]
fn a_type_of_the_same_name_in_two_rooms_is_found() {
    let found = |low: &str, high: &str| {
        let files = [("ground/low.rs", low), ("ground/high.rs", high)];
        names::breaches(&house(&files))
    };
    let breach = ["Table is a type of high (ground/high.rs) and of low (ground/low.rs)"];
    for low in [
        "pub struct Table;",
        "pub(crate) enum Table {}",
        "pub trait Table {}",
        "mod inner { pub(super) type Table = u8; }",
        "mod inner { pub(in crate::ground::low) struct Table; }",
    ] {
        assert_eq!(found(low, "pub struct Table;"), breach, "{low}");
    }
    for low in [
        "struct Table;",
        "pub fn table() { struct Table; }",
        "pub struct Rows; impl Rows { pub const Table: u8 = 1; }",
        "pub enum Rows { Table }",
        "pub use crate::ground::high::Table;",
        "#[cfg(test)] pub struct Table;",
        "#[cfg(test)] mod tests { pub struct Table; }",
    ] {
        assert!(found(low, "pub struct Table;").is_empty(), "{low}");
    }
    assert!(found("mod a { pub struct Table; } mod b { pub struct Table; }", "").is_empty());
    assert!(found("pub struct Entry;", "pub struct Entry;").is_empty());
}
