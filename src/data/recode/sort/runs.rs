//! Sorted runs of packed rows, in memory or in a file, and their merge.

use crate::base::error::Result;
use crate::base::pool::sort_by;
use crate::base::spill::{Overflow, SpillSpace};
use arrow::buffer::MutableBuffer;
use arrow::datatypes::ToByteSlice;
use datafusion::execution::memory_pool::MemoryReservation;
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};

/// Machine words, either in memory or in a spill file at `offset`.
#[derive(Debug)]
pub(super) enum MachineWords {
    Memory(Vec<u64>),
    File { offset: u64, count: usize },
}

/// Stores words in memory as long as memory is available, and then in a spill file.
#[derive(Debug)]
pub(super) struct Store {
    memory: MemoryReservation,
    spill_space: SpillSpace,
    file: OnceLock<Overflow>,
    /// The length of the file. The lock is held while words are appended.
    end: Mutex<u64>,
}

impl Store {
    /// Creates an empty store.
    pub(super) fn new(spill_space: &SpillSpace) -> Self {
        Self {
            memory: spill_space.reservation("anonsql packed rows"),
            spill_space: spill_space.clone(),
            file: OnceLock::new(),
            end: Mutex::new(0),
        }
    }

    /// Stores words in memory. If memory is not available, returns the words as `Err`.
    pub(super) fn hold(&self, words: Vec<u64>) -> std::result::Result<MachineWords, Vec<u64>> {
        match self.memory.try_grow(words.capacity() * 8) {
            Ok(()) => Ok(MachineWords::Memory(words)),
            Err(_) => Err(words),
        }
    }

    /// Appends words to the file.
    pub(super) fn write(&self, words: &[u64]) -> Result<MachineWords> {
        let mut end = self.end.lock();
        let file = match self.file.get() {
            Some(file) => file,
            None => {
                let file = self.spill_space.overflow("sorting rows")?;
                self.file.get_or_init(|| file)
            }
        };
        file.append(words.to_byte_slice())?;
        let offset = *end;
        *end += words.len() as u64 * 8;
        Ok(MachineWords::File {
            offset,
            count: words.len(),
        })
    }

    /// Returns stored words, and releases their memory.
    pub(super) fn take(&self, words: MachineWords) -> Result<Vec<u64>> {
        match words {
            MachineWords::Memory(words) => {
                self.memory.shrink(words.capacity() * 8);
                Ok(words)
            }
            MachineWords::File { offset, count } => {
                let mut words = vec![];
                self.read(offset, count, &mut words)?;
                Ok(words)
            }
        }
    }

    /// Appends `count` words, starting at `offset` in the file, to `words`.
    fn read(&self, offset: u64, count: usize, words: &mut Vec<u64>) -> Result<()> {
        let mut bytes = MutableBuffer::from_len_zeroed(count * 8);
        if let Some(file) = self.file.get() {
            file.read_at(offset, bytes.as_slice_mut())?;
        }
        words.extend_from_slice(bytes.typed_data());
        Ok(())
    }
}

/// Sorts packed rows of `words` words each on the current thread.
pub(super) fn sort(rows: &mut Vec<u64>, words: usize) {
    in_order(rows, words, false);
}

/// Sorts packed rows of `words` words each. If `are_runs` is true, the rows consist of consecutive
/// sorted runs, which are merged on all threads of the pool. Otherwise the rows are sorted on the
/// current thread.
fn in_order(rows: &mut Vec<u64>, words: usize, are_runs: bool) {
    fn sorted<T: Ord + Send>(rows: &mut [T], are_runs: bool) {
        match are_runs {
            true => sort_by(rows, T::cmp),
            false => rows.sort_unstable(),
        }
    }
    match words {
        1 => sorted(rows, are_runs),
        2 => sorted(rows.as_chunks_mut::<2>().0, are_runs),
        3 => sorted(rows.as_chunks_mut::<3>().0, are_runs),
        4 => sorted(rows.as_chunks_mut::<4>().0, are_runs),
        5 => sorted(rows.as_chunks_mut::<5>().0, are_runs),
        6 => sorted(rows.as_chunks_mut::<6>().0, are_runs),
        _ => {
            let mut places: Vec<&[u64]> = rows.chunks_exact(words).collect();
            sorted(&mut places, are_runs);
            *rows = places.concat();
        }
    }
}

/// A run that is read block by block.
#[derive(Debug)]
struct Head {
    run: MachineWords,
    /// For a run in a file, the rows that were read but not yet used.
    read: Vec<u64>,
    /// For a run in memory, the number of words that were used; for a run in a file, the number of
    /// words that were read.
    at: usize,
}

impl Head {
    /// Returns the current block: the next rows, about `block` words.
    fn block(&self, block: usize) -> &[u64] {
        match &self.run {
            MachineWords::Memory(rows) => &rows[self.at..rows.len().min(self.at + block)],
            MachineWords::File { .. } => &self.read,
        }
    }

