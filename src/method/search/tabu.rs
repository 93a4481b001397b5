//! Tabu search on the lattice.
//!
//! The search starts at the top and steps to the anonymous lower neighbour with the minimum cost,
//! until no lower neighbour is anonymous. In each following round, the candidates are the
//! neighbours of the current node outside the tabu list (all of them, or `candidates` drawn at
//! random). The candidates are assessed, and the next node is drawn. The anonymous candidates share
//! probability 0.7, the others 0.3. Within each group, the draw is by fitness (1 / cost) or
//! uniform. A node enters the tabu list when it is drawn. It leaves the list after its living time,
//! or when the list is full and the node is the oldest. The result is the best anonymous node ever
//! seen.
//!
//! **Interpretation**: neighbours differ in exactly one attribute, by any amount. The lower
//! neighbours in the start phase differ by one level. Lower discernibility (DM) is better. If one
//! group of candidates is empty, the other group has the whole probability.
//!
//! **Guarantee**: the result is anonymous. Nothing is proven about the optimum. The search works
//! for any metric and models, monotone or not. The same seed gives the same result.
//!
//! Example: `SEARCH USING tabu (rounds => 300)`.
//!
//! Reference: R. Cui, H.-J. Kim, D.-H. Lee, tabu method on the k-anonymity lattice, and the same
//! authors' "A new approach for k-anonymity based on tabu search and genetic algorithm", 2011.

use super::algorithm::{Build, Finding, Search};
use super::chance::{fitness, roulette};
use super::context::{Context, Stop};
use super::oracle::{Assessment, Oracle};
use crate::base::catalogue::{Arguments, Entry, Info, Kind, Param};
use crate::base::error::Result as Checked;
use crate::method::lattice::Node;
use rand::RngExt;
use rand::seq::SliceRandom;
use std::collections::VecDeque;

/// The parameters of a tabu walk. The hybrid with the genetic algorithm shares them.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) rounds: u64,
    /// The number of neighbours assessed in a round; 0 for all.
    candidates: usize,
    tabu_size: usize,
    living_time: u64,
    anonymous_share: f64,
    by_quality: bool,
}

/// Returns the parameters of the walk except `rounds`. The papers differ only in the defaults of
/// `candidates` and `draw`.
pub(super) const fn walk_params(candidates: &'static str, draw: &'static str) -> [Param; 5] {
    [
        Param {
            name: "candidates",
            summary: "neighbours drawn and assessed in a round; 0 for all",
            kind: Kind::Integer { min: 0, max: 1_000_000 },
            default: Some(candidates),
        },
        Param {
            name: "tabu_size",
            summary: "nodes in the tabu list, at most",
            kind: Kind::Integer { min: 0, max: 1_000_000 },
            default: Some("6"),
        },
        Param {
            name: "living_time",
            summary: "rounds a node stays in the tabu list",
            kind: Kind::Integer { min: 0, max: 1_000_000 },
            default: Some("7"),
        },
        Param {
            name: "anonymous_share",
            summary: "probability that the next node is anonymous",
            kind: Kind::Real {
                min: 0.0,
                max: 1.0,
                open: false,
            },
            default: Some("0.7"),
        },
        Param {
            name: "draw",
            summary: "draw of the next node within its group: by quality, or with equal probability",
            kind: Kind::Word(&["quality", "equal"]),
            default: Some(draw),
        },
    ]
}

impl Walk {
    /// Returns a walk of `rounds` rounds, with the other parameters from the arguments.
    pub(super) fn from_arguments(args: &Arguments, rounds: u64) -> Checked<Self> {
        Ok(Self {
            rounds,
            candidates: args.count("candidates")? as usize,
            tabu_size: args.count("tabu_size")? as usize,
            living_time: args.count("living_time")?,
            anonymous_share: args.real("anonymous_share")?,
            by_quality: args.word("draw")? == "quality",
        })
    }

    /// Walks from `start`. Returns the anonymous node with the minimum cost in the walk. If no node
    /// was anonymous, returns the node with the minimum cost.
    pub(super) fn run(&self, oracle: &dyn Oracle, context: &mut Context, start: Node) -> Result<Node, Stop> {
        let mut best = (context.assess_one(oracle, &start)?, start.clone());
        let mut tabu: VecDeque<(Node, u64)> = VecDeque::new();
        let mut current = start;
        for _ in 0..self.rounds {
            context.check(0)?;
            let mut near: Vec<Node> = oracle.lattice().axis_neighbours(&current).collect();
            near.retain(|n| tabu.iter().all(|(t, _)| t != n));
            if self.candidates > 0 && near.len() > self.candidates {
                near.shuffle(&mut context.rng);
                near.truncate(self.candidates);
            }
            let found = context.assess(oracle, &near)?;
            for (assessment, node) in found.iter().zip(&near) {
                if rank(assessment, node) < rank(&best.0, &best.1) {
                    best = (assessment.clone(), node.clone());
                }
            }
            if let Some(drawn) = self.draw(context, &found) {
                current = near.swap_remove(drawn);
            }
            self.update(&mut tabu, &current);
        }
        Ok(best.1)
    }

