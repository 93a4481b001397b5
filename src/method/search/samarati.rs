//! Samarati's binary search on height.
//!
//! If anonymity is monotone and a node at some height is anonymous, some node at every greater
//! height is also anonymous. So binary search over the heights finds the minimum height with an
//! anonymous node. All nodes at that height are assessed, and the result is the anonymous node with
//! the minimum cost. The anonymous nodes at that height are the k-minimal generalizations. The
//! paper leaves the choice among them to the user.
//!
//! **Guarantee**: no anonymous node has a lower height than the result. The result is the optimum
//! for the metric `height`. For other metrics, nothing more is guaranteed. If anonymity is not
//! monotone, the heights are tried from the lowest upward, with the same guarantee.
//!
//! Example: `SEARCH USING samarati`.
//!
//! Reference: P. Samarati, "Protecting respondents' identities in microdata release", 2001,
//! doi:10.1109/69.971193.

use super::algorithm::{Build, Finding, Prunes, Search};
use super::context::{Context, Stop};
use super::oracle::Oracle;
use crate::base::catalogue::{Entry, Info};
use crate::method::lattice::Node;

/// The Samarati search, without parameters.
#[derive(Debug)]
pub struct Samarati;

/// The number of nodes assessed together.
const BATCH: usize = 16;

impl Search for Samarati {
    fn run(&self, oracle: &dyn Oracle, context: &mut Context) -> Result<Finding, Stop> {
        let (mut low, mut high) = (oracle.lattice().bottom().height(), oracle.lattice().top().height());
        if !oracle.is_monotone() {
            while low < high && best_of_height(oracle, context, low, true)?.is_none() {
                low += 1;
            }
            high = low;
        }
        while low < high {
            let middle = (low + high) / 2;
            match best_of_height(oracle, context, middle, true)? {
                Some(_) => high = middle,
                None => low = middle + 1,
            }
        }
        if let Some(node) = best_of_height(oracle, context, low, false)? {
            let assessment = context.assess_one(oracle, &node)?;
            context.settle(node, assessment);
        }
        Ok(Finding::HEURISTIC)
    }

    fn prunes(&self) -> Prunes {
        Prunes {
            by_monotonicity: true,
            by_bound: false,
        }
    }
}

/// Returns the anonymous node with the minimum cost at `height`. If `any` is true, stops after the
/// first batch with an anonymous node. Returns `None` if no node at the height is anonymous.
fn best_of_height(oracle: &dyn Oracle, context: &mut Context, height: u32, any: bool) -> Result<Option<Node>, Stop> {
    let mut nodes = oracle.lattice().at_height(height).peekable();
    let mut best: Option<(f64, Node)> = None;
    while nodes.peek().is_some() && !(any && best.is_some()) {
        let batch: Vec<Node> = nodes.by_ref().take(BATCH).collect();
        let found = context.assess(oracle, &batch)?;
        for (node, assessment) in batch.into_iter().zip(found).filter(|(_, a)| a.anonymous) {
            if best.as_ref().is_none_or(|(cost, _)| assessment.cost() < *cost) {
                best = Some((assessment.cost(), node));
            }
        }
    }
    Ok(best.map(|(_, node)| node))
}

/// The catalogue entry of the search `samarati`.
pub const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "samarati",
        summary: "binary search for the least height with an anonymous node; the best of that height",
        params: &[],
        example: "SEARCH USING samarati",
        reference: "Samarati 2001, doi:10.1109/69.971193",
    },
    build: |_| Ok(Box::new(Samarati)),
};

#[cfg(test)]
mod tests {
    use crate::base::catalogue::Call;
    use crate::method::search::Oracle;
    use crate::method::search::context::by_cost;
    use crate::method::search::testing::{check_heuristic, toy};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn answers_the_best_of_the_least_height(toy in toy()) {
            let call = Call::bare("samarati");
            check_heuristic(&toy, &call, 0)?;
            let anonymous: Vec<_> = toy.lattice().iter().filter(|n| toy.truth(n).anonymous).collect();
            let height = anonymous.iter().map(|n| n.height()).min();
            let lowest = anonymous.into_iter().filter(|n| Some(n.height()) == height);
            let expected = lowest.min_by(|a, b| by_cost((&toy.truth(a), a), (&toy.truth(b), b)));
            let (_, context) = toy.run(&call, 0);
            prop_assert_eq!(context.incumbent().map(|(n, _)| n.clone()), expected);
        }
    }
}
