//! The values that a release has in one quasi-identifier, in the order of the release.
//!
//! Rows are ordered by what is released of them. The order of labels is therefore that of their texts, and not that of
//! the values under them: an order that knows more than the labels tells more than they do.

use crate::error::Result;
use crate::hierarchy::{Cover, Lookup, TOP};
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use std::sync::Arc;

/// The released values of one quasi-identifier.
#[derive(Debug)]
pub(super) struct Labels {
    /// Ascending: texts by their bytes, other values as their type orders them, NULL last.
    pub(super) values: ArrayRef,
    /// Whether they are released as labels and indices, and not as the column's own values.
    pub(super) is_text: bool,
    /// By number of a label its place among the values; `None` where that is the same.
    places: Option<Vec<u32>>,
    /// The place of `*`, where suppressed rows stay.
    pub(super) star: Option<u32>,
}

impl Labels {
    /// Those of a level. Text is released as labels and indices at level 0 too: it is copied once a value, not once a row.
    pub(super) fn of_level(lookup: &Lookup, level: u8, starred: bool) -> Result<Self> {
        let labels = &lookup.level(level).labels;
        if level > 0 || starred || super::plain_type::plain(labels.data_type()) == DataType::Utf8 {
            return Ok(Self::of_texts(cast(labels, &DataType::Utf8)?.as_string(), starred));
        }
        Ok(Self {
            values: Arc::clone(labels),
            is_text: false,
            places: None,
            star: None,
        })
    }

    /// Those of a partition's column, and `*` where suppressed rows stay.
    pub(super) fn of_texts(texts: &StringArray, starred: bool) -> Self {
        let star = starred.then_some(Some(TOP));
        let mut sorted: Vec<Option<&str>> = texts.iter().chain(star).collect();
        sorted.sort_unstable_by(|a, b| (a.is_none(), a).cmp(&(b.is_none(), b)));
        sorted.dedup();
        let place = |text: Option<&str>| sorted.partition_point(|t| (t.is_none(), *t) < (text.is_none(), text)) as u32;
        let is_same = sorted.len() == texts.len() && sorted.iter().copied().eq(texts);
        Self {
            places: (!is_same).then(|| texts.iter().map(place).collect()),
            star: star.map(place),
            is_text: true,
            values: Arc::new(sorted.into_iter().collect::<StringArray>()),
        }
    }

    /// What holds labels against the values of the column; nothing where these are released themselves.
    pub(super) fn cover(&self, lookup: &Arc<Lookup>) -> Result<Option<Arc<Cover>>> {
        let texts = self.values.as_string_opt().filter(|_| self.is_text);
        let cover = texts.map(|texts| Cover::new(Arc::clone(lookup), texts.clone()));
        Ok(cover.transpose()?.map(Arc::new))
    }

    /// The place of label number `label`.
    pub(super) fn place(&self, label: u32) -> u32 {
        match &self.places {
            // Rows that are not released have a number too where there are no labels.
            Some(places) => places.get(label as usize).copied().unwrap_or(0),
            None => label,
        }
    }

    /// The same for a batch of rows.
    pub(super) fn place_all(&self, labels: &mut [u32]) {
        if self.places.is_some() {
            labels.iter_mut().for_each(|label| *label = self.place(*label));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_ordered_by_their_texts() {
        let texts = StringArray::from(vec![Some("9-20"), None, Some("[1, 5]"), Some("10")]);
        let labels = Labels::of_texts(&texts, true);
        let expected = StringArray::from(vec![Some("*"), Some("10"), Some("9-20"), Some("[1, 5]"), None]);
        assert_eq!(labels.values.as_string::<i32>(), &expected);
        let mut all = [0, 1, 2, 3];
        labels.place_all(&mut all);
        assert_eq!((all, labels.star), ([2, 4, 3, 1], Some(0)));
        // A label that reads `*` is the same to a reader.
        let top = Labels::of_texts(&StringArray::from(vec!["*"]), true);
        assert_eq!((top.place(0), top.star, top.values.len()), (0, Some(0), 1));
    }
}
