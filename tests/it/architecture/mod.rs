//! Tests the wings (folders) of `src`, which the table in `lib.rs` lists, and their rooms
//! (modules), which the table in the `mod.rs` of each wing lists. A file uses only its own room,
//! the rooms above it and the wings above its wing, no file is part of a cycle, DataFusion is named
//! only where the table allows it, and no two rooms have a type of the same name.

mod api;
mod attributes;
mod face;
mod graph;
mod names;
mod paths;
mod planted;
mod tables;
mod tree;

use graph::Graph;
use std::path::Path;
use tables::{Plan, wings_with_code};
use tree::Files;

fn read(folder: &Path, below: &Path, files: &mut Files) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, below, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let name = path.strip_prefix(below).unwrap().to_str().unwrap().replace('\\', "/");
            files.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
}

fn source() -> Files {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Files::new();
    read(&folder, &folder, &mut files);
    files
}

#[test]
fn each_room_is_in_the_table_of_its_wing_and_in_no_other() {
    let files = source();
    let faults = Plan::read(&files).faults(&files);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_wing_only_declares_its_rooms() {
    let found = wings_with_code(&source());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_file_uses_only_its_own_room_and_those_above() {
    let files = source();
    let breaches = Graph::read(&files).breaches(&Plan::read(&files));
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn no_file_has_more_than_500_lines() {
    let files = source().into_iter().map(|(file, text)| (text.lines().count(), file));
    let long: Vec<(usize, String)> = files.filter(|(lines, _)| *lines > 500).collect();
    assert!(long.is_empty(), "{long:?}");
}

#[test]
fn no_file_stands_in_a_circle() {
    let graph = Graph::read(&source());
    let arrows: Vec<String> = graph
        .circles()
        .iter()
        .flat_map(|circle| graph.arrows_within(circle))
        .collect();
    assert!(arrows.is_empty(), "{}", arrows.join("\n"));
}

/// The folders of optional features. A build without a feature compiles none of its files.
const OPTIONAL: [&str; 5] = [
    "command/cli/",
    "release/cluster/",
    "release/engine/executor/workers/",
    "data/formats/delta/",
    "data/formats/ducklake/",
];

#[test]
fn what_is_optional_is_woven_in_at_five_places() {
    let mut places = vec![];
    for (file, text) in source() {
        if OPTIONAL.iter().any(|folder| file.starts_with(folder)) {
            continue;
        }
        let lines = text.lines().enumerate();
        let lines = lines.filter(|(_, line)| line.contains("#[cfg(") && line.contains("feature ="));
        let lines = lines.filter(|(_, line)| !line.contains("internal-api"));
        places.extend(lines.map(|(i, _)| format!("{file}:{}", i + 1)));
    }
    assert!(places.len() <= 5, "{}", places.join("\n"));
}

/// The page that follows one statement through the rooms names existing files. Each file contains
/// the name that precedes its path: `` `Staging::open` (`src/release/engine/write/staging.rs`) ``.
#[test]
fn the_page_on_how_a_release_is_made_names_what_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/src/how.md")).unwrap();
    let parts: Vec<&str> = page.split('`').collect();
    let mut checked = 0;
    for (i, part) in parts
        .iter()
        .enumerate()
        .filter(|(i, part)| i % 2 == 1 && part.starts_with("src/"))
    {
        assert!(root.join(part).exists(), "there is no {part}");
        let Ok(text) = std::fs::read_to_string(root.join(part)) else {
            continue;
        };
        if parts[i - 1] == " (" && !parts[i - 2].starts_with("src/") {
            let name = parts[i - 2].rsplit("::").next().unwrap_or_default();
            assert!(text.contains(name), "there is no {} in {part}", parts[i - 2]);
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked}");
}
