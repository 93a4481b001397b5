//! The details and the population counts of a base set in files. They have files of their own, with
//! the same codes as the classes. They are added to the classes of a node once these classes are in
//! memory.

use super::detail::{Attribute, Detail};
use super::frequency_set::FrequencySet;
use super::index::KeyIndex;
use super::slices::{Means, SLICES, slice_of, sorted};
use super::translate::KeyParts;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::pool::{check_cancelled, map};
use crate::base::spill::SpillSpace;
use crate::data::frequency::key_file::KeyFile;
use crate::data::frequency::scan::{DetailRequest, Scan};
use crate::method::key::{Grouper, KeySchema, Sums};
use crate::method::lattice::Node;
use datafusion::execution::memory_pool::MemoryReservation;
use std::ops::Range;

/// The counts that a base set in files has in addition to its own rows: its details, and the rows
/// of a population.
#[derive(Debug)]
pub(super) struct FurtherCounts {
    details: Vec<DetailFiles>,
    pub(super) people: Option<People>,
}

/// A detail of the classes in files. An entry consists of the key of a class and the code of a
/// value. The same entry may occur more than once.
#[derive(Debug)]
struct DetailFiles {
    files: Vec<KeyFile>,
    /// The number of possible codes.
    cardinality: usize,
}

/// The rows of a population in files, as the keys of their classes with row counts. A key may occur
/// several times.
#[derive(Debug)]
pub(super) struct People {
    pub(super) files: Vec<KeyFile>,
    /// The number of rows, without the rows that have unmapped values.
    pub(super) rows: u64,
}

impl DetailFiles {
    /// Translates a detail of a scan to the codes of a key schema.
    fn new(scan: &Scan, index: usize, parts: &KeyParts, spill_space: &SpillSpace) -> Result<(Attribute, Self)> {
        let (request, dictionaries) = &scan.details[index];
        let rank = |column: usize, code: u64| u64::from(dictionaries[column].ranks[code as usize]);
        let values = &dictionaries[dictionaries.len() - 1].values;
        let memory = spill_space.reservation("anonsql pairs of entities and values");
        let pairs = match request {
            DetailRequest::Values(_) | DetailRequest::Distinct(_) => None,
            DetailRequest::Pairs { .. } => Some(pairs(scan, index, rank, &memory)?),
        };
        let code = |codes: &[u64]| match &pairs {
            None => rank(0, codes[0]),
            Some(pairs) => {
                let pair = rank(1, codes[1]) << 32 | rank(0, codes[0]);
                pairs.binary_search(&pair).unwrap_or_default() as u64
            }
        };
        let recoded = map(scan.tallies.len(), |i| {
            parts.recode_detail(&scan.tallies[i], index, code, values.len(), spill_space)
        });
        let (mut files, mut counts) = (vec![], vec![0u64; values.len()]);
        for recoded in recoded {
            let (file, rows) = recoded?;
            files.push(file);
            counts.iter_mut().zip(rows).for_each(|(sum, rows)| *sum += rows);
        }
        let value_of_code = pairs.map(|pairs| pairs.iter().map(|pair| (pair >> 32) as u32).collect::<Vec<u32>>());
        if let Some(value_of_code) = &value_of_code {
            counts.fill(0);
            value_of_code.iter().for_each(|value| counts[*value as usize] += 1);
        }
        let cardinality = value_of_code.as_ref().map_or(values.len(), Vec::len);
        let attribute = Attribute {
            request: request.clone(),
            values: values.clone(),
            value_of_code,
            counts,
        };
        Ok((attribute, Self { files, cardinality }))
    }

