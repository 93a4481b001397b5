//! The released values of one quasi-identifier, in release order.
//!
//! Rows are ordered by their released values. Therefore labels are ordered by their texts, and not
//! by the values that they cover. An order by these values would reveal more than the labels.

use crate::base::error::Result;
use crate::method::canonical::one_spelling;
use crate::method::canonical::plain;
use crate::method::hierarchy::{Cover, LabelForm, Lookup, TOP, texts};
use arrow::array::{Array, ArrayRef, AsArray, StringArray, UInt32Array, new_null_array};
use arrow::compute::{SortOptions, cast, concat, take};
use arrow::datatypes::DataType;
use arrow::row::{RowConverter, SortField};
use std::sync::Arc;

/// The released values of one quasi-identifier.
#[derive(Debug)]
pub(super) struct Labels {
    /// The values in ascending order: texts in byte order, other values in the order of their type.
    /// NULL is last.
    pub(super) values: ArrayRef,
    /// True if the values are released as a dictionary of strings, false if they have the type of
    /// the column.
    pub(super) is_text: bool,
    /// The form of the labels. In a form other than TEXT, the released value of a row is an element
    /// of `values` and not the row's own value.
    pub(super) form: LabelForm,
    /// For each label, the index of its released value in `values`; `None` if this is always the
    /// index of the label.
    places: Option<Vec<u32>>,
    /// The index in `values` of the value that suppressed rows have: `*` in the form TEXT, and NULL
    /// in the other forms; `None` unless suppressed rows are starred.
    pub(super) star: Option<u32>,
}

impl Labels {
    /// Returns the labels of a level. Strings are released as a dictionary even at level 0, so that
    /// each string is copied once, and not once per row.
    pub(super) fn of_level(lookup: &Lookup, level: u8, starred: bool) -> Result<Self> {
        let labels = &lookup.level(level).labels;
        if level > 0 || starred || plain(labels.data_type()) == DataType::Utf8 {
            return Ok(Self::of_texts(&texts(labels)?, starred));
        }
        Ok(Self {
            values: Arc::clone(labels),
            is_text: false,
            form: LabelForm::Text,
            places: None,
            star: None,
        })
    }

    /// Returns the labels with these texts. `*` is added if suppressed rows are starred.
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
            form: LabelForm::Text,
            values: Arc::new(sorted.into_iter().collect::<StringArray>()),
        }
    }

    /// Returns the labels for a computed form. `values` contains the value of each label, or of
    /// each class if the form is computed for each class. Equal values are merged.
    pub(super) fn of_values(form: LabelForm, values: &ArrayRef, starred: bool) -> Result<Self> {
        let values = match values.data_type() {
            DataType::Struct(_) => Arc::clone(values),
            data_type => one_spelling(&cast(values, &plain(data_type))?)?,
        };
        let null = starred.then(|| new_null_array(values.data_type(), 1));
        let arrays: Vec<&dyn Array> = [&values].into_iter().chain(&null).map(|a| a.as_ref()).collect();
        let all = concat(&arrays)?;
        let ascending = SortOptions {
            descending: false,
            nulls_first: false,
        };
        let field = SortField::new_with_options(all.data_type().clone(), ascending);
        let rows = RowConverter::new(vec![field])?.convert_columns(std::slice::from_ref(&all))?;
        let mut order: Vec<u32> = (0..all.len() as u32).collect();
        order.sort_unstable_by(|a, b| rows.row(*a as usize).cmp(&rows.row(*b as usize)));
        let mut places = vec![0u32; all.len()];
        let mut firsts: Vec<u32> = vec![];
        for i in order {
            if firsts
                .last()
                .is_none_or(|last| rows.row(*last as usize) != rows.row(i as usize))
            {
                firsts.push(i);
            }
            places[i as usize] = firsts.len() as u32 - 1;
        }
        Ok(Self {
            values: take(&all, &UInt32Array::from(firsts), None)?,
            is_text: *all.data_type() == DataType::Utf8,
            form,
            star: places.get(values.len()).copied(),
            places: Some(places),
        })
    }

    /// Returns the check that labels cover the values of the column; `None` if the values
    /// themselves are released.
    pub(super) fn cover(&self, lookup: &Arc<Lookup>) -> Result<Option<Arc<Cover>>> {
        let texts = self.values.as_string_opt().filter(|_| self.is_text);
        let cover = texts.map(|texts| Cover::new(Arc::clone(lookup), texts.clone()));
        Ok(cover.transpose()?.map(Arc::new))
    }

    /// Returns the index in `values` of the released value of the label with index `label`.
    pub(super) fn place(&self, label: u32) -> u32 {
        match &self.places {
            // Rows that are not released have label index 0, even if there are no labels.
            Some(places) => places.get(label as usize).copied().unwrap_or(0),
            None => label,
        }
    }

    /// Replaces the label indices of a batch of rows with indices in `values`.
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
        // A label with the text `*` and the star of suppressed rows are merged, because they look
        // the same in the release.
        let top = Labels::of_texts(&StringArray::from(vec!["*"]), true);
        assert_eq!((top.place(0), top.star, top.values.len()), (0, Some(0), 1));
    }
}
