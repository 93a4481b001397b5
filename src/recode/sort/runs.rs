//! Sorted runs of packed rows, in memory or in a file, and their merge.

use crate::error::Result;
use crate::frequency::{Overflow, SpillSpace};
use arrow::buffer::MutableBuffer;
use arrow::datatypes::ToByteSlice;
use datafusion::execution::memory_pool::MemoryReservation;
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};

/// Machine words in memory, or in a spill file from `offset` on.
#[derive(Debug)]
pub(super) enum Words {
    Memory(Vec<u64>),
    File { offset: u64, count: usize },
}

/// Holds words in memory as long as there is some, and then in a spill file.
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

    /// Holds words in memory. Returns them if there is none.
    pub(super) fn hold(&self, words: Vec<u64>) -> std::result::Result<Words, Vec<u64>> {
        match self.memory.try_grow(words.capacity() * 8) {
            Ok(()) => Ok(Words::Memory(words)),
            Err(_) => Err(words),
        }
    }

    /// Writes words to the file.
    pub(super) fn write(&self, words: &[u64]) -> Result<Words> {
        let mut end = self.end.lock();
        let file = match self.file.get() {
            Some(file) => file,
            None => {
                let file = self.spill_space.overflow("rows are sorted")?;
                self.file.get_or_init(|| file)
            }
        };
        file.append(words.to_byte_slice())?;
        let offset = *end;
        *end += words.len() as u64 * 8;
        Ok(Words::File {
            offset,
            count: words.len(),
        })
    }

    /// Returns words, and releases their memory.
    pub(super) fn take(&self, words: Words) -> Result<Vec<u64>> {
        match words {
            Words::Memory(words) => {
                self.memory.shrink(words.capacity() * 8);
                Ok(words)
            }
            Words::File { offset, count } => {
                let mut words = vec![];
                self.read(offset, count, &mut words)?;
                Ok(words)
            }
        }
    }

    /// Replaces `words` by `count` words of the file.
    fn read(&self, offset: u64, count: usize, words: &mut Vec<u64>) -> Result<()> {
        let mut bytes = MutableBuffer::from_len_zeroed(count * 8);
        if let Some(file) = self.file.get() {
            file.read_at(offset, bytes.as_slice_mut())?;
        }
        words.clear();
        words.extend_from_slice(bytes.typed_data());
        Ok(())
    }
}

/// Sorts packed rows of `words` words each.
pub(super) fn sort(rows: &mut Vec<u64>, words: usize) {
    fn as_arrays<const N: usize>(rows: &mut [u64]) {
        rows.as_chunks_mut::<N>().0.sort_unstable();
    }
    match words {
        1 => rows.sort_unstable(),
        2 => as_arrays::<2>(rows),
        3 => as_arrays::<3>(rows),
        4 => as_arrays::<4>(rows),
        5 => as_arrays::<5>(rows),
        6 => as_arrays::<6>(rows),
        _ => {
            let mut sorted: Vec<&[u64]> = rows.chunks_exact(words).collect();
            sorted.sort_unstable();
            *rows = sorted.concat();
        }
    }
}

/// The next rows of a run.
#[derive(Debug)]
struct Head {
    run: Words,
    /// Rows of a run in a file, read so far.
    read: Vec<u64>,
    /// The next word among those in memory, and the next among those of the file that are not read yet.
    at: usize,
    unread: usize,
}

impl Head {
    fn rows(&self) -> &[u64] {
        match &self.run {
            Words::Memory(rows) => rows,
            Words::File { .. } => &self.read,
        }
    }
}

/// The merge of sorted runs.
#[derive(Debug)]
pub(super) struct Merge {
    store: Arc<Store>,
    words: usize,
    heads: Vec<Head>,
    /// The runs that have rows left, as a heap whose first run has the least row.
    heap: Vec<usize>,
    /// The words that are read of a file at a time.
    block: usize,
}

impl Merge {
    /// Merges sorted runs of rows of `words` words each, with about `bytes` bytes for what is read of the file.
    pub(super) fn new(store: Arc<Store>, words: usize, runs: Vec<Words>, bytes: usize) -> Result<Self> {
        const LEAST: usize = 1 << 8;
        const MOST: usize = 1 << 14;
        let rows = bytes / (words * 8 * runs.len().max(1));
        let head = |run| Head {
            run,
            read: vec![],
            at: 0,
            unread: 0,
        };
        let mut merge = Self {
            store,
            words,
            heads: runs.into_iter().map(head).collect(),
            heap: vec![],
            block: rows.clamp(LEAST, MOST) * words,
        };
        for run in 0..merge.heads.len() {
            if merge.fill(run)? {
                merge.heap.push(run);
            }
        }
        for place in (0..merge.heap.len() / 2).rev() {
            merge.sift(place);
        }
        Ok(merge)
    }

    /// Returns the next rows, at most `most`. Returns none after the last.
    pub(super) fn next(&mut self, most: usize) -> Result<Vec<u64>> {
        let mut rows = Vec::with_capacity(most * self.words);
        while rows.len() < most * self.words && !self.heap.is_empty() {
            let run = self.heap[0];
            let head = &mut self.heads[run];
            let at = head.at;
            head.at += self.words;
            rows.extend_from_slice(&head.rows()[at..at + self.words]);
            if !self.fill(run)? {
                self.heap.swap_remove(0);
            }
            self.sift(0);
        }
        Ok(rows)
    }

    /// Reads further rows of a run if all that were read are used up. Returns false if it has no more.
    fn fill(&mut self, run: usize) -> Result<bool> {
        let head = &mut self.heads[run];
        if head.at < head.rows().len() {
            return Ok(true);
        }
        let Words::File { offset, count } = head.run else {
            return Ok(false);
        };
        let next = self.block.min(count - head.unread);
        self.store.read(offset + head.unread as u64 * 8, next, &mut head.read)?;
        (head.at, head.unread) = (0, head.unread + next);
        Ok(next > 0)
    }

    fn row(&self, place: usize) -> &[u64] {
        let head = &self.heads[self.heap[place]];
        &head.rows()[head.at..head.at + self.words]
    }

    /// Moves the run at a place of the heap down, until no run below it has a lesser row.
    fn sift(&mut self, mut place: usize) {
        loop {
            let children = 2 * place + 1..(2 * place + 3).min(self.heap.len());
            let least = children.min_by(|a, b| self.row(*a).cmp(self.row(*b)));
            match least.filter(|child| self.row(*child) < self.row(place)) {
                Some(child) => self.heap.swap(place, child),
                None => return,
            }
            place = least.unwrap_or(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn merged_runs_are_the_sorted_rows(
            words in 1usize..9,
            runs in prop::collection::vec(prop::collection::vec(0u64..4, 0..400), 0..6),
            in_files: u8,
            size in 1usize..50,
            bytes in 0usize..10_000,
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
            let mut merge = Merge::new(store, words, sorted, bytes).unwrap();
            let mut merged = vec![];
            loop {
                let rows = merge.next(size).unwrap();
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
