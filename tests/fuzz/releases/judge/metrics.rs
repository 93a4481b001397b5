//! Computes the metrics from definitions.md, "Quality metrics", over the classes of a node.

use super::cell::Ground;
use super::ladder::Ladder;
use super::models::Seen;
use super::node::Weighed;
use super::table::{Judged, Quasi};
use crate::releases::case::{Role, Unmapped};
use std::collections::{BTreeMap, BTreeSet};

impl Judged<'_> {
    /// Returns the value of a metric at a node; `None` if the metric has no definition here.
    pub fn metric(&self, name: &str, weighed: &Weighed) -> Option<f64> {
        let rows = self.source.len as f64;
        let suppressed = weighed.suppressed as f64;
        let sizes: Vec<f64> = weighed.kept.iter().map(|(_, rows)| rows.len() as f64).collect();
        let released: f64 = sizes.iter().sum();
        match name {
            "dm" => Some(sizes.iter().map(|f| f * f).sum::<f64>() + suppressed * rows),
            "height" => Some(weighed.node.iter().sum::<usize>() as f64),
            "s_k" => Some(sizes.iter().map(|f| f * f).sum()),
            "precision" => Some(1.0 - self.cells(weighed, |q, level, _| level as f64 / q.ladder.height() as f64)),
            "glm" => Some(self.cells(weighed, |q, level, row| {
                let (under, all) = self.leaves(&q.name, &q.ladder, level, row);
                if all > 1.0 { (under - 1.0) / (all - 1.0) } else { 0.0 }
            })),
            "cm" => {
                let (label, _) = self.case.request.roles.iter().find(|(_, role)| *role == Role::Class)?;
                let minority = |rows: &Vec<usize>| {
                    let mut counts: BTreeMap<Seen, usize> = BTreeMap::new();
                    rows.iter()
                        .for_each(|r| *counts.entry(self.source.column(label)[*r].key.clone()).or_default() += 1);
                    rows.len() - counts.values().max().copied().unwrap_or(0)
                };
                let wrong: usize = weighed.kept.iter().map(|(_, rows)| minority(rows)).sum();
                Some(if rows == 0.0 {
                    0.0
                } else {
                    (wrong as f64 + suppressed) / rows
                })
            }
            "c_avg" => {
                let k = self.least_size()?;
                Some(match sizes.is_empty() {
                    true => rows / k,
                    false => released / sizes.len() as f64 / k,
                })
            }
            _ => None,
        }
    }

    /// Returns the k that c_avg uses, if the only model is k_anonymity over all columns.
    fn least_size(&self) -> Option<f64> {
        match self.case.request.models.as_slice() {
            [only] if only.name == "k_anonymity" && only.subset.is_empty() && only.any.is_none() => {
                only.arguments[0].parse().ok()
            }
            _ => None,
        }
    }

    /// Returns the weighted mean of the loss over all cells. A suppressed cell loses 1.
    fn cells(&self, weighed: &Weighed, loss: impl Fn(&Quasi, usize, usize) -> f64) -> f64 {
        let rows = self.source.len as f64;
        let weights: f64 = self.quasi.iter().map(|q| q.weight).sum();
        if rows == 0.0 {
            return 0.0;
        }
        let mut sum = 0.0;
        for (q, level) in self.quasi.iter().zip(&weighed.node) {
            let kept = weighed.kept.iter().flat_map(|(_, rows)| rows);
            sum += q.weight * kept.map(|row| loss(q, *level, *row)).sum::<f64>();
            sum += q.weight * weighed.suppressed as f64;
        }
        sum / (rows * weights)
    }

    /// Returns the share of the information that the labels of a row lose at a node, from the
    /// number of values that each label could stand for.
    pub fn lost(&self, node: &[usize], row: usize) -> f64 {
        let columns = self.quasi.iter().zip(node);
        let spans = columns.map(|(q, level)| self.leaves(&q.name, &q.ladder, *level, row));
        let (lost, all) = spans.fold((0.0, 0.0), |(a, b), (under, all)| (a + under.ln(), b + all.ln()));
        if all > 0.0 { lost / all } else { 0.0 }
    }

    /// Returns the number of leaves under the label of a row at a level, and of the whole
    /// hierarchy.
    pub fn leaves(&self, name: &str, ladder: &Ladder, level: usize, row: usize) -> (f64, f64) {
        let mut spans = self.spans.borrow_mut();
        let span = spans
            .entry((name.to_string(), level))
            .or_insert_with(|| self.span(name, ladder, level));
        let cell = &self.source.column(name)[row];
        if level == 0 && ladder.coded(cell).is_none() {
            return (1.0, span.all);
        }
        let label = ladder.label(cell, level);
        if span.is_top(&label) {
            return (span.all, span.all);
        }
        let is_null = matches!(cell.ground, Ground::Null);
        let under = span.under.get(&label).filter(|_| label.is_some()).copied().unwrap_or(0);
        (under as f64 + f64::from(u8::from(is_null)), span.all)
    }

    /// Counts the values under each label of a level: the listed values or, for a hierarchy by a
    /// rule, the values of the column, including those of a population if there is one. NULL counts
    /// as one more value if the column has it.
    fn span(&self, name: &str, ladder: &Ladder, level: usize) -> Span {
        let column = self.domain.column(name);
        let top = ladder.top();
        let own: BTreeSet<(Option<&String>, Seen)> = match ladder.listed() {
            Some(listed) => listed
                .iter()
                .map(|r| (Some(&r[0]), r.get(level).cloned().or(Some(top.to_string()))))
                .collect(),
            None => column
                .iter()
                .filter(|c| !matches!(c.ground, Ground::Null) && ladder.knows(c))
                .map(|c| match level {
                    0 if ladder.coded(c).is_none() => (c.key.as_ref(), c.key.clone()),
                    _ => (c.key.as_ref(), ladder.label(c, level)),
                })
                .collect(),
        };
        let has_null = column.iter().any(|c| matches!(c.ground, Ground::Null));
        // If NULL or an unknown value was raised to the top, the top's label covers every value.
        let raises = |c: &super::cell::Cell| match c.ground {
            Ground::Null => ladder.label(c, level).is_some(),
            _ => !ladder.knows(c) && ladder.unmapped != Unmapped::Error,
        };
        let is_everything = level > 0 && (level >= ladder.height() || column.iter().any(raises));
        let all = own.len() as f64 + f64::from(u8::from(has_null));
        let mut under = BTreeMap::new();
        own.into_iter()
            .for_each(|(_, label)| *under.entry(label).or_default() += 1);
        Span {
            under,
            all,
            top: is_everything.then(|| top.to_string()),
        }
    }
}

/// The leaves of a column's hierarchy at a level.
pub struct Span {
    under: BTreeMap<Seen, usize>,
    all: f64,
    /// The label that covers every value.
    top: Option<String>,
}

impl Span {
    fn is_top(&self, label: &Seen) -> bool {
        self.top.is_some() && self.top == *label
    }
}
