//! Counts equal rows, so that each of them can get an id of its own.
//!
//! Rows are known by a hash of 128 bits. The table has room for a word per different row: 44 bits
//! of the hash, and the number of rows with this hash so far. Several threads may use the same
//! table, and none of them waits for another one.
//!
//! Two different rows count as equal if their 44 bits are equal and their places in the table are
//! next to each other. Among 10 million rows, such a pair exists with a probability of about one in
//! a million. Then the order in which the two rows are read determines their ids, and RANK SWAP,
//! which orders the rows by their whole hashes, reports that the source changed.

use crate::base::error::{Error, Result};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

/// The bits of a word that contain the number of rows. It is also the largest such number.
const NUMBER: u64 = (1 << 20) - 1;

/// The number of rows whose slots are read ahead. The processor keeps the addresses of as many
/// pages of memory.
pub(super) const AHEAD: usize = 128;

/// The rows that a scan has read so far.
pub struct SeenRows {
    scan: u64,
    /// For each slot, the upper 44 bits of a hash and the number of rows with this hash; 0 if the
    /// slot is free.
    slots: Vec<AtomicU64>,
    /// For each slot whose number of rows does not fit into 20 bits, the number of further rows.
    further: Mutex<HashMap<usize, u64>>,
}

impl fmt::Debug for SeenRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeenRows")
            .field("slots", &self.slots.len())
            .finish_non_exhaustive()
    }
}

impl SeenRows {
    /// Creates the table for the scan with number `scan`, which adds at most `rows` different rows.
    pub(super) fn new(rows: u64, scan: u64) -> Self {
        Self {
            scan,
            slots: (0..slots(rows)).map(|_| AtomicU64::new(0)).collect(),
            further: Mutex::new(HashMap::new()),
        }
    }

    /// Returns the number of the scan, which is higher than the numbers of the scans before it.
    pub(crate) fn scan(&self) -> u64 {
        self.scan
    }

    /// Returns the memory of the table for `rows` rows, in bytes.
    pub(super) fn bytes(rows: u64) -> usize {
        slots(rows).saturating_mul(size_of::<AtomicU64>())
    }

    /// Reads the first slot of each of these rows. Unlike the changes of `add`, several reads can
    /// wait for memory at the same time, and the slots are then in the cache.
    pub(super) fn read_ahead(&self, hashes: &[[u64; 2]]) {
        let words = hashes
            .iter()
            .map(|[low, _]| self.slots[self.slot(*low)].load(Ordering::Relaxed));
        black_box(words.fold(0, |all, word| all ^ word));
    }

    /// Returns the first slot in which a row is looked for.
    fn slot(&self, low: u64) -> usize {
        ((u128::from(low) * self.slots.len() as u128) >> 64) as usize
    }

    /// Adds a row, and returns the number of rows with the same hash before it. Fails with
    /// `ErrorKind::Data` if the table is full, because the source then has more rows than before.
    pub(super) fn add(&self, [low, high]: [u64; 2]) -> Result<u64> {
        let known = high & !NUMBER;
        let mut slot = self.slot(low);
        let mut passed = 0;
        while passed < self.slots.len() {
            let word = self.slots[slot].load(Ordering::Relaxed);
            let (next, before) = match word {
                0 => (known | 1, 0),
                _ if word & !NUMBER != known => {
                    // A remainder would take longer than the comparison.
                    slot += 1;
                    if slot == self.slots.len() {
                        slot = 0;
                    }
                    passed += 1;
                    continue;
                }
                _ if word & NUMBER == NUMBER => return Ok(self.add_further(slot)),
                _ => (word + 1, word & NUMBER),
            };
            // If another thread changed the word, the same slot is read again.
            let changed = self.slots[slot].compare_exchange(word, next, Ordering::Relaxed, Ordering::Relaxed);
            if changed.is_ok() {
                return Ok(before);
            }
        }
        Err(Error::data("the source changed during the run"))
    }

    #[cold]
    fn add_further(&self, slot: usize) -> u64 {
        let mut further = self.further.lock();
        let number = further.entry(slot).or_insert(0);
        *number += 1;
        NUMBER + *number - 1
    }
}

/// Returns the number of slots for `rows` rows. A third of the slots stays free. The last row then
/// passes four slots on average; with a ninth of them free, it would pass forty.
fn slots(rows: u64) -> usize {
    usize::try_from(rows.saturating_add(rows / 2).saturating_add(8)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Equal hashes are numbered from 0, whatever comes between them.
        #[test]
        fn equal_rows_are_numbered(rows in prop::collection::vec((0u64..4, 0u64..4), 0..60)) {
            let seen = SeenRows::new(rows.len() as u64, 1);
            let mut known: HashMap<u64, u64> = HashMap::new();
            for (low, high) in rows {
                let number = known.entry(high).or_insert(0);
                // All rows begin at the same slot, and differ in their upper bits.
                prop_assert_eq!(seen.add([low, high << 20]).unwrap(), *number);
                *number += 1;
            }
        }
    }

    #[test]
    fn threads_get_different_numbers() {
        let seen = SeenRows::new(4_000, 1);
        let mut numbers: Vec<(u64, u64)> = std::thread::scope(|scope| {
            let add = |row: u64| (row % 10, seen.add([row % 10 * (u64::MAX / 10), row % 10]).unwrap());
            let threads = [(); 4].map(|()| scope.spawn(move || (0..1_000).map(add).collect::<Vec<_>>()));
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        numbers.sort_unstable();
        let wanted = (0..10).flat_map(|row| (0..400).map(move |number| (row, number)));
        assert_eq!(numbers, wanted.collect::<Vec<_>>());
    }

    #[test]
    fn more_equal_rows_than_a_word_counts_are_numbered() {
        let seen = SeenRows::new(2, 1);
        (0..NUMBER + 5).for_each(|number| assert_eq!(seen.add([7, 7]).unwrap(), number));
        assert_eq!(seen.add([7, 7 << 20]).unwrap(), 0);
    }

    #[test]
    fn more_rows_than_before_are_refused() {
        let seen = SeenRows::new(0, 1);
        (1..9).for_each(|row| assert_eq!(seen.add([0, row << 20]).unwrap(), 0));
        assert!(seen.add([0, 9 << 20]).unwrap_err().to_string().contains("changed"));
    }
}
