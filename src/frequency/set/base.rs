//! The base frequency set: a scan's counts in the codes of the lookup tables, in ascending order of their keys.

use super::parallel::{join, map, pieces};
use super::partitioned;
use super::scan::{DetailRequest, Scan};
use super::set::{Detail, FrequencySet};
use super::space::Space;
use super::spill::Scratch;
use super::spilled::{Grouping, Means, Spilled, sorted};
use super::tally::{DetailTally, Tally};
use super::translate::{Parts, encode};
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::{Lookup, OnUnmapped};
use crate::lattice::Node;
use arrow::array::ArrayRef;
use std::sync::Arc;

/// What is known of one further attribute over the whole table.
#[derive(Debug, Clone)]
pub struct Attribute {
    /// What was asked for.
    pub request: DetailRequest,
    /// The distinct values, ascending, NULL last (those of the attribute, for pairs).
    pub values: ArrayRef,
    /// For each code of the detail the index of its value; the identity but for pairs.
    pub value_of_code: Option<Vec<u32>>,
    /// Rows by value (distinct entities by value, for pairs), over the whole table.
    pub counts: Vec<u64>,
}

/// The classes of the lattice's bottom node.
#[derive(Debug, Clone)]
pub enum BaseSet {
    /// In memory, keys ascending.
    Held(Arc<FrequencySet>),
    /// In files, because memory does not hold them. Classes then carry no details and no population.
    Spilled(Arc<Spilled>),
}

/// The base frequency set with what every evaluation needs to know of the table.
#[derive(Debug, Clone)]
pub struct Base {
    /// The keys' space.
    pub space: Arc<Space>,
    /// The classes of the lattice's bottom node.
    pub set: BaseSet,
    /// Rows of the table.
    pub rows: u64,
    /// Rows with a value that its hierarchy does not know and whose rows it suppresses; they are in no class.
    pub unmapped_rows: u64,
    /// Rows by ground value, per quasi-identifier, over the whole table.
    pub marginals: Vec<Vec<u64>>,
    /// The details of the set, in its order.
    pub attributes: Vec<Attribute>,
}

impl Base {
    /// The base set at `bottom` of a sample, with the counts of a population scanned with the same dictionaries.
    ///
    /// `lookups` with their rule for unknown values are bound to [`Scan::values`] in the order of the columns. What this
    /// takes beside the scans is taken from the memory of `scratch`; where that does not hold it, the set stays in files,
    /// or this is an error when there may be no files.
    pub fn new(
        sample: Scan,
        population: Option<Scan>,
        lookups: Vec<(Arc<Lookup>, OnUnmapped)>,
        bottom: Node,
        scratch: &Scratch,
    ) -> Result<Self> {
        let marginals = map(lookups.len(), |c| sample.value_counts(c));
        let suppresses: Vec<bool> = lookups.iter().map(|(_, rule)| *rule == OnUnmapped::Suppress).collect();
        let space = Arc::new(Space::new(lookups.into_iter().map(|(lookup, _)| lookup).collect()));
        let words = space.layout().words();
        let merge = Merge {
            space: &space,
            suppresses,
            bottom: &bottom,
        };
        let room = scratch.reservation("anonsql merging of partitions");
        let bytes = sample.bytes_to_merge(words) + population.as_ref().map_or(0, |p| p.bytes_to_merge(words));
        let fits = room.try_grow(bytes);
        if sample.is_spilled() || (fits.is_err() && population.is_none() && sample.may_spill()) {
            room.free();
            let parts = merge.parts(&sample);
            return Self::spilled(sample, marginals, space, &parts, bottom, scratch)?
                .hold(scratch, rayon::current_num_threads());
        }
        fits.map_err(|_| {
            Error::new(
                ErrorKind::Resources,
                "the distinct combinations of quasi-identifier values do not fit the memory limit when the partitions of \
                 the scan are brought together; raise --memory-limit, name fewer quasi-identifiers, or coarsen the \
                 finest of them in a query",
            )
        })?;
        let scans: Vec<&Scan> = [&sample].into_iter().chain(&population).collect();
        let (keys, maps) = merge.classes(&scans);
        let (maps, population_maps) = maps.split_at(sample.tallies.len());
        let classes = keys.len() / words;

        let (counts, unmapped_rows) = sums(&sample, maps, classes);
        let populations = population.as_ref().map(|p| sums(p, population_maps, classes).0);

        let mut attributes = vec![];
        let mut details = vec![];
        for (index, (request, dictionaries)) in sample.details.iter().enumerate() {
            let entries = DetailEntries::collect(&sample.tallies, maps, index, dictionaries);
            let (attribute, detail) = entries.finish(request.clone(), dictionaries, classes)?;
            attributes.push(attribute);
            details.push(detail);
        }
        let set = Arc::new(FrequencySet::new(
            bottom.clone(),
            words,
            keys,
            counts,
            populations,
            details,
        ));
        Ok(Self {
            set: BaseSet::Held(set),
            rows: sample.rows,
            unmapped_rows,
            marginals,
            attributes,
            space,
        })
    }

