//! The labels of one column: how two labels are joined, and the loss of each label.

use crate::method::hierarchy::{Label, Lookup};
use crate::method::partition::ranges::Ranges;
use crate::method::partition::table::Column;
use std::sync::Arc;

/// The cell of a class in one column: a range of codes, or a lowest common ancestor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reach {
    /// The lowest code of a range, or the level of the lowest common ancestor.
    pub(super) low: u32,
    /// The highest code of a range, or a code under the ancestor.
    pub(super) high: u32,
}

/// The kind of labels in one column, with their losses.
#[derive(Debug)]
pub(super) enum Scale {
    /// The label is a range.
    Range(RangeLosses),
    /// The label is the lowest common ancestor.
    Levels(Ancestors),
}

/// The labels of a hierarchy in one column, up to the highest level that LEVELS allows, with their
/// losses.
#[derive(Debug)]
pub(super) struct Ancestors {
    /// For each level and code: the label.
    labels: Vec<Vec<u32>>,
    /// For each level and code: the loss of the label.
    losses: Vec<Vec<f64>>,
    /// For each pair of codes: the lowest level at which both have the same label; empty if the
    /// column has many values.
    table: Vec<u8>,
}

/// The losses of the released ranges in one column.
#[derive(Debug)]
pub(super) struct RangeLosses {
    lookup: Arc<Lookup>,
    weight: f64,
    pub(super) exact: bool,
    /// The loss of each range, indexed by the lowest and the highest code of the range; empty if
    /// the column has many values.
    table: Vec<f64>,
}

/// The maximum number of values of a column whose losses are computed in advance.
const FEW_VALUES: usize = 1024;

/// The maximum number of losses per combination that are computed in advance. A table with few
/// combinations, such as a stratum, needs few losses.
const PER_COMBINATION: usize = 1 << 10;

/// The time to compute the loss of a range, in units of the time to look up a loss that was
/// computed in advance.
const COMPUTED: u64 = 16;

/// Returns true if the losses of all pairs of a column's values are computed in advance.
pub(super) fn are_few(values: usize, combinations: usize) -> bool {
    values <= FEW_VALUES && values * values <= combinations.saturating_mul(PER_COMBINATION)
}

/// Returns the loss of each ground code at a level, multiplied by the weight of the column.
pub(super) fn losses(column: &Column, level: u8) -> Vec<f64> {
    let losses = column.lookup.losses(level).into_iter();
    losses.map(|loss| loss * column.weight).collect()
}

impl Scale {
    /// Returns the labels and losses of a column, for a table of this many combinations.
    pub(super) fn new(column: &Column, ranges: Ranges, combinations: usize) -> Self {
        if ranges.are_of(column) {
            return Scale::Range(RangeLosses::new(column, ranges.exact, combinations));
        }
        Scale::Levels(Ancestors::new(column, combinations))
    }

    /// Returns the cell of a class after another value has joined it.
    pub(super) fn with(&self, cell: Reach, code: u32) -> Reach {
        match self {
            Scale::Range(_) => self.joined(cell, Reach { low: code, high: code }),
            Scale::Levels(_) => self.joined(cell, Reach { low: 0, high: code }),
        }
    }

    /// Returns the cell of two classes together. If they have no common label at a level that
    /// LEVELS allows, the level of the cell is above the highest allowed level.
    pub(super) fn joined(&self, one: Reach, other: Reach) -> Reach {
        match self {
            Scale::Range(_) => Reach {
                low: one.low.min(other.low),
                high: one.high.max(other.high),
            },
            Scale::Levels(ancestors) => ancestors.joined(one, other),
        }
    }

    /// Returns the time to find one loss, in units of the time to look up a loss that was computed
    /// in advance.
    pub(super) fn cells_of_loss(&self) -> u64 {
        match self {
            Scale::Range(losses) if losses.table.is_empty() => COMPUTED,
            _ => 1,
        }
    }

    pub(super) fn loss(&self, Reach { low, high }: Reach) -> f64 {
        match self {
            Scale::Range(losses) => losses.loss(low, high),
            Scale::Levels(ancestors) => {
                let losses = ancestors.losses.get(low as usize);
                losses.map_or(f64::INFINITY, |losses| losses[high as usize])
            }
        }
    }
}

impl Ancestors {
    fn new(column: &Column, combinations: usize) -> Self {
        let levels = || 0..=column.top;
        let mut ancestors = Self {
            labels: levels().map(|level| column.lookup.level(level).codes.clone()).collect(),
            losses: levels().map(|level| losses(column, level)).collect(),
            table: vec![],
        };
        let values = column.lookup.values().len();
        if are_few(values, combinations) {
            let cell = |high: u32| Reach { low: 0, high };
            let pairs = (0..values as u32).flat_map(|one| (0..values as u32).map(move |other| (one, other)));
            let level = |(one, other)| ancestors.joined(cell(one), cell(other)).low as u8;
            ancestors.table = pairs.map(level).collect();
        }
        ancestors
    }

