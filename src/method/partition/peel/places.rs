//! The places of values in their columns, and the loss of a label from its lowest and its highest
//! place.
//!
//! The place of a value is its position in an order in which values under one label are adjacent.
//! So the lowest and the highest place of a class determine its label. If the second lowest and the
//! second highest place are known, too, they determine the label after any one member has left the
//! class.
//!
//! Only the values of annealed combinations have places. So a place fits into 16 bits, and the
//! processor compares the places of eight columns at once.

use super::scale::{are_few, losses};
use super::space::Space;
use crate::method::partition::table::Column;
use std::array::from_fn;

/// The number of columns whose places are compared at once.
pub(super) const LANES: usize = 8;

/// The places of a combination in up to eight columns. The places of missing columns are 0. They
/// are signed, because every 64-bit processor can find the lower of signed places.
pub(super) type EightPlaces = [i16; LANES];

/// The lowest two and the highest two places of a class in eight columns. If two members have the
/// same place, both count.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExtremePlaces {
    low: EightPlaces,
    next_low: EightPlaces,
    high: EightPlaces,
    next_high: EightPlaces,
}

/// The lowest and the highest place of a class in eight columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlaceEnds {
    low: EightPlaces,
    high: EightPlaces,
}

impl ExtremePlaces {
    /// The extremes of a class without members.
    pub(super) const NONE: Self = Self {
        low: [i16::MAX; LANES],
        next_low: [i16::MAX; LANES],
        high: [0; LANES],
        next_high: [0; LANES],
    };

    pub(super) fn add(&mut self, places: &EightPlaces) {
        for (lane, place) in places.iter().copied().enumerate() {
            let (low, high) = (self.low[lane].max(place), self.high[lane].min(place));
            self.low[lane] = self.low[lane].min(place);
            self.next_low[lane] = self.next_low[lane].min(low);
            self.high[lane] = self.high[lane].max(place);
            self.next_high[lane] = self.next_high[lane].max(high);
        }
    }

    /// Returns the lowest and the highest places.
    pub(super) fn ends(&self) -> PlaceEnds {
        PlaceEnds {
            low: self.low,
            high: self.high,
        }
    }

    /// Returns the lowest and the highest places after one member with these places has left. There
    /// must be another member.
    #[inline]
    pub(super) fn ends_without(&self, places: &EightPlaces) -> PlaceEnds {
        let without = |end: i16, next: i16, place: i16| if end == place { next } else { end };
        PlaceEnds {
            low: from_fn(|lane| without(self.low[lane], self.next_low[lane], places[lane])),
            high: from_fn(|lane| without(self.high[lane], self.next_high[lane], places[lane])),
        }
    }
}

impl PlaceEnds {
    /// Returns the ends of a single combination.
    pub(super) fn of(places: &EightPlaces) -> Self {
        Self {
            low: *places,
            high: *places,
        }
    }

    /// Returns the ends after a combination with these places has joined.
    #[inline]
    pub(super) fn with(self, places: &EightPlaces) -> Self {
        Self {
            low: from_fn(|lane| self.low[lane].min(places[lane])),
            high: from_fn(|lane| self.high[lane].max(places[lane])),
        }
    }
}

/// The maximum number of places of a column whose losses by pairs of places are computed in
/// advance. The losses of one such column take at most 512 KiB, so the losses that are often looked
/// up stay in the cache. The number of pairs fits into 16 bits.
const FEW_PLACES: usize = 256;

/// The places of the values of all columns, and the losses of the labels.
#[derive(Debug)]
pub(super) struct PlaceLosses {
    /// For each column and ground code: the place of the value; 0 if no annealed combination has
    /// the value.
    places: Vec<Vec<i16>>,
    /// The losses of columns of few places: for each lowest and each highest place the loss of the
    /// label. The first is the loss of a missing column, 0.
    pairs: Vec<f64>,
    eights: Vec<EightColumns>,
}

