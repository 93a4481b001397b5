//! The base frequency set in files, for the case that it does not fit in memory. The files contain
//! partial counts, which are grouped again for every node. The classes of a node are divided into
//! slices by the hash of their keys, and one pass over the files groups as many slices as fit in
//! memory. All entries of a class are in the same slice, so the rows that the node would suppress
//! can be counted slice by slice. Once this count exceeds the limit, the node is proven not to be
//! anonymous, and the remaining slices are skipped. For a node that is far from anonymous, only a
//! small part of its classes must be grouped. An anonymous node has few classes: at most one for
//! each row that may be suppressed, and otherwise classes of at least the minimum size. Its classes
//! are kept in memory, as for any node.

use super::beside::{FurtherCounts, People};
use super::detail::Attribute;
use super::frequency_set::FrequencySet;
use super::slices::{Means, SLICES, slice_of, sorted};
use super::translate::KeyParts;
use crate::base::error::Result;
use crate::base::pool::{check_cancelled, map};
use crate::base::spill::SpillSpace;
use crate::data::frequency::key_file::KeyFile;
use crate::data::frequency::scan::Scan;
use crate::method::key::{KeySchema, Sums};
use crate::method::lattice::Node;
use std::ops::Range;

/// The number of keys of a slice that are grouped together. It is small enough that the hash table
/// of the slice stays in the processor's cache.
const PENDING: usize = 1 << 12;
/// The maximum number of classes of a node for which all slices are grouped in one pass.
const FEW: u64 = 1 << 16;

/// The demand on the class sizes of a node, derived from the privacy models and the suppression
/// limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demand {
    /// The minimum class size; smaller classes are suppressed.
    pub least: u64,
    /// The maximum number of rows that may be suppressed.
    pub limit: u64,
}

/// The classes of a node as partial counts in files. A key may occur several times.
#[derive(Debug)]
pub struct Spilled {
    node: Node,
    words: usize,
    files: Vec<KeyFile>,
    entries: u64,
    rows: u64,
    further: FurtherCounts,
}

/// A node to group, with its demand and the resources.
#[derive(Clone, Copy)]
struct ToGroup<'a> {
    key_schema: &'a KeySchema,
    node: &'a Node,
    demand: Option<Demand>,
    means: Means<'a>,
}

/// The result of grouping a node.
#[derive(Debug)]
pub(crate) enum NodeGrouping {
    /// The classes of the node, ordered by slice and then by key.
    Classes(FrequencySet),
    /// The node does not meet the demand. The value is the approximate number of suppressed rows,
    /// extrapolated from a part of the node's classes.
    Fails(u64),
    /// The classes do not fit in memory. The value is their approximate number.
    NoRoom(u64),
}

/// A slice that is being grouped.
struct Slice {
    counts: Sums<u64>,
    keys: Vec<u64>,
    rows: Vec<u64>,
}

/// The slices grouped so far.
#[derive(Default)]
struct Grouped {
    keys: Vec<u64>,
    counts: Vec<u64>,
    /// The number of suppressed rows of each slice.
    suppressed: Vec<u64>,
}

impl Spilled {
    /// Translates the tallies of a scan to the codes of a key schema at `node`. Also returns the
    /// attributes of the details, and the number of rows that are suppressed because of an unmapped
    /// value.
    pub(crate) fn new(
        scan: &Scan,
        parts: &KeyParts,
        node: Node,
        spill_space: &SpillSpace,
    ) -> Result<(Self, Vec<Attribute>, u64)> {
        let recoded = map(scan.tallies.len(), |i| parts.recode(&scan.tallies[i], spill_space));
        let recoded = recoded.into_iter().collect::<Result<Vec<_>>>()?;
        let unmapped = recoded.iter().map(|r| r.1).sum();
        let (further, attributes) = FurtherCounts::new(scan, parts, spill_space)?;
        let files: Vec<KeyFile> = recoded.into_iter().map(|r| r.0).collect();
        let spilled = Self {
            node,
            words: parts.words,
            entries: files.iter().map(KeyFile::entries).sum(),
            files,
            rows: scan.rows - unmapped,
            further,
        };
        Ok((spilled, attributes, unmapped))
    }

