//! Judges nodes of the lattice by brute force: the classes that fail, the suppressed rows, and
//! whether a request is feasible.

use super::classes::Found;
use super::models::{Member, Seen, Verdict, Whole, holds, holds_overall, pays, size};
use super::table::{Judged, Quasi, Rows};
use crate::releases::Failure;
use std::collections::{BTreeMap, BTreeSet};

/// The judgement of a node.
pub struct Weighed {
    pub node: Vec<usize>,
    /// The source rows of the classes that satisfy every model.
    pub kept: Vec<(Vec<Seen>, Vec<usize>)>,
    pub suppressed: usize,
    /// Whether the node may be released; `Close` if rounding decides.
    pub anonymous: Verdict,
}

impl Judged<'_> {
    /// Judges a node. Models for a subset of the columns (ON) are not judged here.
    pub fn weigh(&self, node: &[usize], whole: &Whole, people: &Rows) -> Weighed {
        let mut classes: BTreeMap<Vec<Seen>, Vec<usize>> = BTreeMap::new();
        let eligible: Vec<usize> = (0..self.source.len)
            .filter(|row| !self.suppressed_unmapped(*row))
            .collect();
        for row in &eligible {
            classes.entry(self.labels_at(node, *row)).or_default().push(*row);
        }
        let (mut kept, mut close, mut released) = (vec![], false, 0);
        let mut sizes = vec![];
        for (labels, rows) in classes {
            let members: Vec<Member> = rows
                .iter()
                .map(|r| self.member(*r, |c| self.source_value(c, *r)))
                .collect();
            let mut verdict = Verdict::Holds;
            for model in &self.case.request.models {
                let people = self.people(model, &labels, Some(node), people);
                let price = pays(model, size(&members), self.lost(node, rows[0]));
                let near = self.is_near(model, (node, &rows), &members, whole);
                for found in [holds(model, &members, whole, people), price, near] {
                    match found {
                        Verdict::Fails => verdict = Verdict::Fails,
                        Verdict::Close => close = true,
                        Verdict::Holds => {}
                    }
                }
            }
            if verdict == Verdict::Holds {
                sizes.push(size(&members));
                released += rows.len();
                kept.push((labels, rows));
            }
        }
        let suppressed = self.source.len - released;
        let most = self.case.request.limit.map_or(0, |l| l.rows(self.source.len));
        let overall = self.case.request.models.iter().map(|model| {
            let outside = self.outside(model, kept.iter().map(|(labels, _)| labels), Some(node), people);
            holds_overall(model, &sizes, outside)
        });
        let overall: Vec<Verdict> = overall.collect();
        let anonymous = match suppressed <= most && !overall.contains(&Verdict::Fails) {
            _ if close => Verdict::Close,
            false => Verdict::Fails,
            true if overall.contains(&Verdict::Close) => Verdict::Close,
            true => Verdict::Holds,
        };
        Weighed {
            node: node.to_vec(),
            kept,
            suppressed,
            anonymous,
        }
    }

    /// Returns true if nodes can be judged by brute force: all models are over all columns, and no
    /// rule suppresses rows later.
    pub fn can_weigh(&self) -> bool {
        self.case
            .request
            .models
            .iter()
            .all(|m| m.subset.is_empty() && m.any.is_none())
            && self.case.request.personal().is_none()
    }

    /// Returns every node that LEVELS allows, lowest first.
    pub fn nodes(&self) -> Vec<Vec<usize>> {
        let mut nodes: Vec<Vec<usize>> = vec![vec![]];
        for q in &self.quasi {
            let levels = q.levels.0..=q.levels.1.min(q.ladder.height());
            nodes = nodes
                .iter()
                .flat_map(|n| levels.clone().map(move |l| [&n[..], &[l]].concat()))
                .collect();
        }
        nodes
    }

    /// Checks that the release contains exactly the classes that satisfy the models at the node.
    pub fn only_failing_are_suppressed(
        &self,
        found: &Found,
        before: &Self,
        whole: &Whole,
        people: &Rows,
    ) -> Result<(), Failure> {
        let Some(node) = found.node.as_deref().filter(|_| self.can_weigh()) else {
            return Ok(());
        };
        let weighed = before.weigh(node, whole, people);
        if weighed.anonymous == Verdict::Close {
            return Ok(());
        }
        let written = |labels: &Vec<Seen>| -> Vec<Seen> {
            let written = |(label, q): (&Seen, &Quasi)| self.forms[&q.name].seen(label.clone());
            labels.iter().zip(&self.quasi).map(written).collect()
        };
        let there: BTreeSet<Vec<Seen>> = weighed.kept.iter().map(|(labels, _)| written(labels)).collect();
        let here: BTreeSet<Vec<Seen>> = found.classes.iter().map(|c| c.labels.clone()).collect();
        match here == there {
            true => Ok(()),
            false => Err(Failure::new(
                "suppressed",
                format!(
                    "{} classes are released, {} hold at node {node:?}",
                    here.len(),
                    there.len()
                ),
            )),
        }
    }

    /// Checks a result that is reported as optimal: no node that satisfies the request has a better
    /// value of the metric.
    pub fn optimal(&self, metric: &str, said: f64, whole: &Whole, people: &Rows) -> Result<(), Failure> {
        if !self.can_weigh() {
            return Ok(());
        }
        let sign = if metric == "precision" || metric == "s_k" {
            -1.0
        } else {
            1.0
        };
        for node in self.nodes() {
            let weighed = self.weigh(&node, whole, people);
            if weighed.anonymous != Verdict::Holds {
                continue;
            }
            let Some(value) = self.metric(metric, &weighed) else {
                return Ok(());
            };
            if sign * value < sign * said - 1e-9 * said.abs().max(1.0) {
                let what = format!("{metric} {said} is said to be proven optimal, node {node:?} has {value}");
                return Err(Failure::new("optimum", what));
            }
        }
        Ok(())
    }

    /// Returns true if some node satisfies the request and keeps a row; `None` if rounding decides
    /// for a node, or if nodes cannot be judged.
    pub fn feasible(&self, whole: &Whole, people: &Rows) -> Option<bool> {
        if !self.can_weigh() {
            return None;
        }
        let mut close = false;
        for node in self.nodes() {
            let weighed = self.weigh(&node, whole, people);
            match weighed.anonymous {
                Verdict::Holds if !weighed.kept.is_empty() => return Some(true),
                Verdict::Close => close = true,
                _ => {}
            }
        }
        (!close).then_some(false)
    }
}