    fn joined(&self, one: Reach, other: Reach) -> Reach {
        let least = one.low.max(other.low);
        let (a, b) = (one.high as usize, other.high as usize);
        let common = match self.table.is_empty() {
            // Values that share a label also share a label at every higher level.
            false => u32::from(self.table[a * self.losses[0].len() + b]),
            true => {
                let levels = self.labels.iter().skip(least as usize);
                least + levels.take_while(|labels| labels[a] != labels[b]).count() as u32
            }
        };
        Reach {
            low: least.max(common),
            high: one.high,
        }
    }
}

impl RangeLosses {
    fn new(column: &Column, exact: bool, combinations: usize) -> Self {
        let mut losses = Self {
            lookup: Arc::clone(&column.lookup),
            weight: column.weight,
            exact,
            table: vec![],
        };
        let values = column.lookup.values().len();
        if are_few(values, combinations) {
            let pairs = (0..values as u32).flat_map(|low| (0..values as u32).map(move |high| (low, high)));
            losses.table = pairs.map(|(low, high)| losses.computed(low, high.max(low))).collect();
        }
        losses
    }

    /// Returns the loss of the released label of a class with values from `low` to `high`.
    fn loss(&self, low: u32, high: u32) -> f64 {
        match self.table.is_empty() {
            true => self.computed(low, high),
            false => self.table[low as usize * self.lookup.values().len() + high as usize],
        }
    }

    fn computed(&self, low: u32, high: u32) -> f64 {
        let label = range(&self.lookup, low, high, self.exact);
        let spans = self.lookup.total_leaves().saturating_sub(1).max(1) as f64;
        label.leaves(&self.lookup).saturating_sub(1) as f64 / spans * self.weight
    }
}

/// Returns the label of values from `low` to `high`. If `exact` is true, the range ends at these
/// values. Otherwise its ends are moved outward to round numbers.
pub(super) fn range(lookup: &Lookup, low: u32, high: u32, exact: bool) -> Label {
    match exact {
        true => Label::range(lookup, low, high),
        false => Label::rounded(lookup, low, high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::hierarchy::{Hierarchy, OnNull, OnUnmapped, values};
    use crate::method::partition::table::Numbers;
    use arrow::array::{ArrayRef, StringArray};
    use proptest::prelude::*;

    /// Returns a column whose levels have these groups: `levels[level][value]` is the group of a
    /// value. The groups of the levels are nested, and the top contains them all.
    fn column(levels: &[Vec<u8>], top: u8) -> Column {
        let names: Vec<String> = (0..levels[0].len()).map(|value| value.to_string()).collect();
        let row = |value: usize| {
            // The name of a label contains the groups above it, so groups are nested.
            let groups = (0..levels.len()).map(|level| {
                let above: Vec<String> = levels[level..].iter().map(|groups| groups[value].to_string()).collect();
                Some(format!("{level}:{}", above.join(".")))
            });
            let labels = [Some(names[value].clone())].into_iter().chain(groups);
            labels.chain([Some("*".to_string())]).collect()
        };
        let rows: Vec<Vec<Option<String>>> = (0..names.len()).map(row).collect();
        let rule = values::listed(&rows).unwrap();
        let hierarchy = Hierarchy::new("h", Arc::new(rule), OnUnmapped::Error, OnNull::Value).unwrap();
        let values: ArrayRef = Arc::new(StringArray::from(names));
        let lookup = Arc::new(hierarchy.bind(values).unwrap());
        Column {
            bottom: 0,
            top: top.min(lookup.top()),
            lookup,
            weight: 1.0,
            numbers: Numbers::Hierarchy,
        }
    }

    /// Checks the common label of all pairs of values. It must be at the lowest level at which both
    /// have the same label, starting from the higher of the two levels.
    fn labels_are_the_lowest_common(column: &Column) {
        let ancestors = Ancestors::new(column, usize::MAX);
        let values = column.lookup.values().len() as u32;
        for (a, b) in (0..values).flat_map(|a| (0..values).map(move |b| (a, b))) {
            for (reached, other) in (0..=column.top).flat_map(|l| [(l, 0), (0, l), (l, column.top)]) {
                let alike = |level: &u8| {
                    let labels = &column.lookup.level(*level).codes;
                    labels[a as usize] == labels[b as usize]
                };
                let lowest = (reached.max(other)..=column.top).find(alike);
                let low = |level: u8| u32::from(level);
                let joined = ancestors.joined(
                    Reach {
                        low: low(reached),
                        high: a,
                    },
                    Reach {
                        low: low(other),
                        high: b,
                    },
                );
                assert_eq!(
                    joined.low,
                    lowest.map_or(low(column.top) + 1, low),
                    "{a} {b} {reached} {other}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn the_label_of_two_classes_is_their_lowest_common_ancestor(
            levels in (1usize..6).prop_flat_map(|n| prop::collection::vec(prop::collection::vec(0u8..3, n), 1..4)), top in 0u8..5
        ) {
            labels_are_the_lowest_common(&column(&levels, top));
        }
    }

    /// A hierarchy of the maximum height, with and without its top. The level above the top must
    /// also fit into the table.
    #[test]
    fn no_label_is_lost_in_the_highest_hierarchies() {
        let whole = column(&vec![vec![0, 1]; 198], u8::MAX);
        assert_eq!(whole.lookup.top(), 199);
        labels_are_the_lowest_common(&whole);
        labels_are_the_lowest_common(&column(&vec![vec![0, 1]; 198], 198));
    }
}
