//! The Pareto front: the nodes that no other node dominates.
//!
//! Objectives are the costs of an assessment. Lower is better (a maximized objective is negated). A
//! node dominates another if no objective is worse and at least one is better. With a
//! discretization vector epsilon, the archive contains one node for each box that no other box
//! dominates (box-dominance, Algorithm 1 of the paper). Without epsilon, the archive contains every
//! node that is not dominated, including nodes with equal costs.
//!
//! **Interpretation**: the paper's boxes are floor(I / epsilon) for qualities I above 0. A
//! maximized quality is -I here, and a loss is unchanged. So the box of a cost is cost / epsilon
//! truncated towards 0. For a quality, this box is the paper's box. For a loss, it is the box of
//! the hypergrid. An epsilon of 0 leaves its objective unchanged.
//!
//! Reference: R. Dewri, I. Ray, I. Ray, D. Whitley, "On the identification of property based
//! generalizations in microdata anonymization", 2010, doi:10.1007/978-3-642-13739-6_6.

use super::oracle::Assessment;
use crate::method::lattice::Node;

/// Returns true if costs `a` dominate costs `b`: no cost is greater, and at least one is less.
pub fn dominates(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a <= b) && a.iter().zip(b).any(|(a, b)| a < b)
}

/// The archive of a multi-objective search: the nodes of the front found so far.
#[derive(Debug, Clone)]
pub struct Front {
    epsilon: Vec<f64>,
    members: Vec<(Node, Assessment)>,
    /// The box of each member.
    cells: Vec<Vec<f64>>,
}

impl Front {
    /// Returns an empty archive. `epsilon` contains the size of a box in each objective. Missing
    /// sizes are 0.
    pub fn new(epsilon: Vec<f64>) -> Self {
        Self {
            epsilon,
            members: vec![],
            cells: vec![],
        }
    }

    /// Returns the box of `costs`.
    pub fn cell(&self, costs: &[f64]) -> Vec<f64> {
        let size = |i: usize| self.epsilon.get(i).copied().unwrap_or(0.0);
        // Adding 0 converts the negative zero of a truncation into positive zero.
        let cut = |(i, cost): (usize, &f64)| {
            if size(i) > 0.0 {
                (cost / size(i)).trunc() + 0.0
            } else {
                *cost
            }
        };
        costs.iter().enumerate().map(cut).collect()
    }

    /// Returns true if the archive keeps at most one node per box, which is so if any epsilon is
    /// above 0.
    fn is_discrete(&self) -> bool {
        self.epsilon.iter().any(|e| *e > 0.0)
    }

    /// Adds the node unless it is dominated, and removes the members that the node dominates
    /// (Algorithm 1). Ignores nodes that are not anonymous.
    pub fn offer(&mut self, node: &Node, assessment: &Assessment) {
        if !assessment.anonymous {
            return;
        }
        let cell = self.cell(&assessment.costs);
        let costs = &assessment.costs[..];
        let box_dominates = |a: (&[f64], &[f64]), b: (&[f64], &[f64])| {
            if a.0 == b.0 {
                dominates(a.1, b.1)
            } else {
                dominates(a.0, b.0)
            }
        };
        let discrete = self.is_discrete();
        let mut hides = vec![];
        for (i, (old_cell, (old_node, old))) in self.cells.iter().zip(&self.members).enumerate() {
            let (old, new) = ((&old_cell[..], &old.costs[..]), (&cell[..], costs));
            if box_dominates(old, new)
                || (discrete && *old_cell == cell && !dominates(costs, old.1))
                || old_node == node
            {
                // Members do not dominate each other, so a dominated node dominates no member.
                return;
            }
            if box_dominates(new, old) {
                hides.push(i);
            }
        }
        for i in hides.into_iter().rev() {
            self.members.remove(i);
            self.cells.remove(i);
        }
        self.members.push((node.clone(), assessment.clone()));
        self.cells.push(cell);
    }

    /// Returns the members, in the order in which they were added.
    pub fn members(&self) -> &[(Node, Assessment)] {
        &self.members
    }
}

/// An objective whose values have the same sign is scaled by its logarithm if the ratio of its
/// highest to its lowest absolute value is at least this number.
const MAGNITUDES: f64 = 1000.0;

