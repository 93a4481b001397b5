//! The base frequency set: the counts of a scan, with the codes of the lookup tables, in ascending
//! order of their keys.

use super::detail::Attribute;
use super::frequency_set::FrequencySet;
use super::merge::{DetailEntries, KeyTranslation, sums};
use super::slices::Means;
use super::spilled::{NodeGrouping, Spilled};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::pool::{check_cancelled, map, threads};
use crate::base::spill::SpillSpace;
use crate::data::frequency::scan::{Scan, Tally};
use crate::method::hierarchy::{Lookup, OnUnmapped};
use crate::method::key::{KeySchema, partitioned};
use crate::method::lattice::Node;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The classes of the lattice's bottom node.
#[derive(Debug, Clone)]
pub enum BaseSet {
    /// The classes in memory, in ascending order of their keys.
    Held(Arc<FrequencySet>),
    /// The classes in files, for the case that they do not fit in memory.
    Spilled(Arc<Spilled>),
}

/// The base frequency set, with the data about the whole table that every evaluation needs.
#[derive(Debug, Clone)]
pub struct Base {
    /// The key schema of the table.
    pub key_schema: Arc<KeySchema>,
    /// The classes of the lattice's bottom node.
    pub set: BaseSet,
    /// The number of rows of the table.
    pub rows: u64,
    /// The number of rows that are suppressed because a hierarchy does not map one of their values.
    /// They belong to no class.
    pub unmapped_rows: u64,
    /// The number of rows of the population that belong to no class because of an unmapped value; 0
    /// if there is no population.
    pub unmapped_people: u64,
    /// For each quasi-identifier, the number of rows with each ground value in the whole table.
    pub marginals: Vec<Vec<u64>>,
    /// The attributes that correspond to the details of the set, in the same order.
    pub attributes: Vec<Attribute>,
    /// The sizes of the classes of the source that contain a value with the same label at level 0
    /// as another value, because a TOP CODE or BOTTOM CODE hides both values: for each size in
    /// rows, the number of these classes. The set does not distinguish such values. `None` if these
    /// classes were not counted.
    pub(crate) merged_sizes: Option<BTreeMap<u64, u64>>,
}

/// Returns the error for combinations that do not fit in memory.
fn too_large() -> Error {
    Error::new(
        ErrorKind::Resources,
        "the distinct combinations of quasi-identifier values do not fit the memory limit when the partitions of the scan \
         are merged; raise --memory-limit, name fewer quasi-identifiers, or coarsen the finest of them in a query",
    )
}

/// Returns the key schema of the lookups of all columns. Also returns, for each column, true if
/// rows with an unmapped value are suppressed.
fn key_schema_of(lookups: Vec<(Arc<Lookup>, OnUnmapped)>) -> (Arc<KeySchema>, Vec<bool>) {
    let suppresses = lookups.iter().map(|(_, rule)| *rule == OnUnmapped::Suppress).collect();
    let lookups = lookups.into_iter().map(|(lookup, _)| lookup).collect();
    (Arc::new(KeySchema::new(lookups)), suppresses)
}

