//! The nearest combinations of each combination: those with which it loses least in one class.

use super::places::{EightPlaces, PlaceEnds, PlaceLosses};
use super::space::Space;
use crate::method::search::{Context, Stop};
use rand::RngExt;
use rand::seq::SliceRandom;

/// The number of nearest combinations that count as near a combination.
pub(super) const NEAR: usize = 24;

/// The maximum number of combinations of which all pairs are compared.
const ALL_PAIRS: usize = 2048;

/// The number of sorted orders in which neighbours are compared.
const ORDERS: usize = 12;

/// The number of following combinations in a sorted order with which a combination is compared.
const FOLLOWING: usize = 8;

/// The number of nearest combinations of a combination that [`NearLists::descend`] considers.
const CLOSE: usize = NEAR / 2;

/// The places of the combinations that are annealed, and the losses of all columns.
///
/// The annealed combinations have numbers of their own: 0, 1 and so on, in the order of their keys.
/// Most combinations with successive numbers are similar, so the data of a combination and of its
/// classes are near each other in memory.
pub(super) struct CombinationPlaces<'a> {
    pub(super) space: &'a Space<'a>,
    pub(super) losses: PlaceLosses,
    /// For each annealed combination: its number in the table.
    placed: Vec<u32>,
    rows: Vec<u64>,
    /// The places, combination by combination, eight columns at a time.
    places: Vec<EightPlaces>,
}

impl<'a> CombinationPlaces<'a> {
    /// Numbers these combinations anew and finds their places.
    pub(super) fn new(space: &'a Space<'a>, mut placed: Vec<u32>) -> Self {
        placed.sort_unstable();
        let losses = PlaceLosses::new(space, &placed);
        Self {
            places: placed.iter().flat_map(|one| losses.of(space.codes(*one))).collect(),
            losses,
            rows: placed.iter().map(|one| space.rows(*one)).collect(),
            placed,
            space,
        }
    }

    /// Returns the number of annealed combinations.
    pub(super) fn len(&self) -> usize {
        self.placed.len()
    }

    /// Returns the number that an annealed combination has in the table.
    pub(super) fn in_table(&self, combination: u32) -> u32 {
        self.placed[combination as usize]
    }

    pub(super) fn rows(&self, combination: u32) -> u64 {
        self.rows[combination as usize]
    }

    /// Returns the places of a combination, eight columns at a time.
    #[inline]
    pub(super) fn of(&self, combination: u32) -> &[EightPlaces] {
        let eights = self.losses.eights();
        &self.places[combination as usize * eights..][..eights]
    }

    /// Returns the loss of each row in a class of two combinations.
    fn distance(&self, one: u32, other: u32) -> f64 {
        let (one, other) = (self.of(one), self.of(other));
        let ends = |at: usize| PlaceEnds::of(&one[at]).with(&other[at]);
        self.losses.loss(self.space, ends, f64::INFINITY)
    }
}

/// For each combination: the combinations near it with their distances, the nearest first.
struct NearLists<'a> {
    places: &'a CombinationPlaces<'a>,
    lists: Vec<Vec<(f64, u32)>>,
}

/// Returns, for each combination, the combinations near it, the nearest first. If there are many
/// combinations, some of the nearest may be missing.
pub(super) fn near(places: &CombinationPlaces, context: &mut Context) -> Result<Vec<Vec<u32>>, Stop> {
    let all = 0..places.len() as u32;
    let mut near = NearLists {
        places,
        lists: vec![vec![]; places.len()],
    };
    if places.len() <= ALL_PAIRS {
        for one in all.clone() {
            context.check(0)?;
            (one + 1..all.end).for_each(|other| near.compare(one, other));
        }
    } else {
        for _ in 0..ORDERS {
            context.check(0)?;
            let order = order(places, context);
            for (at, one) in order.iter().enumerate() {
                let following = order[at + 1..].iter().take(FOLLOWING);
                following.for_each(|other| near.compare(*one, *other));
            }
        }
        near.descend();
    }
    let others = |list: Vec<(f64, u32)>| list.into_iter().map(|(_, other)| other).collect();
    Ok(near.lists.into_iter().map(others).collect())
}

