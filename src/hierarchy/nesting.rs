//! The nesting of groups: every label of a level has exactly one label on the next level.

use crate::error::Error;
use std::collections::HashMap;
use std::hash::Hash;

/// Returns true if every group (first of the pairs) is in one group (second) only.
pub(super) fn nests<A: Hash + Eq, B: Eq>(pairs: impl Iterator<Item = (A, B)>) -> bool {
    let mut parents: HashMap<A, B> = HashMap::new();
    for (below, above) in pairs {
        match parents.get(&below) {
            Some(parent) if *parent != above => return false,
            Some(_) => {}
            None => {
                parents.insert(below, above);
            }
        }
    }
    true
}

/// Returns the error for a group of level `level` that is in more than one group of the next level.
pub(super) fn does_not_nest(level: usize) -> Error {
    Error::usage(format!(
        "groups do not nest: a group of level {level} lies in more than one group of level {}; every label of a level \
         must have exactly one label on the next",
        level + 1
    ))
}