    /// Draws the index of the next node in `found`; `None` if there are no candidates.
    fn draw(&self, context: &mut Context, found: &[Assessment]) -> Option<usize> {
        let (anonymous, others): (Vec<usize>, Vec<usize>) = (0..found.len()).partition(|&i| found[i].anonymous);
        let from_anonymous = context.rng.random::<f64>() < self.anonymous_share;
        let group = match (anonymous.is_empty(), others.is_empty()) {
            (true, true) => return None,
            (false, true) => anonymous,
            (true, false) => others,
            (false, false) if from_anonymous => anonymous,
            (false, false) => others,
        };
        let costs: Vec<f64> = group.iter().map(|&i| found[i].cost()).collect();
        let weights = if self.by_quality {
            fitness(&costs)
        } else {
            vec![1.0; costs.len()]
        };
        Some(group[roulette(&mut context.rng, &weights)])
    }

    fn update(&self, tabu: &mut VecDeque<(Node, u64)>, drawn: &Node) {
        for (_, left) in tabu.iter_mut() {
            *left -= 1;
        }
        tabu.retain(|(_, left)| *left > 0);
        if self.tabu_size == 0 || self.living_time == 0 {
            return;
        }
        if tabu.len() == self.tabu_size {
            tabu.pop_front();
        }
        tabu.push_back((drawn.clone(), self.living_time));
    }
}

/// Returns the sort key: anonymous nodes first, then by cost, then by the order of nodes.
fn rank<'a>(assessment: &Assessment, node: &'a Node) -> (bool, TotalCost, &'a Node) {
    (!assessment.anonymous, TotalCost(assessment.cost()), node)
}

/// A cost with the total order of `f64`.
struct TotalCost(f64);

impl PartialEq for TotalCost {
    fn eq(&self, other: &Self) -> bool {
        self.0.total_cmp(&other.0).is_eq()
    }
}

impl PartialOrd for TotalCost {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.0.total_cmp(&other.0))
    }
}

/// The tabu search.
#[derive(Debug)]
pub struct Tabu(Walk);

impl Search for Tabu {
    fn run(&self, oracle: &dyn Oracle, context: &mut Context) -> Result<Finding, Stop> {
        let start = greedy_start(oracle, context)?;
        self.0.run(oracle, context, start)?;
        Ok(Finding::HEURISTIC)
    }
}

/// Steps down from the top, always to the cheapest anonymous lower neighbour, until no lower
/// neighbour is anonymous. Returns the last node.
fn greedy_start(oracle: &dyn Oracle, context: &mut Context) -> Result<Node, Stop> {
    let mut node = oracle.lattice().top().clone();
    context.assess_one(oracle, &node)?;
    loop {
        let lower: Vec<Node> = oracle.lattice().predecessors(&node).collect();
        let found = context.assess(oracle, &lower)?;
        let anonymous = found.iter().zip(lower).filter(|(a, _)| a.anonymous);
        match anonymous.min_by(|a, b| a.0.cost().total_cmp(&b.0.cost()).then_with(|| a.1.cmp(&b.1))) {
            Some((_, next)) => node = next,
            None => return Ok(node),
        }
    }
}

const WALK: [Param; 5] = walk_params("0", "quality");

/// The catalogue entry of the search `tabu`.
pub const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "tabu",
        summary: "random walk over neighbours that avoids recently visited nodes; heuristic",
        params: &[
            Param {
                name: "rounds",
                summary: "steps of the walk",
                kind: Kind::Integer { min: 0, max: i64::MAX },
                default: Some("300"),
            },
            WALK[0],
            WALK[1],
            WALK[2],
            WALK[3],
            WALK[4],
        ],
        example: "SEARCH USING tabu (rounds => 300)",
        reference: "Cui, Kim, Lee 2011",
    },
    build: |args| Ok(Box::new(Tabu(Walk::from_arguments(args, args.count("rounds")?)?))),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::catalogue::Call;
    use crate::method::search::testing::{check_heuristic, toy};
    use proptest::prelude::*;

    fn walk() -> Walk {
        Walk {
            rounds: 1,
            candidates: 0,
            tabu_size: 2,
            living_time: 3,
            anonymous_share: 0.7,
            by_quality: true,
        }
    }

    #[test]
    fn the_list_forgets_by_age_and_by_size() {
        let node = |l: u8| Node::new(vec![l]);
        let kept = |t: &VecDeque<(Node, u64)>| t.iter().map(|(n, _)| n.level(0)).collect::<Vec<_>>();
        let mut tabu = VecDeque::new();
        for (drawn, expected) in [(1, vec![1]), (2, vec![1, 2]), (3, vec![2, 3])] {
            walk().update(&mut tabu, &node(drawn));
            assert_eq!(kept(&tabu), expected);
        }
        let wide = Walk { tabu_size: 9, ..walk() };
        for (drawn, expected) in [(4, vec![2, 3, 4]), (5, vec![3, 4, 5]), (6, vec![4, 5, 6])] {
            wide.update(&mut tabu, &node(drawn));
            assert_eq!(kept(&tabu), expected);
        }
    }

    proptest! {
        #[test]
        fn answers_no_node_that_is_not_anonymous(toy in toy(), seed in any::<u64>()) {
            check_heuristic(&toy, &Call::bare("tabu"), seed)?;
        }

        #[test]
        fn the_start_has_no_anonymous_lower_neighbour(toy in toy()) {
            let mut context = Context::new(0, Default::default());
            let start = greedy_start(&toy, &mut context).unwrap();
            prop_assert!(toy.lattice().predecessors(&start).all(|n| !toy.truth(&n).anonymous));
            prop_assert!(start == *toy.lattice().top() || toy.truth(&start).anonymous);
        }
    }
}
