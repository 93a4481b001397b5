//! Incognito: subsets of the quasi-identifiers in ascending size, with a-priori pruning.
//!
//! A table that is anonymous is also anonymous over every subset of its quasi-identifiers.
//! Incognito starts with the smallest subsets. It walks the lattice of each subset's levels
//! breadth-first from the bottom. A node whose projection to a smaller subset failed is skipped,
//! and a node above an anonymous node is anonymous. The projection to a subset is the node with
//! every other quasi-identifier at the top of its range. After the walk for the set of all
//! quasi-identifiers, the remaining nodes are exactly the anonymous nodes.
//!
//! **Guarantee**: the paper finds every anonymous node. Here the nodes whose bounds allow them to
//! win are assessed, which gives the optimum for any metric and any models. If anonymity is not
//! monotone, nothing can be pruned a priori, and the walk uses only the bounds.
//!
//! Example: `SEARCH USING incognito`.
//!
//! Reference: K. LeFevre, D. J. DeWitt, R. Ramakrishnan, "Incognito: efficient full-domain
//! k-anonymity", 2005, doi:10.1145/1066157.1066164.

use super::algorithm::{Build, Finding, Prunes, Search};
use super::context::{Context, Stop};
use super::known::NodeKnowledge;
use super::oracle::Oracle;
use crate::base::catalogue::{Entry, Info};
use crate::method::lattice::{Lattice, Node};

/// The Incognito search, without parameters.
#[derive(Debug)]
pub struct Incognito;

impl Search for Incognito {
    fn run(&self, oracle: &dyn Oracle, context: &mut Context) -> Result<Finding, Stop> {
        let lattice = oracle.lattice();
        let mut known = NodeKnowledge::new(oracle, context);
        if oracle.is_monotone() {
            let free: Vec<usize> = (0..lattice.width())
                .filter(|&i| lattice.bottom().level(i) < lattice.top().level(i))
                .collect();
            for size in 0..=free.len() {
                for subset in subsets(&free, size) {
                    let part = Lattice::new(projected_bottom(lattice, &subset), lattice.top().clone());
                    for height in part.bottom().height()..=part.top().height() {
                        known.classify(part.at_height(height))?;
                    }
                }
            }
        }
        known.assess_rest()?;
        Ok(Finding::OPTIMAL)
    }

    fn prunes(&self) -> Prunes {
        Prunes::ALL
    }
}

/// Returns the projection of the bottom to a subset of the quasi-identifiers, given by their
/// indices. Every other quasi-identifier is at its top.
fn projected_bottom(lattice: &Lattice, subset: &[usize]) -> Node {
    subset.iter().fold(lattice.top().clone(), |node, &i| {
        node.with_level(i, lattice.bottom().level(i))
    })
}

/// Returns every subset of size `size`, in lexicographic order. Generates them one at a time,
/// because their number may be very large.
fn subsets(of: &[usize], size: usize) -> impl Iterator<Item = Vec<usize>> + '_ {
    let mut next = (size <= of.len()).then(|| (0..size).collect::<Vec<usize>>());
    std::iter::from_fn(move || {
        let current = next.take()?;
        let answer = current.iter().map(|&i| of[i]).collect();
        if let Some(i) = (0..size).rev().find(|&i| current[i] + size - i < of.len()) {
            let mut following = current;
            following[i] += 1;
            for j in i + 1..size {
                following[j] = following[j - 1] + 1;
            }
            next = Some(following);
        }
        Some(answer)
    })
}

/// The catalogue entry of the search `incognito`.
pub const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "incognito",
        summary: "subsets of the columns in ascending size, pruned a priori, with bounds on the metric; optimal",
        params: &[],
        example: "SEARCH USING incognito",
        reference: "LeFevre et al. 2005, doi:10.1145/1066157.1066164",
    },
    build: |_| Ok(Box::new(Incognito)),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::catalogue::Call;
    use crate::method::search::testing::{check_optimal, toy};
    use proptest::prelude::*;

    #[test]
    fn every_subset_comes_once() {
        let all: Vec<Vec<usize>> = (0..=4)
            .flat_map(|size| subsets(&[1, 3, 4, 7], size).collect::<Vec<_>>())
            .collect();
        assert_eq!(all.len(), 16);
        assert_eq!(all[5..8], [vec![1, 3], vec![1, 4], vec![1, 7]]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn finds_what_brute_force_finds(toy in toy()) {
            check_optimal(&toy, &Call::bare("incognito"))?;
        }
    }
}
