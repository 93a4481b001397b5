//! A genetic algorithm on the lattice.
//!
//! The initial population consists of nodes drawn uniformly. In each generation, parents are drawn
//! by roulette wheel with fitness 1 / cost. Pairs of parents exchange their tails at a random cut
//! between two attributes, and every child undergoes a single-step mutation. The children replace
//! the population. The result is the best anonymous node ever seen.
//!
//! **Interpretation**: the paper gives no mutation rate. Each attribute moves by one level with
//! probability 1 / attributes, the rate of the property-based generalization paper. Nodes that are
//! not anonymous have the fitness of their cost.
//!
//! **Guarantee**: the result is anonymous. Nothing is proven about the optimum. The search works
//! for any metric and models, monotone or not. The same seed gives the same result.
//!
//! Example: `SEARCH USING genetic (generations => 300)`.
//!
//! Reference: R. Cui, H.-J. Kim, D.-H. Lee, "A new approach for k-anonymity based on tabu search
//! and genetic algorithm", 2011, section III.

use super::algorithm::{Build, Finding, Search};
use super::chance::{crossover, fitness, mutate, roulette};
use super::context::{Context, Stop};
use super::oracle::Oracle;
use crate::base::catalogue::{Arguments, Entry, Info, Kind, Param};
use crate::method::lattice::Node;

/// The genetic search.
#[derive(Debug)]
pub struct Genetic {
    population: usize,
    generations: u64,
    mutation: Option<f64>,
}

impl Search for Genetic {
    fn run(&self, oracle: &dyn Oracle, context: &mut Context) -> Result<Finding, Stop> {
        let probability = self.mutation.unwrap_or(1.0 / oracle.lattice().width().max(1) as f64);
        evolve(oracle, context, self.population, self.generations, |context, child| {
            Ok(mutate(&mut context.rng, oracle.lattice(), &child, probability))
        })
    }
}

/// Runs selection and crossover, with `change` instead of mutation.
pub(super) fn evolve(
    oracle: &dyn Oracle,
    context: &mut Context,
    size: usize,
    generations: u64,
    mut change: impl FnMut(&mut Context, Node) -> Result<Node, Stop>,
) -> Result<Finding, Stop> {
    // The top is assessed although it is not in the population. If anonymity is monotone, a lattice
    // with an anonymous node then always gives a result.
    context.assess_one(oracle, oracle.lattice().top())?;
    let mut population: Vec<Node> = (0..size).map(|_| oracle.lattice().sample(&mut context.rng)).collect();
    for _ in 0..generations {
        context.check(0)?;
        let costs: Vec<f64> = context.assess(oracle, &population)?.iter().map(|a| a.cost()).collect();
        let weights = fitness(&costs);
        let mut children = Vec::with_capacity(size + 1);
        while children.len() < size {
            let parents = [0, 1].map(|_| roulette(&mut context.rng, &weights));
            let (a, b) = crossover(&mut context.rng, &population[parents[0]], &population[parents[1]]);
            children.extend([a, b]);
        }
        children.truncate(size);
        population = children
            .into_iter()
            .map(|child| change(context, child))
            .collect::<Result<_, Stop>>()?;
    }
    context.assess(oracle, &population)?;
    Ok(Finding::HEURISTIC)
}

/// The size of the population.
pub(super) const POPULATION: Param = Param {
    name: "population",
    summary: "nodes in the population",
    kind: Kind::Integer { min: 2, max: 1_000_000 },
    default: Some("20"),
};

/// The probability of mutation.
pub(super) const MUTATION: Param = Param {
    name: "mutation",
    summary: "probability that a level of a child moves by one; 1 / columns by default",
    kind: Kind::Real {
        min: 0.0,
        max: 1.0,
        open: false,
    },
    default: Some(""),
};

/// The catalogue entry of the search `genetic`.
pub const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "genetic",
        summary: "population with roulette wheel, one-point crossover and single-step mutation; heuristic",
        params: &[
            POPULATION,
            Param {
                name: "generations",
                summary: "number of times the population is replaced",
                kind: Kind::Integer { min: 0, max: i64::MAX },
                default: Some("300"),
            },
            MUTATION,
        ],
        example: "SEARCH USING genetic (generations => 300)",
        reference: "Cui, Kim, Lee 2011",
    },
    build: |args| {
        Ok(Box::new(Genetic {
            population: args.count("population")? as usize,
            generations: args.count("generations")?,
            mutation: args.given("mutation", Arguments::real)?,
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
            check_heuristic(&toy, &Call::bare("genetic"), seed)?;
        }
    }
}
