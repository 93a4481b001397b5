//! Tests the names of types. No two rooms have a type of the same name, so that a name has the same
//! meaning in every file. Types that only their own module can use do not count.

use super::source;
use super::tree::{Files, Tree, name, room};
use std::collections::BTreeMap;
use syn::{Item, Visibility};

/// The names that several rooms may have, each with the reason. They are the common words of the
/// open sets: a reader who knows one set knows the others.
const IDIOMS: &[(&str, &str)] = &[
    (
        "Arguments",
        "the checked arguments from which a member of an open set is built",
    ),
    ("Build", "the constructor of a member, called with its arguments"),
    (
        "Entry",
        "a line in the list of an open set: the words of a member, and how it is made",
    ),
    (
        "Kind",
        "the kind of a parameter, and the kind of a hierarchy; programs import both from `extend`",
    ),
    (
        "Reads",
        "the inputs that a member needs besides those that every member gets",
    ),
    ("Subject", "the table and the request for which a member is prepared"),
];

/// Returns the name of a type that other modules can use.
fn visible_type(item: &Item) -> Option<String> {
    let visibility = match item {
        Item::Enum(item) => &item.vis,
        Item::Struct(item) => &item.vis,
        Item::Trait(item) => &item.vis,
        Item::Type(item) => &item.vis,
        Item::Union(item) => &item.vis,
        _ => return None,
    };
    let is_private = matches!(visibility, Visibility::Inherited);
    name(item).filter(|_| !is_private).map(ToString::to_string)
}

/// Returns the names that several rooms have. For each name, the result has one file from each
/// room.
fn shared(files: &Files) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut found: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for module in &Tree::read(files, "lib.rs").modules {
        for name in module.items.iter().filter_map(visible_type) {
            let rooms = found.entry(name).or_default();
            rooms
                .entry(room(&module.file).into())
                .or_insert_with(|| module.file.clone());
        }
    }
    found.retain(|_, rooms| rooms.len() > 1);
    found
}

/// Returns one message for each type name that several rooms have and that is
/// not an idiom.
pub fn breaches(files: &Files) -> Vec<String> {
    let mut found = shared(files);
    found.retain(|name, _| IDIOMS.iter().all(|(idiom, _)| idiom != name));
    found
        .iter()
        .map(|(name, rooms)| {
            let rooms: Vec<String> = rooms.iter().map(|(room, file)| format!("{room} ({file})")).collect();
            format!("{name} is a type of {}", rooms.join(" and of "))
        })
        .collect()
}

#[test]
fn no_two_rooms_have_a_type_of_the_same_name() {
    let breaches = breaches(&source());
    assert!(
        breaches.is_empty(),
        "give the types names that say more:\n{}",
        breaches.join("\n")
    );
}

#[test]
fn several_rooms_have_each_idiom() {
    let shared = shared(&source());
    for (name, why) in IDIOMS {
        assert!(
            shared.contains_key(*name),
            "{name} ({why}) is a type of one room at most"
        );
    }
}
