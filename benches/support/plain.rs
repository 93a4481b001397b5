//! Grouping of packed keys by plain Rust and hashbrown: the baseline for a node executed by
//! DataFusion.

use anonsql::internal::frequency::{Base, FrequencySet};
use anonsql::internal::lattice::{Lattice, Node};
use hashbrown::HashMap;
use std::collections::HashMap as StdHashMap;
use std::ops::Range;

/// The maximum number of bits of a chunk: columns that are looked up together.
const CHUNK_BITS: u32 = 12;

/// The keys of a base frequency set, each packed into one word, and the tables that generalize the
/// keys.
pub struct Plain {
    /// The keys with their row counts.
    pub rows: Vec<(u64, u64)>,
    shifts: Vec<u32>,
    bits: Vec<u32>,
    /// The smallest code of each group, by column, level and code.
    least: Vec<Vec<Vec<u64>>>,
    chunks: Vec<Range<usize>>,
    tables: StdHashMap<(usize, Vec<u8>), Vec<u64>>,
}

impl Plain {
    /// Packs the keys of `base`, which must fit in one word.
    pub fn new(base: &Base) -> Self {
        let lookups = base.key_schema.lookups();
        let bits: Vec<u32> = lookups
            .iter()
            .map(|l| usize::BITS - (l.values().len() - 1).leading_zeros())
            .collect();
        let shifts: Vec<u32> = (0..bits.len()).map(|i| bits[..i].iter().sum()).collect();
        assert!(bits.iter().sum::<u32>() <= 64, "the keys fit one word");
        let mut chunks: Vec<Range<usize>> = vec![];
        for column in 0..bits.len() {
            match chunks.last_mut() {
                Some(c) if bits[c.start..=column].iter().sum::<u32>() <= CHUNK_BITS => c.end = column + 1,
                _ => chunks.push(column..column + 1),
            }
        }
        let layout = base.key_schema.layout();
        let pack = |key: &[u64]| {
            (0..bits.len())
                .map(|c| u64::from(layout.code(key, c)) << shifts[c])
                .sum()
        };
        let set: &FrequencySet = base.held().expect("the table is in memory");
        let rows = (0..set.len()).map(|i| (pack(set.key(i)), set.counts()[i])).collect();
        let levels = |l: &anonsql::internal::hierarchy::Lookup| {
            let least = |level| l.level(level).representatives.iter().map(|c| u64::from(*c)).collect();
            (0..=l.top()).map(least).collect()
        };
        let least = lookups.iter().map(|l| levels(l)).collect();
        Self {
            rows,
            shifts,
            bits,
            least,
            chunks,
            tables: StdHashMap::new(),
        }
    }

    /// Returns the classes of `node` with their row counts, grouped from the classes of a node
    /// below `node`.
    pub fn group(&mut self, rows: &[(u64, u64)], node: &Node) -> HashMap<u64, u64> {
        for (number, chunk) in self.chunks.iter().enumerate() {
            let levels = node.levels()[chunk.clone()].to_vec();
            let key = (number, levels);
            if !self.tables.contains_key(&key) {
                let table = self.table(chunk, &key.1);
                self.tables.insert(key, table);
            }
        }
        let tables: Vec<(u32, u64, &[u64])> = self
            .chunks
            .iter()
            .enumerate()
            .map(|(number, chunk)| {
                let table = self.tables[&(number, node.levels()[chunk.clone()].to_vec())].as_slice();
                (self.shifts[chunk.start], table.len() as u64 - 1, table)
            })
            .collect();
        let mut classes: HashMap<u64, u64> = HashMap::new();
        for (key, count) in rows {
            let part = |(shift, mask, table): &(u32, u64, &[u64])| table[((key >> shift) & mask) as usize];
            *classes.entry(tables.iter().map(part).sum()).or_default() += count;
        }
        classes
    }

    /// Returns a table with an entry for every combination of codes in the chunk's columns. An
    /// entry contains the smallest codes of the groups to which the codes belong, packed into one
    /// word.
    fn table(&self, chunk: &Range<usize>, levels: &[u8]) -> Vec<u64> {
        let first = self.shifts[chunk.start];
        let width: u32 = self.bits[chunk.clone()].iter().sum();
        let entry = |index: u64| {
            chunk
                .clone()
                .zip(levels)
                .map(|(column, level)| {
                    let code = (index >> (self.shifts[column] - first)) & ((1 << self.bits[column]) - 1);
                    let least = self.least[column][usize::from(*level)].get(code as usize);
                    least.copied().unwrap_or(0) << self.shifts[column]
                })
                .sum()
        };
        (0..1u64 << width).map(entry).collect()
    }

    /// Groups every node from the smallest of its direct predecessors. Returns the total number of
    /// classes over all nodes.
    pub fn whole_lattice(&mut self, lattice: &Lattice) -> u64 {
        let mut sets: StdHashMap<Node, Vec<(u64, u64)>> = StdHashMap::new();
        let mut classes = 0;
        for node in lattice.iter() {
            let below = lattice
                .predecessors(&node)
                .filter_map(|n| sets.get(&n))
                .min_by_key(|s| s.len());
            let found: Vec<(u64, u64)> = match below {
                Some(rows) => self.group(rows, &node).into_iter().collect(),
                None => self.rows.clone(),
            };
            classes += found.len() as u64;
            sets.insert(node, found);
        }
        classes
    }
}
