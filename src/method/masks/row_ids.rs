//! The ids by which drawn masks distinguish rows.
//!
//! The id of a row is a number of 64 bits. It follows from the secret, from the values in the row's
//! columns, and, among equal rows, from the number of equal rows before it. So the ids do not
//! depend on the order in which the rows are read, or on the number of threads: only equal rows can
//! exchange their ids.
//!
//! The ids also follow from the number of rows, and from the released values and their counts in
//! all columns of drawn masks. If the noise of a row stayed the same while the standard deviation
//! of the column changed a little, the difference of two releases would reveal the noise.
//!
//! A suppressed row that stays in the release has an id, too. The values that are not released with
//! it are left out of its id: RANK SWAP finds the partners of all rows by their ids, so these
//! values would change what other rows receive.
//!
//! The hash of the values is not cryptographic. It only distinguishes rows, and its seed follows
//! from the secret. The random numbers of a row are drawn from its id by a cryptographic function
//! (see `draws.rs`). Among 10 million rows, two have the same id, and so the same random numbers,
//! with a probability of a few in a million for each column.

use super::key::Key;
use super::seen_rows::SeenRows;
use super::survey::Survey;
use crate::base::error::{Error, Result};
use crate::method::canonical::plain;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, UInt64Array};
use arrow::buffer::NullBuffer;
use arrow::compute::cast;
use arrow::datatypes::DataType;
use arrow::row::{RowConverter, SortField};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// The columns that distinguish the rows of a source, and the seed of the hashes of their values.
#[derive(Debug)]
pub struct RowIds {
    columns: Vec<String>,
    /// For each column, true if its values are left out of the ids of suppressed rows. Columns
    /// without an entry are never left out.
    left_out: Vec<bool>,
    rows: u64,
    seed: Seed,
    /// The number of scans that have begun.
    scans: AtomicU64,
}

impl RowIds {
    /// Creates the ids for a source with `rows` rows, which differ in `columns`. `surveys` are the
    /// surveys of all drawn masks.
    pub(super) fn new((columns, rows): (Vec<String>, u64), surveys: &[Survey], key: &Key) -> Result<Self> {
        let seed = Seed::new(key, "anonsql table")?;
        let mut table = [rows; 2];
        for survey in surveys {
            // The values of a dictionary have the same fingerprint as plain values.
            let values = cast(&survey.values, &plain(survey.values.data_type()))?;
            seed.each(&values, |_, word| table = seed.mixed(table, word))?;
            survey
                .counts
                .iter()
                .for_each(|count| table = seed.mixed(table, [*count; 2]));
        }
        let [low, high] = table;
        let seed = Seed::new(key, &format!("anonsql rows {low:x} {high:x}"))?;
        Ok(Self {
            columns,
            left_out: vec![],
            rows,
            seed,
            scans: AtomicU64::new(0),
        })
    }

    /// Returns the ids for a source whose suppressed rows stay in the release. For each column,
    /// `left_out` is true if its values are not released with these rows.
    pub(crate) fn leaving_out(self, left_out: Vec<bool>) -> Self {
        Self { left_out, ..self }
    }

    /// Returns the names of the columns that distinguish the rows.
    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Returns the table for one scan of the source.
    pub(crate) fn scan(&self) -> SeenRows {
        SeenRows::new(self.rows, 1 + self.scans.fetch_add(1, Ordering::Relaxed))
    }

