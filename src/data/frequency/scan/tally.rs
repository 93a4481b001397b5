//! The counts of one partition of the first scan.
//!
//! If the combinations do not fit in memory, the partial counts are written to a file, with the
//! codes of the scan, and counting starts again from zero. If nearly every row had a different
//! combination, counting in memory saves nothing, so the keys of the next rows are written without
//! counting the rows.
//!
//! If a batch has the column [`ROWS`], its rows were already counted in part: the column contains
//! the number of rows that each row represents.

use super::columns::Columns;
use super::detail_tally::DetailTally;
use super::layout_files::LayoutFiles;
use super::weights::RowWeights;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::spill::SpillSpace;
use crate::data::frequency::encode::Local;
use crate::method::key::{Grouper, PackedLayout, bits_for};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::execution::memory_pool::MemoryReservation;
use std::ops::Range;

/// The counts of one partition of a scan.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) layout: PackedLayout,
    pub(crate) grouper: Grouper,
    pub(crate) counts: Vec<u64>,
    pub(crate) details: Vec<DetailTally>,
    pub(crate) rows: u64,
    /// The number of rows, by column and by code of the scan. Before [`Tally::finish`], it includes
    /// only the combinations in files; afterwards, it includes all combinations.
    marginals: Vec<Vec<u64>>,
    /// The partial counts that were written to files, with the layout of their keys.
    files: LayoutFiles,
    /// The number of rows counted since the last file was written.
    counted: u64,
    /// The number of further rows whose keys are to be written without counting the rows.
    uncounted: u64,
    /// Keys of rows that were not counted, and that are not yet in a file. `weights` contains the
    /// number of rows that each key represents.
    unwritten: Vec<u64>,
    weights: RowWeights,
    spill_space: SpillSpace,
    /// The maximum number of bytes for keys and counts.
    share: usize,
    indices: Vec<usize>,
    locals: Vec<Local>,
    groups: Vec<u32>,
    reservation: MemoryReservation,
    owns_dictionaries: bool,
}

/// The initial number of bits for the codes of a column. The number increases when the codes no
/// longer fit.
const FIRST_BITS: u32 = 6;
/// Combinations are nearly unique if there are more than this number of combinations per ten rows.
const NEARLY_UNIQUE: u64 = 8;
/// If combinations are nearly unique, the next rows are written without being counted. Their number
/// is this many times the number of rows counted before. After that, rows are counted again.
const UNCOUNTED: u64 = 8;

impl Tally {
    /// Creates a tally whose keys and counts use at most about `share` bytes.
    pub(crate) fn new(
        columns: &Columns,
        schema: &SchemaRef,
        spill_space: &SpillSpace,
        share: usize,
        owns_dictionaries: bool,
    ) -> Result<Self> {
        let position = |name: &str| Ok::<_, Error>(schema.index_of(name)?);
        let layout = PackedLayout::new(&vec![FIRST_BITS; columns.quasi_identifiers.len()]);
        let details = columns.details.iter();
        let details = details.map(|(request, shared)| DetailTally::new(request, shared, schema));
        Ok(Self {
            grouper: Grouper::new(layout.words()),
            layout,
            counts: vec![],
            details: details.collect::<Result<_>>()?,
            rows: 0,
            marginals: vec![vec![]; columns.quasi_identifiers.len()],
            files: LayoutFiles::default(),
            counted: 0,
            uncounted: 0,
            unwritten: vec![],
            weights: RowWeights::default(),
            spill_space: spill_space.clone(),
            share,
            indices: columns
                .quasi_identifiers
                .iter()
                .map(|(name, _)| position(name))
                .collect::<Result<_>>()?,
            locals: Local::views(columns.quasi_identifiers.iter().map(|(_, s)| s), true)?,
            groups: vec![],
            reservation: spill_space.reservation("anonsql frequency set"),
            owns_dictionaries,
        })
    }

    /// Returns the keys of the groups in memory with indices in `groups`.
    pub(crate) fn keys(&self, groups: Range<usize>) -> impl ExactSizeIterator<Item = &[u64]> {
        let words = self.layout.words();
        self.grouper.keys()[groups.start * words..groups.end * words].chunks_exact(words)
    }

