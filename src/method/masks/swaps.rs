//! The swaps of RANK SWAP: the value that each row receives from its partner, found by the id of
//! the row.
//!
//! The rows are in a table with one word per slot: the lower 32 bits of the id of a row, and the
//! index of its value. So a row is found with one access to memory, instead of one access to a list
//! of buckets and one to the rows of a bucket.
//!
//! Two different ids whose lower bits and places in the table are the same are noticed when the
//! table is created. The whole ids of such rows are kept apart, so every row receives the value of
//! its own partner. The id of a row that is not in the table is mistaken for another id with a
//! probability of about one in a billion. Such a row has no value, so that what is found is not
//! used, or the source changed.

use super::seen_rows::AHEAD;
use super::values::UNKNOWN;
use crate::base::pool::{map, pieces};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::iter::repeat_n;

/// The maximum number of upper bits that the ids in a part share. A part of 10 million rows then
/// stays in the cache while it is created.
const PART_BITS: u32 = 8;

/// The index of a free slot, so that an id without a row has an unknown value. No value has this
/// index, because a column has at most 2^32 - 1 rows.
const FREE: u32 = UNKNOWN;

/// The index of a slot whose rows are kept apart, by their whole ids. If a value has this index,
/// its rows are kept apart, too.
const APART: u32 = u32::MAX - 1;

/// The swaps of a column.
#[derive(Debug)]
pub(super) struct Swaps {
    /// The rows, divided by the upper bits of their ids. The number of parts is a power of two.
    parts: Vec<SwapPart>,
    /// The number of upper bits that the ids in a part share.
    bits: u32,
}

/// The rows whose ids have the same upper bits.
#[derive(Debug)]
struct SwapPart {
    /// For each slot, the lower 32 bits of an id, followed by the index of the value that the row
    /// receives, or by [`FREE`] or [`APART`]. At least one slot is free.
    slots: Vec<u64>,
    /// The number of upper bits that all ids share.
    bits: u32,
    /// For each id whose slot has the index [`APART`], the index of the value.
    apart: BTreeMap<u64, u32>,
}

impl Swaps {
    /// Creates the swaps. `counts` contains the number of rows with each value, `order` the id of
    /// the row with each rank, and `partners` the partner of each rank.
    pub(super) fn new(counts: &[u64], order: &[u64], partners: &[u32]) -> Self {
        let mut own: Vec<u32> = Vec::with_capacity(order.len());
        for (place, count) in (0..).zip(counts) {
            own.extend(repeat_n(place, *count as usize));
        }
        let bits = (order.len() / 2).max(1).ilog2().min(PART_BITS);
        let parts = 1_usize << bits;
        let pieces = pieces(order.len());
        let divided = map(pieces.len(), |piece| {
            let most = pieces[piece].len() / parts * 9 / 8;
            let mut rows: Vec<Vec<(u64, u32)>> = (0..parts).map(|_| Vec::with_capacity(most)).collect();
            for rank in pieces[piece].clone() {
                let id = order[rank];
                rows[upper(id, bits)].push((id, own[partners[rank] as usize]));
            }
            rows.into_iter().map(Mutex::new).collect::<Vec<_>>()
        });
        let part = |part: usize| {
            let rows = divided.iter().map(|rows| std::mem::take(&mut *rows[part].lock()));
            SwapPart::new(&rows.collect::<Vec<_>>(), bits)
        };
        Self {
            parts: map(parts, part),
            bits,
        }
    }

    /// Returns the index of the value that each row with one of these ids receives from its
    /// partner; [`UNKNOWN`] if there is no such row.
    pub(super) fn places(&self, ids: &[u64]) -> Vec<u32> {
        let mut places = Vec::with_capacity(ids.len());
        for ids in ids.chunks(AHEAD) {
            self.read_ahead(ids);
            places.extend(ids.iter().map(|id| self.part(*id).place(*id)));
        }
        places
    }

    /// Reads the first slot of each of these ids. Several reads can wait for memory at the same
    /// time, and the slots are then in the cache.
    fn read_ahead(&self, ids: &[u64]) {
        let words = ids.iter().map(|id| {
            let part = self.part(*id);
            part.slots[part.slot(*id)]
        });
        black_box(words.fold(0, |all, word| all ^ word));
    }

    /// Returns the part with the rows that share the upper bits of an id.
    fn part(&self, id: u64) -> &SwapPart {
        &self.parts[upper(id, self.bits)]
    }
}

impl SwapPart {
    /// Creates a part with the rows of several pieces, whose ids share `bits` upper bits. A third
    /// of the slots stays free.
    fn new(pieces: &[Vec<(u64, u32)>], bits: u32) -> Self {
        let rows: usize = pieces.iter().map(Vec::len).sum();
        let mut part = Self {
            slots: vec![word(0, FREE); rows + rows / 2 + 1],
            bits,
            apart: BTreeMap::new(),
        };
        let mut has_apart = false;
        for (id, place) in pieces.iter().flatten() {
            let (slot, before) = part.found(*id);
            let place = if before == FREE { *place } else { APART };
            has_apart |= place == APART;
            part.slots[slot] = word(*id, place);
        }
        // A slot that was filled keeps the lower bits of its id. So each row is found again in the
        // slot in which it was entered.
        if has_apart {
            let rows = pieces.iter().flatten().copied();
            part.apart = rows.filter(|(id, _)| part.found(*id).1 == APART).collect();
        }
        part
    }

