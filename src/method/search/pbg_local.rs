//! PBG-local: a Pareto local search with a fitted model of the objectives (ours, not in the paper).
//!
//! The search starts from the top, the bottom and random nodes. In each round, the candidates are
//! the unseen nodes that differ from a member of the archive by one level. If no such node is
//! unseen, the candidates are the unseen nodes nearest to the archive. Every objective is fitted as
//! a sum of one term per column and level, on a signed logarithmic scale. The candidates that are
//! expected to be least dominated by the archive are assessed. The search ends after `evaluations`
//! nodes, or if no node is left. Unlike the evolutionary search, it assesses no node twice, and
//! draws no random node after the start.
//!
//! **Guarantee**: the archive contains no node that another assessed node dominates. The same seed
//! gives the same result.
//!
//! Example:
//! `PARETO FRONT OF ... SEARCH USING pbg_local (evaluations => 900) OPTIMIZING MAX k, MIN glm`.
//!
//! Reference: ours; Pareto local search as in L. Paquete, M. Chiarandini, T. Stuetzle, 2004,
//! doi:10.1007/978-3-642-17144-4_7.

use super::algorithm::{Build, Finding, Search};
use super::auto::Fit;
use super::context::{Context, Stop};
use super::oracle::Oracle;
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::method::lattice::Node;
use std::collections::HashSet;

/// The number of candidates assessed in a round.
const BATCH: usize = 8;

/// The Pareto local search.
#[derive(Debug)]
pub struct PbgLocal {
    population: usize,
    evaluations: u64,
}

impl Search for PbgLocal {
    fn run(&self, oracle: &dyn Oracle, context: &mut Context) -> Result<Finding, Stop> {
        context.require_front();
        let lattice = oracle.lattice();
        let mut batch = vec![lattice.top().clone(), lattice.bottom().clone()];
        while batch.len() < self.population {
            batch.push(lattice.sample(&mut context.rng));
        }
        let mut fits: Vec<Fit> = vec![];
        let before = context.assessed();
        loop {
            let left = self.evaluations.saturating_sub(context.assessed() - before);
            batch.retain({
                let mut seen = HashSet::new();
                move |n| seen.insert(n.clone())
            });
            batch.truncate(usize::try_from(left).unwrap_or(usize::MAX));
            if batch.is_empty() {
                return Ok(Finding::HEURISTIC);
            }
            for (node, found) in batch.iter().zip(context.assess(oracle, &batch)?) {
                if fits.is_empty() {
                    fits = found.costs.iter().map(|c| Fit::new(oracle, scaled(*c), 0.0)).collect();
                }
                for (fit, cost) in fits.iter_mut().zip(&found.costs) {
                    fit.learn(node, scaled(*cost));
                }
            }
            batch = next_batch(oracle, context, &fits)?;
        }
    }
}

/// Returns the candidates that are expected to be least dominated, chosen among the unseen nodes
/// nearest to the archive. The candidates are the neighbours of the archive. If all neighbours were
/// seen, the candidates are the neighbours of the neighbours, and so on.
fn next_batch(oracle: &dyn Oracle, context: &Context, fits: &[Fit]) -> Result<Vec<Node>, Stop> {
    let lattice = oracle.lattice();
    let members: Vec<Vec<f64>> = context
        .archive()
        .iter()
        .map(|(_, a)| a.costs.iter().map(|c| scaled(*c)).collect())
        .collect();
    let mut ranked: Vec<(f64, Node)> = vec![];
    let mut ring: Vec<Node> = context.archive().iter().map(|(n, _)| n.clone()).collect();
    let mut reached: HashSet<Node> = ring.iter().cloned().collect();
    while ranked.is_empty() && !ring.is_empty() {
        let mut next = vec![];
        for node in &ring {
            context.check(0)?;
            for near in lattice.successors(node).chain(lattice.predecessors(node)) {
                if !reached.insert(near.clone()) {
                    continue;
                }
                if context.recall(&near).is_none() {
                    let expected: Vec<f64> = fits.iter().map(|f| f.at(near.levels())).collect();
                    ranked.push((depth(&members, &expected, fits), near.clone()));
                }
                next.push(near);
            }
        }
        ring = next;
    }
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    Ok(ranked.into_iter().take(BATCH).map(|(_, node)| node).collect())
}

/// Returns the expected distance of a node behind the archive. For each member, computes the
/// minimum gain in one objective after which the member no longer dominates the node, in units of
/// the usual error of the fit. Returns the maximum gain over all members.
fn depth(members: &[Vec<f64>], expected: &[f64], fits: &[Fit]) -> f64 {
    let behind = |member: &Vec<f64>| {
        let gaps = member
            .iter()
            .zip(expected)
            .zip(fits)
            .map(|((m, e), fit)| (e - m) / fit.spread());
        gaps.fold(f64::INFINITY, f64::min)
    };
    members.iter().map(behind).fold(f64::NEG_INFINITY, f64::max)
}

/// Returns a cost on the signed logarithmic scale of the fit.
fn scaled(cost: f64) -> f64 {
    cost.signum() * cost.abs().ln_1p()
}

/// The catalogue entry of the search `pbg_local`.
pub const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "pbg_local",
        summary: "local search for a Pareto front from its own members, guided by a fit of the objectives; heuristic",
        params: &[
            Param {
                name: "population",
                summary: "nodes to start from",
                kind: Kind::Integer { min: 2, max: 1_000_000 },
                default: Some("25"),
            },
            Param {
                name: "evaluations",
                summary: "nodes to assess, at most",
                kind: Kind::Integer { min: 1, max: i64::MAX },
                default: Some("900"),
            },
        ],
        example: "SEARCH USING pbg_local (evaluations => 900)",
        reference: "ours; see the documentation of search::pbg_local",
    },
    build: |args| {
        Ok(Box::new(PbgLocal {
            population: args.count("population")? as usize,
            evaluations: args.count("evaluations")?,
        }))
    },
};

#[cfg(test)]
mod tests {
    use crate::base::catalogue::Call;
    use crate::method::search::testing::{check_heuristic, toy};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn answers_no_node_that_is_not_anonymous(toy in toy(), seed in any::<u64>()) {
            check_heuristic(&toy, &Call::bare("pbg_local"), seed)?;
        }
    }
}
