//! What was chosen, and what is known of it.

use super::evaluator::{Evaluator, Verdict};
use super::groups::Combinations;
use crate::frequency::FrequencySet;
use crate::job::Job;
use crate::lattice::Node;
use std::sync::Arc;

/// How good the chosen node is known to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Proof {
    /// No anonymous node has a better value.
    Optimal,
    /// No anonymous node has a value better than this (as the metric counts it).
    Bound(f64),
    /// Nothing is known of other nodes.
    None,
    /// The node was given in the statement.
    Given,
}

/// The chosen node or partition.
pub struct Decision {
    /// What judged it, with the frequency sets.
    pub evaluator: Arc<Evaluator>,
    /// Its classes.
    pub classes: Arc<FrequencySet>,
    /// Which of them are kept.
    pub verdict: Verdict,
    /// The metric's value there.
    pub value: f64,
    /// What is known of other nodes.
    pub proof: Proof,
    /// Distinct nodes that were assessed.
    pub nodes: u64,
    /// Why the search ended early, where it did.
    pub stopped: Option<&'static str>,
    /// What rows are looked up in to find their group of a partition.
    pub combinations: Option<Combinations>,
    /// The assessed nodes that no other beats in every term of a weighted sum, where a report is to show them.
    pub alternatives: Option<Alternatives>,
}

/// A Pareto front of the terms of a weighted sum.
pub struct Alternatives {
    /// Its nodes with the value of each term, the best in the first term first.
    pub nodes: Vec<(Node, Vec<f64>)>,
    /// The place of the knee.
    pub knee: usize,
}

impl Decision {
    /// Suppressed rows that are written.
    pub fn starred_rows(&self, job: &Job) -> u64 {
        if job.starred { self.verdict.suppressed } else { 0 }
    }

    /// Whether a recount needs to know which rows are suppressed ones that stay: they look like a class that is `*` in
    /// every quasi-identifier, and have entities of their own.
    pub fn marks_suppressed(&self, job: &Job) -> bool {
        job.entity.is_some() && self.starred_rows(job) > 0
    }

    /// What is known of the chosen node, in words.
    pub fn proof(&self, job: &Job) -> String {
        let text = match self.proof {
            Proof::Optimal => "proven optimal".into(),
            Proof::Bound(bound) => format!("no node has a better {} than {bound}", job.metric_name),
            Proof::None => "no proof".into(),
            Proof::Given => "given".into(),
        };
        match self.stopped {
            Some(reason) => format!("{text} ({reason})"),
            None => text,
        }
    }

    /// What was chosen: the node by column, or how many labels each column of a partition has.
    pub fn describe(&self, job: &Job) -> String {
        let Some(partition) = &self.verdict.partition else {
            return describe(job, self.classes.node());
        };
        let columns = job.quasi_identifiers.iter().enumerate();
        let labels = columns.map(|(i, q)| match partition.labels(i).len() {
            1 => format!("{} 1 label", q.column),
            n => format!("{} {n} labels", q.column),
        });
        labels.collect::<Vec<_>>().join(", ")
    }
}

/// The node by column: `age 2, zip 1`.
pub fn describe(job: &Job, node: &Node) -> String {
    let levels = job.quasi_identifiers.iter().zip(node.levels());
    levels
        .map(|(q, level)| format!("{} {level}", q.column))
        .collect::<Vec<_>>()
        .join(", ")
}
