//! The second step of personalized privacy, after the quasi-identifiers are generalized:
//! generalizes sensitive values until the limit of every row is met.
//!
//! Each row t has a limit on Pleak(t), which measures how well the sensitive value of t can be
//! inferred from its class: Pleak(t) = (1 / b) * the sum of DCorrelate(t, i) over the b rows i of
//! the class. DCorrelate(t, i) is 1 if the released value of i is the original value of t, 1 /
//! (leaves under the released value of i) if the released value of i is an ancestor of the original
//! value of t, and 0 otherwise. The rows whose Pleak exceeds their limits are processed one after
//! another: released values in the row's leakage collection (the rows with DCorrelate above 0) are
//! replaced by their parents, one at a time, until the limit is met. The value that keeps the most
//! information, among those that are not at the root, is replaced next. If several values keep the
//! same information, the value of the first row is replaced.
//!
//! **Interpretation**: replacing a value can make it an ancestor of the value of another row, which
//! increases the Pleak of that row (the paper's Theorem 2 considers only one row). Therefore rows
//! are processed again until no row exceeds its limit.
//!
//! **Interpretation**: the row's own value may be replaced too, so a limit below 1 / b can be met,
//! although the paper's Theorem 1 rules this out. A limit cannot be met if it is still exceeded
//! when all values in the leakage collection are at the root. Rows with such limits are suppressed,
//! and the class is processed again without them. If the class is then too small, it is suppressed
//! entirely.
//!
//! Reference: Song et al., The k-anonymization method satisfying personalized privacy preservation,
//! CET 46 (2015), doi:10.3303/CET1546031, definitions 6 to 8 and section 6.

mod exec;
mod recount;

pub use exec::{PersonalColumns, PersonalExec};

use crate::base::arithmetic::common_multiple;
use crate::base::error::Result;
use crate::method::hierarchy::{Label, LabelTexts, Lookup};
use arrow::array::StringArray;
use std::collections::{BTreeSet, HashMap};

/// The hierarchy of the sensitive attribute as a tree, in which every distinct label text is a
/// node. Labels with the same text at several levels are the same node, because they cannot be
/// distinguished in the release. An example is NULL, which may have the label of the top at levels
/// below the top.
#[derive(Debug)]
pub struct LabelTree {
    /// For each ground code, the nodes at all levels, starting at level 0.
    paths: Vec<Vec<u32>>,
    /// For each ground code, the number of leaves under its label at each level. A text that occurs
    /// at several levels counts with the lowest of these levels.
    leaves: Vec<Vec<u64>>,
    /// The text of each node; NULL for NULL itself.
    texts: StringArray,
    /// For each ground code, a common multiple of the numbers of leaves on its path; `None` if it
    /// exceeds [`MULTIPLE`].
    multiples: Vec<Option<u64>>,
}

/// The maximum common denominator for numbers of leaves. Up to this denominator, Pleak is the
/// quotient of two exact integers; beyond it, Pleak is a sum of quotients.
const MULTIPLE: u64 = 1 << 24;

impl LabelTree {
    /// Creates the tree for a lookup table.
    pub fn new(lookup: &Lookup) -> Result<Self> {
        let mut numbers: HashMap<Option<String>, u32> = HashMap::new();
        let (mut leaves, mut texts) = (vec![], vec![]);
        let mut writer = LabelTexts::new(lookup);
        let (mut paths, mut multiples) = (vec![], vec![]);
        for code in 0..lookup.values().len() as u32 {
            let (mut path, mut under) = (vec![], vec![]);
            for level in 0..=lookup.top() {
                let own = lookup.level(level);
                let text = writer.text(Label::at(lookup, level, code))?;
                let next = texts.len() as u32;
                let node = *numbers.entry(text.clone()).or_insert(next);
                if node == next {
                    texts.push(text);
                }
                path.push(node);
                under.push(own.leaves[own.codes[code as usize] as usize].max(1));
            }
            multiples.push(common_multiple(under.iter().copied(), MULTIPLE));
            paths.push(path);
            leaves.push(under);
        }
        Ok(Self {
            paths,
            leaves,
            texts: texts.into(),
            multiples,
        })
    }