    /// Returns the id of each row of a batch. `values` contains the values of the columns, and
    /// `suppressed` is true for each suppressed row; `None` if no row is. All partitions of a scan
    /// use the same `seen`.
    pub(crate) fn of(
        &self,
        values: &[ArrayRef],
        suppressed: Option<&BooleanArray>,
        seen: &SeenRows,
    ) -> Result<UInt64Array> {
        let rows = values.first().map(|values| values.len());
        let rows = rows.ok_or_else(|| Error::internal("rows without a column that distinguishes them"))?;
        let mut hashes = vec![[0; 2]; rows];
        for (column, values) in values.iter().enumerate() {
            let is_left_out = self.left_out.get(column).is_some_and(|left_out| *left_out);
            match suppressed.filter(|_| is_left_out) {
                Some(suppressed) => self.seed.add_released(values, suppressed, &mut hashes)?,
                None => self.seed.add(values, &mut hashes)?,
            }
        }
        seen.read_ahead(&hashes);
        let mut ids = Vec::with_capacity(rows);
        for hash in hashes {
            ids.push(match seen.add(hash)? {
                0 => hash[0],
                number => self.seed.mixed(hash, [number; 2])[0],
            });
        }
        Ok(UInt64Array::from(ids))
    }
}

/// The seed of the hashes, which follows from the secret.
struct Seed([u64; 8]);

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(secret)")
    }
}

