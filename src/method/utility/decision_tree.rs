//! A classification tree. Each inner node divides the values of one column into two sets. The set
//! that contains the value of a row determines the child to which the row belongs.
//!
//! The tree is grown greedily: each node is split by the column and the two sets that lower the
//! Gini impurity most. A column of numbers, dates or timestamps is split in the middle between two
//! values. The values of any other column are sorted by their share of the node's most frequent
//! class, and the split divides this order. With two classes, this finds the purest two sets,
//! unless one of them is too small for a leaf. A node becomes a leaf if its depth is [`DEPTH`], if
//! its rows have only one class, if every split would leave a part with fewer than [`LEAST`] rows,
//! or if no split lowers the impurity. The prediction of a leaf is its most frequent class. If no
//! row of a node has a value, the value belongs to the larger part. In a column of numbers, dates
//! or timestamps, the order of the values decides instead.
//!
//! A training row counts evenly for the values under its label. If a split divides these values,
//! the row is in both parts, with its weight divided in the same way. Rows with an unknown value
//! are treated in this way by Quinlan (C4.5, 1993, chapter 3).
//!
//! Breiman, Friedman, Olshen and Stone, Classification and regression trees, 1984, chapters 2 and 4
//! (theorem 4.5).

use super::sample::{ColumnValues, Sample};
use std::rc::Rc;

/// The maximum number of splits from the root to a leaf.
pub const DEPTH: usize = 8;
/// The minimum number of rows required in a leaf.
pub const LEAST: f64 = 7.0;

/// A trained tree.
#[derive(Debug, Clone)]
pub struct DecisionTree {
    /// The nodes. Children precede their parent, and the last node is the root.
    nodes: Vec<Node>,
}

#[derive(Debug, Clone)]
enum Node {
    Leaf(u32),
    Cut {
        column: usize,
        /// For each value: whether a row with the value is in the first child.
        is_first: Vec<bool>,
        children: [usize; 2],
    },
}

/// The training rows in one node.
struct Part {
    /// The distinct rows with their weight in this node.
    rows: Vec<(u32, f64)>,
    /// For each feature: the values that reach this node.
    reached: Vec<Rc<Vec<bool>>>,
}

/// A split of a node by one feature.
struct Cut {
    feature: usize,
    is_first: Vec<bool>,
    /// The sum of squares that measures purity. A higher sum means purer parts.
    purity: f64,
}

impl DecisionTree {
    /// Trains a tree on `rows`, with these columns as features. The class column has
    /// `columns[class].values` classes.
    pub fn train(rows: &Sample, columns: &[ColumnValues], features: &[usize], class: usize) -> Self {
        let mut growth = Growth {
            rows,
            columns,
            features,
            classes: columns[class].values,
            class_of: rows.classes(class),
            nodes: vec![],
        };
        let all = rows.counts.iter().enumerate().map(|(row, n)| (row as u32, *n as f64));
        growth.grow(
            &Part {
                rows: all.collect(),
                reached: features
                    .iter()
                    .map(|f| Rc::new(vec![true; columns[*f].values]))
                    .collect(),
            },
            0,
        );
        Self { nodes: growth.nodes }
    }

    /// Returns the predicted class of a row. `value` returns the row's value of each column.
    pub fn classify(&self, value: impl Fn(usize) -> u32) -> u32 {
        let mut at = self.nodes.len() - 1;
        loop {
            match &self.nodes[at] {
                Node::Leaf(class) => return *class,
                Node::Cut {
                    column,
                    is_first,
                    children,
                } => {
                    at = children[usize::from(!is_first[value(*column) as usize])];
                }
            }
        }
    }

    /// Returns, for each value, whether it is in the first child of the root; `None` if the root is
    /// a leaf.
    #[cfg(test)]
    pub(super) fn first_cut(&self) -> Option<&[bool]> {
        match self.nodes.last()? {
            Node::Leaf(_) => None,
            Node::Cut { is_first, .. } => Some(is_first),
        }
    }

