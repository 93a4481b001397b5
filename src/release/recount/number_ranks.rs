//! The ranks of the numbers of a column among the values of the source. All threads share one table
//! of ranks, which does not change once it is made.

use crate::base::error::Result;
use crate::data::recode::numbers;
use crate::method::canonical::plain;
use arrow::array::{Array, ArrayRef, new_empty_array};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use std::hint::black_box;

/// The number of codes whose ranks are looked up together.
const TOGETHER: usize = 128;

/// The rank of each number. A number is found by its code, which [`numbers`] returns.
pub(crate) struct NumberRanks {
    table: RankTable,
    /// The smallest code.
    first: u64,
    /// The rank of NULL, if NULL is a value.
    null: Option<u32>,
}

/// The ranks of codes, which are given by their distances from the smallest code.
enum RankTable {
    /// For 64 distances each: one bit for each distance, and the number of codes before these
    /// distances. A rank is found by one access to memory.
    Dense(Vec<(u64, u32)>),
    /// The table if few of the distances belong to a code.
    Sparse(Buckets),
}

/// Distances in ascending order. The rank of a code is the index of its distance.
struct Buckets {
    distances: Vec<u64>,
    /// The range of all distances is divided into buckets of `1 << shift` distances. For each
    /// bucket, the index of its first distance in `distances`, and finally the number of distances.
    starts: Vec<u32>,
    shift: u32,
}

impl RankTable {
    /// Creates the table of these codes, which ascend from `first`.
    fn new(codes: &[u64], first: u64) -> Self {
        let distances = codes.iter().map(|code| code - first);
        let most = distances.clone().next_back().unwrap_or(0) / 64;
        // An entry of a dense table takes 16 bytes, and so does a code in a sparse one.
        if most >= 2 * codes.len() as u64 {
            return Self::Sparse(Buckets::new(distances.collect()));
        }
        let mut words = vec![(0, 0); most as usize + 1];
        for distance in distances {
            words[(distance / 64) as usize].0 |= 1 << (distance % 64);
        }
        let mut before = 0;
        for (bits, rank) in &mut words {
            *rank = before;
            before += u64::count_ones(*bits);
        }
        Self::Dense(words)
    }

    fn rank(&self, distance: u64) -> Option<u32> {
        match self {
            Self::Dense(words) => {
                let (bits, before) = words.get(usize::try_from(distance / 64).ok()?)?;
                let bit = 1 << (distance % 64);
                (bits & bit != 0).then(|| before + (bits & (bit - 1)).count_ones())
            }
            Self::Sparse(buckets) => buckets.rank(distance),
        }
    }

    /// Returns the memory of the table in bytes.
    fn bytes(&self) -> usize {
        match self {
            Self::Dense(words) => size_of::<(u64, u32)>() * words.capacity(),
            Self::Sparse(buckets) => 8 * buckets.distances.capacity() + 4 * buckets.starts.capacity(),
        }
    }
}

impl Buckets {
    fn new(distances: Vec<u64>) -> Self {
        let width = distances.last().copied().unwrap_or(0);
        // There are at most about twice as many buckets as distances.
        let shift = (u64::BITS - width.leading_zeros()).saturating_sub(distances.len().max(1).ilog2() + 1);
        let mut starts = vec![];
        for (index, distance) in distances.iter().enumerate() {
            let bucket = (distance >> shift) as usize;
            while starts.len() <= bucket {
                starts.push(index as u32);
            }
        }
        starts.push(distances.len() as u32);
        Self {
            distances,
            starts,
            shift,
        }
    }

    fn rank(&self, distance: u64) -> Option<u32> {
        let bucket = usize::try_from(distance >> self.shift).ok()?;
        let (start, end) = (*self.starts.get(bucket)?, *self.starts.get(bucket + 1)?);
        let distances = &self.distances[start as usize..end as usize];
        let index = distances.binary_search(&distance).ok()?;
        Some(start + index as u32)
    }

    /// Returns the first distance in the bucket of this distance; 0 if there is none.
    fn first(&self, distance: u64) -> u64 {
        let start = usize::try_from(distance >> self.shift)
            .ok()
            .and_then(|at| self.starts.get(at));
        let first = start.and_then(|start| self.distances.get(*start as usize));
        first.copied().unwrap_or(0)
    }
}

impl NumberRanks {
    /// Returns true if the values of this type are numbers whose codes are equal if and only if the
    /// numbers are equal. Floating-point numbers have two zeros.
    pub(crate) fn is_possible(data_type: &DataType) -> bool {
        let data_type = plain(data_type);
        !data_type.is_floating() && numbers(&new_empty_array(&data_type)).is_some()
    }

    /// Creates the table of these codes, which ascend. If NULL is a value, it has the last rank.
    pub(super) fn new(codes: &[u64], has_null: bool) -> Self {
        let null = has_null.then_some(codes.len() as u32);
        let first = codes.first().copied().unwrap_or(0);
        Self {
            table: RankTable::new(codes, first),
            first,
            null,
        }
    }

