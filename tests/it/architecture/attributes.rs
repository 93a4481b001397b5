//! Recognizes code that is compiled only for tests.

use syn::punctuated::Punctuated;
use syn::{Attribute, ImplItem, Item, Meta, Token};

/// Returns true if one of the attributes is a `cfg` that is true only in tests.
pub fn only_in_tests(attributes: &[Attribute]) -> bool {
    let cfgs = attributes.iter().filter(|a| a.path().is_ident("cfg"));
    cfgs.filter_map(|a| a.parse_args().ok()).any(|meta| needs_test(&meta))
}

fn needs_test(meta: &Meta) -> bool {
    let inside = |list: &syn::MetaList| {
        let inside = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
        inside
            .map(|inside| inside.into_iter().collect::<Vec<_>>())
            .unwrap_or_default()
    };
    match meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => inside(list).iter().any(needs_test),
        Meta::List(list) if list.path.is_ident("any") => inside(list).iter().all(needs_test),
        _ => false,
    }
}

/// Returns the attributes of an item.
pub fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Returns the attributes of an item of an `impl`.
pub fn attributes_inside(item: &ImplItem) -> &[Attribute] {
    match item {
        ImplItem::Const(item) => &item.attrs,
        ImplItem::Fn(item) => &item.attrs,
        ImplItem::Type(item) => &item.attrs,
        _ => &[],
    }
}
