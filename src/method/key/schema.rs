//! The key schema of a table: the packed layout of its keys, its lookup tables, and the
//! generalization of keys.

use super::layout::{Chunk, PackedLayout, bits_for};
use crate::base::pool::concat;
use crate::method::hierarchy::Lookup;
use crate::method::lattice::Node;
use arrow::array::Array;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::Arc;

/// A chunk with its table, which maps packed codes to packed representatives.
type ChunkTable<'a> = (&'a Chunk, Arc<Vec<u64>>);

/// The tables from packed codes to packed representatives, by the index of the chunk and the levels
/// of its columns.
type Tables = HashMap<(usize, Box<[u8]>), Arc<Vec<u64>>>;

/// The quasi-identifiers of one table with their lookup tables, and the packed layout of their
/// keys.
///
/// A generalized value is represented by the lowest ground code of its group
/// ([`crate::method::hierarchy::Level`]), so the key of any node consists of ground codes.
/// Therefore one table for each chunk and its levels suffices to generalize the keys of any more
/// specific node to these levels.
#[derive(Debug)]
pub struct KeySchema {
    layout: PackedLayout,
    lookups: Vec<Arc<Lookup>>,
    ground: Node,
    tables: RwLock<Tables>,
}

impl KeySchema {
    /// Creates the key schema for columns with these lookup tables.
    pub fn new(lookups: Vec<Arc<Lookup>>) -> Self {
        let bits: Vec<u32> = lookups.iter().map(|l| bits_for(l.values().len())).collect();
        Self {
            layout: PackedLayout::new(&bits),
            ground: Node::new(vec![0; lookups.len()]),
            lookups,
            tables: RwLock::default(),
        }
    }

    /// Returns the packed layout of keys.
    pub fn layout(&self) -> &PackedLayout {
        &self.layout
    }

    /// Returns the node with every column at level 0.
    pub fn ground(&self) -> &Node {
        &self.ground
    }

    /// Returns the lookup table of column `column`.
    pub fn lookup(&self, column: usize) -> &Lookup {
        &self.lookups[column]
    }

    /// Returns the lookup tables in the order of the columns.
    pub fn lookups(&self) -> &[Arc<Lookup>] {
        &self.lookups
    }

    /// Generalizes the `keys` of node `from` to node `to`. In every column, the level of `to` must
    /// be at least the level of `from`.
    pub fn generalize(&self, keys: &[u64], from: &Node, to: &Node) -> Vec<u64> {
        let words = self.layout.words();
        if words == 1 {
            return self.generalize_word(0, keys, from, to);
        }
        let (kept, mapped): (Vec<u64>, Vec<_>) = (0..words).map(|word| self.changes(word, from, to)).unzip();
        let mut out: Vec<u64> = keys
            .chunks_exact(words)
            .flat_map(|k| k.iter().zip(&kept).map(|(k, m)| k & m))
            .collect();
        for (word, mapped) in mapped.iter().enumerate() {
            for (chunk, table) in mapped {
                for (out, key) in out.chunks_exact_mut(words).zip(keys.chunks_exact(words)) {
                    out[word] |= table[chunk.index(key[word])];
                }
            }
        }
        out
    }

    /// Generalizes the word with index `word` of each key. `keys` contains only this word of each
    /// key, because the result does not depend on the other words.
    pub(crate) fn generalize_word(&self, word: usize, keys: &[u64], from: &Node, to: &Node) -> Vec<u64> {
        let (kept, mapped) = self.changes(word, from, to);
        generalize_words(keys, kept, &mapped)
    }

    /// Returns the mask of the bits in a word that are the same at both nodes, and the tables for
    /// the other bits. A chunk whose columns all rise to their top is in neither the mask nor the
    /// tables, because its codes become 0, the lowest code of the only group.
    fn changes(&self, word: usize, from: &Node, to: &Node) -> (u64, Vec<ChunkTable<'_>>) {
        let (mut kept, mut mapped) = (0, vec![]);
        let chunks = self.layout.chunks().iter().enumerate();
        for (index, chunk) in chunks.filter(|(_, chunk)| chunk.word() == word) {
            let columns = chunk.columns();
            // Values that a TOP CODE or BOTTOM CODE hides have the same label even at level 0, but
            // different ground codes.
            let is_coded = |c: usize| to.level(c) == 0 && self.lookups[c].has_codes();
            let is_same = from.levels()[columns.clone()] == to.levels()[columns.clone()];
            if is_same && !columns.clone().any(is_coded) {
                kept |= chunk.mask();
            } else if columns.clone().any(|c| to.level(c) < self.lookups[c].top()) {
                mapped.push((chunk, self.table(index, &to.levels()[columns])));
            }
        }
        (kept, mapped)
    }

    /// Returns the table of the chunk with index `index` at these levels. The table maps packed
    /// codes to packed representatives, shifted to the bits of the chunk.
    fn table(&self, index: usize, levels: &[u8]) -> Arc<Vec<u64>> {
        let key = (index, Box::from(levels));
        if let Some(table) = self.tables.read().get(&key) {
            return Arc::clone(table);
        }
        let chunk = &self.layout.chunks()[index];
        let first = chunk.columns().start;
        let table = Arc::new(self.layout.tabulate(
            chunk,
            |column| self.lookups[column].values().len(),
            |column, code| {
                let level = self.lookups[column].level(levels[column - first]);
                self.layout.place(column, level.representatives[code as usize]).1
            },
        ));
        self.tables.write().entry(key).or_insert(table).clone()
    }

    /// Returns, for each key, the sum of `part(column, representative)` over the columns, modulo
    /// 2^64. It is computed with one table lookup per chunk.
    pub fn sum_by_key(&self, keys: &[u64], part: impl Fn(usize, u32) -> u64) -> Vec<u64> {
        let words = self.layout.words();
        let values = |column: usize| self.lookups[column].values().len();
        let tables = self.layout.chunks().iter();
        let tables = tables.map(|chunk| (chunk, self.layout.tabulate(chunk, values, &part)));
        let tables: Vec<_> = tables.filter(|(_, table)| table.iter().any(|t| *t != 0)).collect();
        concat(keys.len() / words, |entries| {
            let mut sums = vec![0u64; entries.len()];
            for (chunk, table) in &tables {
                let keys = keys[entries.start * words..entries.end * words].chunks_exact(words);
                for (sum, key) in sums.iter_mut().zip(keys) {
                    *sum = sum.wrapping_add(table[chunk.index(key[chunk.word()])]);
                }
            }
            sums
        })
    }
}

/// Generalizes all chunks of one word in a single pass.
fn generalize_words(keys: &[u64], kept: u64, mapped: &[ChunkTable]) -> Vec<u64> {
    match mapped {
        [] => keys.iter().map(|k| k & kept).collect(),
        [(a, ta)] => keys.iter().map(|k| (k & kept) | ta[a.index(*k)]).collect(),
        [(a, ta), (b, tb)] => keys
            .iter()
            .map(|k| (k & kept) | ta[a.index(*k)] | tb[b.index(*k)])
            .collect(),
        [(a, ta), (b, tb), rest @ ..] => {
            let mut out: Vec<u64> = keys
                .iter()
                .map(|k| (k & kept) | ta[a.index(*k)] | tb[b.index(*k)])
                .collect();
            for (chunk, table) in rest {
                for (out, key) in out.iter_mut().zip(keys) {
                    *out |= table[chunk.index(*key)];
                }
            }
            out
        }
    }
}
