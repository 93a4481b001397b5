//! The rows of a column in the order of their values.
//!
//! A row is a pair of two words. The first word is the key of its value: the keys have the order of
//! the values. The second word is the hash of the row, from which its id follows, or the number of
//! rows that the pair stands for.

use crate::base::pool::{join, map, sort_by, threads};
use crate::method::masks::RowIds;
use parking_lot::Mutex;

/// The number of parts that are ordered in parallel.
const PARTS: usize = 64;
/// The number of keys per part by which the parts are chosen.
const SAMPLED: usize = 64;

/// The rows of a source, ranked by the values of a column.
pub(super) struct RankedRows {
    /// The rows with a value that is released: the key of the value, and the hash of the row.
    pub(super) known: OrderedPairs,
    /// The hashes of all other rows, in the order in which each partition reads them.
    pub(super) others: Vec<Vec<u64>>,
}

impl RankedRows {
    /// Returns the ids of the rows with a value, in the order of [`OrderedPairs::ids`], and the id
    /// of the first row of each group of equal rows of the source. Equal rows have the same value
    /// in the column, so they are next to each other once the rows are ordered.
    pub(super) fn ids(self, ids: &RowIds) -> (Vec<u64>, Vec<u64>) {
        let (order, mut firsts) = self.known.ids(ids);
        let mut others = join(self.others);
        sort_by(&mut others, u64::cmp);
        let equal = others.chunk_by(|a, b| a == b).filter(|equal| equal.len() > 1);
        firsts.extend(equal.map(|equal| ids.first(equal[0])));
        (order, firsts)
    }
}

/// Pairs of a key and another word, ordered by their keys.
pub(super) struct OrderedPairs {
    /// All pairs with the same key are in the same part.
    parts: Vec<Vec<(u64, u64)>>,
}

impl OrderedPairs {
    /// Orders the pairs of all chunks by the keys that `key` returns for their first words.
    pub(super) fn new(chunks: Vec<Vec<(u64, u64)>>, key: impl Fn(u64) -> u64 + Send + Sync) -> Self {
        let limits = limits(&chunks, &key);
        let size = chunks.len().div_ceil(4 * threads()).max(1);
        let groups: Vec<_> = chunks.chunks(size).collect();
        let divided = map(groups.len(), |group| divided(groups[group], &limits, &key));
        drop(groups);
        drop(chunks);
        let divided: Vec<Vec<_>> = divided
            .into_iter()
            .map(|group| group.into_iter().map(Mutex::new).collect())
            .collect();
        let part = |part: usize| {
            let own = divided.iter().map(|group| std::mem::take(&mut *group[part].lock()));
            let mut own = own.collect::<Vec<_>>().concat();
            own.sort_unstable_by_key(|(key, _)| *key);
            own
        };
        Self {
            parts: map(limits.len() + 1, part),
        }
    }

    /// Returns each key in ascending order, with the number of its pairs.
    pub(super) fn counts(&self) -> Vec<(u64, u64)> {
        self.by_key(|rows| rows.len() as u64)
    }

    /// Returns each key in ascending order, with the sum of the second words of its pairs.
    pub(super) fn sums(&self) -> Vec<(u64, u64)> {
        self.by_key(|rows| rows.iter().map(|(_, number)| *number).sum())
    }

    fn by_key(&self, of: impl Fn(&[(u64, u64)]) -> u64 + Send + Sync) -> Vec<(u64, u64)> {
        let found = |part: usize| {
            let keys = self.parts[part].chunk_by(|a, b| a.0 == b.0);
            keys.map(|rows| (rows[0].0, of(rows))).collect::<Vec<_>>()
        };
        join(map(self.parts.len(), found))
    }

    /// Returns the ids of the rows whose hashes are the second words. They are ordered by the key,
    /// then by the id of the first row that is equal, and then by the number of equal rows before.
    /// Also returns the id of the first of each group of equal rows.
    fn ids(self, ids: &RowIds) -> (Vec<u64>, Vec<u64>) {
        let parts: Vec<_> = self.parts.into_iter().map(Mutex::new).collect();
        let ordered = |part: usize| {
            let rows = std::mem::take(&mut *parts[part].lock());
            let mut own: Vec<u64> = rows.iter().map(|(_, hash)| ids.first(*hash)).collect();
            let mut firsts = vec![];
            let mut rest = own.as_mut_slice();
            for rows in rows.chunk_by(|a, b| a.0 == b.0) {
                let (value, after) = rest.split_at_mut(rows.len());
                value.sort_unstable();
                number(value, ids, &mut firsts);
                rest = after;
            }
            (own, firsts)
        };
        let (order, firsts): (Vec<_>, Vec<_>) = map(parts.len(), ordered).into_iter().unzip();
        (join(order), join(firsts))
    }
}

/// Replaces equal ids, which are next to each other, by the ids of equal rows. Adds each id that
/// occurs more than once to `firsts`.
fn number(rows: &mut [u64], ids: &RowIds, firsts: &mut Vec<u64>) {
    for equal in rows.chunk_by_mut(|a, b| a == b).filter(|equal| equal.len() > 1) {
        firsts.push(equal[0]);
        let numbered = (0..).zip(equal);
        numbered.for_each(|(number, id)| *id = ids.of_equal(*id, number));
    }
}

/// Returns the keys at which parts begin. With them, the parts have about the same number of pairs,
/// except if many pairs have the same key.
fn limits(chunks: &[Vec<(u64, u64)>], key: impl Fn(u64) -> u64) -> Vec<u64> {
    let pairs: usize = chunks.iter().map(Vec::len).sum();
    let sample = chunks.iter().flatten().step_by((pairs / (PARTS * SAMPLED)).max(1));
    let mut sample: Vec<u64> = sample.map(|(word, _)| key(*word)).collect();
    sample.sort_unstable();
    let limits = (1..PARTS).filter_map(|part| sample.get(part * sample.len() / PARTS));
    let mut limits: Vec<u64> = limits.copied().collect();
    limits.dedup();
    limits
}

