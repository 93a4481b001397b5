//! OLA: optimal lattice anonymization by divide and conquer.
//!
//! The lattice between two nodes is searched at its middle height. Each unknown node at this height
//! is assessed. If a middle node is anonymous, all nodes above it are anonymous too, and the part
//! from the lower node to this middle node is searched. If a middle node is not anonymous, no node
//! below it is anonymous, and the part from this middle node to the upper node is searched. The
//! result is the lowest anonymous node of every path (the k-minimal nodes). The paper chooses the
//! k-minimal node with the minimum loss.
//!
//! **Guarantee**: the paper gives the optimum if cost never falls as values are generalized. Here
//! the result is the optimum for any metric and any models, because nodes above the k-minimal nodes
//! are also assessed if their bounds allow them to win. If anonymity is not monotone, the walk uses
//! only the bounds.
//!
//! Example: `SEARCH USING ola`.
//!
//! Reference: K. El Emam et al., "A globally optimal k-anonymity method for the de-identification
//! of health data", 2009, doi:10.1197/jamia.M3144.

use super::algorithm::{Build, Finding, Prunes, Search};
use super::context::{Context, Stop};
use super::known::NodeKnowledge;
use super::oracle::Oracle;
use crate::base::catalogue::{Entry, Info};
use crate::method::lattice::{Lattice, Node};
use std::collections::HashSet;

/// The OLA search, without parameters.
#[derive(Debug)]
pub struct Ola;

impl Search for Ola {
    fn run(&self, oracle: &dyn Oracle, context: &mut Context) -> Result<Finding, Stop> {
        let mut known = NodeKnowledge::new(oracle, context);
        if oracle.is_monotone() {
            let lattice = oracle.lattice();
            halve(&mut known, lattice.bottom(), lattice.top(), &mut HashSet::new())?;
        }
        known.assess_rest()?;
        Ok(Finding::OPTIMAL)
    }

    fn prunes(&self) -> Prunes {
        Prunes::ALL
    }
}

/// Searches the part between two nodes, unless it is in `seen`. Classifies each node at the middle
/// height, and then searches the remaining part above or below that node.
fn halve(known: &mut NodeKnowledge, low: &Node, high: &Node, seen: &mut HashSet<(Node, Node)>) -> Result<(), Stop> {
    if known.tag(low) == Some(true) || known.tag(high) == Some(false) || !seen.insert((low.clone(), high.clone())) {
        return Ok(());
    }
    let rise = high.height() - low.height();
    if rise <= 1 {
        known.classify(std::iter::once(low.clone()))?;
        return known.classify(std::iter::once(high.clone()));
    }
    for node in Lattice::new(low.clone(), high.clone()).at_height(low.height() + rise / 2) {
        known.classify(std::iter::once(node.clone()))?;
        match known.tag(&node) {
            Some(false) => halve(known, &node, high, seen)?,
            // The node is anonymous, or its bound shows that neither the node nor a node above it
            // can win.
            _ => halve(known, low, &node, seen)?,
        }
    }
    Ok(())
}

/// The catalogue entry of the search `ola`.
pub const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "ola",
        summary: "divide and conquer at the middle height, with bounds on the metric; optimal",
        params: &[],
        example: "SEARCH USING ola",
        reference: "El Emam et al. 2009, doi:10.1197/jamia.M3144",
    },
    build: |_| Ok(Box::new(Ola)),
};

#[cfg(test)]
mod tests {
    use crate::base::catalogue::Call;
    use crate::method::search::testing::{check_optimal, toy};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn finds_what_brute_force_finds(toy in toy()) {
            check_optimal(&toy, &Call::bare("ola"))?;
        }
    }
}
