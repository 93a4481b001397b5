//! Generators for CREATE HIERARCHY with any kind of hierarchy.

use super::super::create_hierarchy::CreateHierarchy;
use super::super::entry::Statement;
use super::{literal, name, number, options, query, table, text};
use crate::base::catalogue::Value;
use crate::language::sql::clause::DefinitionClause;
use crate::method::hierarchy::{GivenPart, Item, KINDS, OnNull, OnUnmapped, Part, Takes};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

/// Generates a definition with any kind of hierarchy, based on the description of the kind's
/// clause.
fn definition() -> impl Strategy<Value = DefinitionClause> {
    prop::sample::select(KINDS.to_vec()).prop_flat_map(|kind| {
        let parts: Vec<BoxedStrategy<Option<(&'static str, GivenPart)>>> = kind.clause.parts.iter().map(part).collect();
        parts.prop_map(move |given| DefinitionClause {
            kind,
            given: given.into_iter().flatten().collect(),
        })
    })
}

fn part(part: &'static Part) -> BoxedStrategy<Option<(&'static str, GivenPart)>> {
    let named = |name: &'static str, takes: &Takes| given(takes).prop_map(move |given| (name, given));
    match part {
        Part::First(name, takes) => named(name, takes).prop_map(Some).boxed(),
        Part::Maybe(start, takes) => of(named(start, takes)).boxed(),
        Part::OneOf(all) => {
            let all = all
                .iter()
                .map(|(start, takes)| named(start, takes).prop_map(Some).boxed());
            prop::strategy::Union::new(all).boxed()
        }
    }
}

fn given(takes: &Takes) -> BoxedStrategy<GivenPart> {
    match takes {
        Takes::One(of, _) => item(*of).prop_map(GivenPart::Value).boxed(),
        Takes::List(_, of, _) => vec(item(*of), 1..4).prop_map(GivenPart::Values).boxed(),
        Takes::Rows(_, of, _) => vec(vec(item(*of), 1..4), 1..3).prop_map(GivenPart::Rows).boxed(),
        Takes::Options => options()
            .prop_filter("some", |all| !all.is_empty())
            .prop_map(GivenPart::Options)
            .boxed(),
        Takes::Column => (table(), name())
            .prop_map(|(table, column)| GivenPart::Column { table: table.0, column })
            .boxed(),
        Takes::Query => query().prop_map(GivenPart::Query).boxed(),
    }
}

fn item(item: Item) -> BoxedStrategy<Value> {
    match item {
        Item::Whole => any::<u32>().prop_map(|n| Value::Integer(i64::from(n))).boxed(),
        Item::Number => number().boxed(),
        Item::Text | Item::Path => text().prop_map(Value::Text).boxed(),
        Item::NumberOrText => prop_oneof![number(), text().prop_map(Value::Text)].boxed(),
        Item::Word => "[a-z]{1,8}".prop_map(Value::Word).boxed(),
        Item::Literal => prop_oneof![literal(), Just(Value::Word("null".into()))].boxed(),
    }
}

/// Generates CREATE HIERARCHY statements.
pub(super) fn create() -> impl Strategy<Value = Statement> {
    let on_unmapped = of(prop::sample::select(vec![
        OnUnmapped::Error,
        OnUnmapped::Suppress,
        OnUnmapped::Top,
    ]));
    let on_null = of(prop::sample::select(vec![OnNull::Value, OnNull::Top, OnNull::Error]));
    (any::<(bool, bool)>(), name(), definition(), on_unmapped, on_null).prop_map(
        |((or_replace, if_not_exists), name, definition, on_unmapped, on_null)| {
            Statement::new(CreateHierarchy {
                or_replace,
                if_not_exists,
                name,
                definition,
                on_unmapped,
                on_null,
            })
        },
    )
}
