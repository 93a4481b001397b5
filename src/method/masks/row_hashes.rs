//! The hashes by which the rows of a source are distinguished.
//!
//! The hash of a row follows from the secret and the row alone, so one scan can count the values of
//! a column and collect the hashes of its rows. The id of the row follows from the hash when all
//! values are counted (see `row_ids.rs`).
//!
//! The hash of a row is the sum of words for the value in each of its columns. It is not
//! cryptographic. It only distinguishes rows, and its seed follows from the secret.
//!
//! The values that are not released with a suppressed row that stays in the release are left out of
//! its hash: RANK SWAP finds the partners of all rows by their ids, so these values would change
//! what other rows receive.

use super::key::Key;
use crate::base::error::{Error, Result};
use crate::method::canonical::plain;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::buffer::NullBuffer;
use arrow::compute::cast;
use arrow::datatypes::DataType;
use arrow::row::{RowConverter, SortField};
use std::fmt;

/// The hashes of the values in the columns that distinguish the rows of a source.
#[derive(Debug)]
pub struct RowHashes {
    columns: Vec<String>,
    /// For each column, true if its values are left out of the hashes of suppressed rows. Columns
    /// without an entry are never left out.
    left_out: Vec<bool>,
    seed: Seed,
}

impl RowHashes {
    /// Creates the hashes of rows that differ in `columns`.
    pub(super) fn new(columns: Vec<String>, key: &Key) -> Result<Self> {
        Ok(Self {
            columns,
            left_out: vec![],
            seed: Seed::new(key, "anonsql rows")?,
        })
    }

    /// Returns the hashes for a source whose suppressed rows stay in the release. For each column,
    /// `left_out` is true if its values are not released with these rows.
    pub(crate) fn leaving_out(self, left_out: Vec<bool>) -> Self {
        Self { left_out, ..self }
    }

    /// Returns the names of the columns that distinguish the rows.
    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Returns true if the hash of a row depends on whether it is suppressed.
    pub(crate) fn depend_on_suppression(&self) -> bool {
        self.left_out.contains(&true)
    }

    /// Returns the hash of each row of a batch. `values` contains the values of the columns, and
    /// `suppressed` is true for each suppressed row; `None` if no row is. Equal rows have equal
    /// hashes.
    pub(crate) fn of(&self, values: &[ArrayRef], suppressed: Option<&BooleanArray>) -> Result<Vec<[u64; 2]>> {
        let rows = values.first().map(|values| values.len());
        let rows = rows.ok_or_else(|| Error::internal("rows without a column that distinguishes them"))?;
        let mut hashes = vec![[0; 2]; rows];
        for (place, values) in values.iter().enumerate() {
            let (column, is_left_out) = (place as u64, self.left_out.get(place) == Some(&true));
            match suppressed.filter(|_| is_left_out) {
                Some(suppressed) => self.seed.add_released(column, values, suppressed, &mut hashes)?,
                None => self.seed.add(column, values, &mut hashes)?,
            }
        }
        Ok(hashes)
    }
}

/// The seed of the hashes, which follows from the secret.
pub(super) struct Seed([u64; 8]);

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(secret)")
    }
}

