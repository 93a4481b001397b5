//! Checks k^m-anonymity of the released lists, from its definition.

use super::table::Rows;
use crate::releases::Failure;
use crate::releases::case::{Case, Role};
use crate::releases::execute::Scene;
use std::collections::{BTreeMap, BTreeSet};

/// Checks that every released list is an ascending set of the source's items or of `*`, and that
/// every combination of up to m items that occurs is in the lists of at least k rows.
pub fn check(case: &Case, scene: &Scene, rows: &Rows) -> Result<(), Failure> {
    let broken = |what: String| Err(Failure::new("items", what));
    for (column, _) in case.request.roles.iter().filter(|(_, role)| *role == Role::Items) {
        let texts = scene
            .source
            .column(column)
            .iter()
            .filter_map(|cell| cell.text.as_deref());
        let known: BTreeSet<&str> = texts.flat_map(items).collect();
        let mut sets: Vec<BTreeSet<&str>> = vec![];
        for cell in rows.column(column) {
            let Some(text) = &cell.text else { continue };
            let list: Vec<&str> = items(text).collect();
            let set: BTreeSet<&str> = list.iter().copied().collect();
            if !list.iter().eq(set.iter()) {
                return broken(format!("{column} has {text}, which is no ascending set"));
            }
            if let Some(other) = set.iter().find(|item| **item != "*" && !known.contains(*item)) {
                return broken(format!("{column} has {other}, which is no label of an item"));
            }
            sets.push(set);
        }
        let models = case.request.models.iter().filter(|m| m.on.as_ref() == Some(column));
        for model in models.filter(|m| m.name == "km_anonymity") {
            let bound = |i: usize| model.arguments[i].parse::<usize>().expect("a whole number");
            let mut counts: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
            for set in &sets {
                let set: Vec<&str> = set.iter().copied().collect();
                let masks = (1u32..1 << set.len()).filter(|mask| mask.count_ones() as usize <= bound(1));
                for mask in masks {
                    let chosen = (0..set.len()).filter(|i| mask >> i & 1 == 1).map(|i| set[i]);
                    *counts.entry(chosen.collect()).or_default() += 1;
                }
            }
            if let Some((items, n)) = counts.iter().find(|(_, n)| **n < bound(0)) {
                return broken(format!("{model} does not hold: {items:?} are in {n} rows"));
            }
        }
    }
    Ok(())
}

/// Returns the items in the text of a list, without NULL.
fn items(text: &str) -> impl Iterator<Item = &str> {
    let inner = text.trim_start_matches('[').trim_end_matches(']');
    inner.split(", ").filter(|item| !item.is_empty())
}
