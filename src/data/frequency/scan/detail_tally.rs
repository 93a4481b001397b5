//! The counts of one detail in one partition of the first scan, in memory or in files.

use super::columns::DetailRequest;
use super::layout_files::LayoutFiles;
use super::weights::RowWeights;
use crate::base::error::{Error, Result};
use crate::base::spill::SpillSpace;
use crate::data::frequency::encode::{Local, Shared};
use crate::method::key::{PackedLayout, Sums};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use std::sync::Arc;

/// The number of entries whose keys are assembled in one batch.
const TOGETHER: usize = 1 << 14;

/// The counts of one detail, grouped by (class, code) or (class, entity, code).
#[derive(Debug)]
pub(crate) struct DetailTally {
    pub(crate) counts: Sums<u64>,
    /// The counts that were written to files. The key of an entry is the key of a combination,
    /// followed by one word for each code.
    files: LayoutFiles,
    /// The codes of rows that are to be written without being counted, and that are not yet in a
    /// file.
    unwritten: Vec<u64>,
    indices: Vec<usize>,
    locals: Vec<Local>,
}

impl DetailTally {
    pub(super) fn new(request: &DetailRequest, shared: &[Arc<Shared>], schema: &SchemaRef) -> Result<Self> {
        let position = |name: &str| Ok::<_, Error>(schema.index_of(name)?);
        let names = request.columns();
        Ok(Self {
            counts: Sums::new(names.len()),
            files: LayoutFiles::default(),
            unwritten: vec![],
            indices: names.into_iter().map(position).collect::<Result<_>>()?,
            locals: Local::views(shared, false)?,
        })
    }

    /// Returns the number of codes per entry.
    pub(crate) fn codes(&self) -> usize {
        self.indices.len()
    }

    /// Removes the entries that are in memory, and returns their keys and their counts.
    pub(crate) fn take(&mut self) -> (Vec<u64>, Vec<u64>) {
        let none = Sums::new(self.codes());
        std::mem::replace(&mut self.counts, none).into_parts()
    }

    /// Counts the rows of a batch. `classes` contains the index of the combination of each row.
    pub(super) fn add(&mut self, classes: &[u32], batch: &RecordBatch, weights: &RowWeights) -> Result<()> {
        let mut keys = self.encode(batch)?;
        let words = self.codes();
        for (key, class) in keys.chunks_exact_mut(words).zip(classes) {
            key[0] |= u64::from(*class) << 32;
        }
        self.counts
            .add(&keys, (0..classes.len()).map(|row| weights.of_row(row)));
        Ok(())
    }

    /// Encodes a batch whose rows are not counted, and keeps the codes for [`DetailTally::write`].
    pub(super) fn put_off(&mut self, batch: &RecordBatch) -> Result<()> {
        self.unwritten = self.encode(batch)?;
        Ok(())
    }

    /// Returns the codes of all rows of a batch, one row after another.
    fn encode(&mut self, batch: &RecordBatch) -> Result<Vec<u64>> {
        let words = self.codes();
        let mut rows = vec![0u64; batch.num_rows() * words];
        for (i, (local, index)) in self.locals.iter_mut().zip(&self.indices).enumerate() {
            let codes = local.encode(batch.column(*index))?;
            for (row, code) in rows.chunks_exact_mut(words).zip(&codes) {
                row[i] = u64::from(*code);
            }
        }
        Ok(rows)
    }

    /// Writes the entries to a file and clears them. `keys` contains the keys of the combinations
    /// to which the entries refer.
    pub(super) fn spill(&mut self, layout: &PackedLayout, keys: &[u64], spill_space: &SpillSpace) -> Result<()> {
        let codes = self.codes();
        let counts = std::mem::replace(&mut self.counts, Sums::new(codes));
        let files = &mut self.files;
        for_each_entry(&counts, (layout, keys), codes, |entries, counts| {
            files.append(layout, codes, spill_space, entries, Some(counts))
        })
    }

    /// Writes the rows of the last [`DetailTally::put_off`] to a file. `keys` contains the keys of
    /// their combinations. If `counts` is `None`, each row counts once.
    pub(super) fn write(
        &mut self,
        layout: &PackedLayout,
        keys: &[u64],
        counts: Option<&[u64]>,
        spill_space: &SpillSpace,
    ) -> Result<()> {
        let codes = std::mem::take(&mut self.unwritten);
        let rows = keys.chunks_exact(layout.words()).zip(codes.chunks_exact(self.codes()));
        let entries: Vec<u64> = rows.flat_map(|(key, codes)| key.iter().chain(codes).copied()).collect();
        self.files.append(layout, self.codes(), spill_space, &entries, counts)
    }

    /// Calls `f` with the layout of the keys and all entries with their counts, one block at a
    /// time, both for the entries in files and for the entries in memory. An entry is the key of a
    /// combination, followed by one word for each code. If the counts are `None`, each entry counts
    /// once.
    pub(super) fn for_each(
        &self,
        (layout, keys): (&PackedLayout, &[u64]),
        mut f: impl FnMut(&PackedLayout, &[u64], Option<&[u64]>) -> Result<()>,
    ) -> Result<()> {
        self.files.for_each(&mut f)?;
        for_each_entry(&self.counts, (layout, keys), self.codes(), |entries, counts| {
            f(layout, entries, Some(counts))
        })
    }

    /// Returns the memory of the entries, in bytes.
    pub(super) fn bytes_of_entries(&self) -> usize {
        self.counts.bytes()
    }

    /// Returns the memory of this partition's views of the dictionaries, in bytes.
    pub(super) fn bytes_of_views(&self) -> usize {
        self.locals.iter().map(Local::memory).sum()
    }
}

/// Calls `f` with the entries in memory, in the format in which they are written to files.
fn for_each_entry(
    counts: &Sums<u64>,
    (layout, keys): (&PackedLayout, &[u64]),
    codes: usize,
    mut f: impl FnMut(&[u64], &[u64]) -> Result<()>,
) -> Result<()> {
    let words = layout.words();
    for (own, counts) in counts
        .keys()
        .chunks(TOGETHER * codes)
        .zip(counts.sums().chunks(TOGETHER))
    {
        let mut entries = Vec::with_capacity(counts.len() * (words + codes));
        for entry in own.chunks_exact(codes) {
            let class = (entry[0] >> 32) as usize;
            entries.extend_from_slice(&keys[class * words..(class + 1) * words]);
            entries.push(u64::from(entry[0] as u32));
            entries.extend_from_slice(&entry[1..]);
        }
        f(&entries, counts)?;
    }
    Ok(())
}