    /// Returns the detail for those classes of `set` that `index` contains. Returns `None` if the
    /// detail does not fit in memory. The entries in the files are at the node `bottom`, and are
    /// generalized to the node of `set`.
    fn of(
        &self,
        (set, index): (&FrequencySet, &KeyIndex),
        (key_schema, bottom): (&KeySchema, &Node),
        means: Means,
    ) -> Result<Option<Detail>> {
        let words = set.words();
        let grouped = map(self.files.len(), |i| {
            let memory = means.spill_space.reservation("anonsql node");
            let (mut counts, mut fits) = (Sums::new(1), true);
            self.files[i].for_each(|entries, rows| {
                check_cancelled()?;
                let keys: Vec<u64> = entries
                    .chunks_exact(words + 1)
                    .flat_map(|e| &e[..words])
                    .copied()
                    .collect();
                let keys = key_schema.generalize(&keys, bottom, set.node());
                let codes = entries.chunks_exact(words + 1).map(|e| e[words]);
                let (mut own, mut own_rows) = (vec![], vec![]);
                for (i, (key, code)) in keys.chunks_exact(words).zip(codes).enumerate() {
                    if let Some(class) = index.entry(key) {
                        own.push(u64::from(class) << 32 | code);
                        own_rows.push(rows.map_or(1, |rows| rows[i]));
                    }
                }
                counts.add(&own, own_rows);
                // Includes the memory for merging these groups with the groups of the other files.
                fits = memory.try_resize(counts.bytes() + counts.len() * 48).is_ok();
                Ok(fits)
            })?;
            Ok(fits.then_some((counts, memory)))
        });
        let grouped: Result<Option<Vec<_>>> = grouped.into_iter().collect();
        let Some(grouped) = grouped? else {
            return Ok(None);
        };
        let entries = grouped
            .iter()
            .flat_map(|(counts, _)| counts.keys().iter().zip(counts.sums()));
        let triples = entries.map(|(key, rows)| ((key >> 32) as u32, *key as u32, *rows));
        Ok(Some(Detail::from_triples(set.len(), self.cardinality, triples)))
    }
}

impl People {
    /// Translates the scan of a population to the codes of a key schema. Also returns the number of
    /// rows that have unmapped values.
    pub(super) fn new(scan: &Scan, parts: &KeyParts, spill_space: &SpillSpace) -> Result<(Self, u64)> {
        let recoded = map(scan.tallies.len(), |i| parts.recode(&scan.tallies[i], spill_space));
        let (files, unmapped): (Vec<KeyFile>, Vec<u64>) =
            recoded.into_iter().collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let unmapped = unmapped.iter().sum();
        let rows = scan.rows - unmapped;
        Ok((Self { files, rows }, unmapped))
    }

    /// Returns the classes of `set` with the number of rows in the population, followed by the
    /// classes that only the population has. Returns `None` if the classes do not fit in memory.
    /// The keys in the files are at the node `bottom`, and are generalized to the node of `set`.
    fn of(
        &self,
        set: FrequencySet,
        index: &KeyIndex,
        (key_schema, bottom): (&KeySchema, &Node),
        means: Means,
    ) -> Result<Option<FrequencySet>> {
        let words = set.words();
        let memory = means.spill_space.reservation("anonsql node");
        let mut people = vec![0u64; set.len()];
        let (mut others, mut fits) = (Sums::new(words), true);
        for file in &self.files {
            file.for_each(|keys, rows| {
                check_cancelled()?;
                let keys = key_schema.generalize(keys, bottom, set.node());
                let (mut new, mut new_rows) = (vec![], vec![]);
                for (i, key) in keys.chunks_exact(words).enumerate() {
                    let rows = rows.map_or(1, |rows| rows[i]);
                    match index.entry(key) {
                        Some(class) => people[class as usize] += rows,
                        None => {
                            new.extend_from_slice(key);
                            new_rows.push(rows);
                        }
                    }
                }
                others.add(&new, new_rows);
                let beside = (others.len() + set.len()) * (words + 2) * 8;
                fits = memory.try_resize(others.bytes() + beside).is_ok();
                Ok(fits)
            })?;
            if !fits {
                return Ok(None);
            }
        }
        let (keys, more) = others.into_parts();
        let (keys, more) = sorted(words, keys, more);
        let rows: Vec<u64> = set.counts().iter().copied().chain(more.iter().map(|_| 0)).collect();
        let keys: Vec<u64> = [set.keys(), keys.as_slice()].concat();
        people.extend(more);
        let node = set.node().clone();
        Ok(Some(
            FrequencySet::new(node, words, keys, rows).with_populations(Some(people)),
        ))
    }