impl Base {
    /// Creates the base set of a sample at the node `bottom`, with the counts of a population that
    /// was scanned with the same dictionaries.
    ///
    /// `lookups` contains one lookup per column, each bound to [`Scan::values`], with the treatment
    /// of unmapped values. The memory that is needed in addition to the scans is reserved in
    /// `spill_space`. If this memory is not available, the set is kept in files. Fails with
    /// `ErrorKind::Resources` if files are not possible either.
    pub fn new(
        mut sample: Scan,
        population: Option<Scan>,
        lookups: Vec<(Arc<Lookup>, OnUnmapped)>,
        bottom: Node,
        spill_space: &SpillSpace,
    ) -> Result<Self> {
        let marginals = map(lookups.len(), |c| sample.value_counts(c));
        let (key_schema, suppresses) = key_schema_of(lookups);
        let words = key_schema.layout().words();
        let merge = KeyTranslation {
            key_schema: &key_schema,
            suppresses,
            bottom: &bottom,
        };
        let room = spill_space.reservation("anonsql merging of partitions");
        let bytes = sample.bytes_to_merge(words) + population.as_ref().map_or(0, |p| p.bytes_to_merge(words));
        let fits = room.try_grow(bytes);
        let is_spilled = sample.is_spilled() || population.as_ref().is_some_and(Scan::is_spilled);
        if is_spilled || (fits.is_err() && sample.may_spill()) {
            room.free();
            let own = Self::spilled((sample, population), marginals, &merge, spill_space)?;
            return own.hold(spill_space, threads());
        }
        fits.map_err(|_| too_large())?;
        let scans: Vec<&Scan> = [&sample].into_iter().chain(&population).collect();
        let (keys, maps) = merge.classes(&scans)?;
        let (maps, population_maps) = maps.split_at(sample.tallies.len());
        let classes = keys.len() / words;

        let (counts, unmapped_rows) = sums(&sample, maps, classes);
        let people = population.as_ref().map(|p| sums(p, population_maps, classes));
        let (populations, unmapped_people) = people.map_or((None, 0), |(counts, unmapped)| (Some(counts), unmapped));

        drop(population);
        sample.tallies.iter_mut().for_each(Tally::drop_combinations);

        let mut attributes = vec![];
        let mut details = vec![];
        for (index, (request, dictionaries)) in sample.details.iter().enumerate() {
            check_cancelled()?;
            let entries = DetailEntries::take(&mut sample.tallies, maps, index, dictionaries);
            let (attribute, detail) = entries.finish(request.clone(), dictionaries, classes)?;
            attributes.push(attribute);
            details.push(detail);
        }
        let set = FrequencySet::new(bottom.clone(), words, keys, counts)
            .with_populations(populations)
            .with_details(details);
        Ok(Self {
            set: BaseSet::Held(Arc::new(set)),
            rows: sample.rows,
            unmapped_rows,
            unmapped_people,
            marginals,
            attributes,
            key_schema,
            merged_sizes: None,
        })
    }

    /// Creates the base set in files.
    fn spilled(
        (sample, population): (Scan, Option<Scan>),
        marginals: Vec<Vec<u64>>,
        merge: &KeyTranslation,
        spill_space: &SpillSpace,
    ) -> Result<Self> {
        let (parts, bottom) = (merge.parts(&sample), merge.bottom.clone());
        let (mut spilled, attributes, unmapped_rows) = Spilled::new(&sample, &parts, bottom, spill_space)?;
        let rows = sample.rows;
        drop(sample);
        let unmapped_people = match &population {
            Some(people) => spilled.add_people(people, &merge.parts(people), spill_space)?,
            None => 0,
        };
        Ok(Self {
            key_schema: Arc::clone(merge.key_schema),
            set: BaseSet::Spilled(Arc::new(spilled)),
            rows,
            unmapped_rows,
            unmapped_people,
            marginals,
            attributes,
            merged_sizes: None,
        })
    }

    /// Moves a set from files into memory if it fits there. The set can be smaller than the files,
    /// because the same combination may occur in several partitions and files, and because the
    /// bottom node may be more general than the combinations. The result equals the set of a scan
    /// whose combinations were never in files.
    pub(crate) fn hold(self, spill_space: &SpillSpace, threads: usize) -> Result<Self> {
        let node = self.bottom().clone();
        self.hold_at(node, spill_space, threads)
    }

