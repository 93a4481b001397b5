//! Released values: a group of a hierarchy at one level, or a range of values.

use super::instant::texts;
use super::lookup::Lookup;
use crate::base::error::Result;
use arrow::array::{Array, StringArray};
use std::collections::HashMap;

/// A released value of one column. The codes are ground codes, which are the indices of values in
/// the [`Lookup`] of the column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label {
    /// The label of ground code `code` at `level`. [`Label::at`] sets `code` to the representative
    /// of the group, so that two values that it creates are equal if and only if they denote the
    /// same group at the same level.
    Level {
        /// The level.
        level: u8,
        /// The ground code of a value that has this label.
        code: u32,
    },
    /// The numbers, dates or timestamps from the value with ground code `low` to the value with
    /// ground code `high`, both inclusive.
    Range {
        /// The ground code of the minimum.
        low: u32,
        /// The ground code of the maximum.
        high: u32,
    },
    /// A range with both ends moved outward to lines of the column's grid, see [`Label::rounded`].
    Rounded {
        /// The ground code of the first value in the range.
        low: u32,
        /// The ground code of the last value in the range.
        high: u32,
    },
}

impl Label {
    /// Returns the label of `code` at `level`.
    pub fn at(lookup: &Lookup, level: u8, code: u32) -> Self {
        Label::Level {
            level,
            code: lookup.level(level).representatives[code as usize],
        }
    }

    /// Returns the lowest common ancestor of the ground codes `codes`, at level `level` or above.
    pub fn ancestor(lookup: &Lookup, level: u8, codes: impl IntoIterator<Item = u32>) -> Self {
        let mut codes = codes.into_iter();
        let first = codes.next().unwrap_or(0);
        let mut level = level;
        for code in codes {
            let same = |level: u8| {
                let codes = &lookup.level(level).codes;
                codes[code as usize] == codes[first as usize]
            };
            while level < lookup.top() && !same(level) {
                level += 1;
            }
        }
        Self::at(lookup, level, first)
    }

    /// Returns the label of the values from `low` to `high` in a column with an order: the label at
    /// level 0 if `low` and `high` share that label, and otherwise a range. If NULL is among
    /// several values, the label is the top, because a range cannot contain NULL. If a code hides
    /// the value at an end, the range is open at this end. If both ends would be open, the label is
    /// the top.
    pub fn range(lookup: &Lookup, low: u32, high: u32) -> Self {
        let ground = lookup.level(0);
        if ground.codes[low as usize] == ground.codes[high as usize] {
            return Self::at(lookup, 0, low);
        }
        if lookup.values().is_null(high as usize) || lookup.is_open(low, high) == (true, true) {
            return Self::at(lookup, lookup.top(), low);
        }
        let (low, high) = lookup.unhidden(low, high);
        Label::Range { low, high }
    }

    /// Returns the same as [`Label::range`], but with ends that do not reveal a value of the group.
    /// If the column has no grid, returns the lowest common ancestor of the values.
    pub fn rounded(lookup: &Lookup, low: u32, high: u32) -> Self {
        match (Self::range(lookup, low, high), lookup.grid()) {
            (Label::Range { low, high }, Some(grid)) => {
                let (low, high) = grid.widened(low, high);
                match grid.texts(low, high) {
                    (None, None) => Self::at(lookup, lookup.top(), low),
                    _ => Label::Rounded { low, high },
                }
            }
            (Label::Range { low, high }, None) => Self::ancestor(lookup, 0, low..=high),
            (label, _) => label,
        }
    }

    /// Returns the number of leaves in a rounded range, and the minimum and the maximum of these
    /// leaves.
    fn within(lookup: &Lookup, low: u32, high: u32) -> (u64, Option<(f64, f64)>) {
        let ends = lookup.grid().map(|grid| grid.ends(low, high));
        ends.map_or((0, None), |ends| lookup.leaves_within(ends, (low, high)))
    }

    /// Returns the number of leaves of the hierarchy under the label.
    pub fn leaves(self, lookup: &Lookup) -> u64 {
        match self {
            Label::Level { level, code } => {
                let level = lookup.level(level);
                level.leaves[level.codes[code as usize] as usize]
            }
            Label::Range { low, high } => lookup.leaves_between(low, high),
            Label::Rounded { low, high } => Self::within(lookup, low, high).0,
        }
    }

    /// Returns the minimum and the maximum ground value under the label. Returns `None` unless the
    /// column contains numbers, dates or timestamps.
    pub fn extent(self, lookup: &Lookup) -> Option<(f64, f64)> {
        match self {
            Label::Level { level, code } => {
                let level = lookup.level(level);
                let extents = level.extents.as_ref()?;
                Some(extents[level.codes[code as usize] as usize])
            }
            Label::Range { low, high } => {
                let ground = lookup.extents()?;
                Some((ground[low as usize].0, ground[high as usize].1))
            }
            Label::Rounded { low, high } => Self::within(lookup, low, high).1,
        }
    }
}