    /// Returns the number of keys that have fewer rows in the population than in `sample`; `None`
    /// if the keys do not fit in memory.
    pub(super) fn missing(&self, sample: &[KeyFile], words: usize, spill_space: &SpillSpace) -> Result<Option<u64>> {
        let (mut found, mut done, mut wanted) = (0, 0, SLICES);
        while done < SLICES {
            match self.missing_in(done..(done + wanted).min(SLICES), sample, words, spill_space)? {
                Some(missing) => {
                    found += missing;
                    done += wanted;
                }
                None if wanted > 1 => wanted = wanted.div_ceil(2),
                None => return Ok(None),
            }
        }
        Ok(Some(found))
    }

    /// Returns the same number as [`Self::missing`], but only for the keys in some slices.
    fn missing_in(
        &self,
        slices: Range<usize>,
        sample: &[KeyFile],
        words: usize,
        spill_space: &SpillSpace,
    ) -> Result<Option<u64>> {
        let memory = spill_space.reservation("anonsql node");
        let (mut people, mut fits) = (Sums::new(words), true);
        let files = sample.iter().map(|file| (file, -1i64));
        for (file, sign) in files.chain(self.files.iter().map(|file| (file, 1))) {
            file.for_each(|keys, rows| {
                check_cancelled()?;
                let (mut own, mut own_rows) = (vec![], vec![]);
                for (i, key) in keys.chunks_exact(words).enumerate() {
                    if slices.contains(&slice_of(key)) {
                        own.extend_from_slice(key);
                        own_rows.push(sign * rows.map_or(1, |rows| rows[i]) as i64);
                    }
                }
                people.add(&own, own_rows);
                fits = memory.try_resize(people.bytes()).is_ok();
                Ok(fits)
            })?;
            if !fits {
                return Ok(None);
            }
        }
        Ok(Some(people.sums().iter().filter(|people| **people < 0).count() as u64))
    }
}

/// Returns the distinct pairs of a value and an entity, each as the rank of the value followed by
/// the rank of the entity, in ascending order. Fails with `ErrorKind::Resources` if the pairs do
/// not fit in memory.
fn pairs(scan: &Scan, detail: usize, rank: impl Fn(usize, u64) -> u64, memory: &MemoryReservation) -> Result<Vec<u64>> {
    let mut pairs = Grouper::new(1);
    for tally in &scan.tallies {
        tally.for_each_of_detail(detail, |layout, entries, _| {
            check_cancelled()?;
            let codes = entries.chunks_exact(layout.words() + 2).map(|e| &e[layout.words()..]);
            let keys: Vec<u64> = codes.map(|c| rank(1, c[1]) << 32 | rank(0, c[0])).collect();
            pairs.group(&keys, &mut vec![]);
            // The pairs need memory, and later so does the value of each pair.
            memory.try_resize(2 * pairs.bytes()).map_err(|_| {
                Error::new(
                    ErrorKind::Resources,
                    "the distinct pairs of an entity and a value do not fit the memory limit; raise --memory-limit",
                )
            })
        })?;
    }
    let mut pairs = pairs.into_keys();
    pairs.sort_unstable();
    Ok(pairs)
}

impl FurtherCounts {
    /// Translates the details of a scan to the codes of a key schema. Also returns the attributes
    /// of the details. There is no population yet.
    pub(super) fn new(scan: &Scan, parts: &KeyParts, spill_space: &SpillSpace) -> Result<(Self, Vec<Attribute>)> {
        let details = (0..scan.details.len()).map(|i| DetailFiles::new(scan, i, parts, spill_space));
        let (attributes, details) = details.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let further = Self { details, people: None };
        Ok((further, attributes))
    }

