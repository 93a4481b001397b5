//! The modules of a crate, and the targets of the paths in them.

use super::attributes::{attributes, only_in_tests};
use std::collections::{BTreeMap, HashSet};
use syn::visit::Visit;
use syn::{Ident, Item, ItemUse, UseTree, Visibility};

/// The text of every file, by its path below `src`.
pub type Files = BTreeMap<String, String>;

/// A module: its position in the crate, and the names in its scope.
#[derive(Default)]
pub struct Module {
    pub file: String,
    pub items: Vec<Item>,
    path: Vec<String>,
    parent: usize,
    children: BTreeMap<String, usize>,
    defined: HashSet<String>,
    imported: BTreeMap<String, Vec<Path>>,
    globs: Vec<Path>,
}

/// A path as the source writes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Path {
    /// True if the path begins with `::`. Such a path never names a module of this crate.
    pub external: bool,
    pub names: Vec<String>,
}

/// The target of a path: a module, or an item of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Module(usize),
    Item(usize),
}

/// The modules of a crate. The first one is the root.
pub struct Tree {
    pub modules: Vec<Module>,
}

impl Tree {
    /// Reads `root` and every module below it, except the modules of tests.
    pub fn read(files: &Files, root: &str) -> Self {
        let mut tree = Self { modules: vec![] };
        tree.add(files, root.into(), vec![], 0, items(files, root));
        tree
    }

    fn add(&mut self, files: &Files, file: String, path: Vec<String>, parent: usize, items: Vec<Item>) -> usize {
        let index = self.modules.len();
        self.modules.push(Module {
            file: file.clone(),
            path: path.clone(),
            parent,
            ..Module::default()
        });
        let mut module = Module::default();
        for item in items.into_iter().filter(|item| !only_in_tests(attributes(item))) {
            let Item::Mod(child) = item else {
                module.define(&item);
                module.items.push(item);
                continue;
            };
            let path: Vec<String> = path.iter().cloned().chain([child.ident.to_string()]).collect();
            let (file, inside) = match child.content {
                Some((_, inside)) => (file.clone(), inside),
                None => {
                    let file = [path.join("/") + ".rs", path.join("/") + "/mod.rs"];
                    let file = file.into_iter().find(|file| files.contains_key(file));
                    let file = file.unwrap_or_else(|| panic!("no file for the module {}", path.join("::")));
                    (file.clone(), self::items(files, &file))
                }
            };
            let added = self.add(files, file, path, index, inside);
            module.children.insert(child.ident.to_string(), added);
        }
        let own = &mut self.modules[index];
        (own.items, own.children, own.defined) = (module.items, module.children, module.defined);
        (own.imported, own.globs) = (module.imported, module.globs);
        index
    }

    /// Returns the files that define the item that `path` names when it is written in `module`. If
    /// `path` names a module or an item of another crate, there are no such files.
    pub fn files(&self, module: usize, path: &Path) -> Vec<&str> {
        let named = self.named(module, path, &mut HashSet::new());
        let items = named.into_iter().filter_map(|named| match named {
            Named::Item(module) => Some(self.modules[module].file.as_str()),
            Named::Module(_) => None,
        });
        items.collect()
    }

    /// Returns the modules that `path` names when it is written in `module`.
    pub fn modules_at(&self, module: usize, path: &Path) -> Vec<&Module> {
        let named = self.named(module, path, &mut HashSet::new());
        let modules = named.into_iter().filter_map(|named| match named {
            Named::Module(module) => Some(&self.modules[module]),
            Named::Item(_) => None,
        });
        modules.collect()
    }

    fn named(&self, module: usize, path: &Path, seen: &mut HashSet<(usize, String)>) -> Vec<Named> {
        if path.external {
            return vec![];
        }
        let mut found = vec![Named::Module(module)];
        for (at, name) in path.names.iter().enumerate() {
            let mut next = vec![];
            for named in found {
                match (named, name.as_str()) {
                    (Named::Item(_), _) => next.push(named),
                    (Named::Module(_), "crate") => next.push(Named::Module(0)),
                    (Named::Module(_), "self") => next.push(named),
                    (Named::Module(module), "super") => next.push(Named::Module(self.modules[module].parent)),
                    (Named::Module(module), name) => next.extend(self.lookup(module, name, seen)),
                }
            }
            // Only a module or a type contains further names: `decide::all` is not a part of a
            // function `decide`.
            let inner = at + 1 < path.names.len();
            if inner && next.iter().any(|named| matches!(named, Named::Module(_))) {
                next.retain(|named| matches!(named, Named::Module(_)));
            }
            found = next;
        }
        found
    }