    /// Returns the number of levels of the hierarchy, including level 0.
    pub fn levels(&self) -> usize {
        self.paths.first().map_or(1, Vec::len)
    }

    /// Returns the texts of the nodes.
    pub(super) fn texts(&self) -> &StringArray {
        &self.texts
    }

    /// Returns the node of a value at a level.
    pub(super) fn node(&self, value: u32, level: u8) -> u32 {
        self.paths[value as usize][usize::from(level)]
    }

    /// Returns the distinct nodes on the path of a value, each with the number of leaves that the
    /// released text suggests.
    fn told(&self, value: u32) -> impl Iterator<Item = (u32, u64)> {
        let (path, leaves) = (&self.paths[value as usize], &self.leaves[value as usize]);
        let levels = path.iter().zip(leaves).enumerate();
        levels.filter_map(|(level, (node, leaves))| (!path[..level].contains(node)).then_some((*node, *leaves)))
    }

    /// Returns the Pleak of a row with this value in a class of `rows` rows. `at` returns the
    /// number of rows whose released value is a given node.
    fn leak(&self, value: u32, rows: usize, at: impl Fn(u32) -> usize) -> f64 {
        let terms = self.told(value).map(|(node, leaves)| (at(node) as u64, leaves));
        match self.multiples[value as usize] {
            Some(multiple) => {
                let sum: u64 = terms.map(|(n, leaves)| n * (multiple / leaves)).sum();
                sum as f64 / (multiple * rows as u64) as f64
            }
            None => terms.map(|(n, leaves)| n as f64 / leaves as f64).sum::<f64>() / rows as f64,
        }
    }
}

/// Returns true if every limit in a class is already met without replacing any value.
fn is_protected(tree: &LabelTree, values: &[u32], limits: &[f64]) -> bool {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let counts: Vec<(u32, u32, usize)> = sorted
        .chunk_by(|a, b| a == b)
        .map(|alike| (alike[0], tree.node(alike[0], 0), alike.len()))
        .collect();
    let at = |node: u32| counts.iter().filter(|(_, own, _)| *own == node).map(|(.., n)| n).sum();
    let leaks: Vec<f64> = counts
        .iter()
        .map(|(value, ..)| tree.leak(*value, values.len(), at))
        .collect();
    let leak = |value: &u32| {
        counts
            .binary_search_by_key(value, |(own, ..)| *own)
            .map_or(f64::MAX, |i| leaks[i])
    };
    values.iter().zip(limits).all(|(value, limit)| leak(value) <= *limit)
}

/// Generalizes the sensitive values of one class. Returns the level of each row's value, and the
/// indices of the rows whose limits cannot be met.
pub(super) fn protect(tree: &LabelTree, values: &[u32], limits: &[f64]) -> (Vec<u8>, Vec<usize>) {
    let mut levels = vec![0u8; values.len()];
    if is_protected(tree, values, limits) {
        return (levels, vec![]);
    }
    let mut rows_at: HashMap<u32, BTreeSet<u32>> = HashMap::new();
    for (row, value) in values.iter().enumerate() {
        rows_at.entry(tree.node(*value, 0)).or_default().insert(row as u32);
    }
    loop {
        let (mut raised, mut unmet) = (false, vec![]);
        for (row, (value, limit)) in values.iter().zip(limits).enumerate() {
            let leak = |rows_at: &HashMap<u32, BTreeSet<u32>>| {
                tree.leak(*value, values.len(), |node| rows_at.get(&node).map_or(0, BTreeSet::len))
            };
            while leak(&rows_at) > *limit {
                let Some(next) = most_informative(tree, *value, &rows_at) else {
                    unmet.push(row);
                    break;
                };
                let (at, own) = (&mut levels[next as usize], values[next as usize]);
                if let Some(rows) = rows_at.get_mut(&tree.node(own, *at)) {
                    rows.remove(&next);
                }
                *at += 1;
                rows_at.entry(tree.node(own, *at)).or_default().insert(next);
                raised = true;
            }
        }
        if !raised {
            return (levels, unmet);
        }
    }
}