    /// The base set in files.
    pub(super) fn spilled(
        sample: Scan,
        marginals: Vec<Vec<u64>>,
        space: Arc<Space>,
        parts: &Parts,
        bottom: Node,
        scratch: &Scratch,
    ) -> Result<Self> {
        let (rows, words) = (sample.rows, space.layout().words());
        let (spilled, unmapped_rows) = Spilled::new(&sample, parts, words, bottom, scratch)?;
        Ok(Self {
            space,
            set: BaseSet::Spilled(Arc::new(spilled)),
            rows,
            unmapped_rows,
            marginals,
            attributes: vec![],
        })
    }

    /// Brings a set from files into memory if that holds it: partitions and files may have had the same combinations,
    /// and the bottom node may be more general than they are. It is then that of a scan that was held.
    pub(super) fn hold(mut self, scratch: &Scratch, threads: usize) -> Result<Self> {
        let BaseSet::Spilled(spilled) = &self.set else {
            return Ok(self);
        };
        let (bottom, words) = (spilled.node(), self.space.layout().words());
        let means = Means {
            scratch,
            threads,
            // A set that is held has room beside it for grouping a node.
            class_bytes: 2 * (words + 1) * 8 + partitioned::bytes_to_group(1, words),
        };
        if let Grouping::Classes(set) = spilled.group(&self.space, bottom, None, means)? {
            let (keys, counts) = sorted(words, set.keys().to_vec(), set.counts().to_vec());
            let set = FrequencySet::new(bottom.clone(), words, keys, counts, None, vec![]);
            self.set = BaseSet::Held(Arc::new(set));
        }
        Ok(self)
    }

    /// The set in memory, for what cannot do without; an error that says what to do where it is not.
    pub fn held(&self) -> Result<&Arc<FrequencySet>> {
        match &self.set {
            BaseSet::Held(set) => Ok(set),
            BaseSet::Spilled(spilled) => Err(Error::new(
                ErrorKind::Resources,
                format!(
                    "{} combinations of quasi-identifier values do not fit the memory limit, and dividing or comparing \
                     them one by one takes all of them at once; raise --memory-limit, name fewer quasi-identifiers, start \
                     at coarser levels of the finest of them with LEVELS, or use a search over the lattice",
                    spilled.entries()
                ),
            )),
        }
    }

    /// The lattice's bottom node.
    pub fn bottom(&self) -> &Node {
        match &self.set {
            BaseSet::Held(set) => set.node(),
            BaseSet::Spilled(spilled) => spilled.node(),
        }
    }

    /// The classes of the bottom node; at least as many as there are, where they are in files.
    pub fn combinations(&self) -> u64 {
        match &self.set {
            BaseSet::Held(set) => set.len() as u64,
            BaseSet::Spilled(spilled) => spilled.entries(),
        }
    }
}

#[cfg(test)]
impl Base {
    /// The base set of a scan in files, whether memory holds it or not.
    pub(super) fn in_files(
        sample: Scan,
        marginals: Vec<Vec<u64>>,
        space: Arc<Space>,
        suppresses: Vec<bool>,
        bottom: Node,
        scratch: &Scratch,
    ) -> Self {
        let merge = Merge {
            space: &space,
            suppresses,
            bottom: &bottom,
        };
        let parts = merge.parts(&sample);
        Self::spilled(sample, marginals, Arc::clone(&space), &parts, bottom.clone(), scratch).unwrap()
    }
}

/// The class of each group of a partition; `None` where the row is suppressed for an unknown value.
type ClassOf = Vec<Option<u32>>;

/// The rows of each class, and those in none.
fn sums(scan: &Scan, maps: &[ClassOf], classes: usize) -> (Vec<u64>, u64) {
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

/// Brings the keys of partitions to the codes of the space.
struct Merge<'a> {
    space: &'a Space,
    suppresses: Vec<bool>,
    bottom: &'a Node,
}

