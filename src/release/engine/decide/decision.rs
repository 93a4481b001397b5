//! The decision: the chosen node or partition with its figures.

use super::evaluator::{Evaluator, Verdict};
use super::groups::Combinations;
use crate::data::drift::ReplaySummary;
use crate::data::folder::{ItemSetSummary, Tried};
use crate::data::frequency::FrequencySet;
use crate::data::recode::ItemRecoding;
use crate::method::lattice::Node;
use crate::release::job::{Goal, Guarantees, Job, Roles};
use std::sync::Arc;

/// How good the chosen node is proven to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Proof {
    /// No anonymous node has a better value.
    Optimal,
    /// No anonymous node has a better value of the metric than this bound.
    Bound(f64),
    /// Nothing is proven about other nodes.
    None,
    /// The node was given in the statement.
    Given,
}

/// The chosen node or partition, with its classes and figures.
pub struct Decision {
    /// The evaluator that judged the choice, with the frequency sets.
    pub evaluator: Arc<Evaluator>,
    /// The classes of the chosen node, or the groups of the partition.
    pub classes: Arc<FrequencySet>,
    /// The verdict, with the classes that are kept.
    pub verdict: Verdict,
    /// The value of the job's metric on the kept classes.
    pub value: f64,
    /// The proof about other nodes.
    pub proof: Proof,
    /// The search or partitioning algorithm that found the choice, as it is written in a statement;
    /// `None` if the node was given.
    pub search: Option<String>,
    /// The algorithms of RECODING LOCAL, in the order in which they were tried; otherwise empty.
    pub tried: Vec<Tried>,
    /// The number of distinct nodes that were assessed.
    pub nodes: u64,
    /// The reason why the search ended early, if it did.
    pub stopped: Option<&'static str>,
    /// The index that finds the group of a row by its combination; `None` unless the choice is a
    /// partition.
    pub combinations: Option<Combinations>,
    /// The Pareto front of the assessed nodes by the terms of a weighted sum, if a report is to
    /// show the front.
    pub alternatives: Option<Alternatives>,
    /// The recoding of each column of sets of items, chosen for the rows that this decision
    /// releases.
    pub items: Vec<GeneralizedItems>,
    /// How the node of an earlier release was used, if the statement names an earlier release.
    pub replay: Option<ReplaySummary>,
}

/// The recoding of a column of sets of items.
pub struct GeneralizedItems {
    /// The label of each item.
    pub recoding: Arc<ItemRecoding>,
    /// The labels that are released, and their loss.
    pub summary: ItemSetSummary,
}

/// A Pareto front of the terms of a weighted sum.
pub struct Alternatives {
    /// The nodes with the value of each term. The node that is best in the first term comes first.
    pub nodes: Vec<(Node, Vec<f64>)>,
    /// The index of the knee in `nodes`.
    pub knee: usize,
}

impl Decision {
    /// Returns the decision for these classes with the value of the metric. All other figures are
    /// empty.
    pub(super) fn chosen(
        evaluator: &Arc<Evaluator>,
        (classes, verdict): (Arc<FrequencySet>, Verdict),
        proof: Proof,
    ) -> Self {
        Self {
            evaluator: Arc::clone(evaluator),
            value: evaluator.measure(&classes, &verdict)[0],
            classes,
            verdict,
            proof,
            search: None,
            tried: vec![],
            nodes: 0,
            stopped: None,
            combinations: None,
            alternatives: None,
            items: vec![],
            replay: None,
        }
    }

    /// Returns the number of suppressed rows that are written with `*` labels.
    pub fn starred_rows(&self, guarantees: &Guarantees) -> u64 {
        if guarantees.starred { self.verdict.suppressed } else { 0 }
    }

    /// Returns true if suppressed rows are written and must be marked for the recount. Without the
    /// mark, these rows would look like a class that is `*` in every quasi-identifier, and the
    /// recount could not distinguish their entities from the entities of that class.
    pub fn marks_suppressed(&self, job: &Job) -> bool {
        job.input.entity.is_some() && self.starred_rows(&job.guarantees) > 0
    }

    /// Returns the proof about the chosen node in words.
    pub fn proof(&self, goal: &Goal) -> String {
        let text = match self.proof {
            Proof::Optimal => "proven optimal".into(),
            Proof::Bound(bound) => format!("no node has a better {} than {bound}", goal.metric_name),
            Proof::None => "no proof".into(),
            Proof::Given => "given".into(),
        };
        match self.stopped {
            Some(reason) => format!("{text} ({reason})"),
            None => text,
        }
    }

    /// Returns the choice in words: the level of each column for a node, or the number of labels of
    /// each column for a partition.
    pub fn describe(&self, roles: &Roles) -> String {
        let Some(partition) = &self.verdict.partition else {
            return describe(roles, self.classes.node());
        };
        let columns = roles.quasi_identifiers.iter().enumerate();
        let labels = columns.map(|(i, q)| match partition.labels(i).len() {
            1 => format!("{} 1 label", q.column),
            n => format!("{} {n} labels", q.column),
        });
        labels.collect::<Vec<_>>().join(", ")
    }
}

/// Returns the level of each column at a node as text: `age 2, zip 1`.
pub fn describe(roles: &Roles, node: &Node) -> String {
    let levels = roles.quasi_identifiers.iter().zip(node.levels());
    levels
        .map(|(q, level)| format!("{} {level}", q.column))
        .collect::<Vec<_>>()
        .join(", ")
}