/// Returns the members' values in one objective, scaled from 0 for the best member to 1 for the
/// worst.
fn scaled(members: &[(Node, Assessment)], objective: usize) -> Vec<f64> {
    let costs = || members.iter().map(|(_, a)| a.costs[objective]);
    let least = costs().map(f64::abs).fold(f64::INFINITY, f64::min);
    let most = costs().map(f64::abs).fold(0.0, f64::max);
    let one_sign = costs().all(|c| c > 0.0) || costs().all(|c| c < 0.0);
    let by_magnitude = one_sign && most >= MAGNITUDES * least;
    let place = |c: f64| if by_magnitude { c.signum() * c.abs().ln() } else { c };
    let low = costs().map(place).fold(f64::INFINITY, f64::min);
    let span = costs().map(place).fold(f64::NEG_INFINITY, f64::max) - low;
    costs()
        .map(|c| if span > 0.0 { (place(c) - low) / span } else { 0.0 })
        .collect()
}

/// Returns the index of the knee: the member nearest to the ideal point, which has the lowest value
/// of every objective. Each objective is scaled to its span over the front. Ties are broken by the
/// order of the nodes. Returns `None` for an empty front.
///
/// **Interpretation**: an objective that spans three orders of magnitude is scaled by its
/// logarithm. An example is k from 1 to the number of rows. Without the logarithm, every practical
/// k would be as bad as k = 1.
pub fn knee(members: &[(Node, Assessment)]) -> Option<usize> {
    let width = members.first().map_or(0, |(_, a)| a.costs.len());
    let mut distances = vec![0.0; members.len()];
    for objective in 0..width {
        for (distance, x) in distances.iter_mut().zip(scaled(members, objective)) {
            *distance += x * x;
        }
    }
    (0..members.len()).min_by(|&a, &b| {
        distances[a]
            .total_cmp(&distances[b])
            .then_with(|| members[a].0.cmp(&members[b].0))
    })
}

/// Returns the convergence error of `found` against the true front: the sum of the distances from
/// each member of `found` to the nearest true member. Every objective is divided by its maximum
/// absolute value over the true front.
#[cfg(any(test, feature = "internal-api"))]
pub fn convergence_error(found: &[(Node, Assessment)], truth: &[(Node, Assessment)]) -> f64 {
    let width = truth.first().map_or(0, |(_, a)| a.costs.len());
    let most = |i: usize| truth.iter().map(|(_, a)| a.costs[i].abs()).fold(0.0, f64::max);
    let scale: Vec<f64> = (0..width).map(|i| if most(i) > 0.0 { most(i) } else { 1.0 }).collect();
    let distance = |a: &Assessment, b: &Assessment| -> f64 {
        let differences = a.costs.iter().zip(&b.costs).zip(&scale).map(|((a, b), s)| (a - b) / s);
        differences.map(|d| d * d).sum::<f64>().sqrt()
    };
    let nearest = |a: &Assessment| truth.iter().map(|(_, t)| distance(a, t)).fold(f64::INFINITY, f64::min);
    found.iter().map(|(_, a)| nearest(a)).sum()
}

