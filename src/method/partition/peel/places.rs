//! The places of values in their columns, and the loss of a label from its lowest and its highest
//! place.
//!
//! The place of a value is its position in an order in which values under one label are adjacent.
//! So the lowest and the highest place of a class determine its label. If the second lowest and the
//! second highest place are known, too, they determine the label after any one member has left the
//! class.

use super::scale::{are_few, losses};
use super::space::Space;
use crate::method::partition::table::Column;

/// The lowest two and the highest two places of a class in one column. If two members have the same
/// place, both count.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExtremePlaces {
    low: u32,
    next_low: u32,
    high: u32,
    next_high: u32,
}

impl ExtremePlaces {
    /// The extremes of a class without members.
    pub(super) const NONE: Self = Self {
        low: u32::MAX,
        next_low: u32::MAX,
        high: 0,
        next_high: 0,
    };

    pub(super) fn add(&mut self, place: u32) {
        let (low, high) = (self.low.max(place), self.high.min(place));
        self.low = self.low.min(place);
        self.next_low = self.next_low.min(low);
        self.high = self.high.max(place);
        self.next_high = self.next_high.max(high);
    }

    /// Returns the lowest and the highest place.
    pub(super) fn ends(self) -> (u32, u32) {
        (self.low, self.high)
    }

    /// Returns the lowest and the highest place after `place` is removed once. There must be
    /// another place.
    pub(super) fn ends_without(self, place: u32) -> (u32, u32) {
        let low = if self.low == place { self.next_low } else { self.low };
        let high = if self.high == place { self.next_high } else { self.high };
        (low, high)
    }
}

/// Returns the ends after a place is added.
pub(super) fn with((low, high): (u32, u32), place: u32) -> (u32, u32) {
    (low.min(place), high.max(place))
}

/// The maximum number of values of a column whose losses by pairs of places are computed in
/// advance. The losses of one such column take at most 512 KiB, so the losses that are often looked
/// up stay in the cache.
const FEW_PLACES: usize = 256;

/// The losses of the labels of one column.
#[derive(Debug)]
pub(super) enum PlaceLosses {
    /// The number of places, and for each lowest and each highest place the loss of the label.
    Pairs(usize, Vec<f64>),
    /// The label is a range. The number is the index of the column.
    Range(usize),
    /// The label is the lowest common ancestor.
    Ancestor(AncestorLosses),
}

/// The losses of the lowest common ancestors in one column.
#[derive(Debug)]
pub(super) struct AncestorLosses {
    /// The number of places.
    places: usize,
    /// The number of levels that LEVELS allows, plus one for values without a common label.
    levels: usize,
    /// For each place and level: the loss of the label.
    losses: Vec<f64>,
    /// For each row and place: the lowest level at which all places from this place to the place
    /// 2^row later have the same label.
    common: Vec<u8>,
}

impl PlaceLosses {
    pub(super) fn new(space: &Space, column: usize) -> Self {
        let losses = match space.is_range(column) {
            true => PlaceLosses::Range(column),
            false => PlaceLosses::Ancestor(AncestorLosses::new(&space.table.columns()[column])),
        };
        let places = space.table.columns()[column].lookup.values().len();
        if places > FEW_PLACES || !are_few(places, space.len()) {
            return losses;
        }
        let pairs = (0..places as u32).flat_map(|low| (0..places as u32).map(move |high| (low, high.max(low))));
        let pairs = pairs.map(|ends| losses.loss(space, ends)).collect();
        PlaceLosses::Pairs(places, pairs)
    }

    /// Returns the loss of a class whose lowest and highest place are given.
    #[inline]
    pub(super) fn loss(&self, space: &Space, (low, high): (u32, u32)) -> f64 {
        match self {
            PlaceLosses::Pairs(places, losses) => losses[low as usize * places + high as usize],
            PlaceLosses::Range(column) => space.loss_of_range(*column, low, high),
            PlaceLosses::Ancestor(losses) => losses.loss(low as usize, high as usize),
        }
    }
}