    /// Returns the number of leaves.
    #[cfg(test)]
    pub(super) fn leaves(&self) -> usize {
        self.nodes.iter().filter(|n| matches!(n, Node::Leaf(_))).count()
    }
}

struct Growth<'a> {
    rows: &'a Sample,
    columns: &'a [ColumnValues],
    features: &'a [usize],
    classes: usize,
    class_of: Vec<u32>,
    nodes: Vec<Node>,
}

impl Growth<'_> {
    /// Grows the subtree of a part, and returns the index of its root.
    fn grow(&mut self, part: &Part, depth: usize) -> usize {
        let mut of_class = vec![0.0; self.classes];
        for (row, weight) in &part.rows {
            of_class[self.class_of[*row as usize] as usize] += weight;
        }
        let most = greatest(&of_class);
        let is_pure = of_class.iter().filter(|n| **n > 0.0).count() < 2;
        let cut = match depth < DEPTH && !is_pure {
            true => self.best(part, most, purity(&of_class)),
            false => None,
        };
        let node = match cut {
            None => Node::Leaf(most as u32),
            Some(cut) => {
                let children = [true, false].map(|side| {
                    let child = self.side(part, &cut, side);
                    self.grow(&child, depth + 1)
                });
                Node::Cut {
                    column: self.features[cut.feature],
                    is_first: cut.is_first,
                    children,
                }
            }
        };
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Returns the best split of a part; `None` if no split makes the part purer.
    fn best(&self, part: &Part, most: usize, purity: f64) -> Option<Cut> {
        // A gain within the rounding error is ignored.
        let mut least = purity * (1.0 + 1e-12);
        let mut best = None;
        for feature in 0..self.features.len() {
            if let Some(cut) = self.cut(part, feature, most).filter(|cut| cut.purity > least) {
                least = cut.purity;
                best = Some(cut);
            }
        }
        best
    }

    /// Returns the best split of a part by one feature; `None` if the feature has no permitted
    /// split.
    fn cut(&self, part: &Part, feature: usize, most: usize) -> Option<Cut> {
        let classes = self.classes;
        let joint = self.joint(part, feature);
        let rows_of: Vec<f64> = joint.chunks(classes).map(|cells| cells.iter().sum()).collect();
        let is_ordered = self.columns[self.features[feature]].numbers.is_some();
        let mut order: Vec<usize> = (0..rows_of.len()).filter(|v| rows_of[*v] > 0.0).collect();
        if !is_ordered {
            let share = |v: usize| joint[v * classes + most] / rows_of[v];
            order.sort_by(|a, b| share(*a).total_cmp(&share(*b)).then(a.cmp(b)));
        }
        let mut second = vec![0.0; classes];
        for value in &order {
            let cells = &joint[value * classes..][..classes];
            second.iter_mut().zip(cells).for_each(|(sum, n)| *sum += n);
        }
        let mut first = vec![0.0; classes];
        let mut best: Option<(usize, f64)> = None;
        for (at, value) in order.iter().enumerate().take(order.len().saturating_sub(1)) {
            let cells = &joint[value * classes..][..classes];
            for (class, n) in cells.iter().enumerate() {
                first[class] += n;
                second[class] -= n;
            }
            let is_large = |part: &[f64]| part.iter().sum::<f64>() >= LEAST;
            let purity = purity(&first) + purity(&second);
            if is_large(&first) && is_large(&second) && best.is_none_or(|(_, p)| purity > p) {
                best = Some((at, purity));
            }
        }
        let (at, purity) = best?;
        let (before, after) = order.split_at(at + 1);
        let weight = |values: &[usize]| values.iter().map(|v| rows_of[*v]).sum::<f64>();
        let mut is_first = match is_ordered {
            true => self.below(feature, order[at], order[at + 1]),
            false => vec![weight(before) >= weight(after); rows_of.len()],
        };
        if !is_ordered {
            before.iter().for_each(|v| is_first[*v] = true);
            after.iter().for_each(|v| is_first[*v] = false);
        }
        Some(Cut {
            feature,
            is_first,
            purity,
        })
    }

    /// Returns, for each value of a feature with numbers, whether it is below the split between the
    /// values `low` and `high`. A value is below if it is at most `low`, or if it is between `low`
    /// and `high` and at most their middle. NULL is never between two values.
    fn below(&self, feature: usize, low: usize, high: usize) -> Vec<bool> {
        let column = &self.columns[self.features[feature]];
        let numbers = column.numbers.as_deref().unwrap_or_default();
        let middle = match (numbers[low], numbers[high]) {
            (Some(low), Some(high)) => low / 2.0 + high / 2.0,
            _ => f64::INFINITY,
        };
        let is_below = |(value, number): (usize, &Option<f64>)| value <= low || value < high && *number <= Some(middle);
        numbers.iter().enumerate().map(is_below).collect()
    }

    /// Returns the weight of each pair of a value of a feature and a class in a part.
    fn joint(&self, part: &Part, feature: usize) -> Vec<f64> {
        let (classes, column) = (self.classes, self.features[feature]);
        let labels = &self.rows.labels[column];
        let mut by_label = vec![0.0; labels.number() * classes];
        for (row, weight) in &part.rows {
            let label = self.rows.columns[column][*row as usize] as usize;
            by_label[label * classes + self.class_of[*row as usize] as usize] += weight;
        }
        let reached = &part.reached[feature];
        let mut joint = vec![0.0; self.columns[column].values * classes];
        for (covered, rows) in labels.all().zip(by_label.chunks(classes)) {
            if rows.iter().all(|n| *n == 0.0) {
                continue;
            }
            let reaching = || covered.iter().filter(|v| reached[**v as usize]);
            let each = 1.0 / reaching().count() as f64;
            for value in reaching() {
                let cells = &mut joint[*value as usize * classes..][..classes];
                cells.iter_mut().zip(rows).for_each(|(cell, n)| *cell += n * each);
            }
        }
        joint
    }

    /// Returns the rows of a part on one side of a split.
    fn side(&self, part: &Part, cut: &Cut, side: bool) -> Part {
        let column = self.features[cut.feature];
        let before = &part.reached[cut.feature];
        let after: Vec<bool> = before
            .iter()
            .zip(&cut.is_first)
            .map(|(is, first)| *is && *first == side)
            .collect();
        let share = |covered: &[u32]| {
            let count = |reached: &[bool]| covered.iter().filter(|v| reached[**v as usize]).count();
            match count(before) {
                0 => 0.0,
                n => count(&after) as f64 / n as f64,
            }
        };
        let shares: Vec<f64> = self.rows.labels[column].all().map(share).collect();
        let rows = part.rows.iter().map(|(row, weight)| {
            let label = self.rows.columns[column][*row as usize];
            (*row, weight * shares[label as usize])
        });
        let mut reached = part.reached.clone();
        let rows = rows.filter(|(_, weight)| *weight > 0.0).collect();
        reached[cut.feature] = Rc::new(after);
        Part { rows, reached }
    }
}

/// Returns the weight of a part times one minus its Gini impurity: the sum of squares over the sum.
fn purity(of_class: &[f64]) -> f64 {
    let all: f64 = of_class.iter().sum();
    match all > 0.0 {
        true => of_class.iter().map(|n| n * n).sum::<f64>() / all,
        false => 0.0,
    }
}

/// Returns the class with the highest weight. If several classes have this weight, returns the
/// first of them.
fn greatest(of_class: &[f64]) -> usize {
    let mut best = 0;
    for (class, n) in of_class.iter().enumerate() {
        if *n > of_class[best] {
            best = class;
        }
    }
    best
}