/// Returns the row in the leakage collection of `value` whose released value keeps the most
/// information, among the values that are not at the root. Returns `None` if all values are at the
/// root.
fn most_informative(tree: &LabelTree, value: u32, rows_at: &HashMap<u32, BTreeSet<u32>>) -> Option<u32> {
    let root = *tree.paths[value as usize].last()?;
    let candidates = tree
        .told(value)
        .filter(|(node, _)| *node != root)
        .filter_map(|(node, leaves)| {
            let first = *rows_at.get(&node)?.first()?;
            Some((leaves, first))
        });
    candidates.min().map(|(_, row)| row)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::method::hierarchy::{Hierarchy, OnNull, OnUnmapped, values};
    use arrow::array::Array;
    use proptest::prelude::*;
    use std::sync::Arc;

    /// Returns a hierarchy with three lung diseases and two stomach diseases.
    pub(in crate::data::recode) fn diseases() -> Lookup {
        let rows = [
            ["bronchitis", "lung", "*"],
            ["dyspepsia", "stomach", "*"],
            ["flu", "lung", "*"],
            ["gastric ulcer", "stomach", "*"],
            ["pneumonia", "lung", "*"],
        ];
        let rows: Vec<Vec<Option<String>>> = rows.map(|r| r.map(|v| Some(v.to_string())).to_vec()).to_vec();
        let table = values::listed(&rows).unwrap();
        let hierarchy = Hierarchy::new("h", Arc::new(table), OnUnmapped::Error, OnNull::Value).unwrap();
        let values: Vec<&str> = vec!["bronchitis", "dyspepsia", "flu", "gastric ulcer", "pneumonia"];
        hierarchy.bind(Arc::new(StringArray::from(values))).unwrap()
    }

    const PNEUMONIA: u32 = 4;

    #[test]
    fn the_pneumonia_group_is_generalized_until_its_limits_hold() {
        let tree = LabelTree::new(&diseases()).unwrap();
        // Both rows have a Pleak of 1. After one value is replaced by `lung` (3 leaves), both rows
        // have a Pleak of (1 + 1/3) / 2.
        assert_eq!(protect(&tree, &[PNEUMONIA; 2], &[0.5; 2]), (vec![1, 1], vec![]));
        assert_eq!(protect(&tree, &[PNEUMONIA; 2], &[2.0 / 3.0; 2]), (vec![1, 0], vec![]));
        assert_eq!(protect(&tree, &[PNEUMONIA; 2], &[1.0; 2]), (vec![0, 0], vec![]));
        // The limits are 1/3, which is met exactly, and 1/5, the minimum possible Pleak.
        assert_eq!(protect(&tree, &[PNEUMONIA; 2], &[1.0, 1.0 / 3.0]), (vec![1, 1], vec![]));
        assert_eq!(protect(&tree, &[PNEUMONIA; 2], &[0.2, 1.0]), (vec![2, 2], vec![]));
        assert_eq!(protect(&tree, &[PNEUMONIA; 2], &[0.1, 1.0]), (vec![2, 2], vec![0]));
    }

    /// NULL has the label `*` from level 1 on, and the other values only at the top. A released `*`
    /// does not show which of these labels it is.
    #[test]
    fn a_text_of_several_levels_is_one_value() {
        let rows = [
            ["bronchitis", "lung", "*"],
            ["flu", "lung", "*"],
            ["ulcer", "stomach", "*"],
        ];
        let rows: Vec<Vec<Option<String>>> = rows.map(|r| r.map(|v| Some(v.to_string())).to_vec()).to_vec();
        let table = values::listed(&rows).unwrap();
        let hierarchy = Hierarchy::new("h", Arc::new(table), OnUnmapped::Error, OnNull::Top).unwrap();
        let values = StringArray::from(vec![Some("bronchitis"), Some("flu"), Some("ulcer"), None]);
        let lookup = hierarchy.bind(Arc::new(values)).unwrap();
        let (tree, recount) = (
            LabelTree::new(&lookup).unwrap(),
            recount::Recount::new(&lookup).unwrap(),
        );
        // Both flu and NULL are finally replaced by `*`, so each `*` counts as a quarter for either
        // value.
        for limits in [[0.25, 0.2], [0.2, 0.25], [0.25, 0.25], [0.4, 0.3], [1.0, 0.2]] {
            let own = [1, 3];
            let (levels, unmet) = protect(&tree, &own, &limits);
            let texts = own.iter().zip(&levels).map(|(value, level)| {
                let node = tree.node(*value, *level) as usize;
                tree.texts().is_valid(node).then(|| tree.texts().value(node))
            });
            assert_eq!(
                recount.above(&own, &texts.collect(), &limits),
                unmet.len() as u64,
                "{limits:?}"
            );
        }
    }

    /// Computes Pleak from the definition of DCorrelate, over labels as text.
    fn leak_by_definition(lookup: &Lookup, values: &[u32], levels: &[u8], row: usize) -> f64 {
        let d = |other: usize| {
            let level = lookup.level(levels[other]);
            let (released, own) = (level.codes[values[other] as usize], level.codes[values[row] as usize]);
            if released != own {
                0.0
            } else {
                1.0 / level.leaves[released as usize] as f64
            }
        };
        (0..values.len()).map(d).sum::<f64>() / values.len() as f64
    }

    proptest! {
        #[test]
        fn no_row_leaks_more_than_its_limit(
            rows in prop::collection::vec((0u32..5, 0u32..=20), 1..12),
        ) {
            let lookup = diseases();
            let tree = LabelTree::new(&lookup).unwrap();
            let values: Vec<u32> = rows.iter().map(|r| r.0).collect();
            let limits: Vec<f64> = rows.iter().map(|r| f64::from(r.1) / 20.0).collect();
            let (levels, unmet) = protect(&tree, &values, &limits);
            for row in 0..rows.len() {
                let leak = leak_by_definition(&lookup, &values, &levels, row);
                let held = leak <= limits[row] + 1e-12;
                prop_assert_eq!(held, !unmet.contains(&row));
                // If a limit is not met, every row in the leakage collection is at the root.
                if !held {
                    let leaks = (0..rows.len()).filter(|o| {
                        let level = lookup.level(levels[*o]);
                        level.codes[values[*o] as usize] == level.codes[values[row] as usize]
                    });
                    prop_assert!(leaks.into_iter().all(|o| levels[o] == 2));
                }
            }
        }

        #[test]
        fn the_order_of_raising_is_the_papers(rows in prop::collection::vec((0u32..5, 4u32..=20), 1..9)) {
            let lookup = diseases();
            let tree = LabelTree::new(&lookup).unwrap();
            let values: Vec<u32> = rows.iter().map(|r| r.0).collect();
            let limits: Vec<f64> = rows.iter().map(|r| f64::from(r.1) / 20.0).collect();
            // The procedure in the text of the paper, row by row, with nothing stored between
            // steps.
            let mut levels = vec![0u8; rows.len()];
            loop {
                let before = levels.clone();
                for row in 0..rows.len() {
                    while leak_by_definition(&lookup, &values, &levels, row) > limits[row] + 1e-12 {
                        let leaves = |o: &usize| {
                            let level = lookup.level(levels[*o]);
                            level.leaves[level.codes[values[*o] as usize] as usize]
                        };
                        let in_collection = |o: &usize| {
                            let level = lookup.level(levels[*o]);
                            level.codes[values[*o] as usize] == level.codes[values[row] as usize]
                        };
                        let next = (0..rows.len()).filter(in_collection).filter(|o| levels[*o] < 2).min_by_key(|o| (leaves(o), *o));
                        match next {
                            Some(next) => levels[next] += 1,
                            None => break,
                        }
                    }
                }
                if before == levels {
                    break;
                }
            }
            prop_assert_eq!(protect(&tree, &values, &limits).0, levels);
        }
    }
}