    /// Calls `f` with the layout of the keys and all keys with their counts, one block at a time,
    /// both for the keys in files and for the keys in memory. If the counts are `None`, each key
    /// counts once.
    pub(crate) fn for_each(
        &self,
        mut f: impl FnMut(&PackedLayout, &[u64], Option<&[u64]>) -> Result<()>,
    ) -> Result<()> {
        self.files.for_each(&mut f)?;
        f(&self.layout, self.grouper.keys(), Some(&self.counts))
    }

    /// Calls `f` with all entries of a detail, like [`Self::for_each`]. An entry is the key of a
    /// combination, followed by one word for each code of the scan.
    pub(crate) fn for_each_of_detail(
        &self,
        detail: usize,
        f: impl FnMut(&PackedLayout, &[u64], Option<&[u64]>) -> Result<()>,
    ) -> Result<()> {
        self.details[detail].for_each((&self.layout, self.grouper.keys()), f)
    }

    /// Returns the number of rows with each code of the scan in a column. The tally must be
    /// finished.
    pub(crate) fn marginal(&self, column: usize) -> &[u64] {
        &self.marginals[column]
    }

    /// Drops the keys and counts of combinations that are in memory. The entries of details remain.
    pub(crate) fn drop_combinations(&mut self) {
        self.grouper = Grouper::new(self.layout.words());
        self.counts = vec![];
        self.groups = vec![];
    }

    /// Returns true if combinations may be written to files.
    pub(crate) fn may_spill(&self) -> bool {
        self.spill_space.has_files()
    }

    /// Returns true if combinations are in files.
    pub(crate) fn is_spilled(&self) -> bool {
        !self.files.is_empty()
    }

    /// Counts the rows of a batch. Returns false if the caller must call [`Self::make_room`] before
    /// the next batch: because memory is short, or because the keys of the batch must be written to
    /// a file without counting them.
    pub(crate) fn add(&mut self, columns: &Columns, batch: &RecordBatch) -> Result<bool> {
        let rows = batch.num_rows();
        let weights = RowWeights::of(batch)?;
        let mut codes = Vec::with_capacity(self.locals.len());
        for (local, index) in self.locals.iter_mut().zip(&self.indices) {
            codes.push(local.encode(batch.column(*index))?);
        }
        self.widen(&codes);
        let mut keys = vec![0u64; rows * self.layout.words()];
        for (column, codes) in codes.iter().enumerate() {
            self.layout.pack_column(column, codes, &mut keys);
        }
        self.rows += weights.sum(rows);
        if self.uncounted > 0 {
            self.uncounted = self.uncounted.saturating_sub(rows as u64);
            self.unwritten = keys;
            self.weights = weights;
            for detail in &mut self.details {
                detail.put_off(batch)?;
            }
            return Ok(false);
        }
        self.counted += rows as u64;
        self.grouper.group(&keys, &mut self.groups);
        self.counts.resize(self.grouper.len(), 0);
        match weights.as_counts() {
            None => self.groups.iter().for_each(|group| self.counts[*group as usize] += 1),
            Some(counts) => {
                let counted = self.groups.iter().zip(counts);
                counted.for_each(|(group, rows)| self.counts[*group as usize] += rows);
            }
        }
        for detail in &mut self.details {
            detail.add(&self.groups, batch, &weights)?;
        }
        Ok(self.bytes() <= self.share && self.try_reserve(columns))
    }

    /// Adds the combinations in memory to the marginals. Must be called after all rows were added.
    pub(crate) fn finish(&mut self) {
        tally_marginals(
            &self.layout,
            self.grouper.keys(),
            Some(&self.counts),
            &mut self.marginals,
        );
    }

    /// Writes keys in the current layout to a file. If `counts` is `None`, each key counts one row.
    fn write(&mut self, keys: &[u64], counts: Option<&[u64]>) -> Result<()> {
        tally_marginals(&self.layout, keys, counts, &mut self.marginals);
        self.files.append(&self.layout, 0, &self.spill_space, keys, counts)
    }

