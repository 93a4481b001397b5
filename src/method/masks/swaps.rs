//! The swaps of RANK SWAP: the value that each row receives from its partner, found by the id of
//! the row.

use super::seen_rows::AHEAD;
use super::values::UNKNOWN;
use crate::base::pool::{map, pieces};
use parking_lot::Mutex;
use std::hint::black_box;
use std::iter::repeat_n;

/// The maximum number of upper bits that the ids in a part share. A part of 10 million rows then
/// stays in the cache while its rows are divided into buckets.
const PART_BITS: u32 = 8;

/// The swaps of a column. The rows are in buckets by the upper bits of their ids.
#[derive(Debug)]
pub(super) struct Swaps {
    /// The buckets, divided into parts of equal size. The number of parts is a power of two.
    parts: Vec<SwapPart>,
    /// The number of upper bits that the ids in a bucket share.
    bits: u32,
    /// The number of these bits that differ within a part.
    within: u32,
}

/// A part of the buckets.
#[derive(Debug)]
struct SwapPart {
    /// The id of each row, and the index of the value that the row receives, in ascending order.
    rows: Vec<(u64, u32)>,
    /// For each bucket, the index of its first row. One more entry is the number of rows.
    starts: Vec<u32>,
}

impl Swaps {
    /// Creates the swaps. `counts` contains the number of rows with each value, `order` the id of
    /// the row with each rank, and `partners` the partner of each rank.
    pub(super) fn new(counts: &[u64], order: &[u64], partners: &[u32]) -> Self {
        let mut own: Vec<u32> = Vec::with_capacity(order.len());
        for (place, count) in (0..).zip(counts) {
            own.extend(repeat_n(place, *count as usize));
        }
        let bits = (order.len() / 2).max(1).ilog2();
        let within = bits.saturating_sub(PART_BITS);
        let parts = 1_usize << (bits - within);
        let pieces = pieces(order.len());
        let divided = map(pieces.len(), |piece| {
            let most = pieces[piece].len() / parts * 9 / 8;
            let mut rows: Vec<Vec<(u64, u32)>> = (0..parts).map(|_| Vec::with_capacity(most)).collect();
            for rank in pieces[piece].clone() {
                let id = order[rank];
                rows[upper(id, bits) >> within].push((id, own[partners[rank] as usize]));
            }
            rows.into_iter().map(Mutex::new).collect::<Vec<_>>()
        });
        let part = |part: usize| {
            let rows = divided.iter().map(|rows| std::mem::take(&mut *rows[part].lock()));
            SwapPart::new(&rows.collect::<Vec<_>>(), bits, within)
        };
        Self {
            parts: map(parts, part),
            bits,
            within,
        }
    }

    /// Returns the index of the value that each row with one of these ids receives from its
    /// partner; [`UNKNOWN`] if there is no such row.
    pub(super) fn places(&self, ids: &[u64]) -> Vec<u32> {
        let mut places = Vec::with_capacity(ids.len());
        for ids in ids.chunks(AHEAD) {
            self.read_ahead(ids);
            places.extend(ids.iter().map(|id| self.place(*id).unwrap_or(UNKNOWN)));
        }
        places
    }

    /// Returns the index of the value that the row with this id receives from its partner; `None`
    /// if there is no such row.
    fn place(&self, id: u64) -> Option<u32> {
        let (part, bucket) = self.bucket(id);
        let (start, end) = (part.starts[bucket] as usize, part.starts[bucket + 1] as usize);
        let rows = &part.rows[start..end];
        let found = rows.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(rows[found].1)
    }

    /// Reads the first row in the bucket of each of these ids. Several reads can wait for memory at
    /// the same time, and the buckets are then in the cache.
    fn read_ahead(&self, ids: &[u64]) {
        let starts = ids.iter().map(|id| {
            let (part, bucket) = self.bucket(*id);
            (part, part.starts[bucket] as usize)
        });
        let starts: Vec<(&SwapPart, usize)> = starts.collect();
        let first = starts
            .iter()
            .map(|(part, start)| part.rows.get(*start).map_or(0, |(id, _)| *id));
        black_box(first.fold(0, |all, id| all ^ id));
    }

    /// Returns the part with the bucket of an id, and the number of the bucket in this part.
    fn bucket(&self, id: u64) -> (&SwapPart, usize) {
        let bucket = upper(id, self.bits);
        (&self.parts[bucket >> self.within], lower(bucket, self.within))
    }
}

impl SwapPart {
    /// Creates a part with the rows of several pieces. The ids differ in `bits` upper bits, and
    /// within the part in the lowest `within` of them.
    fn new(pieces: &[Vec<(u64, u32)>], bits: u32, within: u32) -> Self {
        let bucket = |id: u64| lower(upper(id, bits), within);
        let mut starts = vec![0_u32; (1_usize << within) + 1];
        for (id, _) in pieces.iter().flatten() {
            starts[bucket(*id)] += 1;
        }
        // An entry is first the end of its bucket. Each row that is written lowers the entry by
        // one, so it is the start of the bucket once all rows are written.
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut rows = vec![(0, 0); sum as usize];
        for row in pieces.iter().flatten() {
            let start = &mut starts[bucket(row.0)];
            *start -= 1;
            rows[*start as usize] = *row;
        }
        for bucket in starts.windows(2) {
            rows[bucket[0] as usize..bucket[1] as usize].sort_unstable();
        }
        Self { rows, starts }
    }
}

/// Returns the upper bits of an id.
fn upper(id: u64, bits: u32) -> usize {
    id.checked_shr(u64::BITS - bits).unwrap_or(0) as usize
}

/// Returns the lower bits of the number of a bucket.
fn lower(bucket: usize, bits: u32) -> usize {
    bucket & ((1_usize << bits) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::pool::Pool;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_row_without_a_value_has_no_place() {
        let drawn = Swaps::new(&[2, 1], &[9, u64::MAX, 3], &[2, 1, 0]);
        let places = drawn.places(&[9, u64::MAX, 3, 0, 4, 1 << 63]);
        assert_eq!(places, [1, 0, 0, UNKNOWN, UNKNOWN, UNKNOWN]);
        let none = Swaps::new(&[], &[], &[]);
        assert_eq!(none.places(&[0, u64::MAX]), [UNKNOWN; 2]);
    }

    /// Different ids in any order. Some are spread evenly, and some have the same upper bits.
    fn ids() -> impl Strategy<Value = Vec<u64>> {
        let id = prop_oneof![any::<u64>(), 0_u64..40, (u64::MAX - 9)..=u64::MAX];
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
            for (id, place) in ids.iter().zip(swaps.places(&ids)) {
                prop_assert_eq!(place, wanted.get(id).copied().unwrap_or(UNKNOWN));
            }
        }
    }
}
