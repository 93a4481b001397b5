//! A generator for masks of any kind.

use super::{name, text};
use crate::method::masks::{self, MaskClause};
use proptest::option::of;
use proptest::prelude::*;

/// Generates a mask of any kind that is allowed in `place`, based on the description of the kind's
/// clause.
pub(super) fn mask(place: masks::MaskPlace) -> impl Strategy<Value = MaskClause> {
    let value = |item: masks::MaskItem| match item {
        masks::MaskItem::Column => prop_oneof![Just(masks::Given::Entity), name().prop_map(masks::Given::Text)].boxed(),
        masks::MaskItem::Whole => any::<u32>().prop_map(masks::Given::Whole).boxed(),
        masks::MaskItem::Share => (1u32..2_000)
            .prop_map(|share| masks::Given::Text((f64::from(share) / 1_000.0).to_string()))
            .boxed(),
        masks::MaskItem::Text => text().prop_map(masks::Given::Text).boxed(),
        masks::MaskItem::Word(words) => prop::sample::select(words)
            .prop_map(|word| masks::Given::Text(word.into()))
            .boxed(),
        // The first text is the default, which is not printed.
        masks::MaskItem::OneOf(texts) => prop::sample::select(&texts[1..])
            .prop_map(|text| masks::Given::Text(text.into()))
            .boxed(),
    };
    let secret = || prop_oneof!["env:[A-Z:']{1,5}", "file:[a-z/:]{1,5}"].prop_map(masks::Given::Text);
    let kinds = masks::MASKS.iter().filter(|kind| kind.places.contains(&place));
    prop::sample::select(kinds.collect::<Vec<_>>()).prop_flat_map(move |kind| {
        let parts = kind.clause.parts.iter().filter_map(|part| match part {
            masks::MaskPart::Words(_) => None,
            masks::MaskPart::Value(name, item, _) => {
                Some(value(*item).prop_map(|given| Some((name.to_string(), given))).boxed())
            }
            masks::MaskPart::Maybe(_, name, item, _) => {
                let named = value(*item).prop_map(|given| (name.to_string(), given));
                Some(of(named).boxed())
            }
            masks::MaskPart::Secret => Some(
                secret()
                    .prop_map(|given| Some((masks::SECRET.to_string(), given)))
                    .boxed(),
            ),
        });
        parts
            .collect::<Vec<BoxedStrategy<Option<(String, masks::Given)>>>>()
            .prop_map(move |given| MaskClause {
                kind,
                given: given.into_iter().flatten().collect(),
            })
    })
}
