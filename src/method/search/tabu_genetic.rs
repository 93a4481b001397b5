//! The hybrid of tabu search and genetic algorithm.
//!
//! The hybrid shares the frame of the genetic search: a uniform initial population, a roulette
//! wheel with fitness 1 / cost, and one-point crossover. Instead of a mutation, a tabu search
//! starts from each child. The best node of that search takes the child's place in the next
//! population.
//!
//! **Interpretation**: each round of the tabu search draws among 20 candidates. The draw is uniform
//! within the anonymous candidates and within the others, as in this paper. The tabu paper draws by
//! quality (`draw => quality`). The best node of a tabu search is its best anonymous node. If the
//! tabu search met no anonymous node, it is the node with the minimum cost.
//!
//! **Guarantee**: the result is anonymous. Nothing is proven about the optimum. The search works
//! for any metric and models, monotone or not. The same seed gives the same result.
//!
//! Example: `SEARCH USING tabu_genetic (generations => 20)`.
//!
//! Reference: R. Cui, H.-J. Kim, D.-H. Lee, "A new approach for k-anonymity based on tabu search
//! and genetic algorithm", 2011.

use super::algorithm::{Build, Finding, Search};
use super::context::{Context, Stop};
use super::genetic::{POPULATION, evolve};
use super::oracle::Oracle;
use super::tabu::{Walk, walk_params};
use crate::base::catalogue::{Entry, Info, Kind, Param};

/// The hybrid search.
#[derive(Debug)]
pub struct TabuGenetic {
    population: usize,
    generations: u64,
    walk: Walk,
}

impl Search for TabuGenetic {
    fn run(&self, oracle: &dyn Oracle, context: &mut Context) -> Result<Finding, Stop> {
        evolve(oracle, context, self.population, self.generations, |context, child| {
            self.walk.run(oracle, context, child)
        })
    }
}

const WALK: [Param; 5] = walk_params("20", "equal");

/// The catalogue entry of the search `tabu_genetic`.
pub const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "tabu_genetic",
        summary: "genetic algorithm with a tabu search in place of mutation; heuristic",
        params: &[
            POPULATION,
            Param {
                name: "generations",
                summary: "number of times the population is replaced",
                kind: Kind::Integer { min: 0, max: i64::MAX },
                default: Some("20"),
            },
            Param {
                name: "tabu_rounds",
                summary: "steps of each tabu search",
                kind: Kind::Integer { min: 0, max: i64::MAX },
                default: Some("20"),
            },
            WALK[0],
            WALK[1],
            WALK[2],
            WALK[3],
            WALK[4],
        ],
        example: "SEARCH USING tabu_genetic (generations => 20)",
        reference: "Cui, Kim, Lee 2011",
    },
    build: |args| {
        Ok(Box::new(TabuGenetic {
            population: args.count("population")? as usize,
            generations: args.count("generations")?,
            walk: Walk::from_arguments(args, args.count("tabu_rounds")?)?,
        }))
    },
};

#[cfg(test)]
mod tests {
    use crate::base::catalogue::{Argument, Call, Value};
    use crate::method::search::testing::{check_heuristic, toy};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn answers_no_node_that_is_not_anonymous(toy in toy(), seed in any::<u64>()) {
            let args = vec![Argument { name: Some("generations".into()), value: Value::Integer(3) }];
            check_heuristic(&toy, &Call { name: "tabu_genetic".into(), args }, seed)?;
        }
    }
}