impl Seed {
    /// Creates the seed for a purpose.
    fn new(key: &Key, purpose: &str) -> Result<Self> {
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
    fn mixed(&self, hash: [u64; 2], word: [u64; 2]) -> [u64; 2] {
        let folded = |x: u64, multiplier: u64| {
            let product = u128::from(x) * u128::from(multiplier | 1);
            (product as u64) ^ ((product >> 64) as u64)
        };
        [
            folded(hash[0].rotate_left(23) ^ word[0] ^ self.0[2], self.0[0]),
            folded(hash[1].rotate_left(29) ^ word[1] ^ self.0[3], self.0[1]),
        ]
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

    /// Adds the values of a column to the hashes of the rows. Equal values have the same words,
    /// whether or not they are in a dictionary.
    fn add(&self, values: &ArrayRef, hashes: &mut [[u64; 2]]) -> Result<()> {
        let Some(coded) = values.as_any_dictionary_opt() else {
            return self.each(values, |row, word| hashes[row] = self.mixed(hashes[row], word));
        };
        // A dictionary with more values than the array has rows is not read as a whole.
        if coded.values().is_empty() || coded.values().len() > values.len() {
            return self.add(&cast(values, &plain(values.data_type()))?, hashes);
        }
        let mut words = vec![[0; 2]; coded.values().len()];
        self.each(coded.values(), |entry, word| words[entry] = word)?;
        let keys = coded.normalized_keys();
        each_known(values.logical_nulls().as_ref(), values.len(), |row, is_known| {
            let word = if is_known { words[keys[row]] } else { self.null() };
            hashes[row] = self.mixed(hashes[row], word);
        });
        Ok(())
    }

    /// Adds the values of a column that is not released with suppressed rows. Instead of a value,
    /// these rows get words that neither a value nor NULL has, so that no other row equals them.
    fn add_released(&self, values: &ArrayRef, suppressed: &BooleanArray, hashes: &mut [[u64; 2]]) -> Result<()> {
        let before = hashes.to_vec();
        self.add(values, hashes)?;
        let [low, high] = self.null();
        for row in suppressed.values().set_indices() {
            hashes[row] = self.mixed(before[row], [high, low]);
        }
        Ok(())
    }

    /// Calls `take` with the index and the words of each value.
    fn each(&self, values: &ArrayRef, mut take: impl FnMut(usize, [u64; 2])) -> Result<()> {
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
    use arrow::array::{
        BooleanArray, Decimal128Array, DictionaryArray, FixedSizeBinaryArray, Float64Array, Int8Array, Int32Array,
        ListArray, NullArray, StringArray, StringViewArray,
    };
    use arrow::compute::{concat, take};
    use arrow::datatypes::{Int8Type, Int32Type};
    use proptest::prelude::*;
    use std::sync::Arc;

    fn ids(secret: &[u8]) -> RowIds {
        let key = Key::new(secret).unwrap();
        RowIds::new((vec!["a".into()], 100), &[], &key).unwrap()
    }

    const SECRET: &[u8] = b"0123456789abcdef";

    fn of(values: &[ArrayRef]) -> Vec<u64> {
        let ids = ids(SECRET);
        ids.of(values, None, &ids.scan()).unwrap().values().to_vec()
    }

    fn columns(rows: &[(Option<u8>, Option<u8>)]) -> [ArrayRef; 2] {
        let text = |n: u8| ["", "a", "ab", "abcdefgh", "abcdefghi"][usize::from(n)];
        [
            Arc::new(rows.iter().map(|(a, _)| a.map(i32::from)).collect::<Int32Array>()),
            Arc::new(rows.iter().map(|(_, b)| b.map(text)).collect::<StringArray>()),
        ]
    }

    proptest! {
        /// Each row has its own id. Rows with the same values have the same set of ids in any order
        /// of the rows and with any batch size.
        #[test]
        fn ids_follow_from_the_values(
            rows in prop::collection::vec((prop::option::of(0u8..3), prop::option::of(0u8..5)), 1..40),
            size in 1usize..10,
        ) {
            let pairs = |rows: &[(Option<u8>, Option<u8>)], ids: Vec<u64>| {
                let mut pairs: Vec<_> = rows.iter().copied().zip(ids).collect();
                pairs.sort_unstable();
                pairs
            };
            let found = pairs(&rows, of(&columns(&rows)));
            let mut distinct: Vec<u64> = found.iter().map(|(_, id)| *id).collect();
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert_eq!(distinct.len(), rows.len());
            let turned: Vec<_> = rows.iter().rev().copied().collect();
            let table = ids(SECRET);
            let seen = table.scan();
            let batches = turned.chunks(size).map(|rows| table.of(&columns(rows), None, &seen).unwrap().values().to_vec());
            let again: Vec<u64> = batches.flatten().collect();
            prop_assert_eq!(pairs(&turned, again), found);
        }
    }

    /// A column of texts has the same ids as texts, as views and as dictionaries of two sizes.
    #[test]
    fn ids_do_not_depend_on_the_encoding() {
        let texts = vec![Some("b"), None, Some("a long text, not inlined"), Some("b"), Some("")];
        let plain: ArrayRef = Arc::new(StringArray::from(texts.clone()));
        let views: ArrayRef = Arc::new(StringViewArray::from(texts.clone()));
        let coded: ArrayRef = Arc::new(texts.into_iter().collect::<DictionaryArray<Int8Type>>());
        let entries = vec![
            Some("b"),
            None,
            Some("a long text, not inlined"),
            Some(""),
            Some("x"),
            Some("y"),
        ];
        let entries = StringArray::from(entries);
        let keys = Int8Array::from(vec![Some(0), Some(1), Some(2), Some(0), Some(3)]);
        let wide: ArrayRef = Arc::new(DictionaryArray::<Int8Type>::try_new(keys, Arc::new(entries)).unwrap());
        let wanted = of(&[Arc::clone(&plain)]);
        for values in [views, coded, wide] {
            assert_eq!(of(&[values]), wanted);
        }
        let slice = plain.slice(2, 3);
        let ids = ids(SECRET);
        let first = ids.of(&[slice], None, &ids.scan()).unwrap().value(0);
        assert_eq!(first, wanted[2]);
    }

    /// Values of many types are told apart, also in slices.
    #[test]
    fn every_type_is_distinguished() {
        let list = |n: i32| Some(vec![Some(n), None]);
        let pairs = [Some([1_u8, 2]), Some([2, 1]), None];
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(Int8Array::from(vec![Some(1), Some(-1), None])),
            Arc::new(Float64Array::from(vec![Some(0.5), Some(-0.5), None])),
            Arc::new(BooleanArray::from(vec![Some(true), Some(false), None])),
            Arc::new(Decimal128Array::from(vec![Some(1), Some(1_i128 << 64), None])),
            Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(pairs.into_iter(), 2).unwrap()),
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([
                list(1),
                list(2),
                None,
            ])),
        ];
        for values in arrays {
            let found = of(&[Arc::clone(&values)]);
            assert!(
                found[0] != found[1] && found[1] != found[2] && found[0] != found[2],
                "{values:?}"
            );
            let ends = concat(&[&values.slice(2, 1), &values.slice(1, 1)]).unwrap();
            assert_eq!(of(&[ends]), [found[2], found[1]], "{values:?}");
            let both = take(&values, &arrow::array::UInt32Array::from(vec![1, 1]), None).unwrap();
            let both = of(&[both]);
            assert!(both[0] == found[1] && both[1] != found[1], "{values:?}");
        }
        let none: ArrayRef = Arc::new(NullArray::new(2));
        assert_ne!(of(&[Arc::clone(&none)])[0], of(&[none])[1]);
    }