/// The losses of up to eight columns.
#[derive(Debug)]
struct EightColumns {
    /// For each column: the index of its first loss in [`PlaceLosses::pairs`].
    first: [u32; LANES],
    /// For each column: its number of places; 0 if its losses are not in the list.
    few: [u16; LANES],
    /// For each column: the bits of its highest place that count in the list: all or none.
    bits: [u16; LANES],
    /// The other columns.
    many: Vec<ManyPlaces>,
}

/// The losses of a column of many places.
#[derive(Debug)]
struct ManyPlaces {
    /// The index of the column.
    column: usize,
    /// For each place: the position of the value among all values of the column.
    position: Vec<u32>,
    /// The losses of the lowest common ancestors, unless the labels are ranges.
    ancestors: Option<AncestorLosses>,
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
    /// Finds the places of the values of these combinations, and their losses. There are at most
    /// 32,768 combinations.
    pub(super) fn new(space: &Space, combinations: &[u32]) -> Self {
        let columns = space.columns();
        let missing = || EightColumns {
            first: [0; LANES],
            few: [0; LANES],
            bits: [0; LANES],
            many: vec![],
        };
        let mut losses = Self {
            places: vec![],
            pairs: vec![0.0],
            eights: (0..columns.div_ceil(LANES)).map(|_| missing()).collect(),
        };
        for column in 0..columns {
            let positions = space.places(column);
            let of = |one: &u32| positions[space.codes(*one)[column] as usize];
            let mut position: Vec<u32> = combinations.iter().map(of).collect();
            position.sort_unstable();
            position.dedup();
            let place = |of: &u32| position.binary_search(of).map_or(0, |place| place as i16);
            losses.places.push(positions.iter().map(place).collect());
            losses.add(space, ManyPlaces::new(space, column, position));
        }
        losses
    }

    /// Adds the losses of a column.
    fn add(&mut self, space: &Space, of: ManyPlaces) {
        let (eight, lane) = (&mut self.eights[of.column / LANES], of.column % LANES);
        let places = of.position.len();
        if places > FEW_PLACES || !are_few(places, space.len()) {
            eight.many.push(of);
            return;
        }
        eight.first[lane] = self.pairs.len() as u32;
        eight.few[lane] = places as u16;
        eight.bits[lane] = u16::MAX;
        let pairs = (0..places).flat_map(|low| (0..places).map(move |high| (low, high.max(low))));
        self.pairs.extend(pairs.map(|(low, high)| of.loss(space, low, high)));
    }

    /// Returns the places of a combination, eight columns at a time.
    pub(super) fn of<'b>(&'b self, codes: &'b [u32]) -> impl Iterator<Item = EightPlaces> + 'b {
        self.places
            .chunks(LANES)
            .zip(codes.chunks(LANES))
            .map(|(places, codes)| {
                let mut eight = [0; LANES];
                for ((lane, places), code) in eight.iter_mut().zip(places).zip(codes) {
                    *lane = places[*code as usize];
                }
                eight
            })
    }

    /// Returns how many times there are eight columns.
    pub(super) fn eights(&self) -> usize {
        self.eights.len()
    }

    /// Returns the loss of each row of a class with these ends, which are returned by `ends` for
    /// eight columns at a time. Returns infinity if the loss is above `most`.
    #[inline]
    pub(super) fn loss(&self, space: &Space, ends: impl Fn(usize) -> PlaceEnds, most: f64) -> f64 {
        let mut loss = 0.0;
        for (at, eight) in self.eights.iter().enumerate() {
            let PlaceEnds { low, high } = ends(at);
            let pair = |lane: usize| -> u16 {
                let first = eight.few[lane].wrapping_mul(low[lane] as u16);
                first.wrapping_add(high[lane] as u16 & eight.bits[lane])
            };
            let pairs: [u16; LANES] = from_fn(pair);
            let one = |lane: usize| self.pairs[eight.first[lane] as usize + usize::from(pairs[lane])];
            let few = [one(0) + one(1), one(2) + one(3), one(4) + one(5), one(6) + one(7)];
            loss += (few[0] + few[1]) + (few[2] + few[3]);
            for of in &eight.many {
                if loss > most {
                    return f64::INFINITY;
                }
                let lane = of.column % LANES;
                loss += of.loss(space, low[lane] as usize, high[lane] as usize);
            }
            if loss > most {
                return f64::INFINITY;
            }
        }
        loss
    }
}

