//! The layout of packed rows: the position of each code of a row in its machine words.
//!
//! The most significant column has the highest bits of the first word, so that rows can be compared
//! word by word.

/// The position of the code of one column.
#[derive(Debug, Clone, Copy)]
struct Place {
    word: usize,
    shift: u32,
    bits: u32,
}

/// The positions of all columns in a packed row. The code of a column never straddles two words.
#[derive(Debug, Clone)]
pub(super) struct RowLayout {
    places: Vec<Place>,
    words: usize,
}

impl RowLayout {
    /// Creates the layout for columns with these numbers of bits, the most significant column
    /// first. Each number is at most 64.
    pub(super) fn new(bits: impl IntoIterator<Item = u32>) -> Self {
        let (mut word, mut left) = (0, 64);
        let mut places = vec![];
        for bits in bits {
            if bits > left {
                (word, left) = (word + 1, 64);
            }
            left -= bits;
            places.push(Place {
                word,
                shift: left,
                bits,
            });
        }
        Self {
            places,
            words: word + 1,
        }
    }

    /// Returns the number of words of a row.
    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// Adds the codes of a column to packed rows. The bits of the column must be 0 in these rows.
    pub(super) fn put(&self, column: usize, codes: impl Iterator<Item = u64>, rows: &mut [u64]) {
        let Place { word, shift, bits } = self.places[column];
        // If a column has 0 bits, its shift can be 64, which would overflow.
        if bits > 0 {
            let words = rows.iter_mut().skip(word).step_by(self.words);
            words.zip(codes).for_each(|(word, code)| *word |= code << shift);
        }
    }

    /// Returns the codes of a column in packed rows.
    pub(super) fn codes<'a>(&self, column: usize, rows: &'a [u64]) -> impl Iterator<Item = u64> + use<'a> {
        let Place { word, shift, bits } = self.places[column];
        let mask = if bits == 0 { 0 } else { u64::MAX >> (64 - bits) };
        let words = rows.iter().skip(word).step_by(self.words);
        words.map(move |word| (word >> (shift % 64)) & mask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packed_rows_compare_as_their_codes(
            bits in prop::collection::vec(0u32..=64, 1..8),
            rows in prop::collection::vec(prop::collection::vec(any::<u64>(), 8), 1..20),
        ) {
            let fit = |(code, bits): (&u64, &u32)| code.checked_shr(64 - bits).unwrap_or(0);
            let rows: Vec<Vec<u64>> = rows.iter().map(|row| row.iter().zip(&bits).map(fit).collect()).collect();
            let layout = RowLayout::new(bits.iter().copied());
            let mut packed = vec![0; rows.len() * layout.words()];
            for column in 0..bits.len() {
                layout.put(column, rows.iter().map(|row| row[column]), &mut packed);
            }
            for column in 0..bits.len() {
                prop_assert!(layout.codes(column, &packed).eq(rows.iter().map(|row| row[column])));
            }
            let key = |row: usize| &packed[row * layout.words()..(row + 1) * layout.words()];
            for (i, row) in rows.iter().enumerate() {
                prop_assert_eq!(row.cmp(&rows[0]), key(i).cmp(key(0)));
            }
        }
    }
}