    /// Adds the rows of a population. Returns the number of these rows that have an unmapped value.
    pub(super) fn add_people(&mut self, scan: &Scan, parts: &KeyParts, spill_space: &SpillSpace) -> Result<u64> {
        let (people, unmapped) = People::new(scan, parts, spill_space)?;
        self.further.people = Some(people);
        Ok(unmapped)
    }

    /// Returns the number of rows of the population, without the rows that have unmapped values.
    /// Returns `None` if there is no population.
    pub(super) fn people(&self) -> Option<u64> {
        self.further.people.as_ref().map(|people| people.rows)
    }

    /// Returns the number of classes that have fewer rows in the population than in the sample; 0
    /// if there is no population. Returns `None` if the classes do not fit in memory.
    pub(super) fn missing(&self, spill_space: &SpillSpace) -> Result<Option<u64>> {
        match &self.further.people {
            Some(people) => people.missing(&self.files, self.words, spill_space),
            None => Ok(Some(0)),
        }
    }

    /// Returns the node of the set.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Returns the number of keys in the files. This is an upper bound for the number of classes,
    /// because a key may occur more than once.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Returns the files that contain the keys.
    pub(super) fn files(&self) -> &[KeyFile] {
        &self.files
    }

    /// Groups the set at the more general node `to`. Stops as soon as the node is known not to meet
    /// `demand`. The result does not depend on the memory or the number of threads, except that it
    /// is [`NodeGrouping::NoRoom`] if memory is short.
    pub(crate) fn group(
        &self,
        key_schema: &KeySchema,
        to: &Node,
        demand: Option<Demand>,
        means: Means,
    ) -> Result<NodeGrouping> {
        let grouping = ToGroup {
            key_schema,
            node: to,
            demand,
            means,
        };
        let levels = to.levels().iter().zip(key_schema.lookups());
        let possible = levels.map(|(level, lookup)| lookup.level(*level).labels.len() as u64);
        let most = possible.fold(1, u64::saturating_mul).min(self.entries);
        let held = means.spill_space.reservation("anonsql node");
        let mut found = Grouped::default();
        while found.suppressed.len() < SLICES {
            let done = found.suppressed.len();
            let classes = match done {
                0 => most as usize,
                _ => found.counts.len() * SLICES / done,
            };
            if done > 0 && held.try_resize(classes * means.class_bytes).is_err() {
                return Ok(NodeGrouping::NoRoom(classes as u64));
            }
            let mut wanted = self.wanted(&found, most, demand).max(means.threads).min(SLICES - done);
            let parts = loop {
                let slices = done..done + wanted;
                match self.pass(grouping, slices, classes)? {
                    Some(parts) => break parts,
                    None if wanted > 1 => wanted = wanted.div_ceil(2),
                    None => return Ok(NodeGrouping::NoRoom(classes as u64)),
                }
            };
            for part in parts {
                let classes = found.counts.len() + part.counts.len();
                if held.try_resize(held.size().max(classes * means.class_bytes)).is_err() {
                    return Ok(NodeGrouping::NoRoom(
                        classes as u64 * SLICES as u64 / (done + wanted) as u64,
                    ));
                }
                found.reserve(part.counts.len(), self.words);
                found.add(part);
            }
            if let Some(rows) = demand.and_then(|d| found.fails(d.limit)) {
                return Ok(NodeGrouping::Fails(rows.min(self.rows)));
            }
        }
        let Grouped { keys, counts, .. } = found;
        let classes = counts.len() as u64;
        let set = FrequencySet::new(to.clone(), self.words, keys, counts);
        Ok(match self.further.add_to(set, (key_schema, &self.node), means)? {
            Some(set) => NodeGrouping::Classes(set),
            None => NodeGrouping::NoRoom(classes),
        })
    }

