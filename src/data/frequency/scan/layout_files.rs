//! Packed keys in files. The keys of each file have the layout that the codes required when the
//! file was written.

use crate::base::error::Result;
use crate::base::spill::SpillSpace;
use crate::data::frequency::key_file::KeyFile;
use crate::method::key::PackedLayout;

/// Files of packed keys with their counts.
#[derive(Debug, Default)]
pub(super) struct LayoutFiles(Vec<(PackedLayout, KeyFile)>);

impl LayoutFiles {
    /// Appends keys with the layout `layout`, each followed by `more` further words. If the counts
    /// are `None`, each key counts once.
    pub(super) fn append(
        &mut self,
        layout: &PackedLayout,
        more: usize,
        spill_space: &SpillSpace,
        keys: &[u64],
        counts: Option<&[u64]>,
    ) -> Result<()> {
        if self.0.last().is_none_or(|(last, _)| last != layout) {
            let overflow = spill_space.overflow("counting combinations")?;
            self.0
                .push((layout.clone(), KeyFile::new(overflow, layout.words() + more)));
        }
        match self.0.last_mut() {
            Some((_, file)) => file.append(keys, counts),
            None => Ok(()),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Calls `f` with the layout of the keys and all keys with their counts, one block at a time.
    pub(super) fn for_each(
        &self,
        mut f: impl FnMut(&PackedLayout, &[u64], Option<&[u64]>) -> Result<()>,
    ) -> Result<()> {
        for (layout, file) in &self.0 {
            file.for_each(|keys, counts| f(layout, keys, counts).map(|()| true))?;
        }
        Ok(())
    }
}
