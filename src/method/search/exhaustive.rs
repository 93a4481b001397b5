//! Exhaustive search: assesses every node of the lattice.
//!
//! **Guarantee**: the optimum for any metric and any models, monotone or not. Nodes are assessed in
//! batches, and a node comes after all more specific nodes. So the evaluator can roll up frequency
//! sets and use its threads. The other optimal searches are tested against this one.
//!
//! Example: `SEARCH USING exhaustive`.
//!
//! Reference: L. Sweeney, "Achieving k-anonymity privacy protection using generalization and
//! suppression", 2002 (MinGen), doi:10.1142/S021848850200165X.

use super::algorithm::{Build, Finding, Search};
use super::context::{Context, Stop};
use super::oracle::Oracle;
use crate::base::catalogue::{Entry, Info};
use crate::method::lattice::Node;

/// The exhaustive search, without parameters.
#[derive(Debug)]
pub struct Exhaustive;

/// The number of nodes assessed together.
const BATCH: usize = 64;

impl Search for Exhaustive {
    fn run(&self, oracle: &dyn Oracle, context: &mut Context) -> Result<Finding, Stop> {
        let mut nodes = oracle.lattice().iter().peekable();
        while nodes.peek().is_some() {
            let batch: Vec<Node> = nodes.by_ref().take(BATCH).collect();
            context.assess_batch(oracle, &batch)?;
        }
        Ok(Finding::OPTIMAL)
    }
}

/// The catalogue entry of the search `exhaustive`.
pub const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "exhaustive",
        summary: "every node of the lattice; optimal for any models and metric",
        params: &[],
        example: "SEARCH USING exhaustive",
        reference: "Sweeney 2002 (MinGen), doi:10.1142/S021848850200165X",
    },
    build: |_| Ok(Box::new(Exhaustive)),
};

#[cfg(test)]
mod tests {
    use crate::base::catalogue::Call;
    use crate::method::search::testing::{check_optimal, toy};
    use crate::method::search::{SearchBudget, Stop};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_the_optimum_and_misses_no_node(toy in toy()) {
            check_optimal(&toy, &Call::bare("exhaustive"))?;
            let (_, context) = toy.run(&Call::bare("exhaustive"), 0);
            prop_assert_eq!(u128::from(context.assessed()), crate::method::search::Oracle::lattice(&toy).size());
        }

        #[test]
        fn a_node_limit_is_used_up_and_obeyed(toy in toy(), max_nodes in 0u64..200) {
            let size = crate::method::search::Oracle::lattice(&toy).size() as u64;
            let budget = SearchBudget { max_nodes: Some(max_nodes), ..SearchBudget::default() };
            let (end, context) = toy.run_within(&Call::bare("exhaustive"), 0, budget);
            prop_assert_eq!(context.assessed(), max_nodes.min(size));
            prop_assert_eq!(matches!(end, Err(Stop::NodeLimit)), max_nodes < size);
        }
    }
}