    /// Returns the number of slices to group next. This is the number expected to be needed to
    /// prove that the demand is not met, or all slices if no such proof is expected. In the first
    /// pass over a node with many possible classes, it is 1 unless at most half of the slices are
    /// expected to suffice for the proof. The first slice then serves to estimate the number of
    /// classes.
    fn wanted(&self, found: &Grouped, most: u64, demand: Option<Demand>) -> usize {
        let done = found.suppressed.len();
        let suppressed: u64 = found.suppressed.iter().sum();
        // The number of slices that probably prove that the limit is exceeded: the number of
        // suppressed rows that exceeds the limit, plus 10 percent, divided by the number of
        // suppressed rows per slice.
        let proof = |limit: u64, rows: u64| ((limit + 1) as u128 * 11 / 10).div_ceil(u128::from(rows.max(1))) as usize;
        match (done, demand) {
            (0, _) if most <= FEW => SLICES,
            (0, None) => 1,
            (0, Some(demand)) => match proof(demand.limit, self.rows / SLICES as u64) {
                slices if slices <= SLICES / 2 => slices,
                _ => 1,
            },
            (_, Some(demand)) if suppressed * SLICES as u64 / done as u64 > demand.limit => {
                proof(demand.limit - suppressed, suppressed / done as u64)
            }
            _ => SLICES,
        }
    }

    /// Groups `slices`, which are divided among the threads; each thread reads the files once.
    /// `classes` is the approximate number of classes in all slices. Returns `None` if the slices
    /// do not fit in memory.
    fn pass(&self, grouping: ToGroup<'_>, slices: Range<usize>, classes: usize) -> Result<Option<Vec<Grouped>>> {
        let ToGroup {
            key_schema,
            node,
            demand,
            means,
        } = grouping;
        let share = slices.len().div_ceil(means.threads.max(1)).max(1);
        let starts = slices.clone().step_by(share);
        let ranges: Vec<Range<usize>> = starts.map(|start| start..(start + share).min(slices.end)).collect();
        let group = |range: Range<usize>| -> Result<Option<Grouped>> {
            let memory = means.spill_space.reservation("anonsql node");
            // A single slice is tried even if it might not fit, because `classes` may be too high:
            // it may count every entry as a separate class.
            let expected = if slices.len() > 1 {
                classes / SLICES * range.len()
            } else {
                0
            };
            let mut granted = expected * Slice::class_bytes(self.words);
            if memory.try_resize(granted).is_err() {
                return Ok(None);
            }
            let mut parts: Vec<Slice> = range.clone().map(|_| Slice::new(self.words)).collect();
            for file in &self.files {
                let mut fits = true;
                file.for_each(|keys, counts| {
                    check_cancelled()?;
                    let keys = key_schema.generalize(keys, &self.node, node);
                    for (i, key) in keys.chunks_exact(self.words).enumerate() {
                        let slice = slice_of(key);
                        if let Some(part) = slice.checked_sub(range.start).and_then(|at| parts.get_mut(at)) {
                            part.push(key, counts.map_or(1, |counts| counts[i]));
                        }
                    }
                    let used: usize = parts.iter().map(Slice::bytes).sum();
                    if fits && used > granted {
                        fits = memory.try_resize(used).is_ok();
                        granted = used;
                    }
                    Ok(fits)
                })?;
                if !fits {
                    return Ok(None);
                }
            }
            parts.iter_mut().for_each(Slice::flush);
            let mut all = Grouped::default();
            all.reserve(parts.iter().map(|p| p.counts.len()).sum(), self.words);
            for part in parts {
                all.add(part.finish(self.words, demand));
            }
            Ok(Some(all))
        };
        let parts = map(ranges.len(), |i| group(ranges[i].clone()));
        parts.into_iter().collect()
    }
}