/// Divides the pairs of chunks into parts, which begin at `limits`.
fn divided(chunks: &[Vec<(u64, u64)>], limits: &[u64], key: impl Fn(u64) -> u64) -> Vec<Vec<(u64, u64)>> {
    let pairs: usize = chunks.iter().map(Vec::len).sum();
    let most = pairs / (limits.len() + 1) * 5 / 4;
    let mut parts: Vec<Vec<(u64, u64)>> = (0..=limits.len()).map(|_| Vec::with_capacity(most)).collect();
    for (word, other) in chunks.iter().flatten() {
        let key = key(*word);
        parts[limits.partition_point(|limit| *limit <= key)].push((key, *other));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::pool::Pool;
    use crate::method::masks::{Given, MaskClause, Masking, SECRET, named};
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::sync::Arc;

    /// Returns the ids of rows of a table without drawn columns.
    fn ids(secret: &Path) -> RowIds {
        let kind = named("TOKEN").unwrap();
        let place = Given::Text(format!("file:{}", secret.display()));
        let given = vec![(SECRET.to_string(), place)];
        let clause = MaskClause { kind, given };
        let mask = (kind.build)(&clause).unwrap();
        let masking = Masking::new(clause, mask).unwrap();
        let hashes = Arc::new(masking.hashes_of(vec!["a".into()]).unwrap());
        masking.ids_of(&hashes, 9, &[]).unwrap()
    }

    fn secret() -> (tempfile::TempDir, RowIds) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        std::fs::write(&path, "0123456789abcdef0123456789abcdef").unwrap();
        let ids = ids(&path);
        (folder, ids)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The counts and sums are those of a map, and the ids are in the order of the sorted
        /// triples of a key, the id of the first equal row and the number of the row. This holds
        /// for any chunks and any number of threads.
        #[test]
        fn pairs_are_ordered_by_their_keys(
            pairs in prop::collection::vec((0u64..40, prop_oneof![0u64..4, any::<u64>()]), 0..400),
            size in 1usize..50,
            threads in 1usize..4,
        ) {
            // The key of the word w is 99 - w.
            let key = |word: u64| 99 - word;
            let (_folder, ids) = secret();
            let mut counts: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
            let mut equal: BTreeMap<(u64, u64), u64> = BTreeMap::new();
            for (word, other) in &pairs {
                let found = counts.entry(key(*word)).or_default();
                *found = (found.0 + 1, found.1.wrapping_add(other % 8));
                *equal.entry((key(*word), ids.first(*other))).or_default() += 1;
            }
            let wanted: Vec<u64> = equal
                .iter()
                .flat_map(|((_, first), rows)| (0..*rows).map(|number| ids.of_equal(*first, number)))
                .collect();
            let chunks = |of: fn(u64) -> u64| -> Vec<Vec<(u64, u64)>> {
                pairs.chunks(size).map(|pairs| pairs.iter().map(|(word, other)| (*word, of(*other))).collect()).collect()
            };
            Pool::new(threads).install(|| {
                let ordered = OrderedPairs::new(chunks(|other| other), key);
                let summed = OrderedPairs::new(chunks(|other| other % 8), key);
                prop_assert!(ordered.counts().into_iter().eq(counts.iter().map(|(key, (rows, _))| (*key, *rows))));
                prop_assert!(summed.sums().into_iter().eq(counts.iter().map(|(key, (_, sum))| (*key, *sum))));
                prop_assert_eq!(ordered.ids(&ids).0, wanted);
                Ok(())
            })?;
        }
    }

    #[test]
    fn equal_rows_have_different_ids() {
        let (_folder, ids) = secret();
        let chunks = vec![vec![(1, 7); 5], vec![], vec![(2, 8), (1, 7)]];
        let (mut found, firsts) = OrderedPairs::new(chunks, |word| word).ids(&ids);
        assert_eq!(firsts, [ids.first(7)]);
        assert_eq!(found[0], ids.first(7));
        assert_eq!(found[6], ids.first(8));
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), 7);
        assert_eq!(OrderedPairs::new(vec![], |word| word).ids(&ids), (vec![], vec![]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The repeated rows are those whose hashes occur more than once, with or without a value.
        #[test]
        fn repeated_rows_are_found(
            known in prop::collection::vec(0u64..60, 0..80),
            others in prop::collection::vec(100u64..160, 0..80),
            size in 1usize..30,
            threads in 1usize..4,
        ) {
            let (_folder, ids) = secret();
            let mut rows: BTreeMap<u64, u64> = BTreeMap::new();
            known.iter().chain(&others).for_each(|hash| *rows.entry(*hash).or_default() += 1);
            let repeated = rows.iter().filter(|(_, rows)| **rows > 1);
            let mut wanted: Vec<u64> = repeated.map(|(hash, _)| ids.first(*hash)).collect();
            // Equal rows have the same value.
            let chunks = known.chunks(size).map(|rows| rows.iter().map(|hash| (hash % 7, *hash)).collect());
            let chunks: Vec<Vec<(u64, u64)>> = chunks.collect();
            let others = others.chunks(size).map(<[u64]>::to_vec).collect();
            let (order, mut found) = Pool::new(threads).install(|| {
                let known = OrderedPairs::new(chunks, |key| key);
                RankedRows { known, others }.ids(&ids)
            });
            wanted.sort_unstable();
            found.sort_unstable();
            prop_assert_eq!(found, wanted);
            prop_assert_eq!(order.len(), known.len());
        }
    }
}
