//! The random operators that the heuristic searches share: fitness, roulette wheel, crossover,
//! mutation.

use crate::method::lattice::{Lattice, Node};
use rand::{Rng, RngExt};

/// Returns the fitness of each node: 1 / cost. If a cost is 0 or negative (negated metrics), all
/// costs are first shifted so that the minimum is 1.
pub(super) fn fitness(costs: &[f64]) -> Vec<f64> {
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
    let shift = if least > 0.0 { 0.0 } else { 1.0 - least };
    costs.iter().map(|c| 1.0 / (c + shift)).collect()
}

/// Returns an index drawn with probability proportional to its weight (roulette wheel). If all
/// weights are 0, the draw is uniform.
pub(super) fn roulette(rng: &mut impl Rng, weights: &[f64]) -> usize {
    let total: f64 = weights.iter().sum();
    if !(total > 0.0 && total.is_finite()) {
        return rng.random_range(0..weights.len());
    }
    let mut left = rng.random::<f64>() * total;
    for (i, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return i;
        }
    }
    weights.len() - 1
}

/// Returns two children: the parents exchange all levels after a random cut between two attributes
/// (one-point crossover).
pub(super) fn crossover(rng: &mut impl Rng, a: &Node, b: &Node) -> (Node, Node) {
    let width = a.levels().len();
    if width < 2 {
        return (a.clone(), b.clone());
    }
    let cut = rng.random_range(1..width);
    let cross = |head: &Node, tail: &Node| Node::new([&head.levels()[..cut], &tail.levels()[cut..]].concat());
    (cross(a, b), cross(b, a))
}

/// Returns the node after a single-step mutation: each level moves up or down by one with
/// probability `probability`, within the lattice.
pub(super) fn mutate(rng: &mut impl Rng, lattice: &Lattice, node: &Node, probability: f64) -> Node {
    let mut levels = node.levels().to_vec();
    for (i, level) in levels.iter_mut().enumerate() {
        if rng.random::<f64>() < probability {
            let moved = if rng.random::<bool>() {
                level.saturating_add(1)
            } else {
                level.saturating_sub(1)
            };
            *level = moved.clamp(lattice.bottom().level(i), lattice.top().level(i));
        }
    }
    Node::new(levels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha12Rng;

    #[test]
    fn the_wheel_follows_the_weights() {
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        let mut drawn = [0; 3];
        for _ in 0..10_000 {
            drawn[roulette(&mut rng, &[1.0, 0.0, 3.0])] += 1;
        }
        assert_eq!(drawn[1], 0);
        assert!((7300..7700).contains(&drawn[2]), "{drawn:?}");
    }

    #[test]
    fn fitness_falls_with_cost_and_is_positive() {
        assert_eq!(fitness(&[2.0, 4.0]), [0.5, 0.25]);
        let shifted = fitness(&[-0.5, 0.0, 1.5]);
        assert!(shifted.windows(2).all(|pair| pair[0] > pair[1] && pair[1] > 0.0));
    }

    #[test]
    fn crossover_exchanges_tails_and_mutation_stays_inside() {
        let mut rng = ChaCha12Rng::seed_from_u64(2);
        let lattice = Lattice::new(Node::new(vec![1, 0, 0]), Node::new(vec![2, 3, 0]));
        for _ in 0..100 {
            let (a, b) = (lattice.sample(&mut rng), lattice.sample(&mut rng));
            let (c, d) = crossover(&mut rng, &a, &b);
            assert_eq!((c.level(0), d.level(0)), (a.level(0), b.level(0)));
            assert_eq!((c.level(2), d.level(2)), (b.level(2), a.level(2)));
            let mutant = mutate(&mut rng, &lattice, &a, 0.5);
            assert!(lattice.contains(&mutant));
            assert!((0..3).all(|i| mutant.level(i).abs_diff(a.level(i)) <= 1));
            assert_eq!(mutate(&mut rng, &lattice, &a, 0.0), a);
        }
    }
}
