//! The packed layout of keys. A key consists of one or more machine words, in which the code of
//! each quasi-identifier has its own bits.

use std::ops::Range;

/// The position of the code of one column in a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Field {
    word: usize,
    shift: u32,
    bits: u32,
}

/// Adjacent columns within one word. Their codes are looked up together in one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chunk {
    word: usize,
    shift: u32,
    bits: u32,
    /// The indices of the columns; the first has the lowest bits.
    columns: Range<usize>,
}

impl Chunk {
    /// Returns the columns of the chunk.
    pub(crate) fn columns(&self) -> Range<usize> {
        self.columns.clone()
    }

    /// Returns the index of the word that contains the chunk.
    pub(crate) fn word(&self) -> usize {
        self.word
    }

    /// Returns the chunk's bits of `word`, shifted to the lowest position.
    #[inline]
    pub(crate) fn index(&self, word: u64) -> usize {
        ((word >> self.shift) & low_bits(self.bits)) as usize
    }

    /// Returns the mask of the chunk's bits in its word.
    pub(crate) fn mask(&self) -> u64 {
        low_bits(self.bits) << self.shift
    }
}

/// The layout of packed keys with `words` 64-bit words each. The code of a column never straddles
/// two words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedLayout {
    fields: Vec<Field>,
    chunks: Vec<Chunk>,
    words: usize,
}

/// The maximum number of bits in a chunk. It is small enough that the table of a chunk fits in the
/// first-level cache.
const CHUNK_BITS: u32 = 12;

fn low_bits(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Returns the number of bits that are needed for the codes `0..count`.
pub(crate) fn bits_for(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

impl PackedLayout {
    /// Creates the layout for columns with these numbers of bits (at most 32 each). Columns are
    /// packed in order, starting at the lowest bits.
    pub fn new(bits: &[u32]) -> Self {
        let (mut word, mut shift) = (0, 0);
        let mut fields = Vec::with_capacity(bits.len());
        for &bits in bits {
            // A column with a single code has no bits, but its shift must still be less than 64.
            if shift + bits > 64 || shift == 64 {
                (word, shift) = (word + 1, 0);
            }
            fields.push(Field { word, shift, bits });
            shift += bits;
        }
        let mut chunks: Vec<Chunk> = vec![];
        for (i, field) in fields.iter().enumerate() {
            match chunks.last_mut() {
                Some(chunk) if chunk.word == field.word && chunk.bits + field.bits <= CHUNK_BITS => {
                    chunk.bits += field.bits;
                    chunk.columns.end = i + 1;
                }
                _ => chunks.push(Chunk {
                    word: field.word,
                    shift: field.shift,
                    bits: field.bits,
                    columns: i..i + 1,
                }),
            }
        }
        Self {
            fields,
            chunks,
            words: word + 1,
        }
    }

    /// Returns the number of words per key.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Returns the number of bits of column `column`.
    pub(crate) fn bits(&self, column: usize) -> u32 {
        self.fields[column].bits
    }

    /// Returns the chunks in the order of the columns.
    pub(crate) fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// Returns the code of column `column` in `key`.
    #[inline]
    pub fn code(&self, key: &[u64], column: usize) -> u32 {
        let field = self.fields[column];
        ((key[field.word] >> field.shift) & low_bits(field.bits)) as u32
    }

    /// Returns the index of the word that contains column `column`, and `code` shifted to the
    /// column's bits in this word.
    #[inline]
    pub(crate) fn place(&self, column: usize, code: u32) -> (usize, u64) {
        let field = self.fields[column];
        (field.word, u64::from(code) << field.shift)
    }

    /// Adds the codes of a column to the keys of a batch. `keys` contains the words of the keys,
    /// one key after another.
    pub(crate) fn pack_column(&self, column: usize, codes: &[u32], keys: &mut [u64]) {
        let field = self.fields[column];
        if self.words == 1 {
            for (key, code) in keys.iter_mut().zip(codes) {
                *key |= u64::from(*code) << field.shift;
            }
        } else {
            for (key, code) in keys.chunks_exact_mut(self.words).zip(codes) {
                key[field.word] |= u64::from(*code) << field.shift;
            }
        }
    }

    /// Returns a table that contains, for every combination of codes of the columns in a chunk, the
    /// sum of `part(column, code)`. Codes of `cardinality(column)` or more do not occur and add 0.
    pub(crate) fn tabulate(
        &self,
        chunk: &Chunk,
        cardinality: impl Fn(usize) -> usize,
        part: impl Fn(usize, u32) -> u64,
    ) -> Vec<u64> {
        if chunk.columns.len() == 1 {
            let column = chunk.columns.start;
            return (0..cardinality(column) as u32).map(|code| part(column, code)).collect();
        }
        let mut table: Vec<u64> = vec![0];
        for column in chunk.columns.clone() {
            let lower = std::mem::take(&mut table);
            table.reserve(lower.len() << self.fields[column].bits);
            for code in 0..1u32 << self.fields[column].bits {
                let own = if (code as usize) < cardinality(column) {
                    part(column, code)
                } else {
                    0
                };
                table.extend(lower.iter().map(|below| below.wrapping_add(own)));
            }
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn widths() {
        assert_eq!([0, 1, 2, 3, 4, 5, 256, 257].map(bits_for), [0, 0, 1, 2, 2, 3, 8, 9]);
    }

    #[test]
    fn a_column_of_one_code_may_follow_a_full_word() {
        let layout = PackedLayout::new(&[32, 32, 0, 3]);
        let mut key = vec![0; layout.words()];
        for (column, code) in [7, 9, 0, 5].into_iter().enumerate() {
            layout.pack_column(column, &[code], &mut key);
        }
        assert_eq!([0, 1, 2, 3].map(|column| layout.code(&key, column)), [7, 9, 0, 5]);
    }

    proptest! {
        #[test]
        fn codes_come_back(columns in prop::collection::vec((0u32..=32, any::<u32>()), 1..30)) {
            let bits: Vec<u32> = columns.iter().map(|c| c.0).collect();
            let layout = PackedLayout::new(&bits);
            let mut key = vec![0; layout.words()];
            for (i, (bits, code)) in columns.iter().enumerate() {
                layout.pack_column(i, &[code & low_bits(*bits) as u32], &mut key);
            }
            for (i, (bits, code)) in columns.iter().enumerate() {
                prop_assert_eq!(layout.code(&key, i), code & low_bits(*bits) as u32);
            }
        }

        #[test]
        fn tables_sum_their_columns(bits in prop::collection::vec(0u32..5, 1..8), seed in any::<u64>()) {
            let layout = PackedLayout::new(&bits);
            let cardinality = |c: usize| 1usize << bits[c];
            let part = |c: usize, code: u32| (c as u64 + 1) * 1000 + u64::from(code);
            let codes: Vec<u32> = bits.iter().enumerate().map(|(i, b)| ((seed >> i) & low_bits(*b)) as u32).collect();
            let mut key = vec![0; layout.words()];
            for (i, code) in codes.iter().enumerate() {
                layout.pack_column(i, &[*code], &mut key);
            }
            let mut sum = 0;
            for chunk in layout.chunks() {
                sum += layout.tabulate(chunk, cardinality, part)[chunk.index(key[chunk.word()])];
            }
            prop_assert_eq!(sum, codes.iter().enumerate().map(|(i, c)| part(i, *c)).sum::<u64>());
        }
    }
}