impl AncestorLosses {
    fn new(column: &Column) -> Self {
        let place_of = column.places();
        let mut codes = vec![0usize; place_of.len()];
        for (code, place) in place_of.iter().enumerate() {
            codes[*place as usize] = code;
        }
        let by_level: Vec<Vec<f64>> = (column.bottom..=column.top)
            .map(|level| losses(column, level))
            .collect();
        let of_place = |code: &usize| -> Vec<f64> {
            let losses = by_level.iter().map(|losses| losses[*code]);
            losses.chain([f64::INFINITY]).collect()
        };
        let apart = |pair: &[usize]| -> u8 {
            let levels = (column.bottom..=column.top).map(|level| &column.lookup.level(level).codes);
            levels.take_while(|labels| labels[pair[0]] != labels[pair[1]]).count() as u8
        };
        let mut row: Vec<u8> = codes.windows(2).map(apart).collect();
        row.resize(codes.len(), 0);
        let (mut common, mut width) = (row.clone(), 1);
        while 2 * width < codes.len() {
            let later = row.iter().skip(width).copied().chain(std::iter::repeat(0));
            row = row.iter().zip(later).map(|(one, other)| other.max(*one)).collect();
            common.extend(&row);
            width *= 2;
        }
        Self {
            places: codes.len(),
            levels: by_level.len() + 1,
            losses: codes.iter().flat_map(of_place).collect(),
            common,
        }
    }

    fn loss(&self, low: usize, high: usize) -> f64 {
        let level = match high - low {
            0 => 0,
            distance => {
                let row = distance.ilog2();
                let from = row as usize * self.places;
                // Two spans, each from a place to the place 2^row later, cover all places between
                // the ends.
                self.common[from + low].max(self.common[from + high - (1 << row)])
            }
        };
        self.losses[low * self.levels + usize::from(level)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::partition::ranges::Ranges;
    use crate::method::partition::testing::{Toy, column};
    use proptest::prelude::*;

    proptest! {
        /// The loss by places is the loss of the class, also after one member has left and another
        /// has joined.
        #[test]
        fn places_have_the_losses_of_classes(
            groups in prop::collection::vec(0u8..4, 2..12), numbers: bool, by_hierarchy: bool, bottom in 0u8..2, top in 1u8..3,
            members in prop::collection::vec(0usize..12, 2..6), comes in 0usize..12
        ) {
            let names: Vec<String> = groups.iter().map(u8::to_string).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let mut of = column(&names, numbers);
            (of.bottom, of.top) = (bottom, of.top.min(top).max(bottom));
            let toy = Toy {
                combinations: (0..groups.len() as u32).map(|code| (vec![code], vec![1])).collect(),
                columns: vec![of],
                k: 1,
                suppressible: 0,
                asks: false,
            };
            let space = Space::new(&toy, Ranges { by_hierarchy, asked: false, exact: true });
            let losses = PlaceLosses::new(&space, 0);
            let places = space.places(0);
            let members: Vec<u32> = members.iter().map(|m| (m % groups.len()) as u32).collect();
            let mut extremes = ExtremePlaces::NONE;
            members.iter().for_each(|m| extremes.add(places[*m as usize]));
            let loss = |members: &[u32]| {
                let class = space.class(members.to_vec());
                class.cost() / class.rows as f64
            };
            let alike = |one: f64, other: f64| one == other || (one - other).abs() < 1e-9;
            prop_assert!(alike(losses.loss(&space, extremes.ends()), loss(&members)));
            let without = extremes.ends_without(places[members[0] as usize]);
            prop_assert!(alike(losses.loss(&space, without), loss(&members[1..])));
            let comes = (comes % groups.len()) as u32;
            let changed = [&members[1..], &[comes]].concat();
            prop_assert!(alike(losses.loss(&space, with(without, places[comes as usize])), loss(&changed)));
        }
    }
}
