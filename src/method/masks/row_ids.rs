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
//! The values count by their hash ([`RowHashes`]). A suppressed row that stays in the release has
//! an id, too, without the values that are not released with it.
//!
//! Equal rows are numbered by a table of the rows that a scan has read ([`SeenRows`]). Ordering all
//! rows for RANK SWAP shows which of them equal another row. If these are few, only they are
//! numbered, in a small table.
//!
//! The random numbers of a row are drawn from its id by a cryptographic function (see `draws.rs`).
//! Among 10 million rows, two have the same id, and so the same random numbers, with a probability
//! of a few in a million for each column.

use super::key::Key;
use super::row_hashes::{RowHashes, Seed};
use super::seen_rows::{AHEAD, SeenRows};
use super::survey::Survey;
use crate::base::error::Result;
use crate::method::canonical::plain;
use arrow::array::{Array, ArrayRef, BooleanArray, UInt64Array};
use arrow::compute::cast;
use hashbrown::HashSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The minimum number of rows per group of equal rows with which only repeated rows are numbered.
/// If there are more groups, looking them up takes about as much time as numbering all rows.
const REPEATED: u64 = 16;

/// The ids of the rows of a source, which follow from their hashes.
#[derive(Debug)]
pub struct RowIds {
    hashes: Arc<RowHashes>,
    rows: u64,
    /// The seed that follows from the secret and the table.
    table: Seed,
    /// The rows that equal another row; `None` if all rows are numbered.
    repeated: Option<RepeatedRows>,
    /// The number of scans that have begun.
    scans: AtomicU64,
}

impl RowIds {
    /// Creates the ids for a source with `rows` rows, which have these hashes. `surveys` are the
    /// surveys of all drawn masks.
    pub(super) fn new(hashes: &Arc<RowHashes>, rows: u64, surveys: &[Survey], key: &Key) -> Result<Self> {
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
        Ok(Self {
            hashes: Arc::clone(hashes),
            rows,
            table: Seed::new(key, &format!("anonsql ids {low:x} {high:x}"))?,
            repeated: None,
            scans: AtomicU64::new(0),
        })
    }

    /// Returns the same ids for a source whose equal rows are known: `firsts` contains the id of
    /// the first row of each group of equal rows. All other rows are not numbered, unless there are
    /// many such groups. If the source changes and has further equal rows, these have the same id.
    pub(crate) fn repeating(self, firsts: &[u64]) -> Self {
        let is_few = firsts.len() as u64 <= self.rows / REPEATED;
        Self {
            repeated: is_few.then(|| RepeatedRows(firsts.iter().copied().collect())),
            ..self
        }
    }

    /// Returns the names of the columns that distinguish the rows.
    pub(crate) fn columns(&self) -> &[String] {
        self.hashes.columns()
    }

    /// Returns the table for one scan of the source.
    pub(crate) fn scan(&self) -> SeenRows {
        SeenRows::new(self.numbered(), 1 + self.scans.fetch_add(1, Ordering::Relaxed))
    }

    /// Returns the memory of the ids and of the table for one scan, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let repeated = self.repeated.as_ref();
        SeenRows::bytes(self.numbered()) + repeated.map_or(0, |repeated| repeated.0.allocation_size())
    }

    /// Returns the maximum number of different rows that a scan numbers.
    fn numbered(&self) -> u64 {
        let repeated = self.repeated.as_ref();
        repeated.map_or(self.rows, |repeated| repeated.0.len() as u64)
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
        let hashes = self.hashes.of(values, suppressed)?;
        let mut ids = Vec::with_capacity(hashes.len());
        if let Some(repeated) = &self.repeated {
            for hash in &hashes {
                let first = self.first(hash[0]);
                let number = match repeated.0.contains(&first) {
                    true => seen.add(*hash)?,
                    false => 0,
                };
                ids.push(self.of_equal(first, number));
            }
            return Ok(UInt64Array::from(ids));
        }
        for hashes in hashes.chunks(AHEAD) {
            seen.read_ahead(hashes);
            for hash in hashes {
                ids.push(self.of_equal(self.first(hash[0]), seen.add(*hash)?));
            }
        }
        Ok(UInt64Array::from(ids))
    }

    /// Returns the id of the first of the rows whose hash has these lower bits. Different bits have
    /// different ids.
    #[inline]
    pub(crate) fn first(&self, hash: u64) -> u64 {
        self.table.exchanged(hash)
    }

    /// Returns the id of the equal row with this number, counted from 0. `first` is the id of the
    /// first of these rows.
    #[inline]
    pub(crate) fn of_equal(&self, first: u64, number: u64) -> u64 {
        match number {
            0 => first,
            number => self.table.mixed([first; 2], [number; 2])[0],
        }
    }
}