/// Returns the representation ratio of `found` against the true front: the share of the true
/// front's non-dominated boxes that contain a member of `found`; 1 for an empty true front.
#[cfg(any(test, feature = "internal-api"))]
pub fn representation_ratio(found: &[(Node, Assessment)], truth: &[(Node, Assessment)], epsilon: &[f64]) -> f64 {
    let front = Front::new(epsilon.to_vec());
    let distinct = |members: &[(Node, Assessment)]| {
        let mut cells: Vec<Vec<f64>> = members.iter().map(|(_, a)| front.cell(&a.costs)).collect();
        cells.sort_by(|a, b| {
            a.iter()
                .zip(b)
                .map(|(a, b)| a.total_cmp(b))
                .find(|o| o.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        cells.dedup();
        cells
    };
    let all = distinct(truth);
    let best: Vec<&Vec<f64>> = all.iter().filter(|c| !all.iter().any(|d| dominates(d, c))).collect();
    let occupied = distinct(found);
    if best.is_empty() {
        return 1.0;
    }
    best.iter().filter(|c| occupied.contains(c)).count() as f64 / best.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::catalogue::Call;
    use crate::method::search::testing::{Toy, toy};
    use crate::method::search::{Context, Oracle, SearchBudget};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn run(toy: &Toy, name: &str, epsilon: Vec<f64>) -> Vec<(Node, Assessment)> {
        let mut context = Context::new(3, SearchBudget::default()).with_front(epsilon);
        crate::method::search::build(&Call::bare(name))
            .unwrap()
            .run(toy, &mut context)
            .unwrap();
        context.archive().to_vec()
    }

    fn member(level: u8, costs: &[f64]) -> (Node, Assessment) {
        let a = Assessment {
            anonymous: true,
            suppressed: 0,
            classes: 1,
            costs: costs.to_vec(),
            floor: 0.0,
        };
        (Node::new(vec![level]), a)
    }

    #[test]
    fn a_box_holds_one_node_and_hides_the_boxes_it_dominates() {
        let mut front = Front::new(vec![10.0, 1.0]);
        // With epsilon (10, 1), the maximized qualities 57, 52 and 61 are in boxes 5, 5 and 6, and
        // the losses 3, 3.5 and 2 in boxes 3, 3 and 2.
        for (i, costs) in [[-57.0, 3.0], [-52.0, 3.5], [-61.0, 3.0], [-52.0, 2.0], [-50.0, 2.9]]
            .iter()
            .enumerate()
        {
            let (node, assessment) = member(i as u8, costs);
            front.offer(&node, &assessment);
        }
        let left: Vec<u8> = front.members().iter().map(|(n, _)| n.level(0)).collect();
        assert_eq!(left, [2, 3]);
    }

    #[test]
    fn indicators_compare_with_the_true_front() {
        let truth = [member(0, &[0.0, 10.0]), member(1, &[1.0, 1.0]), member(2, &[10.0, 0.0])];
        assert_eq!(knee(&truth), Some(1));
        // k from 1 to 30,000 against a loss: k = 200 is about halfway in orders of magnitude.
        let wide = [[-30_000.0, 1.0], [-200.0, 0.4], [-1.0, 0.0]];
        let wide: Vec<_> = (0..3).map(|i| member(i, &wide[usize::from(i)])).collect();
        assert_eq!(knee(&wide), Some(1));
        assert_eq!(convergence_error(&truth[..2], &truth), 0.0);
        assert_eq!(convergence_error(&[member(3, &[1.0, 2.0])], &truth), 0.1);
        assert_eq!(representation_ratio(&truth[1..], &truth, &[]), 2.0 / 3.0);
        assert_eq!(
            representation_ratio(&[member(3, &[1.5, 1.5])], &truth, &[5.0, 5.0]),
            1.0
        );
    }

    proptest! {
        #[test]
        fn exhaustively_it_misses_none_and_holds_none_dominated(toy in toy()) {
            let all: Vec<(Node, Assessment)> =
                toy.lattice().iter().map(|n| (n.clone(), toy.truth(&n))).filter(|(_, a)| a.anonymous).collect();
            let undominated = |a: &Assessment| !all.iter().any(|(_, b)| dominates(&b.costs, &a.costs));
            let truth: BTreeSet<Node> = all.iter().filter(|(_, a)| undominated(a)).map(|(n, _)| n.clone()).collect();
            let found: BTreeSet<Node> = run(&toy, "exhaustive", vec![]).into_iter().map(|(n, _)| n).collect();
            prop_assert_eq!(found, truth);
        }

        #[test]
        fn in_boxes_there_is_one_for_each_undominated_box(toy in toy(), e in prop::collection::vec(1.0f64..40.0, 4)) {
            let truth = run(&toy, "exhaustive", vec![]);
            let found = run(&toy, "exhaustive", e.clone());
            prop_assert_eq!(representation_ratio(&found, &truth, &e), 1.0);
            for (_, a) in &found {
                prop_assert!(!found.iter().any(|(_, b)| dominates(&b.costs, &a.costs)));
            }
        }

        #[test]
        fn the_evolutionary_searches_answer_no_dominated_row(toy in toy()) {
            for name in ["pbg_ea", "pbg_local"] {
                let found = run(&toy, name, vec![]);
                for (node, a) in &found {
                    prop_assert!(a.anonymous && toy.truth(node) == *a);
                    prop_assert!(!found.iter().any(|(_, b)| dominates(&b.costs, &a.costs)));
                }
                prop_assert_eq!(run(&toy, name, vec![]), found);
            }
        }
    }
}
