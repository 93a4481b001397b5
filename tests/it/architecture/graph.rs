//! The arrows from each file of `src` to the files that it uses, and the arrows that break the
//! rules of the wings and their rooms.

use super::paths::paths;
use super::tables::Plan;
use super::tree::{Files, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// For each file, the files that it uses, each with one path as an example. Also the files that
/// name DataFusion.
#[derive(Debug, Default)]
pub struct Graph {
    arrows: BTreeMap<String, BTreeMap<String, String>>,
    pub datafusion: BTreeSet<String>,
}

impl Graph {
    /// Reads the graph of the library below `lib.rs`, and of the command in `main.rs` if that file
    /// exists.
    pub fn read(files: &Files) -> Self {
        let mut graph = Self::default();
        let library = Tree::read(files, "lib.rs");
        for (index, module) in library.modules.iter().enumerate() {
            for path in paths(module) {
                graph.add(&library, index, &module.file, path);
            }
        }
        if files.contains_key("main.rs") {
            for mut path in Tree::read(files, "main.rs").modules.iter().flat_map(paths) {
                if path.names[0] == "anonsql" {
                    path.names[0] = "crate".into();
                    graph.add(&library, 0, "main.rs", path);
                }
            }
        }
        graph
    }

    fn add(&mut self, tree: &Tree, module: usize, file: &str, path: super::tree::Path) {
        let written = path.names.join("::");
        if path.names[0] == "datafusion" {
            self.datafusion.insert(file.into());
        }
        for used in tree.files(module, &path) {
            if used != file {
                let arrows = self.arrows.entry(file.into()).or_default();
                arrows.entry(used.into()).or_insert_with(|| written.clone());
            }
        }
    }

    /// Returns the cycles of files that use each other. Each cycle is the set of its files.
    pub fn circles(&self) -> Vec<BTreeSet<&str>> {
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            self.arrows.keys().map(|f| (f.as_str(), self.reached(f))).collect();
        let circle = |file: &&str| -> BTreeSet<&str> {
            let back = |other: &&&str| reached.get(*other).is_some_and(|reached| reached.contains(file));
            reached[file].iter().filter(back).copied().collect()
        };
        let circles = reached.keys().map(|file| (file, circle(file)));
        // Every file of a cycle finds the cycle. Only its first file returns it.
        let circles = circles.filter(|(file, circle)| circle.first() == Some(file));
        circles.map(|(_, circle)| circle).collect()
    }

    fn reached<'a>(&'a self, file: &'a str) -> BTreeSet<&'a str> {
        let (mut reached, mut next) = (BTreeSet::new(), vec![file]);
        while let Some(file) = next.pop() {
            let used = self.arrows.get(file).into_iter().flat_map(BTreeMap::keys);
            next.extend(used.map(String::as_str).filter(|used| reached.insert(*used)));
        }
        reached
    }

    /// Returns the arrows between these files, one per line.
    pub fn arrows_within(&self, circle: &BTreeSet<&str>) -> Vec<String> {
        self.lines(|from, to| circle.contains(from) && circle.contains(to))
    }

    /// Returns the arrows from a file to a room or wing below the file's own, and the files that
    /// name DataFusion although the table of their wing does not allow it.
    pub fn breaches(&self, plan: &Plan) -> Vec<String> {
        let mut found = self.lines(|from, to| plan.place(to) > plan.place(from));
        let without = |file: &&String| {
            let room = plan.rooms.get(plan.place(file));
            room.is_some_and(|room| !room.datafusion)
        };
        found.extend(
            self.datafusion
                .iter()
                .filter(without)
                .map(|file| format!("{file} names DataFusion")),
        );
        found
    }

    fn lines(&self, which: impl Fn(&str, &str) -> bool) -> Vec<String> {
        let all = self
            .arrows
            .iter()
            .flat_map(|(from, used)| used.iter().map(move |(to, path)| (from, to, path)));
        let which = all.filter(|(from, to, _)| which(from, to));
        which
            .map(|(from, to, path)| format!("{from} uses {path}, which is in {to}"))
            .collect()
    }
}