    #[test]
    fn another_secret_gives_other_ids() {
        let values: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3]));
        let other = ids(b"fedcba9876543210");
        let others = other.of(&[Arc::clone(&values)], None, &other.scan()).unwrap();
        assert!(others.values().iter().zip(of(&[values])).all(|(a, b)| *a != b));
        assert!(format!("{other:?}").contains("Seed(secret)"));
    }

    /// A table with another value, another count or another number of rows has other ids.
    #[test]
    fn another_table_gives_other_ids() {
        let of = |rows: u64, values: Vec<i32>, counts: Vec<u64>| {
            let survey = Survey {
                column: "a".into(),
                values: Arc::new(Int32Array::from(values)),
                counts,
                order: vec![],
            };
            let key = Key::new(SECRET).unwrap();
            let ids = RowIds::new((vec!["a".into()], rows), &[survey], &key).unwrap();
            let values: ArrayRef = Arc::new(Int32Array::from(vec![1]));
            ids.of(&[values], None, &ids.scan()).unwrap().value(0)
        };
        let one = of(9, vec![1, 2], vec![4, 5]);
        assert_eq!(of(9, vec![1, 2], vec![4, 5]), one);
        for other in [
            of(10, vec![1, 2], vec![4, 5]),
            of(9, vec![1, 3], vec![4, 5]),
            of(9, vec![1, 2], vec![5, 4]),
        ] {
            assert_ne!(other, one);
        }
    }

    /// A value that is not released with a suppressed row is left out of its id, and such a row
    /// equals no other row.
    #[test]
    fn suppressed_rows_are_known_by_what_is_released() {
        let of = |suppressed: Vec<bool>, kept: Vec<i32>, sensitive: Vec<Option<i32>>| {
            let ids = ids(SECRET).leaving_out(vec![false, true]);
            let values: [ArrayRef; 2] = [Arc::new(Int32Array::from(kept)), Arc::new(Int32Array::from(sensitive))];
            let suppressed = BooleanArray::from(suppressed);
            ids.of(&values, Some(&suppressed), &ids.scan())
                .unwrap()
                .values()
                .to_vec()
        };
        let found = of(vec![true, false, false], vec![1, 2, 1], vec![Some(7), Some(8), None]);
        assert_eq!(
            of(vec![true, false, false], vec![1, 2, 1], vec![Some(9), Some(8), None]),
            found
        );
        assert_eq!(
            of(vec![true, false, false], vec![1, 2, 1], vec![None, Some(8), None]),
            found
        );
        assert!(found[0] != found[2], "a suppressed row is not a row with NULL");
        assert_ne!(
            of(vec![true, false, false], vec![3, 2, 1], vec![Some(7), Some(8), None])[0],
            found[0]
        );
        assert_ne!(
            of(vec![false; 3], vec![1, 2, 1], vec![Some(7), Some(8), None])[0],
            found[0]
        );
        let twice = of(vec![true; 2], vec![1, 1], vec![Some(7), Some(8)]);
        assert!(twice[0] == found[0] && twice[1] != found[0], "equal rows are numbered");
    }
}
