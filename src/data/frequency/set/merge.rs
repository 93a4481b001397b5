//! Merges the partitions of a scan: translates their keys to the codes of a key schema, sorts them
//! in ascending order, and collects the entries of their details.

use super::detail::{Attribute, Detail};
use super::translate::KeyParts;
use crate::base::error::{Error, Result};
use crate::base::pool::{check_cancelled, join, map, pieces};
use crate::data::frequency::encode::Dictionary;
use crate::data::frequency::scan::{DetailRequest, Scan, Tally};
use crate::method::key::{KeySchema, partitioned};
use crate::method::lattice::Node;
use std::sync::Arc;

/// The index of the class of each group in a partition; `None` if the rows of the group are
/// suppressed because of an unmapped value.
pub(super) type ClassOf = Vec<Option<u32>>;

/// Returns the number of rows of each class, and the number of rows that belong to no class.
pub(super) fn sums(scan: &Scan, maps: &[ClassOf], classes: usize) -> (Vec<u64>, u64) {
    let mut counts = vec![0; classes];
    let mut unmapped = 0;
    for (tally, map) in scan.tallies.iter().zip(maps) {
        for (class, count) in map.iter().zip(&tally.counts) {
            match class {
                Some(class) => counts[*class as usize] += count,
                None => unmapped += count,
            }
        }
    }
    (counts, unmapped)
}

/// Translates the keys of partitions to the codes of the key schema.
pub(super) struct KeyTranslation<'a> {
    pub(super) key_schema: &'a Arc<KeySchema>,
    pub(super) suppresses: Vec<bool>,
    pub(super) bottom: &'a Node,
}

impl KeyTranslation<'_> {
    /// Returns the keys of the classes in ascending order, and the index of the class of each group
    /// in every partition.
    pub(super) fn classes(&self, scans: &[&Scan]) -> Result<(Vec<u64>, Vec<ClassOf>)> {
        let words = self.key_schema.layout().words();
        let (mut keys, mut mapped) = (vec![], vec![]);
        for scan in scans {
            let parts = self.parts(scan);
            for tally in &scan.tallies {
                check_cancelled()?;
                let pieces = pieces(tally.counts.len());
                let done = map(pieces.len(), |i| {
                    parts.encode(&tally.layout, tally.keys(pieces[i].clone()))
                });
                let (more, known): (Vec<_>, Vec<_>) = done.into_iter().unzip();
                keys.extend(more);
                mapped.push(join(known));
            }
        }
        let keys = join(keys);
        let grouped = partitioned::group(words, keys.len() / words, |entries| {
            keys[entries.start * words..entries.end * words].into()
        });
        drop(keys);
        check_cancelled()?;
        let ascending = self.ascending(&grouped.keys);
        let mut ranks = vec![0; ascending.len()];
        let mut sorted = Vec::with_capacity(grouped.keys.len());
        for (rank, class) in ascending.into_iter().enumerate() {
            ranks[class as usize] = rank as u32;
            sorted.extend_from_slice(&grouped.keys[class as usize * words..][..words]);
        }
        let mut classes = grouped.groups.into_iter().map(|group| ranks[group as usize]);
        let class_of = |mapped: Vec<bool>| {
            let class = |mapped| if mapped { classes.next() } else { None };
            mapped.into_iter().map(class).collect()
        };
        Ok((sorted, mapped.into_iter().map(class_of).collect()))
    }

    /// Returns, for each column and each code of a scan, the code of the representative, shifted to
    /// its bits in the packed key. Returns `None` for a code whose rows are suppressed.
    pub(super) fn parts(&self, scan: &Scan) -> KeyParts {
        let columns = scan.dictionaries.iter().enumerate();
        let columns = columns.map(|(column, dictionary)| {
            let lookup = self.key_schema.lookup(column);
            let representatives = &lookup.level(self.bottom.level(column)).representatives;
            let part = |rank: &u32| {
                let suppressed = self.suppresses[column] && lookup.is_unmapped(*rank as usize);
                (!suppressed).then(|| self.key_schema.layout().place(column, representatives[*rank as usize]))
            };
            dictionary.ranks.iter().map(part).collect()
        });
        KeyParts {
            columns: columns.collect(),
            words: self.key_schema.layout().words(),
        }
    }

    /// Returns the indices of distinct keys, in ascending order of the keys. The result does not
    /// depend on the number of threads.
    fn ascending(&self, keys: &[u64]) -> Vec<u32> {
        let words = self.key_schema.layout().words();
        let rest = |class: u32| &keys[class as usize * words + 1..(class as usize + 1) * words];
        let compare = |a: &(u64, u32), b: &(u64, u32)| a.0.cmp(&b.0).then_with(|| rest(a.1).cmp(rest(b.1)));
        let pieces = pieces(keys.len() / words);
        let runs = map(pieces.len(), |i| {
            let mut run: Vec<(u64, u32)> = pieces[i]
                .clone()
                .map(|class| (keys[class * words], class as u32))
                .collect();
            run.sort_unstable_by(compare);
            run
        });
        let mut all = join(runs);
        // The stable sort detects the sorted runs and merges them.
        all.sort_by(compare);
        all.into_iter().map(|(_, class)| class).collect()
    }
}

