//! The nesting of groups: every label at a level has exactly one label at the next level.

use crate::base::error::Error;
use std::collections::HashMap;
use std::hash::Hash;

/// Returns the positions of the first two pairs that contradict the nesting of groups; `None` if
/// all groups nest. A pair consists of a group and the group at the next level that contains it.
/// The two pairs have the same first element but different second elements.
pub(super) fn torn<A: Hash + Eq, B: Eq>(pairs: impl Iterator<Item = (A, B)>) -> Option<(usize, usize)> {
    let mut parents: HashMap<A, (B, usize)> = HashMap::new();
    for (at, (below, above)) in pairs.enumerate() {
        match parents.get(&below) {
            Some((parent, first)) if *parent != above => return Some((*first, at)),
            Some(_) => {}
            None => {
                parents.insert(below, (above, at));
            }
        }
    }
    None
}

/// Returns the error for a group at level `level` that belongs to more than one group at the next
/// level. `places` names two rows that show this.
pub(super) fn does_not_nest(level: usize, places: Option<String>) -> Error {
    let places = places.map_or(String::new(), |places| {
        format!(": {places} have the same label on level {level}")
    });
    Error::usage(format!(
        "groups do not nest: a group of level {level} lies in more than one group of level {}; every label of a level \
         must have exactly one label on the next{places}",
        level + 1
    ))
}