impl Merge<'_> {
    /// The keys of the classes, ascending, and the class of each group of every partition.
    fn classes(&self, scans: &[&Scan]) -> (Vec<u64>, Vec<ClassOf>) {
        let words = self.space.layout().words();
        let (mut keys, mut mapped) = (vec![], vec![]);
        for scan in scans {
            let parts = self.parts(scan);
            for tally in &scan.tallies {
                let pieces = pieces(tally.counts.len());
                let done = map(pieces.len(), |i| {
                    encode(&parts, words, &tally.layout, tally.keys(pieces[i].clone()))
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
        (sorted, mapped.into_iter().map(class_of).collect())
    }

    /// Per column and code of a scan: the representative, in place; `None` where its rows are suppressed.
    fn parts(&self, scan: &Scan) -> Parts {
        let columns = scan.dictionaries.iter().enumerate();
        let parts = columns.map(|(column, dictionary)| {
            let lookup = self.space.lookup(column);
            let representatives = &lookup.level(self.bottom.level(column)).representatives;
            let part = |rank: &u32| {
                let suppressed = self.suppresses[column] && lookup.is_unmapped(*rank as usize);
                (!suppressed).then(|| self.space.layout().place(column, representatives[*rank as usize]))
            };
            dictionary.ranks.iter().map(part).collect()
        });
        parts.collect()
    }

    /// The positions of distinct keys in ascending order, which does not depend on the threads.
    fn ascending(&self, keys: &[u64]) -> Vec<u32> {
        let words = self.space.layout().words();
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
        // The stable sort finds the runs, and merges them.
        all.sort_by(compare);
        all.into_iter().map(|(_, class)| class).collect()
    }
}

/// The entries of one detail, from all partitions: class (`None` where suppressed), entity where there is one, code.
struct DetailEntries(Vec<(Option<u32>, u32, u32, u64)>);

impl DetailEntries {
    fn collect(
        tallies: &[Tally],
        maps: &[ClassOf],
        index: usize,
        dictionaries: &[super::interner::Dictionary],
    ) -> Self {
        let mut entries = vec![];
        for (tally, map) in tallies.iter().zip(maps) {
            let DetailTally { grouper, counts, .. } = &tally.details[index];
            for (key, count) in grouper.keys().chunks_exact(dictionaries.len()).zip(counts) {
                let class = map[(key[0] >> 32) as usize];
                let first = dictionaries[0].ranks[key[0] as u32 as usize];
                let second = dictionaries.get(1).map_or(0, |d| d.ranks[key[1] as usize]);
                entries.push((class, first, second, *count));
            }
        }
        Self(entries)
    }

    fn finish(
        self,
        request: DetailRequest,
        dictionaries: &[super::interner::Dictionary],
        classes: usize,
    ) -> Result<(Attribute, (Detail, usize))> {
        if self.0.len() > i32::MAX as usize {
            return Err(Error::data(
                "classes and sensitive values have more than 2^31 combinations",
            ));
        }
        let (value_of_code, values, codes) = match &request {
            DetailRequest::Values(_) | DetailRequest::Distinct(_) => {
                let codes: Vec<u32> = self.0.iter().map(|e| e.1).collect();
                (None, &dictionaries[0].values, codes)
            }
            DetailRequest::Pairs { .. } => {
                let mut pairs: Vec<(u32, u32)> = self.0.iter().map(|e| (e.2, e.1)).collect();
                pairs.sort_unstable();
                pairs.dedup();
                let codes = self.0.iter().map(|e| {
                    let found = pairs.binary_search(&(e.2, e.1));
                    found.map(|i| i as u32).unwrap_or_default()
                });
                let codes = codes.collect();
                (
                    Some(pairs.iter().map(|p| p.0).collect::<Vec<u32>>()),
                    &dictionaries[1].values,
                    codes,
                )
            }
        };
        let cardinality = value_of_code.as_ref().map_or(values.len(), Vec::len);
        let mut counts = vec![0u64; values.len()];
        match &value_of_code {
            Some(value_of_code) => value_of_code.iter().for_each(|v| counts[*v as usize] += 1),
            None => self
                .0
                .iter()
                .zip(&codes)
                .for_each(|(entry, code)| counts[*code as usize] += entry.3),
        }
        let triples = self
            .0
            .iter()
            .zip(&codes)
            .filter_map(|(entry, code)| Some((entry.0?, *code, entry.3)));
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
