//! The public API, called the face: each of its types has an example, and the examples use only the
//! face.

use super::attributes::attributes;
use super::tree::{Tree, imports, name};
use super::{read, source};
use std::path::Path;
use syn::{Attribute, Expr, Item, Lit, Meta, Visibility};

/// The files of the face. Their re-exports are public. If they re-export a room, so are its public
/// items.
const FACE: &[&str] = &["lib.rs", "extend.rs", "manifest.rs"];

fn docs(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|a| match &a.meta {
        Meta::NameValue(doc) if doc.path.is_ident("doc") => match &doc.value {
            Expr::Lit(line) => Some(&line.lit),
            _ => None,
        },
        _ => None,
    });
    let lines = lines.filter_map(|line| match line {
        Lit::Str(line) => Some(line.value()),
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn is_type(item: &Item) -> bool {
    matches!(item, Item::Enum(_) | Item::Struct(_) | Item::Trait(_) | Item::Type(_))
}

/// An item of the face, with its position.
pub struct Exported<'a> {
    /// The module in which a program finds the item.
    pub face: String,
    pub name: String,
    pub file: String,
    pub item: &'a Item,
}

/// Returns the items of the face, except those of other crates.
pub fn exported(tree: &Tree) -> Vec<Exported<'_>> {
    let mut found = vec![];
    for (index, module) in tree.modules.iter().enumerate() {
        let public = module.items.iter().filter_map(|item| match item {
            Item::Use(import) if matches!(import.vis, Visibility::Public(_)) => Some(import),
            _ => None,
        });
        let imported = public
            .filter(|_| FACE.contains(&module.file.as_str()))
            .flat_map(imports);
        for (path, exported) in imported {
            let exported = exported.expect("the face names what it has");
            let last = path.names.last().expect("a path has a name");
            for file in tree.files(index, &path) {
                let items = tree.modules.iter().filter(|m| m.file == file).flat_map(|m| &m.items);
                let named = items.filter(|item| name(item).is_some_and(|n| n == last));
                found.extend(named.map(|item| Exported {
                    face: module.face(),
                    name: exported.clone(),
                    file: file.to_string(),
                    item,
                }));
            }
            for room in tree.modules_at(index, &path) {
                let own = room.items.iter().filter(|item| is_public(item));
                found.extend(own.filter_map(|item| {
                    Some(Exported {
                        face: format!("{}::{exported}", module.face()),
                        name: name(item)?.to_string(),
                        file: room.file.clone(),
                        item,
                    })
                }));
            }
        }
    }
    found
}

fn is_public(item: &Item) -> bool {
    let visibility = match item {
        Item::Enum(item) => &item.vis,
        Item::Struct(item) => &item.vis,
        Item::Trait(item) => &item.vis,
        Item::Type(item) => &item.vis,
        Item::Fn(item) => &item.vis,
        _ => return false,
    };
    matches!(visibility, Visibility::Public(_))
}

/// Returns the public types of the face. Each type is returned as a text with its file and name,
/// together with its documentation.
fn types() -> Vec<(String, String)> {
    let tree = Tree::read(&source(), "lib.rs");
    let exported = exported(&tree);
    let types = exported.iter().filter(|of| is_type(of.item));
    types
        .map(|of| (format!("{}: {}", of.file, of.name), docs(attributes(of.item))))
        .collect()
}

#[test]
fn every_public_type_has_an_example() {
    let types = types();
    assert!(types.len() > 50, "{types:?}");
    let without = types.iter().filter(|(_, docs)| !docs.contains("```"));
    let without: Vec<&String> = without.map(|(which, _)| which).collect();
    assert!(without.is_empty(), "{without:#?}");
}

#[test]
fn examples_use_the_face_alone() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut examples = super::tree::Files::new();
    read(&folder, &folder, &mut examples);
    assert!(!examples.is_empty());
    for (file, text) in examples {
        assert!(!text.contains("internal"), "{file}");
    }
}