    /// Returns `set` with the counts of the population and with the details. Returns `None` if
    /// these do not fit in memory. The entries in the files are at the node `bottom`, and are
    /// generalized to the node of `set`.
    pub(super) fn add_to(
        &self,
        mut set: FrequencySet,
        (key_schema, bottom): (&KeySchema, &Node),
        means: Means,
    ) -> Result<Option<FrequencySet>> {
        if self.people.is_none() && self.details.is_empty() {
            return Ok(Some(set));
        }
        let schema = (key_schema, bottom);
        let memory = means.spill_space.reservation("anonsql node");
        let index = KeyIndex::new(&set);
        if memory.try_grow(index.bytes() + set.bytes()).is_err() {
            return Ok(None);
        }
        if let Some(people) = &self.people {
            match people.of(set, &index, schema, means)? {
                Some(with_people) => set = with_people,
                None => return Ok(None),
            }
        }
        let mut found = vec![];
        for detail in &self.details {
            match detail.of((&set, &index), schema, means)? {
                Some(classes) if memory.try_grow(classes.bytes()).is_ok() => found.push((classes, detail.cardinality)),
                _ => return Ok(None),
            }
        }
        Ok(Some(set.with_details(found)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::base::BaseSet;
    use super::super::spilled::NodeGrouping;
    use super::*;
    use crate::data::frequency::testing::table;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// The number of rows, the number of people, and for each detail the codes with their counts.
    type Content = (u64, Option<u64>, Vec<Vec<(u32, u64)>>);

    /// Returns the content of each class, by key.
    fn contents(set: &FrequencySet) -> BTreeMap<Vec<u64>, Content> {
        let details = |i: usize| set.details().iter().map(|d| d.class(i).collect()).collect();
        let content = |i: usize| (set.counts()[i], set.populations().map(|p| p[i]), details(i));
        (0..set.len()).map(|i| (set.key(i).to_vec(), content(i))).collect()
    }

    proptest! {
        #[test]
        fn details_and_populations_from_files_are_those_of_a_set_in_memory(table in table(), share in prop_oneof![Just(0), Just(4_100), Just(usize::MAX)], threads in 1usize..4) {
            let (held, spilled) = (table.base(), table.spilled_whole_base(share));
            let set = held.held().unwrap();
            prop_assert_eq!((held.people(), held.unmapped_people), (spilled.people(), spilled.unmapped_people));
            for (one, other) in held.attributes.iter().zip(&spilled.attributes) {
                prop_assert_eq!(&one.request, &other.request);
                prop_assert_eq!(&one.values, &other.values);
                prop_assert_eq!((&one.value_of_code, &one.counts), (&other.value_of_code, &other.counts));
            }
            prop_assert_eq!(held.attributes.len(), spilled.attributes.len());
            let space = SpillSpace::unlimited();
            let BaseSet::Spilled(files) = &spilled.set else {
                panic!("the base set is in memory")
            };
            prop_assert_eq!(held.missing_people(&space).unwrap(), spilled.missing_people(&space).unwrap());
            for node in table.lattice().iter() {
                let means = Means { spill_space: &space, threads, class_bytes: 16 };
                let NodeGrouping::Classes(found) = files.group(&spilled.key_schema, &node, None, means).unwrap() else {
                    panic!("memory is not limited");
                };
                prop_assert_eq!(contents(&found), contents(&set.roll_up(&held.key_schema, &node).0));
            }
            let found = spilled.clone().hold(&space, threads).unwrap();
            let found = found.held().unwrap();
            prop_assert_eq!((found.keys(), found.counts(), found.populations()), (set.keys(), set.counts(), set.populations()));
            prop_assert_eq!(contents(found), contents(set));
        }
    }
}