    /// Writes the counts to a file and clears them, if files are allowed.
    fn spill(&mut self) -> Result<()> {
        if !self.may_spill() || self.grouper.len() == 0 {
            return Ok(());
        }
        if self.grouper.len() as u64 * 10 > self.counted * NEARLY_UNIQUE {
            self.uncounted = self.counted * UNCOUNTED;
        }
        self.counted = 0;
        let grouper = std::mem::replace(&mut self.grouper, Grouper::new(self.layout.words()));
        let counts = std::mem::take(&mut self.counts);
        for detail in &mut self.details {
            detail.spill(&self.layout, grouper.keys(), &self.spill_space)?;
        }
        self.write(grouper.keys(), Some(&counts))
    }

    /// Gives more bits to columns whose codes no longer fit in the layout.
    fn widen(&mut self, codes: &[Vec<u32>]) {
        let needed = |column: usize| bits_for(codes[column].iter().max().map_or(0, |m| *m as usize + 1));
        if (0..codes.len()).all(|c| needed(c) <= self.layout.bits(c)) {
            return;
        }
        let bits: Vec<u32> = (0..codes.len())
            .map(|c| match needed(c) {
                n if n <= self.layout.bits(c) => self.layout.bits(c),
                n => (n + 2).min(32),
            })
            .collect();
        let layout = PackedLayout::new(&bits);
        let mut keys = vec![0u64; self.grouper.len() * layout.words()];
        for (old, new) in self
            .grouper
            .keys()
            .chunks_exact(self.layout.words())
            .zip(keys.chunks_exact_mut(layout.words()))
        {
            for column in 0..codes.len() {
                let (word, part) = layout.place(column, self.layout.code(old, column));
                new[word] |= part;
            }
        }
        self.grouper = Grouper::new(layout.words());
        self.grouper.group(&keys, &mut self.groups);
        self.layout = layout;
    }

    /// Reserves the memory of the tally. Before that, writes uncounted keys to a file, and also the
    /// counts if they exceed the share. Fails with `ErrorKind::Resources` if the memory limit is
    /// reached and nothing more can be written to files.
    pub(crate) fn make_room(&mut self, columns: &Columns) -> Result<()> {
        let (keys, weights) = (std::mem::take(&mut self.unwritten), std::mem::take(&mut self.weights));
        if !keys.is_empty() {
            for detail in &mut self.details {
                detail.write(&self.layout, &keys, weights.as_counts(), &self.spill_space)?;
            }
            self.write(&keys, weights.as_counts())?;
        }
        if self.bytes() > self.share {
            self.spill()?;
        }
        if self.try_reserve(columns) {
            return Ok(());
        }
        self.spill()?;
        if self.try_reserve(columns) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Resources,
            format!(
                "the memory limit is reached with {} distinct combinations of quasi-identifier values in one partition \
                 after {} rows; raise --memory-limit, name fewer quasi-identifiers, or coarsen the finest of them in a \
                 query",
                self.grouper.len(),
                self.rows
            ),
        ))
    }

    /// Returns the memory of keys, counts and details, in bytes.
    fn bytes(&self) -> usize {
        let details: usize = self.details.iter().map(DetailTally::bytes_of_entries).sum();
        self.grouper.bytes() + self.counts.capacity() * 8 + details
    }

    fn try_reserve(&self, columns: &Columns) -> bool {
        let locals: usize = self.locals.iter().map(Local::memory).sum();
        let marginals: usize = self.marginals.iter().map(|m| m.capacity() * 8).sum();
        let details: usize = self.details.iter().map(DetailTally::bytes_of_views).sum();
        let dictionaries = if self.owns_dictionaries { columns.bytes() } else { 0 };
        let bytes = self.bytes() + locals + marginals + details + dictionaries;
        self.reservation.try_resize(bytes).is_ok()
    }
}

/// Adds the rows of packed keys to `marginals`, the number of rows by column and by code.
fn tally_marginals(layout: &PackedLayout, keys: &[u64], counts: Option<&[u64]>, marginals: &mut [Vec<u64>]) {
    for (column, marginal) in marginals.iter_mut().enumerate() {
        for (i, key) in keys.chunks_exact(layout.words()).enumerate() {
            let code = layout.code(key, column) as usize;
            if code >= marginal.len() {
                marginal.resize(code + 1, 0);
            }
            marginal[code] += counts.map_or(1, |counts| counts[i]);
        }
    }
}