/// Returns the combinations in a random order in which similar combinations are near each other.
/// They are sorted by the labels of all columns at random levels, and then by their places.
fn order(places: &CombinationPlaces, context: &mut Context) -> Vec<u32> {
    let space = places.space;
    let mut columns: Vec<usize> = (0..space.columns()).collect();
    columns.shuffle(&mut context.rng);
    let labels: Vec<&[u32]> = columns
        .iter()
        .map(|column| {
            let column = &space.table.columns()[*column];
            let level = context.rng.random_range(column.bottom..=column.top);
            column.lookup.level(level).codes.as_slice()
        })
        .collect();
    let key = |one: &u32| -> Vec<u32> {
        let (codes, places) = (space.codes(places.in_table(*one)), places.of(*one).as_flattened());
        let labels = columns
            .iter()
            .zip(&labels)
            .map(|(column, labels)| labels[codes[*column] as usize]);
        labels
            .chain(columns.iter().map(|column| places[*column] as u32))
            .collect()
    };
    let mut order: Vec<u32> = (0..places.len() as u32).collect();
    order.sort_by_cached_key(key);
    order
}

impl NearLists<'_> {
    /// Enters two combinations in each other's lists, if they are near enough.
    fn compare(&mut self, one: u32, other: u32) {
        let distance = self.places.distance(one, other);
        self.enter(one, distance, other);
        self.enter(other, distance, one);
    }

    fn enter(&mut self, one: u32, distance: f64, other: u32) {
        let list = &mut self.lists[one as usize];
        if list.get(NEAR - 1).is_some_and(|(furthest, _)| distance >= *furthest) {
            return;
        }
        let at = list.partition_point(|(nearer, _)| *nearer <= distance);
        // The distance of a combination is the same whenever it is compared.
        let is_known = list[..at]
            .iter()
            .rev()
            .take_while(|(nearer, _)| nearer.total_cmp(&distance).is_eq());
        if is_known.map(|(_, known)| *known).any(|known| known == other) {
            return;
        }
        list.insert(at, (distance, other));
        list.truncate(NEAR);
    }

    /// Compares each combination with those near the combinations near it (Dong, Moses and Li,
    /// Efficient k-nearest neighbor graph construction for generic similarity measures, WWW 2011).
    fn descend(&mut self) {
        let close = |list: &Vec<(f64, u32)>| list.iter().take(CLOSE).map(|(_, other)| *other).collect();
        let close: Vec<Vec<u32>> = self.lists.iter().map(close).collect();
        for one in 0..close.len() as u32 {
            for between in &close[one as usize] {
                for other in close[*between as usize].iter().filter(|other| **other != one) {
                    self.compare(one, *other);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::partition::ranges::Ranges;
    use crate::method::partition::testing::{Toy, column};
    use crate::method::search::SearchBudget;

    /// Returns a table of this many combinations of three columns.
    fn toy(combinations: u32) -> Toy {
        let groups: Vec<String> = (0..24).map(|value| (value / 6).to_string()).collect();
        let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
        let codes = |c: u32| vec![c % 24, c / 24 % 24, c / 576];
        Toy {
            columns: (0..3).map(|at| column(&groups, at == 0)).collect(),
            combinations: (0..combinations).map(|c| (codes(c), vec![1])).collect(),
            k: 2,
            suppressible: 0,
            asks: false,
        }
    }

    /// In a small table, exactly the nearest combinations are found. In a large table, those found
    /// are nearly as near.
    #[test]
    fn the_near_are_the_nearest() {
        for (combinations, much) in [(600, 1.0), (4200, 1.1)] {
            let toy = toy(combinations);
            let ranges = Ranges {
                by_hierarchy: false,
                asked: false,
                exact: true,
            };
            let space = Space::new(&toy, ranges);
            let placed: Vec<u32> = (0..combinations).collect();
            let places = CombinationPlaces::new(&space, placed.clone());
            let near = near(&places, &mut Context::new(1, SearchBudget::default())).unwrap();
            let (mut found, mut least) = (0.0, 0.0);
            for one in (0..combinations).step_by(97) {
                let mut all: Vec<f64> = placed
                    .iter()
                    .filter(|other| **other != one)
                    .map(|other| places.distance(one, *other))
                    .collect();
                all.sort_by(f64::total_cmp);
                let mut known = near[one as usize].clone();
                known.sort_unstable();
                known.dedup();
                assert!(known.len() == NEAR && !known.contains(&one));
                found += known.iter().map(|other| places.distance(one, *other)).sum::<f64>();
                least += all[..NEAR].iter().sum::<f64>();
            }
            assert!(found <= least * much + 1e-9, "{found} {least}");
        }
    }
}