impl Seed {
    /// Creates the seed for a purpose.
    pub(super) fn new(key: &Key, purpose: &str) -> Result<Self> {
        let bytes = key.bytes_for(purpose)?;
        let mut words = [0; 8];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = word_of(bytes);
        }
        Ok(Self(words))
    }

    /// Returns the hash after a word. Each half of the hash has a multiplier of its own, and the
    /// high half of the product is folded onto its low half.
    #[inline]
    pub(super) fn mixed(&self, hash: [u64; 2], word: [u64; 2]) -> [u64; 2] {
        let folded = |x: u64, multiplier: u64| {
            let product = u128::from(x) * u128::from(multiplier | 1);
            (product as u64) ^ ((product >> 64) as u64)
        };
        [
            folded(hash[0].rotate_left(23) ^ word[0] ^ self.0[2], self.0[0]),
            folded(hash[1].rotate_left(29) ^ word[1] ^ self.0[3], self.0[1]),
        ]
    }

    /// Returns a word for each word. Different words have different results.
    #[inline]
    pub(super) fn exchanged(&self, of: u64) -> u64 {
        let [word, multiplier, ..] = self.0;
        let product = (of ^ word).wrapping_mul(multiplier | 1);
        product ^ (product >> 32)
    }

    /// Returns the hash of a value that has any number of bytes.
    #[inline]
    fn of_bytes(&self, bytes: &[u8]) -> [u64; 2] {
        let length = bytes.len() as u64;
        let mut hash = [self.0[4] ^ length, self.0[5] ^ length];
        let chunks = bytes.chunks_exact(8);
        let rest = chunks.remainder();
        for chunk in chunks {
            hash = self.mixed(hash, [word_of(chunk); 2]);
        }
        match rest.is_empty() {
            true => hash,
            false => self.mixed(hash, [word_of(rest); 2]),
        }
    }

    /// Returns the words that a value in the column with this number adds to the hash of its row.
    /// `word` contains the words of the value.
    #[inline]
    fn in_column(&self, column: u64, word: [u64; 2]) -> [u64; 2] {
        let once = self.mixed([column; 2], word);
        self.mixed(once, [column; 2])
    }

    /// Adds the values of the column with this number to the hashes of the rows. Equal values have
    /// the same words, whether or not they are in a dictionary. The words of a row are added up, so
    /// those of a value in a dictionary are computed once for all its rows.
    fn add(&self, column: u64, values: &ArrayRef, hashes: &mut [[u64; 2]]) -> Result<()> {
        let Some(coded) = values.as_any_dictionary_opt() else {
            return self.each(values, |row, word| add(&mut hashes[row], self.in_column(column, word)));
        };
        // A dictionary with more values than the array has rows is not read as a whole.
        if coded.values().is_empty() || coded.values().len() > values.len() {
            return self.add(column, &cast(values, &plain(values.data_type()))?, hashes);
        }
        let null = self.in_column(column, self.null());
        let mut words = vec![null; coded.values().len()];
        self.each(coded.values(), |entry, word| {
            words[entry] = self.in_column(column, word)
        })?;
        let keys = coded.normalized_keys();
        match values.logical_nulls().filter(|nulls| nulls.null_count() > 0) {
            None => {
                let rows = hashes.iter_mut().zip(&keys);
                rows.for_each(|(hash, key)| add(hash, words[*key]));
            }
            Some(nulls) => {
                let rows = hashes.iter_mut().zip(&keys).zip(&nulls);
                rows.for_each(|((hash, key), is_known)| add(hash, if is_known { words[*key] } else { null }));
            }
        }
        Ok(())
    }

    /// Adds the values of a column that is not released with suppressed rows. Instead of a value,
    /// these rows get words that neither a value nor NULL has, so that no other row equals them.
    fn add_released(
        &self,
        column: u64,
        values: &ArrayRef,
        suppressed: &BooleanArray,
        hashes: &mut [[u64; 2]],
    ) -> Result<()> {
        let before = hashes.to_vec();
        self.add(column, values, hashes)?;
        let [low, high] = self.null();
        let word = self.in_column(column, [high, low]);
        for row in suppressed.values().set_indices() {
            hashes[row] = before[row];
            add(&mut hashes[row], word);
        }
        Ok(())
    }

    /// Calls `take` with the index and the words of each value.
    pub(super) fn each(&self, values: &ArrayRef, mut take: impl FnMut(usize, [u64; 2])) -> Result<()> {
        match (values.data_type(), values.data_type().primitive_width()) {
            (DataType::Boolean, _) => {
                let flags = values.as_boolean();
                self.pass(values, &mut take, |row| [u64::from(flags.value(row)); 2]);
            }
            (DataType::Utf8, _) => {
                let texts = values.as_string::<i32>();
                self.pass(values, &mut take, |row| self.of_bytes(texts.value(row).as_bytes()));
            }
            (DataType::LargeUtf8, _) => {
                let texts = values.as_string::<i64>();
                self.pass(values, &mut take, |row| self.of_bytes(texts.value(row).as_bytes()));
            }
            (DataType::Utf8View, _) => {
                let texts = values.as_string_view();
                self.pass(values, &mut take, |row| self.of_bytes(texts.value(row).as_bytes()));
            }
            (_, Some(width)) => {
                let data = values.to_data();
                let bytes = &data.buffers()[0].as_slice()[data.offset() * width..];
                match width {
                    4 => self.pass(values, &mut take, |row| [word_of(&bytes[row * 4..][..4]); 2]),
                    8 => self.pass(values, &mut take, |row| [word_of(&bytes[row * 8..][..8]); 2]),
                    width if width < 8 => {
                        self.pass(values, &mut take, |row| [word_of(&bytes[row * width..][..width]); 2]);
                    }
                    _ => self.pass(values, &mut take, |row| self.of_bytes(&bytes[row * width..][..width])),
                }
            }
            (other, None) => {
                let values = cast(values, &plain(other))?;
                let converter = RowConverter::new(vec![SortField::new(values.data_type().clone())])?;
                let encoded = converter.convert_columns(std::slice::from_ref(&values))?;
                self.pass(&values, &mut take, |row| self.of_bytes(encoded.row(row).as_ref()));
            }
        }
        Ok(())
    }

    /// Calls `take` with the index and the words of each value. `word` returns the words of a value
    /// that is not NULL.
    #[inline]
    fn pass(&self, values: &ArrayRef, take: &mut impl FnMut(usize, [u64; 2]), word: impl Fn(usize) -> [u64; 2]) {
        each_known(values.logical_nulls().as_ref(), values.len(), |row, is_known| {
            take(row, if is_known { word(row) } else { self.null() });
        });
    }

    /// Returns the words of NULL.
    fn null(&self) -> [u64; 2] {
        [self.0[6], self.0[7]]
    }
}