impl Slice {
    fn new(words: usize) -> Self {
        Self {
            counts: Sums::new(words),
            keys: vec![],
            rows: vec![],
        }
    }

    fn push(&mut self, key: &[u64], rows: u64) {
        self.keys.extend_from_slice(key);
        self.rows.push(rows);
        if self.rows.len() >= PENDING {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.counts.add(&self.keys, self.rows.drain(..));
        self.keys.clear();
    }

    /// Returns the number of bytes of a class while it is grouped: its key and count in vectors
    /// that grow by doubling, and up to eight hash table slots.
    fn class_bytes(words: usize) -> usize {
        2 * (words + 1) * 8 + 8 * 4
    }

    fn bytes(&self) -> usize {
        self.counts.bytes() + (self.keys.capacity() + self.rows.capacity()) * 8
    }

    /// Returns the classes in ascending order of their keys, and the number of rows that are
    /// suppressed.
    fn finish(self, words: usize, demand: Option<Demand>) -> Grouped {
        let least = demand.map_or(0, |d| d.least);
        let (keys, counts) = self.counts.into_parts();
        let suppressed = counts.iter().filter(|n| **n < least).sum();
        let (keys, counts) = sorted(words, keys, counts);
        Grouped {
            keys,
            counts,
            suppressed: vec![suppressed],
        }
    }
}

impl Grouped {
    fn reserve(&mut self, classes: usize, words: usize) {
        self.keys.reserve_exact(classes * words);
        self.counts.reserve_exact(classes);
    }

    fn add(&mut self, next: Self) {
        self.keys.extend(next.keys);
        self.counts.extend(next.counts);
        self.suppressed.extend(next.suppressed);
    }

