//! Base sets for some of the rows of a table. They do not depend on the other rows of the table.

use super::base::{Base, BaseSet};
use super::frequency_set::FrequencySet;
use super::slices::sorted;
use crate::base::error::Result;
use crate::method::hierarchy::Lookup;
use crate::method::key::KeySchema;
use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute::take;
use std::sync::Arc;

impl Base {
    /// Returns the base set of a table that has `counts[i]` rows from class `i` of this set, and no
    /// details. A class with no rows is omitted. In each column, the new table has one value for
    /// each label of the remaining classes: the value of the label's representative. `bind` binds
    /// the hierarchy of the column to these values. Therefore, the result contains no other values
    /// of this table.
    ///
    /// Fails with `ErrorKind::Resources` if this set is in files.
    pub fn kept(&self, counts: &[u64], bind: impl Fn(usize, ArrayRef) -> Result<Lookup>) -> Result<Self> {
        let set = self.held()?;
        let kept: Vec<usize> = (0..set.len()).filter(|class| counts[*class] > 0).collect();
        let layout = self.key_schema.layout();
        let mut lookups = vec![];
        let mut columns = vec![];
        let mut marginals = vec![];
        for (column, lookup) in self.key_schema.lookups().iter().enumerate() {
            let codes: Vec<u32> = kept.iter().map(|class| layout.code(set.key(*class), column)).collect();
            let mut there = codes.clone();
            there.sort_unstable();
            there.dedup();
            let own: Vec<u32> = codes
                .iter()
                .map(|code| there.partition_point(|c| c < code) as u32)
                .collect();
            let mut marginal = vec![0; there.len()];
            for (code, class) in own.iter().zip(&kept) {
                marginal[*code as usize] += counts[*class];
            }
            let values = take(lookup.values(), &UInt32Array::from(there), None)?;
            lookups.push(Arc::new(bind(column, values)?));
            columns.push(own);
            marginals.push(marginal);
        }
        let key_schema = Arc::new(KeySchema::new(lookups));
        let layout = key_schema.layout();
        let mut keys = vec![0; kept.len() * layout.words()];
        for (column, codes) in columns.iter().enumerate() {
            layout.pack_column(column, codes, &mut keys);
        }
        let counts: Vec<u64> = kept.iter().map(|class| counts[*class]).collect();
        let rows = counts.iter().sum();
        let (keys, counts) = sorted(layout.words(), keys, counts);
        let set = FrequencySet::new(set.node().clone(), layout.words(), keys, counts);
        Ok(Self {
            key_schema,
            set: BaseSet::Held(Arc::new(set)),
            rows,
            unmapped_rows: 0,
            unmapped_people: 0,
            marginals,
            attributes: vec![],
            merged_sizes: None,
        })
    }
}