    /// Returns true if the run has more rows after the current block.
    fn goes_on(&self, block: usize) -> bool {
        match &self.run {
            MachineWords::Memory(rows) => self.at + block < rows.len(),
            MachineWords::File { count, .. } => self.at < *count,
        }
    }

    /// If the run is in a file, reads from it until the current block has `block` words, or up to
    /// the end of the run.
    fn fill(&mut self, store: &Store, block: usize) -> Result<()> {
        let MachineWords::File { offset, count } = self.run else {
            return Ok(());
        };
        let more = block.saturating_sub(self.read.len()).min(count - self.at);
        if more > 0 {
            store.read(offset + self.at as u64 * 8, more, &mut self.read)?;
            self.at += more;
        }
        Ok(())
    }

    /// Skips the next `used` words.
    fn advance(&mut self, used: usize) {
        match &self.run {
            MachineWords::Memory(_) => self.at += used,
            MachineWords::File { .. } => drop(self.read.drain(..used)),
        }
    }
}

/// The merge of sorted runs. Each step considers one block of each run. If the run of a block has
/// further rows after the block, the last row of the block is at most as great as these rows.
/// `last` is the minimum of such last rows. Rows up to `last` come before all rows outside the
/// blocks, so the step sorts these rows, on several threads.
#[derive(Debug)]
pub(super) struct Merge {
    store: Arc<Store>,
    words: usize,
    heads: Vec<Head>,
    /// The number of words of a block.
    block: usize,
}

impl Merge {
    /// Creates the merge of sorted runs whose rows have `words` words each. A step considers about
    /// `bytes` bytes of rows.
    pub(super) fn new(store: Arc<Store>, words: usize, runs: Vec<MachineWords>, bytes: usize) -> Self {
        const LEAST: usize = 1 << 8;
        let rows = bytes / (words * 8 * runs.len().max(1));
        let head = |run| Head {
            run,
            read: vec![],
            at: 0,
        };
        Self {
            store,
            words,
            heads: runs.into_iter().map(head).collect(),
            block: rows.max(LEAST) * words,
        }
    }

    /// Returns the next rows; empty after the last row.
    pub(super) fn next(&mut self) -> Result<Vec<u64>> {
        let (block, words) = (self.block, self.words);
        for head in &mut self.heads {
            head.fill(&self.store, block)?;
        }
        let going_on = self.heads.iter().filter(|head| head.goes_on(block));
        let last = going_on
            .filter_map(|head| head.block(block).rchunks_exact(words).next())
            .min();
        let known = |head: &Head| {
            let rows = head.block(block);
            last.map_or(rows.len(), |last| {
                let (mut known, mut end) = (0, rows.len() / words);
                while known < end {
                    let middle = known.midpoint(end);
                    match rows[middle * words..][..words] <= *last {
                        true => known = middle + 1,
                        false => end = middle,
                    }
                }
                known * words
            })
        };
        let known: Vec<usize> = self.heads.iter().map(known).collect();
        let mut rows = Vec::with_capacity(known.iter().sum());
        for (head, known) in self.heads.iter_mut().zip(known) {
            rows.extend_from_slice(&head.block(block)[..known]);
            head.advance(known);
        }
        in_order(&mut rows, words, true);
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::pool::Pool;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn merged_runs_are_the_sorted_rows(
            words in 1usize..9,
            runs in prop::collection::vec(prop::collection::vec(0u64..4, 0..400), 0..6),
            in_files: u8,
            threads in 1usize..4,
            bytes in 0usize..200_000,
        ) {
            let store = Arc::new(Store::new(&SpillSpace::unlimited()));
            let (mut all, mut sorted) = (vec![], vec![]);
            for (i, mut run) in runs.into_iter().enumerate() {
                run.truncate(run.len() / words * words);
                all.extend(run.chunks_exact(words).map(<[u64]>::to_vec));
                sort(&mut run, words);
                prop_assert!(run.chunks_exact(words).is_sorted());
                sorted.push(match in_files >> i & 1 {
                    0 => store.hold(run).unwrap(),
                    _ => store.write(&run).unwrap(),
                });
            }
            all.sort();
            let (mut merge, pool) = (Merge::new(store, words, sorted, bytes), Pool::new(threads));
            let mut merged = vec![];
            loop {
                let rows = pool.install(|| merge.next()).unwrap();
                if rows.is_empty() {
                    break;
                }
                merged.extend(rows.chunks_exact(words).map(<[u64]>::to_vec));
            }
            prop_assert_eq!(merged, all);
        }
    }

    #[test]
    fn words_are_held_until_memory_ends() {
        let space = SpillSpace::limited(100);
        let store = Store::new(&space);
        let held = store.hold(vec![1; 10]).unwrap();
        assert!(store.hold(vec![2; 10]).is_err());
        let written = store.write(&[3; 10]).unwrap();
        assert_eq!(store.take(written).unwrap(), [3; 10]);
        assert_eq!(store.take(held).unwrap(), [1; 10]);
        assert_eq!(space.pool().reserved(), 0);
    }
}