impl ManyPlaces {
    fn new(space: &Space, column: usize, position: Vec<u32>) -> Self {
        let ancestors = || AncestorLosses::new(&space.table.columns()[column]);
        Self {
            column,
            position,
            ancestors: (!space.is_range(column)).then(ancestors),
        }
    }

    /// Returns the loss of a label from its lowest and its highest place.
    fn loss(&self, space: &Space, low: usize, high: usize) -> f64 {
        let (low, high) = (self.position[low], self.position[high]);
        match &self.ancestors {
            Some(losses) => losses.loss(low as usize, high as usize),
            None => space.loss_of_range(self.column, low, high),
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
            let all: Vec<u32> = (0..groups.len() as u32).collect();
            let losses = PlaceLosses::new(&space, &all);
            let places: Vec<EightPlaces> = all.iter().flat_map(|one| losses.of(space.codes(*one))).collect();
            let members: Vec<u32> = members.iter().map(|m| (m % groups.len()) as u32).collect();
            let mut extremes = ExtremePlaces::NONE;
            members.iter().for_each(|m| extremes.add(&places[*m as usize]));
            let loss_of = |ends: PlaceEnds| losses.loss(&space, |_| ends, f64::INFINITY);
            let loss = |members: &[u32]| {
                let class = space.class(members.to_vec());
                class.cost() / class.rows as f64
            };
            let alike = |one: f64, other: f64| one == other || (one - other).abs() < 1e-9;
            prop_assert!(alike(loss_of(extremes.ends()), loss(&members)));
            let without = extremes.ends_without(&places[members[0] as usize]);
            prop_assert!(alike(loss_of(without), loss(&members[1..])));
            let comes = (comes % groups.len()) as u32;
            let changed = [&members[1..], &[comes]].concat();
            prop_assert!(alike(loss_of(without.with(&places[comes as usize])), loss(&changed)));
        }
    }

    /// The loss of ten columns is the loss of the class. Seven of the columns have more values than
    /// [`FEW_PLACES`]. Half of the columns have labels of a hierarchy.
    #[test]
    fn losses_of_more_than_eight_columns_add_up() {
        let names = |values: u32| -> Vec<String> { (0..values).map(|value| (value / 7).to_string()).collect() };
        let columns = [300, 3, 270, 300, 300, 5, 300, 300, 300, 20];
        let of = |(at, values): (usize, &u32)| {
            let names = names(*values);
            column(&names.iter().map(String::as_str).collect::<Vec<&str>>(), at % 2 == 0)
        };
        let steps = [7, 11, 13, 17, 19, 23, 29, 31, 37, 41];
        let codes = |one: u32| {
            steps
                .iter()
                .zip(&columns)
                .map(|(step, values)| one * step % values)
                .collect()
        };
        let toy = Toy {
            combinations: (0..300).map(|one| (codes(one), vec![1])).collect(),
            columns: columns.iter().enumerate().map(of).collect(),
            k: 1,
            suppressible: 0,
            asks: false,
        };
        let ranges = Ranges {
            by_hierarchy: false,
            asked: false,
            exact: true,
        };
        let space = Space::new(&toy, ranges);
        // Every combination but the first two.
        let all: Vec<u32> = (2..300).collect();
        let losses = PlaceLosses::new(&space, &all);
        assert_eq!(losses.eights(), 2);
        for members in [vec![2], vec![2, 3], vec![17, 170, 200], vec![20, 299], all] {
            let mut extremes = [ExtremePlaces::NONE; 2];
            for member in &members {
                let places = losses.of(space.codes(*member));
                extremes.iter_mut().zip(places).for_each(|(of, places)| of.add(&places));
            }
            let class = space.class(members);
            let loss = class.cost() / class.rows as f64;
            let at_most = |most: f64| losses.loss(&space, |at| extremes[at].ends(), most);
            assert!((at_most(f64::INFINITY) - loss).abs() < 1e-9, "{loss}");
            assert_eq!(at_most(0.9 * loss - 1e-9), f64::INFINITY);
        }
    }
}
