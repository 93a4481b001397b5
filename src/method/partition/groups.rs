//! Partitions: the groups that a partitioning algorithm returns, with their labels.

use crate::base::error::{Error, Result};
use crate::method::hierarchy::{Label, LabelTexts, Lookup};
use arrow::array::StringArray;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

/// A partition: the group of every distinct combination, and one label per column for every group.
///
/// No two groups have the same labels. Readers of the release could not distinguish two groups with
/// the same labels. Such groups are one equivalence class, so they are merged into one group. For
/// the same reason, labels are compared by their texts. Groups are numbered in the order of their
/// labels' texts. So the numbers do not reveal the order in which an algorithm found the groups, or
/// the values under the labels.
#[derive(Debug)]
pub struct Partition {
    groups: Vec<u32>,
    len: usize,
    labels: Vec<Vec<Label>>,
    texts: Vec<Arc<StringArray>>,
    cells: Vec<Vec<u32>>,
}

impl Partition {
    /// Returns the partition in which combination `i` is in group `groups[i]` and
    /// `cells[column][group]` is the label of that group. Fails if a group has no label.
    pub fn new<'a>(
        lookups: impl IntoIterator<Item = &'a Lookup>,
        groups: Vec<u32>,
        cells: Vec<Vec<Label>>,
    ) -> Result<Self> {
        let found = cells.first().map_or(0, Vec::len);
        if cells.iter().any(|c| c.len() != found) || groups.iter().any(|g| *g as usize >= found) {
            return Err(Error::internal("a partition whose groups are not all labelled"));
        }
        let (mut labels, mut texts, mut codes) = (vec![], vec![], vec![]);
        for (lookup, column) in lookups.into_iter().zip(&cells) {
            let (distinct, text, of_group) = distinct(lookup, column)?;
            labels.push(distinct);
            texts.push(Arc::new(text));
            codes.push(of_group);
        }
        let compare = |a: &u32, b: &u32| {
            let columns = codes.iter().map(|c| c[*a as usize].cmp(&c[*b as usize]));
            columns.fold(Ordering::Equal, Ordering::then)
        };
        let mut order: Vec<u32> = (0..found as u32).collect();
        order.sort_unstable_by(compare);
        let mut merged = vec![0u32; found];
        let mut firsts: Vec<u32> = vec![];
        for group in order {
            if firsts.last().is_none_or(|last| compare(last, &group).is_ne()) {
                firsts.push(group);
            }
            merged[group as usize] = firsts.len() as u32 - 1;
        }
        Ok(Self {
            groups: groups.into_iter().map(|g| merged[g as usize]).collect(),
            len: firsts.len(),
            cells: codes
                .iter()
                .map(|c| firsts.iter().map(|g| c[*g as usize]).collect())
                .collect(),
            labels,
            texts,
        })
    }

    /// Returns the number of groups.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks whether there is none")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the group of each combination.
    pub fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// Returns the distinct labels of a column, ordered by their texts.
    pub fn labels(&self, column: usize) -> &[Label] {
        &self.labels[column]
    }

    /// Returns the texts of [`Partition::labels`]. The value NULL has the text NULL.
    pub fn texts(&self, column: usize) -> &Arc<StringArray> {
        &self.texts[column]
    }

    /// Returns, for each group, the index of its label in [`Partition::labels`] of a column.
    pub fn cells(&self, column: usize) -> &[u32] {
        &self.cells[column]
    }

    /// Returns the memory of the groups and cells in bytes, without the distinct labels and their
    /// texts.
    pub fn bytes(&self) -> usize {
        let cells: usize = self.cells.iter().map(|c| c.len() * 4).sum();
        self.groups.len() * 4 + cells
    }
}

/// Returns the labels of `column`, distinct by text and sorted by text with NULL last, and their
/// texts. The last part is the index of each label of `column` among the distinct labels.
fn distinct(lookup: &Lookup, column: &[Label]) -> Result<(Vec<Label>, StringArray, Vec<u32>)> {
    let mut sorted: Vec<Label> = column.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut writer = LabelTexts::new(lookup);
    let named = sorted.into_iter().map(|label| {
        let text = writer.text(label)?;
        Ok((text.is_none(), text, label))
    });
    let mut named = named.collect::<Result<Vec<_>>>()?;
    named.sort_unstable();
    let mut index: HashMap<Label, u32> = HashMap::new();
    let (mut labels, mut texts): (Vec<Label>, Vec<Option<String>>) = (vec![], vec![]);
    for (_, text, label) in named {
        match labels.last_mut().filter(|_| texts.last() == Some(&text)) {
            // A wider and a narrower group have the same text, so the text reveals no more than the
            // wider group.
            Some(wider) if label.leaves(lookup) > wider.leaves(lookup) => *wider = label,
            Some(_) => {}
            None => {
                labels.push(label);
                texts.push(text);
            }
        }
        index.insert(label, labels.len() as u32 - 1);
    }
    let of_group = column.iter().map(|l| index[l]).collect();
    Ok((labels, StringArray::from(texts), of_group))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::hierarchy::{Hierarchy, OnNull, OnUnmapped, values};

    /// Returns a lookup table in which levels 0 and 1 both have a group `a` with the single value
    /// `a`.
    fn lookup() -> Lookup {
        let rows = [["a", "a", "*"], ["b", "bc", "*"], ["c", "bc", "*"]];
        let rows: Vec<Vec<Option<String>>> = rows
            .iter()
            .map(|r| r.iter().map(|v| Some(v.to_string())).collect())
            .collect();
        let table = values::listed(&rows).unwrap();
        let hierarchy = Hierarchy::new("h", Arc::new(table), OnUnmapped::Error, OnNull::Value).unwrap();
        hierarchy
            .bind(Arc::new(StringArray::from(vec!["a", "b", "c"])))
            .unwrap()
    }

    #[test]
    fn groups_that_cannot_be_told_apart_are_one() {
        let lookup = lookup();
        let at = |level, code| Label::at(&lookup, level, code);
        let lookups = [&lookup, &lookup];
        let first = vec![at(1, 1), at(0, 0), at(1, 2), at(1, 0)];
        let second = vec![at(2, 0); 4];
        let partition = Partition::new(lookups, vec![3, 2, 1, 0, 0], vec![first, second]).unwrap();
        assert_eq!(partition.len(), 2);
        assert_eq!(partition.groups(), [0, 1, 0, 1, 1]);
        let texts: Vec<Option<&str>> = partition.texts(0).iter().collect();
        assert_eq!(texts, [Some("a"), Some("bc")]);
        assert_eq!((partition.cells(0), partition.cells(1)), (&[0, 1][..], &[0, 0][..]));
    }

    #[test]
    fn every_group_is_labelled() {
        let lookup = lookup();
        assert!(Partition::new([&lookup], vec![1], vec![vec![Label::at(&lookup, 0, 0)]]).is_err());
        let none = Partition::new([&lookup], vec![], vec![vec![]]).unwrap();
        assert_eq!(none.len(), 0);
    }
}
