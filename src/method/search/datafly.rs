//! Datafly: greedy generalization of the quasi-identifier with the most distinct values.
//!
//! Datafly starts at the bottom node. While the rows to suppress exceed the limit of the statement,
//! the quasi-identifier that currently has the most distinct values goes up one level.
//! Quasi-identifiers at their top are skipped. Ties are broken by the order in which the columns
//! are named. The rows that still violate a model are suppressed. Sweeney's limit of k rows is
//! `SUPPRESSING AT MOST k ROWS` here.
//!
//! **Guarantee**: if the walk meets an anonymous node, it needs at most as many steps as the height
//! of the lattice. The metric is not used, and the distance to the optimum is unknown. If the
//! models are not monotone, the walk may miss every anonymous node.
//!
//! Example: `SEARCH USING datafly`.
//!
//! Reference: L. Sweeney, "Datafly: a system for providing anonymity in medical data", 1998,
//! doi:10.1007/978-0-387-35285-5_22.

use super::algorithm::{Build, Finding, Search};
use super::context::{Context, Stop};
use super::oracle::Oracle;
use crate::base::catalogue::{Entry, Info};
use crate::method::lattice::Node;
use std::cmp::Reverse;

/// The Datafly search, without parameters.
#[derive(Debug)]
pub struct Datafly;

impl Search for Datafly {
    fn run(&self, oracle: &dyn Oracle, context: &mut Context) -> Result<Finding, Stop> {
        climb(oracle, context)?;
        Ok(Finding::HEURISTIC)
    }
}

/// Climbs from the bottom until a node is anonymous or the top is reached. The anonymous node
/// becomes the result.
pub(super) fn climb(oracle: &dyn Oracle, context: &mut Context) -> Result<(), Stop> {
    let mut node = oracle.lattice().bottom().clone();
    loop {
        let assessment = context.assess_one(oracle, &node)?;
        if assessment.anonymous {
            context.settle(node, assessment);
            return Ok(());
        }
        match most_distinct(oracle, &node) {
            Some(position) => node = node.with_level(position, node.level(position) + 1),
            None => return Ok(()),
        }
    }
}

/// Returns the index of the quasi-identifier that has the most distinct values, among those below
/// their top level. If several have the most, returns the first of them. Returns `None` if every
/// quasi-identifier is at its top level.
fn most_distinct(oracle: &dyn Oracle, node: &Node) -> Option<usize> {
    let top = oracle.lattice().top();
    (0..oracle.lattice().width())
        .filter(|&i| node.level(i) < top.level(i))
        .max_by_key(|&i| (oracle.distinct_values(i, node.level(i)), Reverse(i)))
}

/// The catalogue entry of the search `datafly`.
pub const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "datafly",
        summary: "generalizes the column with the most distinct values until few enough rows violate a model; greedy",
        params: &[],
        example: "SEARCH USING datafly",
        reference: "Sweeney 1998, doi:10.1007/978-0-387-35285-5_22",
    },
    build: |_| Ok(Box::new(Datafly)),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::catalogue::Call;
    use crate::method::search::testing::{Model, check_heuristic, toy};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn stops_at_the_first_anonymous_node_of_its_walk(toy in toy()) {
            let call = Call::bare("datafly");
            check_heuristic(&toy, &call, 0)?;
            let (_, context) = toy.run(&call, 0);
            let (bottom, top) = (toy.lattice().bottom(), toy.lattice().top());
            let steps = context.assessed() - 1;
            match context.incumbent() {
                Some((node, _)) => prop_assert_eq!(u64::from(node.height() - bottom.height()), steps),
                None => prop_assert_eq!(u64::from(top.height() - bottom.height()), steps),
            }
            if toy.model == Model::Size {
                prop_assert_eq!(context.incumbent().is_some(), toy.optimum().is_some());
            }
        }

        #[test]
        fn of_equal_columns_the_first_goes_first(toy in toy()) {
            let node = toy.lattice().bottom().clone();
            if let Some(i) = most_distinct(&toy, &node) {
                let most = toy.distinct_values(i, node.level(i));
                for j in 0..toy.lattice().width() {
                    let open = node.level(j) < toy.lattice().top().level(j);
                    let distinct = toy.distinct_values(j, node.level(j));
                    prop_assert!(!open || distinct < most || (distinct == most && i <= j));
                }
            }
        }
    }
}