/// Adds words to a hash.
#[inline]
fn add(hash: &mut [u64; 2], word: [u64; 2]) {
    hash[0] = hash[0].wrapping_add(word[0]);
    hash[1] = hash[1].wrapping_add(word[1]);
}

/// Calls `take` with the index of each row, and whether the row has a value.
#[inline]
fn each_known(nulls: Option<&NullBuffer>, rows: usize, mut take: impl FnMut(usize, bool)) {
    match nulls {
        Some(nulls) if nulls.null_count() > 0 => {
            nulls.iter().enumerate().for_each(|(row, is_known)| take(row, is_known));
        }
        _ => (0..rows).for_each(|row| take(row, true)),
    }
}

/// Returns up to eight bytes as a word. The first byte has the lowest bits.
#[inline]
fn word_of(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{DictionaryArray, StringArray};
    use arrow::datatypes::Int32Type;
    use std::sync::Arc;

    /// Only the columns that are left out of suppressed rows have other words there, whether or not
    /// their values are in a dictionary.
    #[test]
    fn suppressed_rows_are_hashed_without_what_is_left_out() {
        let key = Key::new(b"0123456789abcdef").unwrap();
        let hashes = |left_out: Vec<bool>| {
            let columns = vec!["a".into(), "b".into()];
            RowHashes::new(columns, &key).unwrap().leaving_out(left_out)
        };
        let texts = [Some("x"), None, Some("y"), Some("x")];
        let plain: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
        let coded: ArrayRef = Arc::new(texts.into_iter().collect::<DictionaryArray<Int32Type>>());
        let (kept, without) = (hashes(vec![]), hashes(vec![false, true]));
        assert!(without.depend_on_suppression() && !kept.depend_on_suppression());
        let nothing = BooleanArray::from(vec![false; 4]);
        let suppressed = BooleanArray::from(vec![true, true, false, false]);
        let wanted = kept.of(&[Arc::clone(&plain), Arc::clone(&plain)], None).unwrap();
        for values in [&plain, &coded] {
            let values = [Arc::clone(&plain), Arc::clone(values)];
            assert_eq!(kept.of(&values, Some(&suppressed)).unwrap(), wanted);
            assert_eq!(without.of(&values, None).unwrap(), wanted);
            assert_eq!(without.of(&values, Some(&nothing)).unwrap(), wanted);
            let found = without.of(&values, Some(&suppressed)).unwrap();
            assert_eq!(found[2..], wanted[2..]);
            // The words of a suppressed row are neither those of its value nor those of NULL.
            assert!(found[0] != wanted[0] && found[1] != wanted[1]);
            let with_null = [plain.slice(0, 1), plain.slice(1, 1)];
            assert_ne!(found[0], kept.of(&with_null, None).unwrap()[0]);
        }
    }
}
