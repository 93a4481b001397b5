//! Numbers the classes of a release in release order, and finds the class of a row by the order key
//! of the row.

use crate::base::error::Result;
use crate::data::frequency::FrequencySet;
use crate::data::recode::{ORDER_PREFIX, RecodingPlan, SUPPRESSED};
use crate::method::key::Grouper;
use arrow::array::{AsArray, BooleanArray, RecordBatch};
use arrow::datatypes::UInt64Type;

/// The numbers of the kept classes, counted from 0.
#[derive(Debug)]
pub struct Numbering {
    grouper: Grouper,
    words: usize,
}

impl Numbering {
    /// Numbers the classes for which `kept` is true, in ascending order of their labels.
    pub fn new(recoding: &RecodingPlan, classes: &FrequencySet, kept: &[bool]) -> Self {
        let mut keys: Vec<Vec<u64>> = (0..classes.len())
            .filter(|i| kept[*i])
            .map(|i| recoding.order_key(classes, i))
            .collect();
        keys.sort_unstable();
        let words = recoding.order_words();
        let mut grouper = Grouper::new(words);
        grouper.group(&keys.concat(), &mut vec![]);
        Self { grouper, words }
    }

    /// Returns the number of classes.
    pub fn classes(&self) -> usize {
        self.grouper.len()
    }

    /// Returns the class number of each row; `None` for a suppressed row.
    pub fn of(&self, batch: &RecordBatch) -> Result<Vec<Option<u32>>> {
        let schema = batch.schema();
        let columns: Vec<&[u64]> = (0..batch.num_columns())
            .filter(|i| schema.field(*i).name() != SUPPRESSED && schema.field(*i).name().starts_with(ORDER_PREFIX))
            .map(|i| &batch.column(i).as_primitive::<UInt64Type>().values()[..])
            .collect();
        let suppressed: Option<&BooleanArray> = batch.column_by_name(SUPPRESSED).map(|c| c.as_boolean());
        let mut key = vec![0; self.words];
        // Rows of the same class are often adjacent, so the last number is tried first.
        let mut last: Option<Option<u32>> = None;
        let mut found = Vec::with_capacity(batch.num_rows());
        for row in 0..batch.num_rows() {
            let same = columns.iter().zip(&key).all(|(column, word)| column[row] == *word);
            let number = match last {
                Some(number) if same => number,
                _ => {
                    key.iter_mut()
                        .zip(&columns)
                        .for_each(|(word, column)| *word = column[row]);
                    self.grouper.find(&key)
                }
            };
            last = Some(number);
            found.push(number.filter(|_| suppressed.is_none_or(|s| !s.value(row))));
        }
        Ok(found)
    }
}