    /// If the number of suppressed rows in the first slices exceeds the limit, returns the number
    /// for all slices, extrapolated from these slices. Returns `None` otherwise.
    fn fails(&self, limit: u64) -> Option<u64> {
        let mut rows = 0;
        let sums = self.suppressed.iter().zip(1u64..).map(|(n, slices)| {
            rows += n;
            (rows, slices)
        });
        let (rows, slices) = sums.into_iter().find(|(rows, _)| *rows > limit)?;
        Some((u128::from(rows) * SLICES as u128 / u128::from(slices)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::base::{Base, BaseSet};
    use super::*;
    use crate::data::frequency::testing::{Table, table};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Returns the number of rows of each class, by key.
    fn classes(set: &FrequencySet) -> BTreeMap<Vec<u64>, u64> {
        let classes: BTreeMap<_, _> = (0..set.len()).map(|i| (set.key(i).to_vec(), set.counts()[i])).collect();
        assert_eq!(classes.len(), set.len(), "no class is there twice");
        classes
    }

    fn group(
        base: &Base,
        node: &Node,
        demand: Option<Demand>,
        spill_space: &SpillSpace,
        threads: usize,
    ) -> NodeGrouping {
        let BaseSet::Spilled(spilled) = &base.set else {
            panic!("the base set is in memory")
        };
        let means = Means {
            spill_space,
            threads,
            class_bytes: 16,
        };
        spilled.group(&base.key_schema, node, demand, means).unwrap()
    }

    fn shares() -> impl Strategy<Value = usize> {
        // A share has memory for no combination, for a few combinations, or for all combinations.
        prop_oneof![Just(0), Just(4_100), Just(usize::MAX)]
    }

    proptest! {
        #[test]
        fn nodes_grouped_from_files_are_those_of_a_set_in_memory(table in table(), share in shares(), threads in 1usize..4) {
            let (held, spilled) = (table.bare_base(), table.spilled_base(share));
            prop_assert_eq!(&held.marginals, &spilled.marginals);
            prop_assert_eq!((held.rows, held.unmapped_rows), (spilled.rows, spilled.unmapped_rows));
            let set = held.held().unwrap();
            prop_assert!(spilled.combinations() >= set.len() as u64);
            for node in table.lattice().iter() {
                let space = SpillSpace::unlimited();
                let NodeGrouping::Classes(found) = group(&spilled, &node, None, &space, threads) else {
                    panic!("memory is not limited");
                };
                prop_assert_eq!(classes(&found), classes(&set.roll_up(&held.key_schema, &node).0));
            }
            let found = spilled.hold(&SpillSpace::unlimited(), threads).unwrap();
            let found = found.held().unwrap();
            prop_assert_eq!((found.keys(), found.counts(), found.node()), (set.keys(), set.counts(), set.node()));
        }

        #[test]
        fn a_node_fails_if_and_only_if_more_rows_are_in_small_classes(
            table in table(), least in 1u64..6, limit in 0u64..12, threads in 1usize..4
        ) {
            let (held, spilled) = (table.bare_base(), table.spilled_base(0));
            let demand = Some(Demand { least, limit });
            for node in table.lattice().iter() {
                let set = held.held().unwrap().roll_up(&held.key_schema, &node).0;
                let small: u64 = set.counts().iter().filter(|n| **n < least).sum();
                match group(&spilled, &node, demand, &SpillSpace::unlimited(), threads) {
                    NodeGrouping::Classes(found) => {
                        prop_assert!(small <= limit);
                        prop_assert_eq!(classes(&found), classes(&set));
                    }
                    NodeGrouping::Fails(rows) => prop_assert!(small > limit && rows > limit && rows <= held.rows),
                    NodeGrouping::NoRoom(_) => panic!("memory is not limited"),
                }
            }
        }
    }

    /// Returns a table with three columns and `rows` rows, which are nearly all distinct.
    fn nearly_unique(rows: i64) -> Table {
        use crate::data::frequency::testing::{Groups, Row};
        let groups: Vec<Groups> = [120, 110, 90].map(Groups::flat).into();
        let row = |i: i64| Row::of([(i * 7919) % 120, (i * 104_729) % 110, (i / 13) % 90].map(Some).into());
        Table {
            rows: (0..rows).map(row).collect(),
            tree: Groups::flat(2),
            population: vec![],
            per_entity: false,
            texts: false,
            groups,
        }
    }

    #[test]
    fn passes_follow_the_memory_and_answers_do_not() {
        let table = nearly_unique(20_000);
        let (held, spilled) = (table.bare_base(), table.spilled_base(100_000));
        let set = held.held().unwrap();
        assert!(set.len() > 10_000, "{} combinations", set.len());
        let demand = Some(Demand { least: 5, limit: 1_000 });
        let (bottom, above) = (Node::new(vec![0, 0, 0]), Node::new(vec![0, 0, 1]));
        let mut found = vec![];
        for (bytes, threads) in [(1 << 30, 1), (1 << 30, 3), (900_000, 1), (900_000, 2)] {
            let spill_space = SpillSpace::limited(bytes);
            match group(&spilled, &above, None, &spill_space, threads) {
                NodeGrouping::Classes(set) => found.push((set.keys().to_vec(), set.counts().to_vec())),
                other => panic!("{other:?} with {bytes} bytes"),
            }
            match group(&spilled, &bottom, demand, &spill_space, threads) {
                NodeGrouping::Fails(rows) => assert!((19_000..=20_000).contains(&rows), "{rows} rows"),
                other => panic!("{other:?} with {bytes} bytes"),
            }
            assert_eq!(spill_space.pool().reserved(), 0);
        }
        assert!(found.windows(2).all(|pair| pair[0] == pair[1]));
        assert!(matches!(
            group(&spilled, &bottom, None, &SpillSpace::limited(200_000), 2),
            NodeGrouping::NoRoom(classes) if classes > 5_000
        ));
        let tight = spilled.hold(&SpillSpace::limited(500_000), 2).unwrap();
        let refused = tight.held().unwrap_err();
        assert_eq!(refused.kind(), crate::base::error::ErrorKind::Resources);
    }
}