    /// Returns the memory of the table in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.table.bytes()
    }

    /// Returns the rank of the value of each row. Returns `None` if the table does not have one of
    /// the values.
    pub(crate) fn of_rows(&self, array: &ArrayRef) -> Result<Option<Vec<u32>>> {
        let Some((array, codes)) = coded(array)? else {
            return Ok(None);
        };
        let (mut ranks, mut has_all) = (Vec::with_capacity(codes.len()), true);
        let nulls = array.logical_nulls();
        self.each(&codes, |rank| {
            let is_null = nulls.as_ref().is_some_and(|nulls| nulls.is_null(ranks.len()));
            let rank = if is_null { self.null } else { rank };
            has_all &= rank.is_some();
            ranks.push(rank.unwrap_or(0));
        });
        Ok(has_all.then_some(ranks))
    }

    /// Calls `found` with the rank of each code, one after the other; `None` if the table does not
    /// have the code.
    pub(super) fn each(&self, codes: &[u64], mut found: impl FnMut(Option<u32>)) {
        for codes in codes.chunks(TOGETHER) {
            self.read_ahead(codes);
            codes.iter().for_each(|code| found(self.rank(*code)));
        }
    }

    /// Reads the part of a sparse table in which the rank of each code is found. Several reads can
    /// wait for memory at the same time, and a search then finds its part in the cache.
    fn read_ahead(&self, codes: &[u64]) {
        if let RankTable::Sparse(buckets) = &self.table {
            // A code below all others has a distance above all others.
            let read = codes.iter().map(|code| buckets.first(code.wrapping_sub(self.first)));
            black_box(read.fold(0, |all, distance| all ^ distance));
        }
    }

    /// Returns the rank of a code. Returns `None` if the table does not have the code.
    fn rank(&self, code: u64) -> Option<u32> {
        self.table.rank(code.checked_sub(self.first)?)
    }
}

/// Returns a column of numbers without a dictionary, and the codes of its numbers. The code of NULL
/// has no meaning. Returns `None` if the code of a number needs more than 64 bits.
pub(super) fn coded(column: &ArrayRef) -> arrow::error::Result<Option<(ArrayRef, Vec<u64>)>> {
    let column = cast(column, &plain(column.data_type()))?;
    let codes = numbers(&column);
    Ok(codes.map(|codes| (column, codes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Decimal128Array, UInt64Array};
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    #[test]
    fn ranks_are_positions_also_of_null() {
        let amounts = |amounts: Vec<Option<i128>>| -> ArrayRef {
            Arc::new(Decimal128Array::from(amounts).with_precision_and_scale(10, 2).unwrap())
        };
        let codes = numbers(&amounts(vec![Some(-5), Some(0), Some(70)])).unwrap();
        let table = NumberRanks::new(&codes, true);
        let ranks = |rows| table.of_rows(&amounts(rows)).unwrap();
        assert_eq!(ranks(vec![Some(70), None, Some(-5)]), Some(vec![2, 3, 0]));
        assert_eq!(ranks(vec![Some(70), Some(1)]), None);
        let without_null = NumberRanks::new(&codes, false);
        assert_eq!(without_null.of_rows(&amounts(vec![None])).unwrap(), None);
    }

    #[test]
    fn zeros_and_texts_have_no_table() {
        assert!(NumberRanks::is_possible(&DataType::Date32));
        assert!(NumberRanks::is_possible(&DataType::Decimal128(10, 2)));
        assert!(!NumberRanks::is_possible(&DataType::Float64));
        assert!(!NumberRanks::is_possible(&DataType::Utf8));
    }

    /// Codes that are near each other, so that their table is dense, or not.
    fn codes() -> impl Strategy<Value = BTreeSet<u64>> {
        let few = prop_oneof![0u64..40, any::<u64>(), 1u64 << 40..(1 << 40) + 9];
        prop_oneof![
            prop::collection::btree_set(few, 0..30),
            prop::collection::btree_set(7u64 << 50..(7 << 50) + 900, 0..30),
        ]
    }

    proptest! {
        /// The rank of a code is its position in the ascending codes, whatever their distribution.
        #[test]
        fn ranks_are_those_of_a_search(
            codes in codes(),
            others in prop::collection::vec(prop_oneof![0u64..40, any::<u64>()], 0..10),
        ) {
            let ascending: Vec<u64> = codes.iter().copied().collect();
            let table = NumberRanks::new(&ascending, false);
            let near = codes.iter().flat_map(|code| [*code, code.saturating_sub(1), code.saturating_add(1)]);
            let asked: BTreeSet<u64> = near.chain(others).collect();
            for code in asked {
                let rank = codes.iter().position(|known| *known == code).map(|rank| rank as u32);
                prop_assert_eq!(table.rank(code), rank);
            }
            let rows: ArrayRef = Arc::new(codes.iter().rev().copied().collect::<UInt64Array>());
            let expected: Vec<u32> = (0..codes.len() as u32).rev().collect();
            prop_assert_eq!(table.of_rows(&rows).unwrap(), Some(expected));
        }
    }
}