/// The entries of one detail from all partitions. An entry consists of the class (`None` if the
/// rows are suppressed), the rank of the first value, the rank of the second value, and the count.
/// For pairs, the first value is the entity and the second is the attribute; otherwise, the second
/// rank is 0.
pub(super) struct DetailEntries(Vec<(Option<u32>, u32, u32, u64)>);

impl DetailEntries {
    /// Removes the entries of the detail with index `index` from the partitions, and returns them.
    pub(super) fn take(tallies: &mut [Tally], maps: &[ClassOf], index: usize, dictionaries: &[Dictionary]) -> Self {
        let all = tallies.iter().map(|tally| tally.details[index].counts.len()).sum();
        let mut entries = Vec::with_capacity(all);
        for (tally, map) in tallies.iter_mut().zip(maps) {
            let (keys, counts) = tally.details[index].take();
            for (key, count) in keys.chunks_exact(dictionaries.len()).zip(counts) {
                let class = map[(key[0] >> 32) as usize];
                let first = dictionaries[0].ranks[key[0] as u32 as usize];
                let second = dictionaries.get(1).map_or(0, |d| d.ranks[key[1] as usize]);
                entries.push((class, first, second, count));
            }
        }
        Self(entries)
    }

    pub(super) fn finish(
        self,
        request: DetailRequest,
        dictionaries: &[Dictionary],
        classes: usize,
    ) -> Result<(Attribute, (Detail, usize))> {
        if self.0.len() > i32::MAX as usize {
            return Err(Error::data(
                "classes and sensitive values have more than 2^31 combinations",
            ));
        }
        let (value_of_code, values, codes) = match &request {
            DetailRequest::Values(_) | DetailRequest::Distinct(_) => (None, &dictionaries[0].values, None),
            DetailRequest::Pairs { .. } => {
                let mut pairs: Vec<(u32, u32)> = self.0.iter().map(|e| (e.2, e.1)).collect();
                pairs.sort_unstable();
                pairs.dedup();
                let codes = self.0.iter().map(|e| {
                    let found = pairs.binary_search(&(e.2, e.1));
                    found.map(|i| i as u32).unwrap_or_default()
                });
                let codes: Vec<u32> = codes.collect();
                (
                    Some(pairs.iter().map(|p| p.0).collect::<Vec<u32>>()),
                    &dictionaries[1].values,
                    Some(codes),
                )
            }
        };
        let cardinality = value_of_code.as_ref().map_or(values.len(), Vec::len);
        let mut counts = vec![0u64; values.len()];
        match &value_of_code {
            Some(value_of_code) => value_of_code.iter().for_each(|v| counts[*v as usize] += 1),
            None => self.0.iter().for_each(|entry| counts[entry.1 as usize] += entry.3),
        }
        // The memory of the entries is freed before the triples are merged.
        let triples = self.0.into_iter().enumerate().filter_map(|(i, entry)| {
            let code = codes.as_ref().map_or(entry.1, |codes| codes[i]);
            Some((entry.0?, code, entry.3))
        });
        let detail = Detail::from_triples(classes, cardinality, triples);
        Ok((
            Attribute {
                request,
                values: Arc::clone(values),
                value_of_code,
                counts,
            },
            (detail, cardinality),
        ))
    }
}
