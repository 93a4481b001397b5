//! Recounts Pleak on the returned rows, while they still have the columns that the recount needs.
//!
//! The recount shares no code with the generalization: it compares the texts of the released values
//! with the texts of the ancestors of each row's original value in the hierarchy.

use crate::base::error::Result;
use crate::method::hierarchy::{Label, LabelTexts, Lookup};
use arrow::array::{Array, StringArray};
use std::collections::HashMap;

/// For each ground code, DCorrelate by released text: 1 for the text of the code itself, and 1 /
/// leaves for the text of an ancestor.
#[derive(Debug)]
pub(super) struct Recount {
    correlates: Vec<Correlates>,
}

/// The DCorrelate values for one ground code, by released text and for a released NULL.
#[derive(Debug, Default)]
struct Correlates {
    texts: HashMap<String, f64>,
    null: Option<f64>,
}

/// The maximum amount by which a leak may exceed its limit because of rounding in a sum of
/// quotients.
const TOLERANCE: f64 = 1e-9;

impl Recount {
    pub(super) fn new(lookup: &Lookup) -> Result<Self> {
        let mut texts = LabelTexts::new(lookup);
        let mut correlates = vec![];
        for code in 0..lookup.values().len() as u32 {
            let mut of_code = Correlates::default();
            for level in 0..=lookup.top() {
                let label = Label::at(lookup, level, code);
                let told = 1.0 / label.leaves(lookup).max(1) as f64;
                // A text counts with the lowest level at which it occurs, where it covers the
                // fewest leaves.
                match texts.text(label)? {
                    Some(text) => of_code.texts.entry(text).or_insert(told),
                    None => of_code.null.get_or_insert(told),
                };
            }
            correlates.push(of_code);
        }
        Ok(Self { correlates })
    }

    /// Returns the number of rows in one class whose leak exceeds their limit. `own` contains the
    /// original values of the rows, `released` the released texts, and `limits` the limits.
    pub(super) fn above(&self, own: &[u32], released: &StringArray, limits: &[f64]) -> u64 {
        let mut counts: HashMap<Option<&str>, usize> = HashMap::new();
        released.iter().for_each(|text| *counts.entry(text).or_default() += 1);
        let mut leaks: HashMap<u32, f64> = HashMap::new();
        let leak = |value: u32| {
            let Correlates { texts, null } = &self.correlates[value as usize];
            let told = |(text, n): (&Option<&str>, &usize)| {
                let told = text.map_or(*null, |text| texts.get(text).copied());
                told.map_or(0.0, |told| told * *n as f64)
            };
            counts.iter().map(told).sum::<f64>() / released.len() as f64
        };
        let exceeds = |(value, limit): &(&u32, &f64)| {
            *leaks.entry(**value).or_insert_with(|| leak(**value)) > **limit + TOLERANCE
        };
        own.iter().zip(limits).filter(exceeds).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::recode::personal::tests::diseases;

    #[test]
    fn rows_above_their_limits_are_counted() {
        let recount = Recount::new(&diseases()).unwrap();
        let released = |texts: [&str; 3]| StringArray::from(texts.to_vec());
        // The original values are pneumonia, pneumonia and dyspepsia.
        let own = [4, 4, 1];
        let above = |texts, limits: [f64; 3]| recount.above(&own, &released(texts), &limits);
        let plain = ["pneumonia", "pneumonia", "dyspepsia"];
        assert_eq!(above(plain, [0.66, 0.67, 0.3]), 2);
        assert_eq!(above(plain, [0.67, 0.67, 0.34]), 0);
        // (1 + 1/3) / 3 = 0.444 for pneumonia; each `*` counts as 1/5 for every value.
        assert_eq!(above(["lung", "pneumonia", "dyspepsia"], [0.44, 0.45, 0.34]), 1);
        assert_eq!(above(["*", "*", "*"], [0.19, 0.21, 0.21]), 1);
    }
}
