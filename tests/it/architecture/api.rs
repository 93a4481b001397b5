//! Compares the public API with a file, so that the API changes only deliberately.
//!
//! `UPDATE_DOCS=1 cargo test --all-features --test it architecture::api` rewrites the file.

use super::attributes::{attributes, attributes_inside, only_in_tests};
use super::face::{Exported, exported};
use super::source;
use super::tree::{Tree, room};
use quote::ToTokens;
use std::collections::BTreeSet;
use std::path::Path;
use syn::{Attribute, Fields, ImplItem, Item, ItemImpl, TraitItem, Type, Visibility};

/// Returns the tokens of a declaration on one line, as rustfmt would space most of them.
fn line(tokens: impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string();
    for (spaced, plain) in [
        (" :: ", "::"),
        (":: ", "::"),
        (" < ", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        ("& ", "&"),
        (" :", ":"),
        (" ;", ""),
        ("[ ", "["),
        (" ]", "]"),
        ("' ", "'"),
    ] {
        text = text.replace(spaced, plain);
    }
    text.replace("->", " -> ").replace("  ", " ").trim().to_string()
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    let docs = attributes.iter().filter(|a| a.path().is_ident("doc"));
    only_in_tests(attributes) || docs.into_iter().any(|a| line(&a.meta).contains("hidden"))
}

/// Returns the `derive` and `non_exhaustive` attributes as the source writes them.
fn promises(attributes: &[Attribute]) -> String {
    let said = attributes
        .iter()
        .filter(|a| a.path().is_ident("derive") || a.path().is_ident("non_exhaustive"));
    said.map(|a| format!("#[{}] ", line(&a.meta))).collect()
}

fn fields(fields: &Fields) -> Vec<String> {
    let public = fields.iter().filter(|field| is_public(&field.vis));
    public
        .enumerate()
        .map(|(at, field)| {
            let name = field.ident.as_ref().map_or_else(|| at.to_string(), ToString::to_string);
            format!("pub {name}: {}", line(&field.ty))
        })
        .collect()
}

/// Returns the declaration of an item without its body, and the declarations of its public parts.
fn declared(item: &Item) -> (String, Vec<String>) {
    match item {
        Item::Struct(item) => (
            format!(
                "{}pub struct {}{}",
                promises(&item.attrs),
                item.ident,
                line(&item.generics)
            ),
            fields(&item.fields),
        ),
        Item::Enum(item) => {
            let variants = item.variants.iter().map(|variant| {
                let types = variant.fields.iter().map(|field| match &field.ident {
                    Some(name) => format!("{name}: {}", line(&field.ty)),
                    None => line(&field.ty),
                });
                let types = types.collect::<Vec<_>>().join(", ");
                match &variant.fields {
                    Fields::Unit => variant.ident.to_string(),
                    Fields::Named(_) => format!("{} {{ {types} }}", variant.ident),
                    Fields::Unnamed(_) => format!("{}({types})", variant.ident),
                }
            });
            let head = format!(
                "{}pub enum {}{}",
                promises(&item.attrs),
                item.ident,
                line(&item.generics)
            );
            (head, variants.collect())
        }
        Item::Trait(item) => {
            let inside = item.items.iter().filter_map(|inside| match inside {
                TraitItem::Fn(method) => {
                    let provided = if method.default.is_some() { " { .. }" } else { "" };
                    Some(format!("{}{provided}", line(&method.sig)))
                }
                TraitItem::Const(constant) => Some(format!("const {}: {}", constant.ident, line(&constant.ty))),
                TraitItem::Type(named) => Some(format!("type {}", named.ident)),
                _ => None,
            });
            let bounds = line(&item.supertraits);
            (
                format!("pub trait {}{}: {bounds}", item.ident, line(&item.generics)),
                inside.collect(),
            )
        }
        Item::Type(item) => (
            format!("pub type {}{} = {}", item.ident, line(&item.generics), line(&item.ty)),
            vec![],
        ),
        Item::Fn(item) => (format!("pub {}", line(&item.sig)), vec![]),
        Item::Const(item) => (format!("pub const {}: {}", item.ident, line(&item.ty)), vec![]),
        _ => (String::new(), vec![]),
    }
}

/// Returns the public parts that an `impl` adds to its type: its functions and constants, or, for
/// the `impl` of a trait, the name of the trait.
fn added(item: &ItemImpl) -> Vec<String> {
    if let Some((_, of, _)) = &item.trait_ {
        return vec![format!("impl {}", line(of))];
    }
    let inside = item.items.iter().filter(|inside| !is_hidden(attributes_inside(inside)));
    let public = inside.filter_map(|inside| match inside {
        ImplItem::Fn(method) if is_public(&method.vis) => Some(format!("pub {}", line(&method.sig))),
        ImplItem::Const(constant) if is_public(&constant.vis) => {
            Some(format!("pub const {}: {}", constant.ident, line(&constant.ty)))
        }
        _ => None,
    });
    public.collect()
}

/// Returns the `impl`s of a type that are in the same room as the type.
fn impls<'a>(tree: &'a Tree, of: &'a Exported) -> impl Iterator<Item = &'a ItemImpl> {
    let items = tree
        .modules
        .iter()
        .filter(|module| room(&module.file) == room(&of.file));
    items
        .flat_map(|module| &module.items)
        .filter_map(move |item| match item {
            Item::Impl(item) if !is_hidden(&item.attrs) => match item.self_ty.as_ref() {
                Type::Path(path) => path
                    .path
                    .segments
                    .last()
                    .is_some_and(|s| s.ident == of.name)
                    .then_some(item),
                _ => None,
            },
            _ => None,
        })
}

fn api() -> String {
    let tree = Tree::read(&source(), "lib.rs");
    let mut blocks = BTreeSet::new();
    for of in exported(&tree).iter().filter(|of| !is_hidden(attributes(of.item))) {
        let (head, mut inside) = declared(of.item);
        let mut of_impls: Vec<String> = impls(&tree, of).flat_map(added).collect();
        of_impls.sort();
        of_impls.dedup();
        inside.extend(of_impls);
        let inside: String = inside.iter().map(|line| format!("    {line}\n")).collect();
        blocks.insert(format!("{}::{}\n  {head}\n{inside}", of.face, of.name));
    }
    blocks.into_iter().collect::<Vec<_>>().join("\n")
}

#[test]
fn the_public_api_is_that_of_its_file() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/api.txt");
    let (found, written) = (api(), std::fs::read_to_string(&path).unwrap_or_default());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        return std::fs::write(path, found).expect("docs/api.txt is written");
    }
    // Whole blocks are compared, because several types may have the same line.
    let blocks = |text: &str| text.split("\n\n").map(str::to_string).collect::<BTreeSet<String>>();
    let (found, written) = (blocks(&found), blocks(&written));
    let (now, was): (Vec<_>, Vec<_>) = (
        found.difference(&written).collect(),
        written.difference(&found).collect(),
    );
    assert!(
        now.is_empty() && was.is_empty(),
        "the public API is not that of docs/api.txt; if that is meant, write it again with UPDATE_DOCS=1\n\
         now: {now:#?}\nwas: {was:#?}"
    );
}
