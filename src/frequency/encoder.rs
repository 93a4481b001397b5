//! Values to the codes of a lookup table, for the second scan.

use super::grouper::Grouper;
use super::interner::{Local, Shared};
use super::set::FrequencySet;
use crate::error::{Error, Result};
use arrow::array::{Array, ArrayRef};
use std::sync::Arc;

/// Answers the ground codes of a column's values.
#[derive(Debug)]
pub struct Encoder {
    local: Local,
    column: String,
    known: u32,
}

impl Encoder {
    /// An encoder whose code of a value is its position in `values`.
    pub fn new(column: &str, values: &ArrayRef) -> Result<Self> {
        let shared = Arc::new(Shared::new(column, values.data_type())?);
        let mut local = Local::new(shared, true);
        local.encode(values)?;
        Ok(Self {
            local,
            column: column.into(),
            known: values.len() as u32,
        })
    }

    /// The code of every row. A value that was not there in the first scan is an error: the source has changed.
    pub fn encode(&mut self, array: &ArrayRef) -> Result<Vec<u32>> {
        let codes = self.local.encode(array)?;
        if codes.iter().any(|code| *code >= self.known) {
            return Err(Error::data(format!(
                "column {} holds values that it did not hold in the first scan: the source changed during the run",
                self.column
            )));
        }
        Ok(codes)
    }
}

/// A set of packed keys.
#[derive(Debug)]
pub struct KeySet {
    grouper: Grouper,
}

impl KeySet {
    /// The keys of the entries of `set` that `choose` picks.
    pub fn new(set: &FrequencySet, choose: impl Fn(usize) -> bool) -> Self {
        let mut grouper = Grouper::new(set.words());
        let keys: Vec<u64> = (0..set.len())
            .filter(|i| choose(*i))
            .flat_map(|i| set.key(i).iter().copied())
            .collect();
        grouper.group(&keys, &mut vec![]);
        Self { grouper }
    }

    /// Whether `key` is one of them.
    #[inline]
    pub fn contains(&self, key: &[u64]) -> bool {
        self.grouper.find(key).is_some()
    }
}
