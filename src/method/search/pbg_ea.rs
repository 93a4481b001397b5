//! PBG-EA: an evolutionary search for property based generalizations.
//!
//! The initial population consists of the top, the bottom and random nodes. Every generation
//! computes the fitness of each node in population and archive, selects by binary tournament over
//! both, applies one-point crossover to pairs, and mutates by single steps. The fitness resembles
//! SPEA2: it is a sum over all nodes that dominate the node. Each dominating node adds the number
//! of nodes that it dominates. The best fitness is 0. Every node is offered to the archive, which
//! applies box-dominance (module `front`).
//!
//! **Interpretation**: population and archive are one set, so a node in both counts once. A node
//! that is not anonymous is dominated by every anonymous node. In a population of odd size, the
//! last selected node has no partner and is only mutated.
//!
//! **Guarantee**: the archive contains no node that another assessed node dominates (Theorem 1 of
//! the paper). The same seed gives the same result.
//!
//! In ANONYMIZE the objectives are the metrics of the weighted sum, and the node with the minimum
//! sum is released.
//!
//! Example:
//! `PARETO FRONT OF ... SEARCH USING pbg_ea (iterations => 100) OPTIMIZING MAX k, MIN glm`.
//!
//! Reference: R. Dewri, I. Ray, I. Ray, D. Whitley, 2010, doi:10.1007/978-3-642-13739-6_6,
//! Algorithms 1 and 2.

use super::algorithm::{Build, Finding, Search};
use super::chance::{crossover, mutate};
use super::context::{Context, Stop};
use super::front::dominates;
use super::genetic::MUTATION;
use super::oracle::{Assessment, Oracle};
use crate::base::catalogue::{Arguments, Entry, Info, Kind, Param};
use crate::method::lattice::Node;
use rand::RngExt;
use rand::seq::SliceRandom;
use std::collections::HashSet;

/// The PBG-EA search.
#[derive(Debug)]
pub struct PbgEa {
    population: usize,
    iterations: u64,
    crossover: f64,
    mutation: Option<f64>,
}

impl Search for PbgEa {
    fn run(&self, oracle: &dyn Oracle, context: &mut Context) -> Result<Finding, Stop> {
        context.require_front();
        let lattice = oracle.lattice();
        let mutation = self.mutation.unwrap_or(1.0 / lattice.width().max(1) as f64);
        let mut population = vec![lattice.top().clone(), lattice.bottom().clone()];
        while population.len() < self.population {
            population.push(lattice.sample(&mut context.rng));
        }
        context.assess(oracle, &population)?;
        for _ in 0..self.iterations {
            context.check(0)?;
            let selected = self.select(oracle, context, &population)?;
            population = self.recombine(context, &selected);
            for node in &mut population {
                *node = mutate(&mut context.rng, lattice, node, mutation);
            }
            context.assess(oracle, &population)?;
        }
        Ok(Finding::HEURISTIC)
    }
}

impl PbgEa {
    /// Selects nodes by binary tournaments over population and archive.
    fn select(&self, oracle: &dyn Oracle, context: &mut Context, population: &[Node]) -> Result<Vec<Node>, Stop> {
        let mut seen = HashSet::new();
        let archived = context.archive().iter().map(|(n, _)| n);
        let pool: Vec<Node> = population
            .iter()
            .chain(archived)
            .filter(|n| seen.insert(*n))
            .cloned()
            .collect();
        let fitness = fitness(&context.assess(oracle, &pool)?);
        let winner = |context: &mut Context| {
            let (a, b) = (
                context.rng.random_range(0..pool.len()),
                context.rng.random_range(0..pool.len()),
            );
            pool[if fitness[b] < fitness[a] { b } else { a }].clone()
        };
        Ok((0..self.population).map(|_| winner(context)).collect())
    }

    /// Draws pairs without replacement, and applies crossover to each pair with the probability of
    /// crossover. Returns the children, and the nodes without crossover.
    fn recombine(&self, context: &mut Context, selected: &[Node]) -> Vec<Node> {
        let mut parents = selected.to_vec();
        parents.shuffle(&mut context.rng);
        let mut children = Vec::with_capacity(parents.len());
        for pair in parents.chunks(2) {
            match pair {
                [a, b] if context.rng.random::<f64>() < self.crossover => {
                    let (c, d) = crossover(&mut context.rng, a, b);
                    children.extend([c, d]);
                }
                unchanged => children.extend_from_slice(unchanged),
            }
        }
        children
    }
}

/// Returns for each node the sum of the dominance counts of the nodes that dominate it. Lower is
/// better.
fn fitness(pool: &[Assessment]) -> Vec<u64> {
    let beats = |a: &Assessment, b: &Assessment| {
        if a.anonymous == b.anonymous {
            dominates(&a.costs, &b.costs)
        } else {
            a.anonymous
        }
    };
    let counts: Vec<u64> = pool
        .iter()
        .map(|a| pool.iter().filter(|b| beats(a, b)).count() as u64)
        .collect();
    pool.iter()
        .map(|b| {
            pool.iter()
                .zip(&counts)
                .filter(|(a, _)| beats(a, b))
                .map(|(_, n)| n)
                .sum()
        })
        .collect()
}

/// The catalogue entry of the search `pbg_ea`.
pub const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "pbg_ea",
        summary: "evolutionary search for a Pareto front; heuristic",
        params: &[
            Param {
                name: "population",
                summary: "nodes in the population",
                kind: Kind::Integer { min: 2, max: 1_000_000 },
                default: Some("25"),
            },
            Param {
                name: "iterations",
                summary: "number of times the population is replaced",
                kind: Kind::Integer { min: 0, max: i64::MAX },
                default: Some("100"),
            },
            Param {
                name: "crossover",
                summary: "probability that a pair exchanges tails",
                kind: Kind::Real {
                    min: 0.0,
                    max: 1.0,
                    open: false,
                },
                default: Some("0.8"),
            },
            MUTATION,
        ],
        example: "SEARCH USING pbg_ea (iterations => 100)",
        reference: "Dewri et al. 2010, doi:10.1007/978-3-642-13739-6_6",
    },
    build: |args| {
        Ok(Box::new(PbgEa {
            population: args.count("population")? as usize,
            iterations: args.count("iterations")?,
            crossover: args.real("crossover")?,
            mutation: args.given("mutation", Arguments::real)?,
        }))
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::catalogue::Call;
    use crate::method::search::testing::{check_heuristic, toy};
    use proptest::prelude::*;

    #[test]
    fn fitness_sums_the_counts_of_the_dominators() {
        let at = |x: f64, y: f64| Assessment {
            anonymous: true,
            suppressed: 0,
            classes: 1,
            costs: vec![x, y],
            floor: 0.0,
        };
        // (0, 0) dominates all three others. (1, 1) and (0, 2) each dominate the last. So the sums
        // are 0, 3, 3 and 3 + 1 + 1.
        assert_eq!(
            fitness(&[at(0.0, 0.0), at(1.0, 1.0), at(0.0, 2.0), at(1.0, 2.0)]),
            [0, 3, 3, 5]
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn answers_no_node_that_is_not_anonymous(toy in toy(), seed in any::<u64>()) {
            check_heuristic(&toy, &Call::bare("pbg_ea"), seed)?;
        }
    }
}