/// Converts the labels of one column to text.
#[derive(Debug)]
pub struct LabelTexts<'a> {
    lookup: &'a Lookup,
    /// The labels of each level as text. A level is added when it is first needed.
    levels: HashMap<u8, StringArray>,
}

impl<'a> LabelTexts<'a> {
    /// Creates the converter for the labels of `lookup`.
    pub fn new(lookup: &'a Lookup) -> Self {
        Self {
            lookup,
            levels: HashMap::new(),
        }
    }

    /// Returns the text of a label; `None` for NULL at level 0.
    pub fn text(&mut self, label: Label) -> Result<Option<String>> {
        match label {
            Label::Level { level, code } => self.at(level, code),
            Label::Range { low, high } => {
                let is_open = self.lookup.is_open(low, high);
                let low = if is_open.0 { None } else { self.at(0, low)? };
                let high = if is_open.1 { None } else { self.at(0, high)? };
                Ok(spelled(low.as_deref(), high.as_deref()))
            }
            Label::Rounded { low, high } => {
                let ends = self.lookup.grid().map(|grid| grid.texts(low, high));
                Ok(ends.and_then(|(low, high)| spelled(low, high)))
            }
        }
    }

    fn at(&mut self, level: u8, code: u32) -> Result<Option<String>> {
        let labels = self.lookup.level(level);
        if let std::collections::hash_map::Entry::Vacant(free) = self.levels.entry(level) {
            free.insert(texts(&labels.labels)?);
        }
        let (texts, label) = (&self.levels[&level], labels.codes[code as usize] as usize);
        Ok((!texts.is_null(label)).then(|| texts.value(label).to_string()))
    }
}

/// Returns the text of a range. `None` as an end means that the end is open. Returns `None` if both
/// ends are open.
fn spelled(low: Option<&str>, high: Option<&str>) -> Option<String> {
    match (low, high) {
        (Some(low), Some(high)) => Some(format!("[{low}, {high}]")),
        (Some(low), None) => Some(format!(">={low}")),
        (None, Some(high)) => Some(format!("<={high}")),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::hierarchy::{Hierarchy, OnNull, OnUnmapped, values};
    use arrow::array::Int64Array;
    use std::sync::Arc;

    /// Returns a lookup with the groups low (1 and 2) and high (5 and 9). The hierarchy also lists
    /// 3 as low, but 3 is not in the column. NULL is in the column.
    fn lookup() -> Lookup {
        let row = |value: &str, group: &str| vec![Some(value.into()), Some(group.into()), Some("*".into())];
        let rows = [("1", "low"), ("2", "low"), ("3", "low"), ("5", "high"), ("9", "high")];
        let rows: Vec<Vec<Option<String>>> = rows.into_iter().map(|(v, g)| row(v, g)).collect();
        let table = values::listed(&rows).unwrap();
        let hierarchy = Hierarchy::new("h", Arc::new(table), OnUnmapped::Error, OnNull::Value).unwrap();
        let values = Int64Array::from(vec![Some(1), Some(2), Some(5), Some(9), None]);
        hierarchy.bind(Arc::new(values)).unwrap()
    }

    #[test]
    fn the_lowest_common_ancestor_is_no_higher_than_it_must_be() {
        let lookup = lookup();
        let ancestor = |codes: &[u32]| Label::ancestor(&lookup, 0, codes.iter().copied());
        assert_eq!(ancestor(&[1]), Label::Level { level: 0, code: 1 });
        assert_eq!(ancestor(&[1, 0]), Label::Level { level: 1, code: 0 });
        assert_eq!(ancestor(&[3, 2]), Label::Level { level: 1, code: 2 });
        assert_eq!(ancestor(&[1, 2]), Label::Level { level: 2, code: 0 });
        // NULL has no ancestor below the top.
        assert_eq!(ancestor(&[1, 4]), Label::Level { level: 2, code: 0 });
        assert_eq!(Label::ancestor(&lookup, 1, [1]), Label::Level { level: 1, code: 0 });
    }

    #[test]
    fn labels_say_what_is_under_them() {
        let lookup = lookup();
        let mut texts = LabelTexts::new(&lookup);
        let mut all = |label: Label| (texts.text(label).unwrap(), label.leaves(&lookup), label.extent(&lookup));
        let range = |low, high| Label::range(&lookup, low, high);
        // The listed value 3 is between 2 and 5.
        assert_eq!(all(range(1, 2)), (Some("[2, 5]".into()), 3, Some((2.0, 5.0))));
        assert_eq!(all(range(0, 3)), (Some("[1, 9]".into()), 5, Some((1.0, 9.0))));
        assert_eq!(all(range(3, 3)), (Some("9".into()), 1, Some((9.0, 9.0))));
        assert_eq!(
            all(Label::at(&lookup, 1, 3)),
            (Some("high".into()), 2, Some((5.0, 9.0)))
        );
        assert_eq!(range(2, 4), Label::Level { level: 2, code: 0 });
        assert_eq!(all(range(2, 4)).0, Some("*".into()));
        assert_eq!(all(range(4, 4)).0, None);
    }
}
