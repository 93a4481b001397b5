//! Auto: finds the optimum with few assessments if it can finish the lattice, and otherwise a good
//! node with a proven bound.
//!
//! Every node has a lower bound on its cost. The bound is the maximum of a bound known without an
//! assessment and the floors of the assessed nodes below the node. If the excess (cost minus floor)
//! never grows as values are generalized, the maximum excess of the assessed nodes above is added.
//! If anonymity is monotone, a failed node excludes every node below. So one assessment can exclude
//! most of the lattice, and a few dozen well-chosen assessments prove the optimum. The choice is a
//! guess: suppressed rows, excess and floor are each fitted, on a logarithmic scale, as a sum of
//! one term per column and level. The next node is the one that is expected to exclude most of a
//! random sample of the open nodes, or sometimes the node with the minimum expected cost. Guesses
//! only choose nodes. They never exclude a node.
//!
//! This method stores a few numbers for every node. A lattice too large for this is searched by
//! branch and bound over boxes of nodes, with the same bounds and guesses. Branch and bound takes
//! more assessments, but its time and memory do not depend on the size of the lattice. If the
//! assessment of a node implies nothing about the nodes below (models and limits that are not
//! monotone), nodes are assessed in ascending order of their bounds.
//!
//! **Guarantee**: a run that finishes returns the optimum for any metric and any models, unless it
//! reports that its memory is full. Ties are broken by the order of the nodes. A stopped run
//! returns the best node found, and a lower bound on the cost of every anonymous node
//! ([`Context::proven`]).
//!
//! Example: `SEARCH USING auto`.
//!
//! Reference: ours; bounds as in branch and bound (A. H. Land, A. G. Doig, 1960,
//! doi:10.2307/1910129).

mod boxes;
mod cover;
mod guess;

use super::algorithm::{Build, Finding, Prunes, Search};
use super::context::{Context, Stop};
use super::oracle::Oracle;
use crate::base::catalogue::{Entry, Info, Kind, Param};
use boxes::Boxes;
use cover::CoverRun;
pub(super) use guess::Fit;

/// The `auto` search.
#[derive(Debug)]
pub struct Auto {
    nodes_in_memory: u64,
}

impl Search for Auto {
    fn run(&self, oracle: &dyn Oracle, context: &mut Context) -> Result<Finding, Stop> {
        if oracle.lattice().size() > u128::from(self.nodes_in_memory) {
            return Boxes::new(oracle, context).finish();
        }
        CoverRun::new(oracle, context).finish()?;
        Ok(Finding::OPTIMAL)
    }

    fn prunes(&self) -> Prunes {
        Prunes::ALL
    }
}

/// The catalogue entry of the search `auto`.
pub const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "auto",
        summary: "few assessments, each chosen to exclude many nodes; optimal, or a proven bound when stopped",
        params: &[Param {
            name: "nodes_in_memory",
            summary: "lattices of more nodes are searched by branch and bound over boxes (22 bytes a node)",
            kind: Kind::Integer { min: 0, max: 1 << 28 },
            default: Some("262144"),
        }],
        example: "SEARCH USING auto",
        reference: "ours; see the documentation of search::auto",
    },
    build: |args| {
        Ok(Box::new(Auto {
            nodes_in_memory: args.count("nodes_in_memory")?,
        }))
    },
};

#[cfg(test)]
mod tests {
    use crate::base::catalogue::{Argument, Call, Value};
    use crate::method::search::testing::{check_optimal, toy};
    use crate::method::search::{SearchBudget, Stop};
    use proptest::prelude::*;

    fn boxes() -> Call {
        let args = vec![Argument {
            name: Some("nodes_in_memory".into()),
            value: Value::Integer(0),
        }];
        Call {
            name: "auto".into(),
            args,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn finds_what_brute_force_finds(toy in toy()) {
            check_optimal(&toy, &Call::bare("auto"))?;
            check_optimal(&toy, &boxes())?;
        }

        #[test]
        fn when_stopped_the_bound_holds(toy in toy(), max_nodes in 0u64..40, in_boxes: bool) {
            let call = if in_boxes { boxes() } else { Call::bare("auto") };
            let budget = SearchBudget { max_nodes: Some(max_nodes), ..SearchBudget::default() };
            let (end, context) = toy.run_within(&call, 1, budget);
            prop_assert!(context.assessed() <= max_nodes);
            prop_assert!(matches!(end, Ok(_) | Err(Stop::NodeLimit)));
            if let Some((_, least)) = toy.optimum() {
                prop_assert!(context.proven() <= least);
                prop_assert!(context.incumbent().is_none_or(|(_, a)| a.anonymous && a.cost() >= least));
            }
        }
    }
}
