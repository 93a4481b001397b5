//! Translates the codes of a scan, which are in order of first appearance, to the codes of a key
//! schema.

use crate::base::error::Result;
use crate::base::spill::SpillSpace;
use crate::data::frequency::key_file::KeyFile;
use crate::data::frequency::scan::Tally;
use crate::method::key::PackedLayout;

/// The parts of packed keys that belong to the codes of a scan.
pub(crate) struct KeyParts {
    /// The word index and the bits of each code in a packed key, by column and by code of the scan;
    /// `None` if rows with the code are suppressed.
    pub(super) columns: Vec<Vec<Option<(usize, u64)>>>,
    /// The number of words of a packed key.
    pub(super) words: usize,
}

impl KeyParts {
    /// Writes the combinations of one tally to a new file, with the codes of a key schema. Also
    /// returns the number of rows that are suppressed because of an unmapped value.
    pub(super) fn recode(&self, tally: &Tally, spill_space: &SpillSpace) -> Result<(KeyFile, u64)> {
        let mut recoded = KeyFile::new(spill_space.overflow("counting combinations")?, self.words);
        let mut unmapped = 0;
        tally.for_each(|layout, keys, counts| {
            let (keys, mapped) = self.encode(layout, keys.chunks_exact(layout.words()));
            let rows = mapped
                .iter()
                .enumerate()
                .map(|(i, mapped)| (*mapped, counts.map_or(1, |counts| counts[i])));
            let (kept, suppressed): (Vec<_>, Vec<_>) = rows.partition(|(mapped, _)| *mapped);
            unmapped += suppressed.iter().map(|(_, n)| n).sum::<u64>();
            recoded.append(&keys, Some(&kept.into_iter().map(|(_, n)| n).collect::<Vec<u64>>()))
        })?;
        Ok((recoded, unmapped))
    }

    /// Writes the entries of one tally's detail to a new file, with the codes of a key schema. An
    /// entry is the key of a class, followed by the code that `code` computes from the entry's
    /// codes in the scan. Also returns the number of rows with each code below `values`, which
    /// includes the rows that are suppressed because of an unmapped value.
    pub(super) fn recode_detail(
        &self,
        tally: &Tally,
        detail: usize,
        code: impl Fn(&[u64]) -> u64,
        values: usize,
        spill_space: &SpillSpace,
    ) -> Result<(KeyFile, Vec<u64>)> {
        let overflow = spill_space.overflow("counting combinations")?;
        let (mut recoded, mut rows) = (KeyFile::new(overflow, self.words + 1), vec![0; values]);
        let further = tally.details[detail].codes();
        tally.for_each_of_detail(detail, |layout, entries, counts| {
            let old = layout.words();
            let chunks = entries.chunks_exact(old + further);
            let (keys, mapped) = self.encode(layout, chunks.clone().map(|entry| &entry[..old]));
            let (mut keys, mut kept, mut kept_counts) = (keys.chunks_exact(self.words), vec![], vec![]);
            for (i, (entry, mapped)) in chunks.zip(mapped).enumerate() {
                let (code, count) = (code(&entry[old..]), counts.map_or(1, |counts| counts[i]));
                if let Some(rows) = rows.get_mut(code as usize) {
                    *rows += count;
                }
                if let Some(key) = mapped.then(|| keys.next()).flatten() {
                    kept.extend_from_slice(key);
                    kept.push(code);
                    kept_counts.push(count);
                }
            }
            recoded.append(&kept, Some(&kept_counts))
        })?;
        Ok((recoded, rows))
    }

    /// Translates keys from the codes of a scan to the codes of a key schema, and omits the
    /// suppressed keys. Also returns, for each input key, true if the key was kept.
    pub(super) fn encode<'a>(
        &self,
        layout: &PackedLayout,
        from: impl ExactSizeIterator<Item = &'a [u64]>,
    ) -> (Vec<u64>, Vec<bool>) {
        let words = self.words;
        let (mut keys, mut mapped) = (Vec::with_capacity(from.len() * words), Vec::with_capacity(from.len()));
        for old in from {
            let at = keys.len();
            keys.resize(at + words, 0);
            let known = self.columns.iter().enumerate().all(|(column, parts)| {
                let part = parts[layout.code(old, column) as usize];
                part.map(|(word, bits)| keys[at + word] |= bits).is_some()
            });
            if !known {
                keys.truncate(at);
            }
            mapped.push(known);
        }
        (keys, mapped)
    }
}