    /// Does the same as [`Self::hold`], but with the classes of `node`, which is at least as
    /// general as the bottom node.
    pub(super) fn hold_at(mut self, node: Node, spill_space: &SpillSpace, threads: usize) -> Result<Self> {
        let BaseSet::Spilled(spilled) = &self.set else {
            return Ok(self);
        };
        let words = self.key_schema.layout().words();
        let means = Means {
            spill_space,
            threads,
            // Grouping a node needs further memory once the set is in memory.
            class_bytes: 2 * (words + 1) * 8 + partitioned::bytes_to_group(1, words),
        };
        if let NodeGrouping::Classes(set) = spilled.group(&self.key_schema, &node, None, means)? {
            // Memory for the set, for its copy in ascending order, and for the classes of a node,
            // each with its details.
            let room = spill_space.reservation("anonsql base frequency set");
            let bytes = 3 * set.bytes() + partitioned::bytes_to_group(set.len(), words);
            if room.try_resize(bytes).is_ok() {
                self.set = BaseSet::Held(Arc::new(set.ascending()));
            }
        }
        Ok(self)
    }

    /// Returns the set if it is in memory. If it is in files, fails with `ErrorKind::Resources` and
    /// advice.
    pub fn held(&self) -> Result<&Arc<FrequencySet>> {
        match &self.set {
            BaseSet::Held(set) => Ok(set),
            BaseSet::Spilled(spilled) => Err(Error::new(
                ErrorKind::Resources,
                format!(
                    "{} combinations of quasi-identifier values do not fit the memory limit, and dividing or comparing \
                     them one by one needs all of them at once; raise --memory-limit, divide fewer at once (SET \
                     anonsql.divided_combinations), name fewer quasi-identifiers, start at coarser levels of the finest \
                     of them with LEVELS, or use a search over the lattice",
                    spilled.entries()
                ),
            )),
        }
    }

    /// Returns the number of rows of the population, without the rows that have unmapped values.
    /// Returns `None` if there is no population.
    pub fn people(&self) -> Option<u64> {
        match &self.set {
            BaseSet::Held(set) => set.populations().map(|people| people.iter().sum()),
            BaseSet::Spilled(spilled) => spilled.people(),
        }
    }

    /// Returns the number of classes of the bottom node that have fewer rows in the population than
    /// in the sample. Fails with `ErrorKind::Resources` if the classes do not fit in memory.
    pub fn missing_people(&self, spill_space: &SpillSpace) -> Result<u64> {
        let missing = match &self.set {
            BaseSet::Spilled(spilled) => spilled.missing(spill_space)?,
            BaseSet::Held(set) => set.populations().map_or(Some(0), |people| {
                Some(set.counts().iter().zip(people).filter(|(n, p)| n > p).count() as u64)
            }),
        };
        missing.ok_or_else(|| {
            Error::new(
                ErrorKind::Resources,
                "comparing the table with its population does not fit the memory limit; raise --memory-limit",
            )
        })
    }

    /// Returns the lattice's bottom node.
    pub fn bottom(&self) -> &Node {
        match &self.set {
            BaseSet::Held(set) => set.node(),
            BaseSet::Spilled(spilled) => spilled.node(),
        }
    }

    /// Returns the number of classes of the bottom node. If the classes are in files, the number is
    /// an upper bound.
    pub fn combinations(&self) -> u64 {
        match &self.set {
            BaseSet::Held(set) => set.len() as u64,
            BaseSet::Spilled(spilled) => spilled.entries(),
        }
    }
}

#[cfg(test)]
impl Base {
    /// Creates the base set of [`Self::new`] in files, even if it fits in memory.
    pub(crate) fn in_files(
        (sample, population): (Scan, Option<Scan>),
        lookups: Vec<(Arc<Lookup>, OnUnmapped)>,
        bottom: Node,
        spill_space: &SpillSpace,
    ) -> Self {
        let marginals = map(lookups.len(), |c| sample.value_counts(c));
        let (key_schema, suppresses) = key_schema_of(lookups);
        let merge = KeyTranslation {
            key_schema: &key_schema,
            suppresses,
            bottom: &bottom,
        };
        Self::spilled((sample, population), marginals, &merge, spill_space).unwrap()
    }
}