    /// Returns the index of the value that the row with this id receives from its partner;
    /// [`UNKNOWN`] if there is no such row.
    #[inline]
    fn place(&self, id: u64) -> u32 {
        match self.found(id).1 {
            APART => self.apart.get(&id).copied().unwrap_or(UNKNOWN),
            place => place,
        }
    }

    /// Returns the slot with the lower bits of an id, and the index in it. If there is none,
    /// returns the free slot in which a row with this id is entered, and [`FREE`].
    #[inline]
    fn found(&self, id: u64) -> (usize, u32) {
        let mut slot = self.slot(id);
        loop {
            let (lower, place) = halves(self.slots[slot]);
            if place == FREE || lower == id as u32 {
                return (slot, place);
            }
            slot += 1;
            if slot == self.slots.len() {
                slot = 0;
            }
        }
    }

    /// Returns the first slot in which an id is looked for. It follows from the upper bits that
    /// differ within the part.
    fn slot(&self, id: u64) -> usize {
        ((u128::from(id << self.bits) * self.slots.len() as u128) >> u64::BITS) as usize
    }
}

/// Returns the word of a slot with the lower bits of an id and the index of a value.
fn word(id: u64, place: u32) -> u64 {
    id << u32::BITS | u64::from(place)
}

/// Returns the lower bits of an id and the index of a value in the word of a slot.
fn halves(word: u64) -> (u32, u32) {
    ((word >> u32::BITS) as u32, word as u32)
}

/// Returns the upper bits of an id.
fn upper(id: u64, bits: u32) -> usize {
    id.checked_shr(u64::BITS - bits).unwrap_or(0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::pool::Pool;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_row_without_a_value_has_no_place() {
        let drawn = Swaps::new(&[2, 1], &[9, u64::MAX, 3], &[2, 1, 0]);
        let places = drawn.places(&[9, u64::MAX, 3, 0, 4, 1 << 63]);
        assert_eq!(places, [1, 0, 0, UNKNOWN, UNKNOWN, UNKNOWN]);
        let none = Swaps::new(&[], &[], &[]);
        assert_eq!(none.places(&[0, u64::MAX]), [UNKNOWN; 2]);
    }

    /// Ids with the same lower bits, or with an index that stands for something else, are kept
    /// apart.
    #[test]
    fn rows_that_share_a_slot_are_told_apart() {
        let ids = [7_u64, 1 << 40 | 7, 8, 2 << 40 | 7];
        let rows: Vec<(u64, u32)> = ids.into_iter().zip([3, 4, 5, 6]).collect();
        for pieces in [vec![rows.clone()], vec![rows[..2].to_vec(), vec![], rows[2..].to_vec()]] {
            let part = SwapPart::new(&pieces, 0);
            assert_eq!(ids.map(|id| part.place(id)), [3, 4, 5, 6]);
            assert_eq!(part.apart.len(), 3);
            assert_eq!([3_u64 << 40 | 7, 9].map(|id| part.place(id)), [UNKNOWN; 2]);
        }
        let part = SwapPart::new(&[vec![(7, APART), (8, APART - 1)]], 0);
        assert_eq!([7, 8, 9].map(|id| part.place(id)), [APART, APART - 1, UNKNOWN]);
    }

    /// Different ids in any order. Some are spread evenly, some have the same upper bits, and some
    /// have the same lower bits.
    fn ids() -> impl Strategy<Value = Vec<u64>> {
        let same_lower = (0_u64..12, 0_u64..4, 0_u32..3);
        let same_lower = same_lower.prop_map(|(upper, lower, more)| upper << (32 + 12 * more) | lower);
        let id = prop_oneof![any::<u64>(), 0_u64..40, (u64::MAX - 9)..=u64::MAX, same_lower];
        let ids = prop::collection::btree_set(id, 0..200);
        ids.prop_map(|ids| ids.into_iter().collect::<Vec<u64>>()).prop_shuffle()
    }

    proptest! {
        /// With any number of threads, each row receives the value of its partner.
        #[test]
        fn each_row_receives_the_value_of_its_partner(
            order in ids(),
            distinct in 1usize..6,
            threads in 1usize..6,
        ) {
            let rows = order.len();
            // The partner of the first rank is the last rank, and so on.
            let partners: Vec<u32> = (0..rows as u32).rev().collect();
            let counts: Vec<u64> = (0..distinct).map(|i| (rows * (i + 1) / distinct - rows * i / distinct) as u64).collect();
            let own: Vec<u32> = (0..).zip(&counts).flat_map(|(place, count)| vec![place; *count as usize]).collect();
            let wanted: BTreeMap<u64, u32> = order.iter().copied().zip(own.iter().rev().copied()).collect();
            let swaps = Pool::new(threads).install(|| Swaps::new(&counts, &order, &partners));
            let ids: Vec<u64> = order.iter().flat_map(|id| [*id, id ^ 1, id.rotate_left(1)]).collect();
            let lower: BTreeSet<u32> = order.iter().map(|id| *id as u32).collect();
            for (id, place) in ids.iter().zip(swaps.places(&ids)) {
                // An id that is not in the table may be mistaken for one with the same lower bits.
                if wanted.contains_key(id) || !lower.contains(&(*id as u32)) {
                    prop_assert_eq!(place, wanted.get(id).copied().unwrap_or(UNKNOWN));
                }
            }
        }
    }
}