/// The rows that equal another row: for each group of equal rows, the id of its first row.
struct RepeatedRows(HashSet<u64>);

impl fmt::Debug for RepeatedRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RepeatedRows")
            .field("groups", &self.0.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{
        Decimal128Array, DictionaryArray, FixedSizeBinaryArray, Float64Array, Int8Array, Int32Array, ListArray,
        NullArray, StringArray, StringViewArray,
    };
    use arrow::compute::{concat, take};
    use arrow::datatypes::{Int8Type, Int32Type};
    use proptest::prelude::*;

    /// Returns the ids of 100 rows. The values of these columns are left out of suppressed rows.
    fn ids_without(secret: &[u8], left_out: Vec<bool>) -> RowIds {
        let key = Key::new(secret).unwrap();
        let hashes = RowHashes::new(vec!["a".into()], &key).unwrap();
        RowIds::new(&Arc::new(hashes.leaving_out(left_out)), 100, &[], &key).unwrap()
    }

    fn ids(secret: &[u8]) -> RowIds {
        ids_without(secret, vec![])
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

    /// Returns the ids of the rows in this order, and the ids of the first of several equal rows.
    fn ids_and_firsts(rows: &[(Option<u8>, Option<u8>)]) -> (Vec<u64>, Vec<u64>) {
        let found = of(&columns(rows));
        let is_first = |row: usize| !rows[..row].contains(&rows[row]) && rows[row + 1..].contains(&rows[row]);
        let firsts = (0..rows.len()).filter(|row| is_first(*row)).map(|row| found[row]);
        let firsts = firsts.collect();
        (found, firsts)
    }

    proptest! {
        /// The ids are the same if only the rows that equal another row are numbered.
        #[test]
        fn ids_do_not_depend_on_which_rows_are_numbered(
            rows in prop::collection::vec((prop::option::of(0u8..3), prop::option::of(0u8..5)), 1..40),
            size in 1usize..10,
        ) {
            let (wanted, firsts) = ids_and_firsts(&rows);
            let table = ids(SECRET).repeating(&firsts);
            // The source has 100 rows.
            prop_assert_eq!(table.repeated.is_some(), firsts.len() <= 6);
            let seen = table.scan();
            let batches = rows.chunks(size).map(|rows| table.of(&columns(rows), None, &seen).unwrap().values().to_vec());
            prop_assert_eq!(batches.flatten().collect::<Vec<u64>>(), wanted);
        }
    }

    /// Only the repeated rows need memory, and the next scan numbers them anew.
    #[test]
    fn few_repeated_rows_need_a_small_table() {
        let rows = [(Some(0), None), (Some(1), Some(2)), (Some(0), None), (Some(0), None)];
        let (wanted, firsts) = ids_and_firsts(&rows);
        assert_eq!(firsts, wanted[..1]);
        let all = ids(SECRET);
        let table = ids(SECRET).repeating(&firsts);
        assert!(table.bytes() < all.bytes());
        assert!(!format!("{table:?}").contains(&firsts[0].to_string()));
        for _ in 0..2 {
            let found = table.of(&columns(&rows), None, &table.scan()).unwrap();
            assert_eq!(found.values().to_vec(), wanted);
        }
        let none = ids(SECRET).repeating(&[]);
        let found = none.of(&columns(&rows[..2]), None, &none.scan()).unwrap();
        assert_eq!(found.values().to_vec(), wanted[..2]);
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
            let hashes = Arc::new(RowHashes::new(vec!["a".into()], &key).unwrap());
            let ids = RowIds::new(&hashes, rows, &[survey], &key).unwrap();
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
            let ids = ids_without(SECRET, vec![false, true]);
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
