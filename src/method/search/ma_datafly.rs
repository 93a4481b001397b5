//! MA-Datafly: multi-attribute generalization of the column with the most distinct values.
//!
//! While the table is not anonymous, the quasi-identifier that currently has the most distinct
//! values goes up one level. Quasi-identifiers at their top are skipped. Ties are broken by the
//! order in which the columns are named. This is the loop of Datafly. Unlike Datafly, the paper
//! never suppresses. A statement requests this with the suppression limit 0. Both searches stop
//! when the rows that violate a model are within the limit.
//!
//! **Guarantee**: the same as for Datafly.
//!
//! Example: `SEARCH USING ma_datafly`.
//!
//! Reference: X. Guo, J. Zhang, Z. Qu, Y. Wang, P. Guo, "MADARS: a method of multi-attributes
//! generalized randomization privacy preserving", 2015, section 3.3.

use super::algorithm::{Build, Finding, Search};
use super::context::{Context, Stop};
use super::datafly::climb;
use super::oracle::Oracle;
use crate::base::catalogue::{Entry, Info};

/// The MA-Datafly search, without parameters.
#[derive(Debug)]
pub struct MaDatafly;

impl Search for MaDatafly {
    fn run(&self, oracle: &dyn Oracle, context: &mut Context) -> Result<Finding, Stop> {
        climb(oracle, context)?;
        Ok(Finding::HEURISTIC)
    }
}

/// The catalogue entry of the search `ma_datafly`.
pub const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "ma_datafly",
        summary: "generalizes the column with the most distinct values until the table is anonymous; greedy",
        params: &[],
        example: "SEARCH USING ma_datafly",
        reference: "Guo et al. 2015 (MADARS), section 3.3",
    },
    build: |_| Ok(Box::new(MaDatafly)),
};

#[cfg(test)]
mod tests {
    use crate::base::catalogue::Call;
    use crate::method::search::Oracle;
    use crate::method::search::testing::{check_heuristic, toy};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_step_raises_the_column_with_the_most_distinct_values(toy in toy()) {
            let call = Call::bare("ma_datafly");
            check_heuristic(&toy, &call, 0)?;
            let top = toy.lattice().top().clone();
            let mut node = toy.lattice().bottom().clone();
            while !toy.truth(&node).anonymous && node != top {
                let mut chosen: Option<usize> = None;
                for i in 0..top.levels().len() {
                    let distinct = |j: usize| toy.distinct_values(j, node.level(j));
                    if node.level(i) < top.level(i) && chosen.is_none_or(|j| distinct(i) > distinct(j)) {
                        chosen = Some(i);
                    }
                }
                let i = chosen.expect("the node is not the top");
                node = node.with_level(i, node.level(i) + 1);
            }
            let (_, context) = toy.run(&call, 0);
            let expected = toy.truth(&node).anonymous.then_some(node);
            prop_assert_eq!(context.incumbent().map(|(n, _)| n.clone()), expected);
        }
    }
}
