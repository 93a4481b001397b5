//! Packed keys with their counts in a file.

use crate::base::error::Result;
use crate::base::spill::Overflow;
use arrow::buffer::MutableBuffer;
use arrow::datatypes::ToByteSlice;

/// Keys with the same layout and their counts, in a file. The file is written once. Afterwards it
/// can be read any number of times, even by several threads at the same time.
#[derive(Debug)]
pub(crate) struct KeyFile {
    overflow: Overflow,
    words: usize,
    blocks: Vec<Block>,
    entries: u64,
    bytes: u64,
}

/// A block of the file: the words of the keys, followed by their counts.
#[derive(Debug)]
struct Block {
    offset: u64,
    entries: usize,
    /// True if the counts are omitted because each count is 1.
    ones: bool,
}

impl KeyFile {
    /// The maximum number of keys in a block. It is small enough that a block and the results
    /// computed from it fit in the second-level cache.
    const BLOCK: usize = 1 << 14;

    /// Creates a file without keys.
    pub(crate) fn new(overflow: Overflow, words: usize) -> Self {
        Self {
            overflow,
            words,
            blocks: vec![],
            entries: 0,
            bytes: 0,
        }
    }

    /// Returns the number of keys. A key that was appended twice is counted twice.
    pub(crate) fn entries(&self) -> u64 {
        self.entries
    }

    /// Appends keys. If `counts` is `None`, the count of each key is 1.
    pub(crate) fn append(&mut self, keys: &[u64], counts: Option<&[u64]>) -> Result<()> {
        for (i, keys) in keys.chunks(Self::BLOCK * self.words).enumerate() {
            let entries = keys.len() / self.words;
            let counts = counts.map(|counts| &counts[i * Self::BLOCK..i * Self::BLOCK + entries]);
            let counts = counts.filter(|counts| counts.iter().any(|n| *n != 1));
            self.overflow.append(keys.to_byte_slice())?;
            if let Some(counts) = counts {
                self.overflow.append(counts.to_byte_slice())?;
            }
            let (offset, ones) = (self.bytes, counts.is_none());
            match self.blocks.last_mut() {
                Some(last) if last.ones && ones && last.entries + entries <= Self::BLOCK => last.entries += entries,
                _ => self.blocks.push(Block { offset, entries, ones }),
            }
            self.bytes += ((keys.len() + counts.map_or(0, <[u64]>::len)) * 8) as u64;
            self.entries += entries as u64;
        }
        Ok(())
    }

    /// Calls `f` with all keys and their counts, one block at a time, until `f` returns false. If
    /// the counts are `None`, the count of each key is 1.
    pub(crate) fn for_each(&self, mut f: impl FnMut(&[u64], Option<&[u64]>) -> Result<bool>) -> Result<()> {
        let mut buffer = MutableBuffer::new(0);
        for block in &self.blocks {
            let words = block.entries * (self.words + usize::from(!block.ones));
            buffer.resize(words * 8, 0);
            self.overflow.read_at(block.offset, buffer.as_slice_mut())?;
            let (keys, counts) = buffer.typed_data::<u64>().split_at(block.entries * self.words);
            if !f(keys, (!block.ones).then_some(counts))? {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::spill::SpillSpace;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_appended_is_read(words in 1usize..4, parts in prop::collection::vec((0usize..40_000, 0u64..3), 0..6)) {
            let mut file = KeyFile::new(SpillSpace::unlimited().overflow("testing").unwrap(), words);
            let (mut keys, mut counts) = (vec![], vec![]);
            for (number, (entries, kind)) in parts.into_iter().enumerate() {
                let from = keys.len();
                keys.extend((0..(entries * words) as u64).map(|i| i * 7919 + number as u64));
                let own: Vec<u64> = (0..entries as u64).map(|i| if kind == 2 { 1 + i % 3 } else { 1 }).collect();
                file.append(&keys[from..], (kind > 0).then_some(own.as_slice())).unwrap();
                counts.extend(own);
            }
            let (mut read, mut sums) = (vec![], vec![]);
            file.for_each(|keys, counts| {
                read.extend_from_slice(keys);
                match counts {
                    Some(counts) => sums.extend_from_slice(counts),
                    None => sums.resize(sums.len() + keys.len() / words, 1),
                }
                Ok(true)
            }).unwrap();
            prop_assert_eq!(file.entries(), counts.len() as u64);
            prop_assert!(read == keys && sums == counts);
        }
    }
}