    fn lookup(&self, module: usize, name: &str, seen: &mut HashSet<(usize, String)>) -> Vec<Named> {
        if !seen.insert((module, name.into())) {
            return vec![];
        }
        let scope = &self.modules[module];
        let mut found: Vec<Named> = scope
            .children
            .get(name)
            .map(|m| Named::Module(*m))
            .into_iter()
            .collect();
        if scope.defined.contains(name) {
            found.push(Named::Item(module));
        }
        for path in scope.imported.get(name).into_iter().flatten() {
            found.extend(self.named(module, path, seen));
        }
        if found.is_empty() {
            for path in &scope.globs {
                for named in self.named(module, path, seen) {
                    if let Named::Module(from) = named {
                        found.extend(self.lookup(from, name, seen));
                    }
                }
            }
        }
        seen.remove(&(module, name.into()));
        found
    }
}

impl Module {
    /// Returns the path by which a program names the module.
    pub fn face(&self) -> String {
        let names = std::iter::once("anonsql").chain(self.path.iter().map(String::as_str));
        names.collect::<Vec<_>>().join("::")
    }

    /// Returns true if `import` is a re-export in a table of contents, which is a file that only
    /// declares modules and re-exports items.
    pub fn re_exports(&self, import: &ItemUse) -> bool {
        let contents = self.file.ends_with("/mod.rs") || self.path.is_empty();
        contents && !matches!(import.vis, Visibility::Inherited)
    }

    fn define(&mut self, item: &Item) {
        self.defined.extend(name(item).map(ToString::to_string));
        Imports(self).visit_item(item);
    }
}

/// Adds the imports of a module, at its top and in its functions, to its scope.
struct Imports<'a>(&'a mut Module);

impl Visit<'_> for Imports<'_> {
    fn visit_item_use(&mut self, import: &ItemUse) {
        for (path, name) in imports(import) {
            match name {
                Some(name) => self.0.imported.entry(name).or_default().push(path),
                None => self.0.globs.push(path),
            }
        }
    }
}

/// Returns the paths of an import, each with the name that it introduces; `None` for a glob.
pub fn imports(import: &ItemUse) -> Vec<(Path, Option<String>)> {
    fn collect(tree: &UseTree, path: &Path, found: &mut Vec<(Path, Option<String>)>) {
        let then = |name: &Ident| {
            let mut path = path.clone();
            path.names.push(name.to_string());
            path
        };
        match tree {
            UseTree::Path(inner) => collect(&inner.tree, &then(&inner.ident), found),
            UseTree::Name(last) if last.ident == "self" => found.push((path.clone(), path.names.last().cloned())),
            UseTree::Name(last) => found.push((then(&last.ident), Some(last.ident.to_string()))),
            UseTree::Rename(last) if last.ident == "self" => found.push((path.clone(), Some(last.rename.to_string()))),
            UseTree::Rename(last) => found.push((then(&last.ident), Some(last.rename.to_string()))),
            UseTree::Glob(_) => found.push((path.clone(), None)),
            UseTree::Group(group) => group.items.iter().for_each(|tree| collect(tree, path, found)),
        }
    }
    let mut found = vec![];
    let start = Path {
        external: import.leading_colon.is_some(),
        names: vec![],
    };
    collect(&import.tree, &start, &mut found);
    found
}

fn items(files: &Files, file: &str) -> Vec<Item> {
    let parsed = syn::parse_file(&files[file]).unwrap_or_else(|e| panic!("{file}: {e}"));
    // A file that is for tests only does not count.
    if only_in_tests(&parsed.attrs) {
        vec![]
    } else {
        parsed.items
    }
}

/// Returns the wing of a file, which is the first folder of its path. It is empty for a file beside
/// the wings.
pub fn wing(file: &str) -> &str {
    file.split_once('/').map_or("", |(wing, _)| wing)
}

/// Returns the room of a file, which is the module below the file's wing. It is `mod` for the
/// `mod.rs` of a wing.
pub fn room(file: &str) -> &str {
    let inside = file.split_once('/').map_or(file, |(_, inside)| inside);
    inside.split(['/', '.']).next().unwrap_or(inside)
}

/// Returns the name that an item defines.
pub fn name(item: &Item) -> Option<&Ident> {
    match item {
        Item::Const(item) => Some(&item.ident),
        Item::Enum(item) => Some(&item.ident),
        Item::Fn(item) => Some(&item.sig.ident),
        Item::Macro(item) => item.ident.as_ref(),
        Item::Static(item) => Some(&item.ident),
        Item::Struct(item) => Some(&item.ident),
        Item::Trait(item) => Some(&item.ident),
        Item::TraitAlias(item) => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        Item::Union(item) => Some(&item.ident),
        _ => None,
    }
}
