//! Reads the plan of `src`: `lib.rs` has the table of the wings (the folders of `src`), and the
//! `mod.rs` of each wing has the table of its rooms (the modules of the wing).

use super::tree::{Files, Tree, room, wing};
use std::collections::BTreeSet;

const WINGS: &str = "//! | wing | what it is for |";
const ROOMS: &str = "//! | module | DataFusion | what it is |";

/// A row of a table of rooms.
#[derive(Debug, PartialEq, Eq)]
pub struct Room {
    /// The folder of the room. It is empty for a module beside the wings.
    pub wing: String,
    pub name: String,
    pub datafusion: bool,
}

/// The tables of the wings and of their rooms.
pub struct Plan {
    wings: Vec<String>,
    /// The rooms of the first wing come first, and the modules beside the wings come last. A file
    /// uses only its own room and the rooms before it.
    pub rooms: Vec<Room>,
}

impl Plan {
    /// Reads the table of wings in `lib.rs`, the tables of these wings, and the table of the
    /// modules beside them.
    pub fn read(files: &Files) -> Self {
        let wings: Vec<String> = rows(files, "lib.rs", WINGS).into_iter().map(|row| row.0).collect();
        let all = wings.iter().map(String::as_str).chain([""]);
        let rooms = all.flat_map(|wing| {
            let rows = rows(files, &table(wing), ROOMS).into_iter();
            rows.map(move |(name, datafusion)| Room {
                wing: wing.into(),
                name,
                datafusion: datafusion == "yes",
            })
        });
        let rooms = rooms.collect();
        Self { wings, rooms }
    }

    /// Returns the position of a file's room. The `mod.rs` of a wing has the position of the wing's
    /// last room, and the roots of the crate come after all rooms.
    pub fn place(&self, file: &str) -> usize {
        let (wing, name) = (wing(file), room(file));
        if is_root(file) {
            return self.rooms.len();
        }
        let mut rooms = self.rooms.iter();
        let place = rooms.rposition(|room| room.wing == wing && (name == "mod" || room.name == name));
        place.unwrap_or_else(|| panic!("{file} is in no table"))
    }

    /// Returns the differences between the tables and the folders: wings and rooms that no table
    /// lists, that are listed twice, or that are listed but not there. A wing without rooms is one,
    /// too.
    pub fn faults(&self, files: &Files) -> Vec<String> {
        let inside = files.keys().filter(|file| !is_root(file) && room(file) != "mod");
        let there: BTreeSet<(&str, &str)> = inside.map(|file| (wing(file), room(file))).collect();
        let mut found = self.faults_of_wings(files, &there);
        for (wing, name) in &there {
            if !self.rooms.iter().any(|room| room.wing == *wing && room.name == *name) {
                found.push(format!("{name} is not in the table of {}", table(wing)));
            }
        }
        for (at, room) in self.rooms.iter().enumerate() {
            if !there.contains(&(room.wing.as_str(), room.name.as_str())) {
                found.push(format!("{} lists {}, which is not there", table(&room.wing), room.name));
            }
            if self.rooms[..at].iter().any(|other| other.name == room.name) {
                found.push(format!("{} is listed twice", room.name));
            }
        }
        found
    }

    fn faults_of_wings(&self, files: &Files, there: &BTreeSet<(&str, &str)>) -> Vec<String> {
        let folders: BTreeSet<&str> = files.keys().map(|file| wing(file)).collect();
        let unlisted = folders
            .iter()
            .filter(|folder| !folder.is_empty() && self.wings.iter().all(|wing| wing != *folder));
        let mut found: Vec<String> = unlisted
            .map(|folder| format!("the wing {folder} is not in the table of lib.rs"))
            .collect();
        for (at, wing) in self.wings.iter().enumerate() {
            if !there.iter().any(|(of, _)| of == wing) {
                found.push(format!("the wing {wing} has no room"));
            }
            if self.wings[..at].contains(wing) {
                found.push(format!("the wing {wing} is listed twice"));
            }
        }
        found
    }
}

/// Returns the wings whose `mod.rs` has more than the declarations of the rooms.
pub fn wings_with_code(files: &Files) -> Vec<String> {
    let modules = Tree::read(files, "lib.rs").modules;
    let with_code = modules.iter().filter(|module| {
        let is_wing = !wing(&module.file).is_empty() && room(&module.file) == "mod";
        is_wing && !module.items.is_empty()
    });
    with_code.map(|module| module.file.clone()).collect()
}

/// Returns true for `lib.rs` and `main.rs`, which are in no table.
fn is_root(file: &str) -> bool {
    file == "lib.rs" || file == "main.rs"
}

/// Returns the file with the table of a wing's rooms, or of the modules beside the wings.
fn table(wing: &str) -> String {
    match wing {
        "" => "lib.rs".into(),
        wing => format!("{wing}/mod.rs"),
    }
}

/// Returns the first two cells of each row of the table that has this header.
fn rows(files: &Files, file: &str, header: &str) -> Vec<(String, String)> {
    let text = files.get(file).map_or("", String::as_str);
    let lines = text.lines().skip_while(|line| *line != header).skip(2);
    let rows = lines.map_while(|line| line.strip_prefix("//! | "));
    let cells = rows.map(|row| {
        let mut cells = row
            .split(" | ")
            .map(|cell| cell.trim_matches(['[', '`', ']', ' ', '|']).to_string());
        (cells.next().unwrap_or_default(), cells.next().unwrap_or_default())
    });
    cells.collect()
}
