//! Collects every path in a module's code: in imports, types, expressions, patterns and inside
//! macros.

use super::attributes::{attributes, attributes_inside, only_in_tests};
use super::tree::{Module, Path, imports};
use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, ItemUse, Macro, Meta};

/// Returns the paths in a module, except paths in tests and paths in the re-exports of a file that
/// only declares modules and re-exports items.
pub fn paths(module: &Module) -> Vec<Path> {
    let mut found = Paths { module, found: vec![] };
    module.items.iter().for_each(|item| found.visit_item(item));
    found.found
}

struct Paths<'a> {
    module: &'a Module,
    found: Vec<Path>,
}

impl Visit<'_> for Paths<'_> {
    fn visit_item(&mut self, item: &Item) {
        if !only_in_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &ImplItem) {
        if !only_in_tests(attributes_inside(item)) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_use(&mut self, import: &ItemUse) {
        if !self.module.re_exports(import) {
            self.found.extend(imports(import).into_iter().map(|(path, _)| path));
        }
    }

    fn visit_path(&mut self, path: &syn::Path) {
        self.found.push(Path {
            external: path.leading_colon.is_some(),
            names: path.segments.iter().map(|s| s.ident.to_string()).collect(),
        });
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &Macro) {
        visit::visit_macro(self, called);
        self.tokens(called.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &Attribute) {
        if let Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone());
        }
    }
}

impl Paths<'_> {
    /// Collects the paths in the tokens of a macro: names joined by `::`.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path = Path::default();
        let (mut colons, mut dots) = (0, 0);
        for token in tokens {
            let joins = colons == 2;
            match &token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                TokenTree::Ident(ident) if joins => {
                    path.external |= path.names.is_empty();
                    path.names.push(ident.to_string());
                }
                _ => self.end(&mut path),
            }
            match token {
                // A field or a method is not a name in scope.
                TokenTree::Ident(ident) if !joins && dots != 1 => path.names.push(ident.to_string()),
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Punct(punct) if punct.as_char() == '.' => {
                    (colons, dots) = (0, dots + 1);
                    continue;
                }
                _ => {}
            }
            (colons, dots) = (0, 0);
        }
        self.end(&mut path);
    }

    fn end(&mut self, path: &mut Path) {
        let path = std::mem::take(path);
        if !path.names.is_empty() {
            self.found.push(path);
        }
    }
}
